// tilec: the compiler's command line.
#include "driver/check/Fix.h"
#include "driver/compile/Compile.h"
#include "driver/debug/Debug.h"
#include "driver/explain/Explain.h"
#include "driver/serve/Serve.h"
#include "driver/support/Crash.h"
#include "driver/support/Heap.h"
#include "driver/support/Output.h"
#include "driver/support/Version.h"
#include "driver/tune/Tune.h"
#include "frontend/Diag/SarifRenderer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <exception>

static int runCommand(tile::Options &options, tile::Session &session) {
  if (options.printSettings)
    return tile::printKernelSettings(options, session);
  switch (options.command) {
  case tile::Options::Command::Run:
    return tile::runKernel(options, session);
  case tile::Options::Command::Debug:
    return tile::debug::debugKernel(options, session);
  case tile::Options::Command::Tune:
    return tile::tuneKernel(options, session);
  case tile::Options::Command::Fix:
    return tile::fixSources(options, session);
  case tile::Options::Command::Explain:
    return tile::explainKernels(options, session);
  case tile::Options::Command::Check:
    return tile::checkFiles(options, session);
  case tile::Options::Command::Format:
    return tile::formatFiles(options, session);
  case tile::Options::Command::Serve:
    return tile::serveEditors();
  case tile::Options::Command::Inspect:
    return tile::inspectPackage(options, session);
  case tile::Options::Command::Link:
    return tile::linkPackages(options, session);
  default:
    return tile::compileAll(options, session);
  }
}

int main(int argc, char **argv) {
  tile::prepareHeap();
  tile::installCrashHandlers();
  int code = tile::exitDone;
  try {
    if (std::optional<tile::Options> options = tile::parseOptions(argc, argv, code)) {
      std::string results; // SARIF is one document: it is written when all is said
      llvm::raw_string_ostream collect(results);
      tile::Session session(*options, options->sarif ? static_cast<llvm::raw_ostream &>(collect)
                                                     : llvm::errs());
      tile::armRepeat(*options);
      code =
          options->makesRepro ? tile::makeRepro(*options, session) : runCommand(*options, session);
      if (options->sarif)
        llvm::errs() << tile::makeSarifLog(results, tile::getCompilerVersion(), llvm::errs());
      if (code == tile::exitInternal)
        tile::repeatCall();
    }
  } catch (const std::exception &error) {
    tile::reportCrash(error.what());
    code = tile::exitInternal;
  }
  // Said here and taken from the streams: one that is destroyed with an error ends the process.
  if (std::error_code error = tile::finish(llvm::outs())) {
    llvm::errs() << "error: cannot write to standard output: " << error.message() << "\n";
    code = std::max<int>(code, tile::exitCall);
  }
  if (tile::finish(llvm::errs()))
    code = std::max<int>(code, tile::exitCall);
  return code;
}
