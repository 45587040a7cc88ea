// What follows a split loop: the states of its parts become one.
#ifndef TILE_PASSES_TILEGPU_SPLITMERGE_H
#define TILE_PASSES_TILEGPU_SPLITMERGE_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// The loop, and how the states of its parts become one.
struct SplitLoop {
  mlir::scf::ForOp loop;
  MergePartsOp merge;                  // null: each value by its kind
  llvm::SmallVector<ReduceKind> kinds; // empty with `merge`
  int64_t parts;                       // at most, if wanted
  int64_t wanted = 0;                  // programs that the launch should have; 0: `parts` parts
  bool ahead = false;                  // copies run ahead of the loop's products
};

/// This program among the parts of its tile.
struct SplitPart {
  mlir::Value tile;   ///< the tile's number
  mlir::Value number; ///< the part's, and how many there are
  mlir::Value count;
  mlir::Value busy; ///< parts that have trips, at least 1; null: all of them
};

/// Merges the states of all parts, and does what follows `split.loop` once: by the last part to
/// arrive, or by each part of a cluster for its slice. The builder stands behind the loop and its
/// merge. `isStatic`: all parts have trips, and their number is known.
void finishSplit(KernelOp kernel, SplitLoop &split, const SplitPart &part, bool isStatic,
                 mlir::OpBuilder &b);

} // namespace tile::gpu

#endif
