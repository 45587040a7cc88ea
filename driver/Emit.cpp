// `tilec FILE -o OUT`: compiles each input and writes what was asked for.
#include "driver/Compile.h"
#include "driver/Output.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile {

/// Where the product of `input` goes: -o, else a file of this folder for bytes, else standard output.
static std::string getOutputPath(const Options &options, StringRef input) {
  if (!options.output.empty())
    return options.output;
  if (!isBinary(*options.emit))
    return "-";
  return (input == "-" ? "stdin" : sys::path::stem(input)).str() + getEnding(*options.emit).str();
}

static bool compileOne(const Options &options, Session &session, const std::string &input) {
  Compiler compiler(options, session, input);
  Stage last = options.stopAfter ? *options.stopAfter : options.emit ? *options.emit : Stage::Tile;
  if (!compiler.run(last))
    return false;
  std::vector<OutputFile> files;
  if (options.printABI && last >= Stage::Tile)
    files.push_back({"-", runtime::toJson(compiler.getManifest())});
  if (options.emit && !options.stopAfter) {
    std::string path = getOutputPath(options, input);
    files.push_back({path, compiler.getProduct(*options.emit)});
    if (hasManifest(*options.emit) && isFile(path))
      files.push_back({path + ".json", runtime::toJson(compiler.getManifest())});
    if (options.depfile)
      files.push_back({options.depfilePath.empty() ? path + ".d" : options.depfilePath,
                       makeDepfile(path, session.getSources())});
  }
  return writeFiles(files, session);
}

int compileAll(const Options &options, Session &session) {
  if (options.printPipeline) {
    printPipelines(options);
    if (!options.emit && !options.stopAfter && !options.printABI)
      return exitDone;
  }
  bool good = true;
  for (const std::string &input : options.inputs)
    good &= options.package ? compilePackage(options, session, input) : compileOne(options, session, input);
  int code = session.getExitCode();
  if (!good && code == exitDone)
    session.failInternal("a step failed without a message");
  return session.getExitCode();
}

} // namespace tile
