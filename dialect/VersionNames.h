// Names of the attributes that say which launches a kernel's version is for.
#ifndef TILE_DIALECT_VERSIONNAMES_H
#define TILE_DIALECT_VERSIONNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Of a kernel's plain version: divisors that its dimensions and strides do not have, by name,
/// since a launch takes a variant where they do (dictionary of i64). By the front end.
inline constexpr llvm::StringLiteral unevenName = "tile.uneven";

} // namespace tile

#endif
