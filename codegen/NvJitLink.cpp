// Assembles PTX with nvJitLink, loaded at run time where there is no ptxas program.
// The library has no header here: its functions are looked up by name, and a release that lacks one
// of them is taken for none. The handle is opened for each call and never shared between threads.
#include "codegen/Assemble.h"
#include "codegen/AssemblerMistakes.h"
#include "codegen/Translate.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <dlfcn.h>

using namespace llvm;

namespace tile {
namespace {

using Handle = void *;

/// The library's functions. Their unversioned names are exported by every release.
struct NvJitLink {
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*getCubinSize)(Handle, size_t *) = nullptr;
  int (*getCubin)(Handle, void *) = nullptr;
  int (*getErrorLogSize)(Handle, size_t *) = nullptr;
  int (*getErrorLog)(Handle, char *) = nullptr;
  int (*getInfoLogSize)(Handle, size_t *) = nullptr;
  int (*getInfoLog)(Handle, char *) = nullptr;
  std::string path;

  bool load() {
    for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
                             "/usr/local/cuda/lib64/libnvJitLink.so"}) {
      void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!library)
        continue;
      path = name;
      auto find = [&](auto &function, const char *symbol) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
        return function != nullptr;
      };
      if (find(create, "nvJitLinkCreate") && find(destroy, "nvJitLinkDestroy") &&
          find(addData, "nvJitLinkAddData") && find(complete, "nvJitLinkComplete") &&
          find(getCubinSize, "nvJitLinkGetLinkedCubinSize") &&
          find(getCubin, "nvJitLinkGetLinkedCubin") &&
          find(getErrorLogSize, "nvJitLinkGetErrorLogSize") &&
          find(getErrorLog, "nvJitLinkGetErrorLog") &&
          find(getInfoLogSize, "nvJitLinkGetInfoLogSize") &&
          find(getInfoLog, "nvJitLinkGetInfoLog"))
        return true;
    }
    return false;
  }

  static std::string readLog(Handle handle, int (*getSize)(Handle, size_t *),
                             int (*getLog)(Handle, char *)) {
    size_t size = 0;
    if (!handle || getSize(handle, &size) != 0 || size == 0)
      return {};
    std::string text(size, '\0');
    if (getLog(handle, text.data()) != 0)
      return {};
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }
};

} // namespace

bool hasAssembler(StringRef explicitPath, StringRef executablePath) {
  if (wantsNoAssembler(explicitPath))
    return false;
  Expected<std::string> program = findPtxas(explicitPath, executablePath);
  if (!program) { // asked for and missing: assemble() says so
    consumeError(program.takeError());
    return true;
  }
  return !program->empty() || NvJitLink().load();
}

static Expected<Cubin> assembleAt(const std::string &level, const NvJitLink &library, StringRef ptx,
                                  const AssembleOptions &options) {
  constexpr int inputPTX = 2;
  std::vector<std::string> words = {"-arch=" + options.arch, level, "-Xptxas=-v"};
  for (const std::string &flag : options.flags)
    words.push_back("-Xptxas=" + flag);
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  if (options.log)
    *options.log << "tilec: nvJitLink (" << library.path << ") " << join(words, " ") << "\n";
  Handle handle = nullptr;
  llvm::scope_exit release([&] {
    if (handle)
      library.destroy(&handle);
  });
  // Each step may fail, and each leaves its reason in the log of the handle.
  std::string text = ptx.str(); // nul-terminated, as the library wants it
  if (library.create(&handle, uint32_t(arguments.size()), arguments.data()) != 0 ||
      library.addData(handle, inputPTX, text.c_str(), text.size() + 1, "kernel.ptx") != 0 ||
      library.complete(handle) != 0) {
    return readRefusal("nvJitLink",
                       NvJitLink::readLog(handle, library.getErrorLogSize, library.getErrorLog));
  }
  Cubin cubin;
  size_t size = 0;
  if (library.getCubinSize(handle, &size) != 0)
    return makeError("nvJitLink wrote no cubin");
  cubin.bytes.resize(size);
  if (library.getCubin(handle, cubin.bytes.data()) != 0)
    return makeError("nvJitLink wrote no cubin");
  cubin.assembler = library.path;
  parseAssemblerLog(NvJitLink::readLog(handle, library.getInfoLogSize, library.getInfoLog), cubin);
  return cubin;
}

Expected<Cubin> assembleWithNvJitLink(StringRef ptx, const AssembleOptions &options) {
  NvJitLink library;
  if (!library.load())
    return make_error<NoAssembler>();
  // The library knows no levels between these.
  std::vector<std::string> warnings, levels = {"-O3", "-O0"};
  for (const std::string &level : ArrayRef(levels).drop_front(options.level == 0)) {
    Expected<Cubin> cubin = assembleAt(level, library, ptx, options);
    if (!cubin)
      return cubin.takeError();
    cubin->warnings.insert(cubin->warnings.begin(), warnings.begin(), warnings.end());
    std::optional<std::string> mistake = findMistake(ptx, cubin->bytes);
    if (!mistake)
      return cubin;
    std::string reason = "nvJitLink made a mistake: " + *mistake;
    if (level == levels.back())
      return makeError(reason);
    warnings.push_back(reason + " at " + level + ", so a lower level is taken");
  }
  llvm_unreachable("each level returns or goes on to the next");
}

} // namespace tile
