// Whether elements of a loaded tile past its end can reach memory.
#ifndef TILE_PASSES_TILEGPU_UNUSEDENDS_H
#define TILE_PASSES_TILEGPU_UNUSEDENDS_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// True if positions from `end` on along dimension `dim` of the tile in shared memory `memory`,
/// whose first is at `start`, reach no memory: they become rows or columns of products, are
/// computed with element by element, and every store of them has the same start and end there; or
/// they are terms of products behind the valid part of K.
bool isEndUnused(mlir::Value memory, int64_t dim, mlir::Value start, mlir::Value end);

} // namespace tile::gpu

#endif
