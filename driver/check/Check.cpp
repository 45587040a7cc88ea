// `tilec check`: what a compilation says of the source, without an output.
#include "driver/compile/Compile.h"

namespace tile {

int checkFiles(const Options &options, Session &session) {
  for (const std::string &input : options.inputs) {
    Session own(options, session.getStream()); // one file's errors do not keep the next unread
    Compiler compiler(options, own, input);
    if (compiler.parse() && compiler.elaborate())
      compiler.optimize(); // which proves accesses, and warns of padding in sums
    session.adopt(own.getExitCode());
    session.adoptDiagnostics(own.hasDiagnostics());
  }
  return session.getExitCode();
}

} // namespace tile
