// Attributes by which passes of the GPU pipeline say how sums of products begin.
#ifndef TILE_DIALECT_PRODUCTNAMES_H
#define TILE_DIALECT_PRODUCTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a wgmma of a loop: the loop's first trip does not read the accumulator, the product is the
/// sum. From tile-gpu-schedule-loops.
inline constexpr llvm::StringLiteral freshName = "tile_gpu.fresh";

} // namespace tile::gpu

#endif
