// `tilec fmt`: rewrites files in the one layout, or says which are not in it.
#include "frontend/Parse/Format.h"
#include "driver/compile/Compile.h"
#include "driver/support/Output.h"

namespace tile {

int formatFiles(const Options &options, Session &session) {
  std::vector<OutputFile> changed;
  for (const std::string &input : options.inputs) {
    std::string error;
    std::optional<FileID> file = session.getSources().addFile(input, error);
    if (!file) {
      session.failCall("cannot read '" + input + "': " + error);
      continue;
    }
    std::optional<std::string> text =
        formatFile(session.getSources(), *file, session.getDiagnostics());
    bool isChanged = text && *text != session.getSources().text(*file);
    if (options.formatCheck && isChanged)
      session.failData("'" + input + "' is not formatted: tilec fmt " + input);
    else if (text && input == "-" && !options.formatCheck)
      llvm::outs() << *text;
    else if (isChanged)
      changed.push_back({input, std::move(*text)});
  }
  writeFiles(changed, session);
  return session.getExitCode();
}

} // namespace tile
