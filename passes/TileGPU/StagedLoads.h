// Loads that go by way of shared memory so that they can be copied there ahead of their use.
//
//   before   r = load; a = convert(r); m = local_alloc(a); product(m)
//   staged   s = local_alloc(load); r = local_load(s); a = convert(r); m = local_alloc(a);
//   product(m)
//
// A copy ahead takes `local_alloc(load)`, whatever its mechanism. Where none does, what was staged
// is forwarded: the threads load into registers as before.
#ifndef TILE_PASSES_TILEGPU_STAGEDLOADS_H
#define TILE_PASSES_TILEGPU_STAGEDLOADS_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::gpu {

/// Loads and gathers of tiles, in the loop's own body, whose elements the operands of its products
/// are computed from, or which are operands and are used otherwise too. In the order of the body.
llvm::SmallVector<mlir::Operation *> findStageableLoads(mlir::scf::ForOp loop);

/// True if the loop's body computes with what is loaded and with the result of a product, before
/// another product: not with an operand alone.
bool joinsProduct(mlir::Operation *load);

/// Gives what `load` loads a place in shared memory, unless it has one, from which all others read.
LocalAllocOp stageLoad(mlir::Operation *load);

/// Why cp.async cannot copy the `tile` that `load` loads to where `alloc` puts it in the shape of
/// `stored`: one piece of a copy must be one piece of shared memory too. Empty if it can.
std::string whyNoPieces(mlir::Operation *load, mlir::RankedTensorType tile,
                        mlir::RankedTensorType stored, LocalAllocOp alloc,
                        const DivisibilityAnalysis &divisibility);

/// Reads all tiles that a product's operand is computed from, which a producer fetches, at one
/// place ahead of the computation: what orders these reads before the next copies stands there
/// once.
void gatherReads(KernelOp kernel);

/// Undoes it for reads in the layout of what `alloc` stores; erases an `alloc` that has no use.
void forwardStaged(LocalAllocOp alloc);

} // namespace tile::gpu

#endif
