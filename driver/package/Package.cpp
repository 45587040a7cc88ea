// Packages on the command line: building one of all targets, `tilec inspect`, `tilec link`.
#include "formats/Package.h"
#include "codegen/Assemble.h"
#include "codegen/HostLevels.h"
#include "driver/compile/Compile.h"
#include "driver/compile/HostLink.h"
#include "driver/support/Jobs.h"
#include "driver/support/Output.h"
#include "driver/support/Version.h"
#include "formats/Image.h"
#include "formats/Link.h"
#include "formats/Signature.h"
#include "formats/Zip.h"
#include "manifest/Hash.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;

namespace tile {

//===--- Building ---------------------------------------------------------===//

/// Compiles for the CPU into a shared object.
static bool addHostCode(Compiler &compiler, const Options &options, Session &session,
                        runtime::PackageModule &module) {
  if (!compiler.run(Stage::Obj))
    return false;
  std::string library;
  {
    Phase phase(options, "shared object");
    Expected<std::string> linked = linkHostObject(compiler.getProduct(Stage::Obj));
    if (!linked) {
      // What a temporary file lacks is for the call to change; the linker says the rest.
      bool ofFile = false;
      std::string message;
      handleAllErrors(linked.takeError(), [&](const StringError &error) {
        ofFile = error.convertToErrorCode() != inconvertibleErrorCode();
        message = error.getMessage();
      });
      if (ofFile)
        return session.failCall(message);
      session.getDiagnostics().report(diag::noLinker, Range(), message);
      return false;
    }
    library = std::move(*linked);
  }
  module.cpu = options.cpu;
  module.files.push_back({"so", "code/cpu.so", std::move(library)});
  return true;
}

/// Compiles for a GPU into PTX, and into a cubin where there is an assembler.
static bool addDeviceCode(Compiler &compiler, const Options &options, Session &session,
                          runtime::PackageModule &module) {
  if (!options.ptxasPath.empty())
    if (Expected<std::string> program = findPtxas(options.ptxasPath, options.executable);
        !program) {
      session.getDiagnostics().report(diag::assemblerFailed, Range(),
                                      toString(program.takeError()));
      return false;
    }
  bool assembles =
      options.emit != Stage::PTX && hasAssembler(options.ptxasPath, options.executable);
  if (!compiler.run(assembles ? Stage::Cubin : Stage::PTX))
    return false;
  if (assembles)
    module.files.push_back(
        {"cubin", "code/" + options.target + ".cubin", compiler.getProduct(Stage::Cubin)});
  else if (options.emit != Stage::PTX)
    session.getDiagnostics().report(diag::onlyPTX, Range(), options.target);
  module.files.push_back(
      {"ptx", "code/" + options.target + ".ptx", compiler.getProduct(Stage::PTX)});
  return !session.getDiagnostics().hasErrors();
}

/// A name for a file inside of a package: what stands before is dropped, so that packages do not
/// depend on folders.
/// Two files of one name in different folders become one: the first counts.
static std::string plainName(StringRef path) {
  std::string name;
  for (char c : sys::path::filename(path))
    name += isAlnum(c) || StringRef("._-+=").contains(c) ? c : '_';
  return name;
}

static void addSources(const SourceManager &sources, runtime::Package &package) {
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string path = "source/" + plainName(sources.name(FileID(i)));
    bool isNew = none_of(package.sources,
                         [&](const runtime::PackageFile &file) { return file.path == path; });
    if (isNew)
      package.sources.push_back({"", path, sources.text(FileID(i)).str()});
  }
}

namespace {

/// One target's part of a package, compiled on its own.
struct TargetPart {
  Options options;
  std::string messages;
  raw_string_ostream stream{messages};
  std::optional<Session> session;
  runtime::PackageModule module;
  bool good = false;
};

} // namespace

/// Each target is compiled by itself, with its own session, several at once; messages come in the
/// order of the targets, and equal ones once. Sources of the first stand for all, as all read the
/// same files.
bool buildPackage(const Options &options, Session &session, const std::string &input,
                  runtime::Package &package) {
  std::vector<std::unique_ptr<TargetPart>> parts;
  for (const std::string &target : options.targets) {
    auto part = std::make_unique<TargetPart>();
    part->options = options;
    part->options.target = target;
    if (part->options.isCPU() && options.cpu.empty())
      part->options.cpu = getDefaultHostLevel().str();
    part->session.emplace(part->options, part->stream);
    parts.push_back(std::move(part));
  }
  runJobs(options.jobs, parts.size(), [&](size_t i) {
    TargetPart &part = *parts[i];
    Compiler compiler(part.options, *part.session, input);
    part.good = part.options.isCPU()
                    ? addHostCode(compiler, part.options, *part.session, part.module)
                    : addDeviceCode(compiler, part.options, *part.session, part.module);
    part.module.manifest = std::move(compiler.getManifest());
  });
  package.compiler = getCompilerVersion();
  std::set<std::string> printed; // what the front end says, it says for every target
  for (const auto &part : parts) {
    if (!part->good && part->session->getExitCode() == exitDone)
      part->session->failInternal("a step failed without a message");
    int code = part->session->getExitCode();
    if (printed.insert(part->messages).second)
      session.getStream() << part->messages;
    session.adopt(code);
    session.adoptDiagnostics(!part->session->getDiagnostics().all().empty());
    if (!part->good)
      return false;
    package.modules.push_back(std::move(part->module));
  }
  const SourceManager &sources = parts.front()->session->getSources();
  for (size_t i = 0; i < sources.size(); ++i)
    session.getSources().addText(sources.name(FileID(i)), sources.text(FileID(i)));
  for (const std::string &path : sources.getAbsent())
    session.getSources().noteAbsent(path);
  if (options.printABI)
    outs() << runtime::toJson(package.modules.front().manifest);
  if (options.withSource)
    addSources(sources, package);
  return true;
}

bool compilePackage(const Options &options, Session &session, const std::string &input,
                    std::string &bytes) {
  runtime::Package package;
  if (!buildPackage(options, session, input, package))
    return false;
  if (runtime::Error error = runtime::writePackage(package, bytes))
    return session.failInternal(error.message);
  return true;
}

//===--- Tilec inspect ----------------------------------------------------===//

/// Reads a package, or a binary with the manifest beside it as one.
/// `check`, if there is one, says about the bytes that are read whether they may be taken.
static bool readInput(const std::string &path, Session &session, runtime::Package &package,
                      function_ref<bool(StringRef)> check = nullptr) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return session.failCall("cannot read '" + path + "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (check && !check(bytes))
    return false;
  if (!runtime::isZip({bytes.data(), bytes.size()})) {
    auto manifest = MemoryBuffer::getFile(path + ".json");
    if (!manifest)
      return session.failData("'" + path + "' is no package, and there is no manifest '" + path +
                              ".json' beside it");
    std::string reason;
    std::optional<runtime::Manifest> parsed =
        runtime::parseManifest((*manifest)->getBuffer().str(), reason);
    if (!parsed)
      return session.failData("'" + path + "': " + reason);
    runtime::PackageModule module;
    module.manifest = std::move(*parsed);
    runtime::ImageKind kind;
    if (runtime::Error error = runtime::inspectImage(bytes.str(), path, kind))
      return session.failData(error.message);
    if (runtime::Error error =
            runtime::checkBinary(module.manifest, {bytes.data(), bytes.size()}, path))
      return session.failData(error.message);
    module.manifest.binary.reset();
    std::string name = kind == runtime::ImageKind::Cubin ? "cubin" : "ptx";
    module.files.push_back({name, "code/" + module.manifest.target + "." + name, bytes.str()});
    package.compiler = module.manifest.compiler;
    package.modules.push_back(std::move(module));
    return true;
  }
  if (runtime::Error error = runtime::readPackage({bytes.data(), bytes.size()}, path, package))
    return session.failData(error.message);
  return true;
}

static void printKernel(const runtime::Kernel &kernel) {
  outs() << "    " << kernel.symbol << ": " << runtime::describe(kernel) << "\n";
  if (!kernel.variant.empty() || !kernel.facts.empty()) {
    outs() << "      variant " << kernel.variant << ", where ";
    for (size_t i = 0; i < kernel.facts.size(); ++i)
      outs() << (i ? ", " : "") << kernel.facts[i].text;
    outs() << (kernel.facts.empty() ? "always" : "") << "\n";
  }
  for (const runtime::Dim &dim : kernel.dims) {
    if (StringRef(dim.name).contains('.'))
      continue;
    outs() << "      " << dim.name;
    if (dim.min == dim.max)
      outs() << " = " << dim.min;
    else
      outs() << " in " << dim.min << "..=" << dim.max;
    if (dim.opt && dim.min != dim.max)
      outs() << " opt " << *dim.opt;
    if (dim.multipleOf > 1)
      outs() << ", a multiple of " << dim.multipleOf;
    outs() << "\n";
  }
  const runtime::LaunchInfo &launch = kernel.launch;
  if (launch.threads > 1)
    outs() << "      " << launch.threads << " threads, " << launch.sharedBytes
           << " bytes of shared memory, " << launch.registers << " registers"
           << (launch.persistent ? ", persistent" : "") << "\n";
}

/// Writes the files below a folder; their paths have been checked when the package was read.
static bool extract(const runtime::Package &package, const std::string &folder, Session &session) {
  std::vector<OutputFile> files;
  auto add = [&](const runtime::PackageFile &file) {
    SmallString<128> path(folder);
    sys::path::append(path, file.path);
    if (std::error_code error = sys::fs::create_directories(sys::path::parent_path(path)))
      return session.failCall("cannot make the folder of '" + path + "': " + error.message());
    files.push_back({path.str().str(), file.bytes});
    return true;
  };
  for (const runtime::PackageModule &module : package.modules)
    for (const runtime::PackageFile &file : module.files)
      if (!add(file))
        return false;
  for (const runtime::PackageFile &file : package.sources)
    if (!add(file))
      return false;
  SmallString<128> manifest(folder);
  sys::path::append(manifest, "manifest.json");
  files.push_back({manifest.str().str(), runtime::toJson(package)});
  return writeFiles(files, session);
}

/// Checks the signature beside a package before anything of the package is used. It gets the bytes
/// that are used: a file that is read again may be another one by then.
static bool verify(const Options &options, Session &session, StringRef content) {
  const std::string &path = options.inputs.front();
  std::string place = path + std::string(runtime::signatureEnding);
  auto signature = MemoryBuffer::getFile(place);
  if (!signature)
    return session.failData("cannot read '" + place + "': " + signature.getError().message() +
                            "; sign the package with minisign -Sm '" + path + "'");
  std::string key = options.verify, comment;
  if (auto file = MemoryBuffer::getFile(key))
    key = (*file)->getBuffer().str();
  if (runtime::Error error = runtime::verifySignature(
          {content.data(), content.size()}, (*signature)->getBuffer().str(), key, path, comment))
    return session.failData(error.message);
  outs() << "signature: good, '" << comment << "'\n";
  return true;
}

int inspectPackage(const Options &options, Session &session) {
  runtime::Package package;
  auto check = [&](StringRef bytes) {
    return options.verify.empty() || verify(options, session, bytes);
  };
  if (!readInput(options.inputs.front(), session, package, check))
    return session.getExitCode();
  if (options.json) {
    outs() << runtime::toJson(package);
  } else {
    outs() << "package by " << package.compiler << "\n";
    for (const runtime::PackageModule &module : package.modules) {
      outs() << "  " << module.manifest.target
             << (module.cpu.empty() ? "" : " (" + module.cpu + ")") << ":";
      for (const runtime::PackageFile &file : module.files)
        outs() << " " << file.path << " " << file.bytes.size() << " bytes "
               << runtime::contentHash(file.bytes);
      outs() << "\n";
      for (const runtime::Kernel &kernel : module.manifest.kernels)
        printKernel(kernel);
    }
    for (const runtime::PackageFile &source : package.sources)
      outs() << "  " << source.path << " " << source.bytes.size() << " bytes\n";
  }
  if (!options.extract.empty())
    extract(package, options.extract, session);
  return session.getExitCode();
}

int linkPackages(const Options &options, Session &session) {
  std::vector<runtime::Package> packages(options.inputs.size());
  for (size_t i = 0; i < packages.size(); ++i)
    if (!readInput(options.inputs[i], session, packages[i]))
      return session.getExitCode();
  runtime::Package joined;
  joined.compiler = getCompilerVersion();
  std::string bytes;
  runtime::Error error = runtime::linkPackages(packages, options.inputs, joined);
  if (!error && options.cSource) {
    std::map<std::string, std::string> files;
    StringRef base = StringRef(options.output).drop_back(2);
    if (writePackageAsC(joined, options, session, files))
      writeFiles({{options.output, files[""]}, {(base + ".h").str(), files["=.h"]}}, session);
    return session.getExitCode();
  }
  if (!error)
    error = runtime::writePackage(joined, bytes);
  if (error) {
    session.failData(error.message);
    return session.getExitCode();
  }
  writeFiles({{options.output, std::move(bytes)}}, session);
  return session.getExitCode();
}

} // namespace tile
