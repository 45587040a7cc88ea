// Products that a loop issues a trip after their own.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_STAGING_H
#define TILE_PASSES_TILEGPU_SCHEDULE_STAGING_H

#include "passes/TileGPU/Schedule/LoopSchedule.h"

#include "llvm/ADT/SetVector.h"

namespace tile::gpu {

using OpSet = llvm::SmallSetVector<mlir::Operation *, 32>;

/// True if `op` needs the result of `source` within a trip of the loop that has both in its body.
bool needs(mlir::Operation *op, mlir::Operation *source);

/// A product of stage 1.
struct StagedProduct {
  WgmmaOp product;
  unsigned carried = 0;                      ///< the loop's variable that it is added to
  TmaFetchOp fetch;                          ///< its b
  llvm::SmallVector<mlir::Operation *> path; ///< from there to it: clearing, permutations
};

/// How a loop runs its staged products beside `head` of the next trip.
struct Staging {
  mlir::scf::ForOp loop;
  WgmmaOp head; ///< of stage 0; those of stage 1 are issued right behind it
  llvm::SmallVector<StagedProduct> staged;
  OpSet scaling;  ///< what happens to their variables before they are added to
  OpSet renaming; ///< changes shape alone, for the scaling alone: repeated rather than kept
  llvm::SmallVector<mlir::Value> factors; ///< what of its own trip the scaling needs
  int64_t factorRegisters = 0;            ///< of a thread, to keep them till the next trip
  OpSet late; ///< what ends in a staged product's a: placed after all products
};

/// Finds out what moves with `staged`, the products of stage 1 in the order of their issue. Without
/// a result `reason` says why they must stay in their own trip.
std::optional<Staging> findStaging(mlir::scf::ForOp loop, WgmmaOp head,
                                   llvm::ArrayRef<WgmmaOp> staged, std::string &reason);

/// Writes prologue, loop and epilogue in place of the loop. With `scaleUnder` sums are scaled under
/// the products of stage 0. `rings` is the next number of a ring that is filled in several places.
void expandStages(Staging &staging, LoopSchedule &schedule, int64_t &rings);

} // namespace tile::gpu

#endif
