// Names of attributes that say what only the program knows: what to build for, and which views are
// its own. Apart from AttributeNames.h, as few passes look at them.
#ifndef TILE_DIALECT_PROGRAMNAMES_H
#define TILE_DIALECT_PROGRAMNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Trips of a loop to build for, where they are known at run time only (i64).
inline constexpr llvm::StringLiteral tripsName = "tile.trips";
/// Of a kernel: values of scalar parameters to build for (dictionary of i64).
inline constexpr llvm::StringLiteral hintsName = "tile.hints";
/// Dimensions of a kernel whose `opt` is a guess: the source says none (array of strings).
inline constexpr llvm::StringLiteral guessedName = "tile.guessed";
/// Of a kernel: its source has a tune clause, so that what names its tiles is chosen (unit).
inline constexpr llvm::StringLiteral tunedName = "tile.tuned";
/// Of a view of a parameter: its extents and strides are the program's, not the launch's (unit).
inline constexpr llvm::StringLiteral flatName = "tile.flat";

} // namespace tile

#endif
