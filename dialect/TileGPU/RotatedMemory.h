// What threads keep of lines that go round in their registers (tile-gpu-rotate-rows) and were
// copied to shared memory: aligned vectors, of which the first holds the beginning of the line and
// the end of what lies before it in memory.
#ifndef TILE_DIALECT_TILEGPU_ROTATEDMEMORY_H
#define TILE_DIALECT_TILEGPU_ROTATEDMEMORY_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Bytes behind the pieces of all threads: the vector that holds the line's end, and how many of
/// its elements belong into the first vector, ahead of the line's beginning, an i32; 0 where the
/// pieces are as threads hold them.
inline constexpr int64_t rotatedEndBytes = 32, rotatedVectorBytes = 16;

/// True if `memory` has those bytes behind what threads hold of `tile`.
bool hasRotatedEnd(mlir::RankedTensorType tile, MemDescType memory);

/// Fails, with an error at `op`, if `memory` is no place for what threads keep of `tile`.
mlir::LogicalResult verifyPrivate(mlir::Operation *op, mlir::RankedTensorType tile,
                                  MemDescType memory);

} // namespace tile::gpu

#endif
