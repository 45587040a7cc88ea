// The order in which a trip issues its products, each in flight until its result is needed.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_ISSUEORDER_H
#define TILE_PASSES_TILEGPU_SCHEDULE_ISSUEORDER_H

#include "passes/TileGPU/Schedule/LoopSchedule.h"

namespace tile::gpu {

using OpSet = llvm::SmallSetVector<mlir::Operation *, 32>;

/// The products of a loop's body that can be issued before all others: they need neither another
/// one nor anything else that must keep its place.
llvm::SmallVector<WgmmaOp> findIndependent(mlir::Block &body);

/// Registers of a thread that the vectors take which are fetched beside the operands.
int64_t countVectorRegisters(mlir::Block &body);

/// What turns a value into the register operand a of `product` and is for that alone: conversions,
/// the last one first.
llvm::SmallVector<mlir::Operation *> findConversions(WgmmaOp product);

/// Puts the products of `loop` where `schedule` has them, and leaves those of flight 0 in flight
/// until their results are used; an error at the loop if one would use what is computed behind it.
mlir::LogicalResult applyOrder(mlir::scf::ForOp loop, const LoopSchedule &schedule);

/// Reads of tiles that may as well be made while a product of their block is in flight: those
/// behind it that need no product, with all that they need of what stands there, and those of
/// fetched tiles ahead of it that it does not need.
OpSet findReadsUnder(mlir::Operation *product);

} // namespace tile::gpu

#endif
