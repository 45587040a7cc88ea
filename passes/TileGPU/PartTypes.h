// Types of parts of tiles whose elements the same threads hold.
#ifndef TILE_PASSES_TILEGPU_PARTTYPES_H
#define TILE_PASSES_TILEGPU_PARTTYPES_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// The first `extent` positions of a tile along `dim`: the whole's layout without the register bits
/// that lie behind, with the same lanes and warps, which keeps a load's pattern. Null if lanes or
/// warps share what is left out.
mlir::RankedTensorType getPartType(mlir::RankedTensorType type, unsigned dim, int64_t extent);

} // namespace tile::gpu

#endif
