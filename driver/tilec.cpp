// tilec: the compiler's command line.
#include "driver/Compile.h"
#include "driver/Crash.h"
#include "llvm/Support/raw_ostream.h"
#include <exception>

int main(int argc, char **argv) {
  tile::installCrashHandlers();
  int code = tile::exitDone;
  try {
    if (std::optional<tile::Options> options = tile::parseOptions(argc, argv, code)) {
      tile::Session session(*options);
      code = options->command == tile::Options::Command::Run ? tile::runKernel(*options, session)
                                                             : tile::compileAll(*options, session);
    }
  } catch (const std::exception &error) {
    tile::reportCrash(error.what());
    code = tile::exitInternal;
  }
  llvm::outs().flush();
  return code;
}
