// Names that passes had in the last version. They are understood for one version, and not listed in
// help; CHANGELOG.md lists them.
#ifndef TILE_PASSES_FORMERNAMES_H
#define TILE_PASSES_FORMERNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tile {

/// The name of the pass that was called `name`; `name` where no pass was.
llvm::StringRef getPresentPassName(llvm::StringRef name);

/// `argument` of tile-opt's command line with the present names of passes: in its own name, or in
/// the value of an option that takes names of passes.
std::string renameFormerPasses(llvm::StringRef argument);

} // namespace tile

#endif
