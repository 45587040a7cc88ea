// Names of the attributes that say which launches a kernel's version is for, and what it was.
#ifndef TILE_DIALECT_VERSIONNAMES_H
#define TILE_DIALECT_VERSIONNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Of a kernel's plain version: divisors that its dimensions and strides do not have, by name,
/// since a launch takes a variant where they do (dictionary of i64). By the front end.
inline constexpr llvm::StringLiteral unevenName = "tile.uneven";
/// Of a kernel that has a version of its loops: registers that the tiles of a thread took before,
/// in blocks of 1, 2, 4, 8, 16 and 32 warps (array of i64). By tile-gpu-version-row-loops.
inline constexpr llvm::StringLiteral plainRegistersName = "tile_gpu.plain_registers";

} // namespace tile

#endif
