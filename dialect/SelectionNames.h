// The name of an attribute of reductions that pick one element.
#ifndef TILE_DIALECT_SELECTIONNAMES_H
#define TILE_DIALECT_SELECTIONNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Of a tile.reduce_by of values and flags: its function keeps the one element along the axis that
/// is flagged, on whichever side it is, and nobody looks at the flags (unit). By
/// tile-gpu-expand-shapes.
inline constexpr llvm::StringLiteral selectsOneName = "tile_gpu.selects_one";

} // namespace tile

#endif
