// The help of tilec: --help by command, `tilec help TOPIC`, completions for shells, and the
// manual page. All of it comes from the option table.
#ifndef TILE_DRIVER_OPTIONS_HELP_H
#define TILE_DRIVER_OPTIONS_HELP_H

#include "llvm/Option/OptTable.h"
#include <string>
#include <vector>

namespace tile {

/// Which commands take an option, as Options.td names them; compiling is llvm::opt::DefaultVis.
enum CommandVisibility : unsigned {
  RunVis = 1 << 1,
  TuneVis = 1 << 2,
  ExplainVis = 1 << 3,
  InspectVis = 1 << 4,
  LinkVis = 1 << 5,
  FixVis = 1 << 6,
  CheckVis = 1 << 7,
  FormatVis = 1 << 8,
  DebugVis = 1 << 9
};

/// "run", "tune", …, for messages.
const std::vector<std::string> &getCommandNames();

/// Prints the options of a command, of compiling where `command` is none. `hidden`: those for the
/// compiler's developers, too.
void printHelp(const llvm::opt::OptTable &table, llvm::StringRef command, bool hidden);

/// `tilec help TOPIC`; without a topic, the list of them. Returns the exit code.
int printTopic(const llvm::opt::OptTable &table, llvm::StringRef topic);

/// `tilec completion SHELL`: a script for bash, zsh or fish. Returns the exit code.
int printCompletion(const llvm::opt::OptTable &table, llvm::StringRef shell);

/// The manual page, as troff.
void printManual(const llvm::opt::OptTable &table, llvm::raw_ostream &stream);

} // namespace tile

#endif
