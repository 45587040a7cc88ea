// Tiles that each thread copies to shared memory for itself, some trips of a loop ahead
// (`tile_gpu.async_copy` with `tile_gpu.private`): it reads what it has copied, in the layout of
// the load, so no thread waits for another.
#ifndef TILE_PASSES_TILEGPU_PRIVATECOPIES_H
#define TILE_PASSES_TILEGPU_PRIVATECOPIES_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tile::gpu {

/// True for a tile that a thread can keep; of a scalar, or one that all threads hold, there is
/// little to be saved.
bool canKeep(LoadOp load);

/// The loop's step, a constant above 0, where its counter is an index; 0 for other loops.
int64_t getPlainStep(mlir::scf::ForOp loop);

/// Trips at the extents that the contract expects; none where that is not known.
int64_t getExpectedTrips(mlir::scf::ForOp loop, int64_t step);

/// The dimension of the view that goes on with the loop's counter, a block a trip; none if a later
/// trip's tile is not found so.
std::optional<unsigned> findPace(mlir::scf::ForOp loop, LoadOp load, int64_t step);

/// True if a thread's part of the load is whole pieces of 16 bytes of memory.
bool isWide(LoadOp load, const DivisibilityAnalysis &divisibility);

/// True for a tile that goes round: the vector with its end holds elements behind it.
bool isRotated(LoadOp load);

/// Places for `count` tiles of the load: `copied`, or stored by their threads.
LocalSlotsOp createPrivateSlots(mlir::OpBuilder &b, LoadOp load, int64_t count, bool copied);

/// Whether nothing is missing, along the dimension `dim` of its pace, of the tile that begins at
/// `counter` there, nor of the vectors that it lies in.
mlir::Value isWhole(mlir::OpBuilder &b, LoadOp load, unsigned dim, int64_t step,
                    mlir::Value counter);

/// Copies the tile that begins at `counter`, which is whole, to `memory` where `when` is true.
void copyPrivately(mlir::OpBuilder &b, LoadOp load, unsigned dim, mlir::Value counter,
                   mlir::Value memory, mlir::Value when);

} // namespace tile::gpu

#endif
