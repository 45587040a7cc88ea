// The producer's half of a warp-specialised kernel: fetches, and what their coordinates and control
// flow need.
#ifndef TILE_PASSES_TILEGPU_PRODUCERSLICE_H
#define TILE_PASSES_TILEGPU_PRODUCERSLICE_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// A ring and the fetches that share its slots, one for each of its tiles.
struct RingFetches {
  mlir::Value ring;
  llvm::SmallVector<TmaFetchOp> fetches;
};

/// True of a copy into a fetch's tile, in a branch for where the fetch brings nothing.
bool isFill(AsyncCopyOp copy);

/// True of a fetch that never brings anything: a copy by the producer's threads fills its tile.
bool isFilledByThreads(TmaFetchOp fetch);

/// True if each of the producer's threads can compute its elements of `value`, as a copy's
/// positions: arithmetic without exchange between threads, on scalars and on what is loaded from
/// memory that nothing writes.
bool canProducerCompute(mlir::Value value);

/// Fills `producer` with copies of the loops, branches and arithmetic of `consumer` that the
/// fetches of `rings` need, and with `ring_acquire` and `tma_load` where the fetches stand, and
/// `ring_fill` where they may bring nothing. A scalar that comes from tiles is computed by the
/// consumers alone: they send it (`scalar_send`), the producer receives it. Positions of what
/// threads fill are tiles, which these share out among four warps. Fails, with an error, where
/// another tile would be needed.
mlir::LogicalResult buildProducer(mlir::Block &consumer, mlir::Block &producer,
                                  llvm::ArrayRef<RingFetches> rings);

} // namespace tile::gpu

#endif
