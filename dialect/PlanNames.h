// Names of attributes that say what a plan, made before passes run, has set apart.
#ifndef TILE_DIALECT_PLANNAMES_H
#define TILE_DIALECT_PLANNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a kernel: bytes of shared memory that the cost model reckons with for a block, and by which
/// it has chosen (i64). By Compiler::joinTiles and tile-gpu-widen-tiles; gone where a further try
/// changes the launch. tile-gpu-allocate-shared has the block take as many.
inline constexpr llvm::StringLiteral plannedBytesName = "tile_gpu.planned_bytes";

/// Of a kernel: the source leaves its occupancy open, and tile-gpu-specialize-warps has chosen it
/// (a unit). tile-gpu-allocate-shared says nothing where it lowers it.
inline constexpr llvm::StringLiteral openOccupancyName = "tile_gpu.open_occupancy";

} // namespace tile::gpu

#endif
