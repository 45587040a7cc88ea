// `tilec FILE -o OUT`: compiles each input and writes what was asked for.
//
//   cache.find -- hit -> files --------------------------+
//       | miss                                           |
//       v                                                v
//   compileOne -> files, messages -> cache.store -> writeFiles, with a depfile
//
// Messages go out while it compiles, files at the end and all at once: a call that fails leaves the
// old files as they were. A result is kept only if nothing was said, since a hit repeats files, not
// messages.
#include "codegen/Assemble.h"
#include "driver/cache/Cache.h"
#include "driver/compile/Compile.h"
#include "driver/support/Jobs.h"
#include "driver/support/Output.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>

using namespace llvm;

namespace tile {

/// Where the product of `input` goes: -o, else a file of this folder for bytes, else standard
/// output.
static std::string getOutputPath(const Options &options, StringRef input) {
  if (!options.output.empty())
    return options.output;
  if (options.package)
    return sys::path::stem(input).str() + ".tilepkg";
  if (!options.emit || !isBinary(*options.emit))
    return "-";
  return (input == "-" ? "stdin" : sys::path::stem(input)).str() + getEnding(*options.emit).str();
}

/// How far a call goes that only asks for the manifest: to where it says what a binary's does.
static Stage findLastStage(const Options &options) {
  if (options.isCPU())
    return Stage::LLVM;
  return hasAssembler(options.ptxasPath, options.executable) ? Stage::Cubin : Stage::PTX;
}

/// Compiles one input into the files that belong to its output, by what stands behind the output's
/// path: "", ".json", or behind '=' in the place of its ending: "=.h". What is only looked at goes
/// to standard output.
static bool compileOne(const Options &options, Session &session, const std::string &input,
                       std::map<std::string, std::string> &files) {
  if (options.package)
    return compilePackage(options, session, input, files[""]);
  if (options.cSource)
    return compileC(options, session, input, files);
  auto owned = std::make_unique<Compiler>(options, session, input);
  Compiler &compiler = *owned;
  // What the process ends with anyway is not taken apart: the system frees all of it at once.
  [[maybe_unused]] static Compiler *kept;
  if (options.inputs.size() == 1)
    kept = owned.release();
  Stage last = options.stopAfter ? *options.stopAfter
               : options.emit    ? *options.emit
                                 : findLastStage(options);
  if (!compiler.run(last))
    return false;
  std::string abi = !options.printABI || !hasManifest(last)
                        ? runtime::toJson(compiler.getManifest())
                        : runtime::toJson(compiler.getManifest(), compiler.getProduct(last));
  if (options.printABI && !writeFiles({{"-", abi}}, session))
    return false;
  if (options.emit && !options.stopAfter) {
    files[""] = compiler.getProduct(*options.emit);
    if (hasManifest(*options.emit) && isFile(getOutputPath(options, input)))
      files[".json"] = runtime::toJson(compiler.getManifest(), files[""]);
  }
  return true;
}

/// The same through the cache, and writes the files.
static bool emitOne(const Options &options, Session &session, const std::string &input) {
  Cache cache(options, input);
  std::map<std::string, std::string> files;
  std::vector<std::string> read;
  bool hit = false;
  if (cache.isOn())
    if (auto found = cache.find(read)) {
      files = std::move(*found);
      hit = true;
    }
  if (options.explainCache)
    session.getStream() << "cache: " << input << ": "
                        << (!cache.isOn() ? "off"
                            : hit         ? "hit " + cache.getKey() +
                                                (cache.wasRemote() ? " by the cache command" : "")
                                          : "miss: " + cache.getReason())
                        << "\n";
  if (!hit) {
    if (!compileOne(options, session, input, files))
      return false;
    for (size_t i = 0; i < session.getSources().size(); ++i)
      read.push_back(session.getSources().name(FileID(i)).str());
    if (cache.isOn() && !session.hasDiagnostics())
      cache.store(files, session.getSources());
    else if (options.explainCache && cache.isOn())
      session.getStream() << "cache: " << input
                          << ": not kept: the compiler had something to say\n";
  }
  if (!cache.getDistrust().empty())
    session.getDiagnostics().report(diag::cacheUnsafe, Range(), options.cacheFolder,
                                    cache.getDistrust());
  if (!cache.getProblem()
           .empty()) // after the decision to keep the result: this says nothing about it
    session.getDiagnostics().report(diag::cacheCommandFailed, Range(), cache.getProblem());
  if (session.getDiagnostics().hasErrors()) // -Werror
    return false;
  bool listsFiles = options.depfile && !options.depfilePath.empty();
  if (files.empty()) // nothing but what went to standard output depends on what was read
    return !listsFiles ||
           writeFiles({{options.depfilePath, makeDepfile(options.depfilePath, read)}}, session);
  std::string path = getOutputPath(options, input);
  std::vector<OutputFile> outputs;
  for (auto &[suffix, bytes] : files)
    outputs.push_back({StringRef(suffix).starts_with("=")
                           ? path.substr(0, path.rfind('.')) + suffix.substr(1)
                           : path + suffix,
                       std::move(bytes)});
  if (options.depfile)
    outputs.push_back(
        {options.depfilePath.empty() ? path + ".d" : options.depfilePath, makeDepfile(path, read)});
  return writeFiles(outputs, session);
}

int compileAll(const Options &options, Session &session) {
  if (!checkPassNames(options, session))
    return session.getExitCode();
  if (options.printPipeline) {
    printPipelines(options);
    if (!options.emit && !options.stopAfter && !options.printABI && !options.package)
      return exitDone;
  }
  // Each input has a session of its own, so that several can be compiled at once; what they say
  // comes in their order.
  size_t count = options.inputs.size();
  if (count == 1) {
    if (!emitOne(options, session, options.inputs.front()) && session.getExitCode() == exitDone)
      session.failInternal("a step failed without a message");
    return session.getExitCode();
  }
  // Products on standard output come one after the other, in the order of the inputs.
  bool toStandardOutput =
      options.printABI || (options.emit && getOutputPath(options, options.inputs.front()) == "-");
  std::vector<std::string> messages(count);
  std::vector<int> codes(count);
  runJobs(toStandardOutput ? 1 : options.jobs, count, [&](size_t i) {
    raw_string_ostream stream(messages[i]);
    Session own(options, stream);
    if (!emitOne(options, own, options.inputs[i]) && own.getExitCode() == exitDone)
      own.failInternal("a step failed without a message");
    codes[i] = own.getExitCode();
  });
  for (size_t i = 0; i < count; ++i) {
    session.getStream() << messages[i];
    session.adopt(codes[i]);
  }
  return session.getExitCode();
}

} // namespace tile
