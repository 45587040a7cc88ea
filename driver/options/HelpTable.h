// The commands of tilec and their options, as help, completions and the manual page list them.
#ifndef TILE_DRIVER_OPTIONS_HELPTABLE_H
#define TILE_DRIVER_OPTIONS_HELPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tile {

struct CommandHelp {
  llvm::StringRef name; ///< empty: compiling
  unsigned visibility;  ///< of its options; 0: it has none
  llvm::StringRef summary, usage, examples;
};

llvm::ArrayRef<CommandHelp> getCommands();
std::vector<std::string> getTopicNames();

} // namespace tile

#endif
