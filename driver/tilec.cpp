// tilec: the compiler's command line.
#include "driver/Compile.h"
#include "driver/Crash.h"
#include "driver/Tune.h"
#include "llvm/Support/raw_ostream.h"
#include <exception>

int main(int argc, char **argv) {
  tile::installCrashHandlers();
  int code = tile::exitDone;
  try {
    if (std::optional<tile::Options> options = tile::parseOptions(argc, argv, code)) {
      tile::Session session(*options);
      switch (options->command) {
      case tile::Options::Command::Run: code = tile::runKernel(*options, session); break;
      case tile::Options::Command::Tune: code = tile::tuneKernel(*options, session); break;
      case tile::Options::Command::Compile: code = tile::compileAll(*options, session); break;
      }
    }
  } catch (const std::exception &error) {
    tile::reportCrash(error.what());
    code = tile::exitInternal;
  }
  llvm::outs().flush();
  return code;
}
