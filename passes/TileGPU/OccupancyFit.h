// How a pass lowers an occupancy for which shared memory does not suffice, and says what takes it.
#ifndef TILE_PASSES_TILEGPU_OCCUPANCYFIT_H
#define TILE_PASSES_TILEGPU_OCCUPANCYFIT_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// A tile in shared memory, for a message.
struct LargeTile {
  int64_t bytes;
  mlir::Location loc;
  mlir::RankedTensorType type;
};
/// Adds a note for each of the largest tiles: at its place in the source, with its bytes.
void noteLargest(mlir::InFlightDiagnostic &diagnostic, llvm::SmallVector<LargeTile> tiles);

/// Sets the occupancy of a kernel to `blocks`, as a block needs `bytes` and has `share` with the
/// occupancy that was asked for. Silent where a pass asked for it.
void lowerOccupancy(KernelOp kernel, int64_t blocks, int64_t bytes, int64_t share,
                    llvm::SmallVector<LargeTile> tiles);

} // namespace tile::gpu

#endif
