// The order in which a trip issues its products, each in flight until its result is needed.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_ISSUEORDER_H
#define TILE_PASSES_TILEGPU_SCHEDULE_ISSUEORDER_H

#include "passes/TileGPU/Schedule/LoopSchedule.h"

namespace tile::gpu {

/// The products of a loop's body that can be issued before all others: they need neither another
/// one nor anything else that must keep its place.
llvm::SmallVector<WgmmaOp> findIndependent(mlir::Block &body);

/// Registers of a thread that the vectors take which are fetched beside the operands.
int64_t countVectorRegisters(mlir::Block &body);

/// Puts the products of `loop` where `schedule` has them, and leaves those of flight 0 in flight
/// until their results are used; an error at the loop if one would use what is computed behind it.
mlir::LogicalResult applyOrder(mlir::scf::ForOp loop, const LoopSchedule &schedule);

} // namespace tile::gpu

#endif
