// How fragments of products by mma.sync come from shared memory: a step of K at a time, each under
// the step before it.
#ifndef TILE_PASSES_TILEGPU_PIPELINEFRAGMENTS_H
#define TILE_PASSES_TILEGPU_PIPELINEFRAGMENTS_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tile::gpu {

/// Takes each product of a loop whose operands come from shared memory apart into steps of one
/// instruction's K. The fragments of a step are loaded before the product of the step ahead
/// of it, so that they arrive under it, and a thread holds those of two steps at most.
void splitProducts(mlir::scf::ForOp loop);

/// In a loop that tile-gpu-pipeline-copies has made: moves the wait for the next trip's copies, and
/// the barrier, ahead of the last step of the loop's products, and loads the first step's fragments
/// of the next trip behind them. Leaves the loop alone where something but `local_load` reads the
/// slots. Returns the loop that takes its place.
mlir::scf::ForOp loadFragmentsAhead(mlir::scf::ForOp loop);

/// Puts the copies of a loop between the steps of its first product that stand ahead of the wait,
/// each step a part of a thread's pieces: reads of fragments wait for all copies that were issued
/// before them, and would come late behind the whole. `pieces` has how many pieces a thread copies,
/// of those copies that may be taken apart.
void spreadCopies(mlir::scf::ForOp loop, const llvm::MapVector<AsyncCopyOp, int64_t> &pieces);

} // namespace tile::gpu

#endif
