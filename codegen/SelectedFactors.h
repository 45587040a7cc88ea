// Multiplications that ptxas gets wrong: of 64-bit integers, by a number or 1 as a predicate
// selects.
#ifndef TILE_CODEGEN_SELECTEDFACTORS_H
#define TILE_CODEGEN_SELECTEDFACTORS_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// True if a kernel of the PTX multiplies by such a selection. ptxas 13.0 leaves out the factor in
/// some lanes at -O1 and above, where a scan by a function of two values has made it; at -O0 it is
/// right.
bool hasSelectedFactor(llvm::StringRef ptx);

} // namespace tile

#endif
