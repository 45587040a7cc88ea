// Attributes by which passes of the GPU pipeline say how sums of products begin, and how those of
// parts are merged.
#ifndef TILE_DIALECT_PRODUCTNAMES_H
#define TILE_DIALECT_PRODUCTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a wgmma of a loop: the loop's first trip does not read the accumulator, the product is the
/// sum. From tile-gpu-schedule-loops.
inline constexpr llvm::StringLiteral freshName = "tile_gpu.fresh";

/// Of a wgmma of a loop: its accumulator says which registers the product takes, those of a value
/// that nobody needs any more; the product is the sum. From tile-gpu-apply-schedule.
inline constexpr llvm::StringLiteral overwritesName = "tile_gpu.overwrites";

/// Of part_arrive and part_combine: each part stands for so many parts, merged before, and its
/// record is the first of theirs; the tile has another count for these. From tile-gpu-split-loops.
inline constexpr llvm::StringLiteral everyName = "tile_gpu.every";

} // namespace tile::gpu

#endif
