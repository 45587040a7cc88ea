// The texts that a result of `tilec tune` was found for.
#ifndef TILE_DRIVER_TUNE_SOURCETEXTS_H
#define TILE_DRIVER_TUNE_SOURCETEXTS_H

#include "frontend/Ast/Decl.h"
#include "frontend/Source/SourceManager.h"

namespace tile {

/// The texts of the program's file and of those that it imports, directly or not, each once, in the
/// order of the imports.
std::string collectTexts(const ast::Program &program, const SourceManager &sources);

} // namespace tile

#endif
