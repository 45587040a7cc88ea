// `tilec FILE -o NAME.c`: C that carries the code of one or more targets, its header, and the CPU's
// object file.
#include "codegen/CSource.h"
#include "driver/compile/Compile.h"
#include "formats/Image.h"
#include "formats/Package.h"
#include "target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;

namespace tile {

static bool write(ArrayRef<CBuild> builds, const Options &options, Session &session,
                  std::map<std::string, std::string> &files) {
  Expected<CSource> written = emitCSource(sys::path::stem(options.output), builds, options.outName);
  if (!written)
    return session.failData(toString(written.takeError()));
  files[""] = std::move(written->source);
  files["=.h"] = std::move(written->header);
  return true;
}

/// By capability, of equal ones that with a suffix first: the best for a device first.
static unsigned rank(StringRef target) {
  GPUName name{};
  parseGPUName(target, name);
  return (name.major * 10 + name.minor) * 10 + (name.suffix == 'a' ? 2 : name.suffix ? 1 : 0);
}

bool writePackageAsC(const runtime::Package &package, const Options &options, Session &session,
                     std::map<std::string, std::string> &files) {
  std::vector<CBuild> builds;
  // Cubins before PTX, which the driver has to compile.
  for (StringRef kind : {"cubin", "ptx"})
    for (const runtime::PackageModule &module : package.modules) {
      const std::string &target = module.manifest.target;
      if (target == "cpu")
        return session.failData(
            "C for the CPU is compiled from the source: tilec FILE.tile --target cpu -o NAME.c");
      if (any_of(builds, [&](CBuild &known) {
            return known.target == target && known.isPTX == (kind == "ptx");
          }))
        continue;
      CBuild build{target, kind == "ptx", "", {}};
      bool isWhole = true, hasCubins = true;
      for (const runtime::PackageModule &other : package.modules) {
        if (other.manifest.target != target)
          continue;
        const runtime::PackageFile *file = other.find(kind.str());
        isWhole &= file != nullptr;
        hasCubins &= other.find("cubin") != nullptr;
        if (file)
          build.units.push_back({&other.manifest, file->bytes});
      }
      // PTX of a target with a suffix runs nowhere that its cubin does not.
      if (isWhole && (kind == "cubin" || !hasCubins || isDigit(target.back())))
        builds.push_back(std::move(build));
    }
  if (builds.empty())
    return session.failData("there is neither a cubin nor PTX of all kernels to write as C");
  std::stable_sort(builds.begin(), builds.end(), [](const CBuild &a, const CBuild &b) {
    return a.isPTX != b.isPTX ? b.isPTX : rank(a.target) > rank(b.target);
  });
  return write(builds, options, session, files);
}

bool compileC(const Options &options, Session &session, const std::string &input,
              std::map<std::string, std::string> &files) {
  if (!options.isCPU()) {
    runtime::Package package;
    return buildPackage(options, session, input, package) &&
           writePackageAsC(package, options, session, files);
  }
  Compiler compiler(options, session, input);
  if (!compiler.run(Stage::Obj))
    return false;
  files["=.o"] = compiler.getProduct(Stage::Obj);
  CBuild build{"cpu", false, options.cpu, {{&compiler.getManifest(), ""}}};
  return write(build, options, session, files);
}

} // namespace tile
