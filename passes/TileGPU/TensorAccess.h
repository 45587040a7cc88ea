// A tile's access seen from the tensor behind its views: whether TMA can make it, and at which
// coordinates.
#ifndef TILE_PASSES_TILEGPU_TENSORACCESS_H
#define TILE_PASSES_TILEGPU_TENSORACCESS_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"
#include "passes/Analysis/IndexBounds.h"

namespace tile::gpu {

/// Where an access lies along one dimension of the tensor.
struct TensorDim {
  int64_t tileDim = -1; ///< the tile's dimension; -1: one position
  int64_t step = 1;     ///< how far positions of the tile are apart
  /// The first position is the sum of these, of which those marked count as 0 if negative.
  llvm::SmallVector<std::pair<mlir::Value, bool>> starts;
  bool clamped = false;                ///< the sum may be further from 0 than `farthest`
  bool startsInside = false;           ///< the first position is not negative
  bool startsBefore = false;           ///< it is negative
  int64_t farthest = int64_t(1) << 30; ///< the tensor has no position there, and 32 bits hold it
  /// Ends that cut off positions which the tensor has: each counted from the sum of the first
  /// `second` of `starts`; those of the access itself have 1.
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> ends;
  std::optional<int64_t> length; ///< each end is a constant number of positions behind the first
                                 ///< one; the least of these
};

/// An access by TMA, or why there can be none.
struct TensorAccess {
  ViewOp view;
  unsigned param = 0;
  llvm::SmallVector<TensorDim> dims;
  llvm::SmallVector<unsigned>
      order;           ///< the tensor's dimensions, the fastest first, as a map lists them
  std::string problem; ///< empty if it can be
  /// Of a view of flat memory, which no map of the launcher's describes: the element with which it
  /// begins. What the run alone knows (extents, strides, this element) is not checked then.
  mlir::Value flatStart;

  /// True if ends cut off positions that the tensor has.
  bool hasEnds() const {
    return llvm::any_of(dims, [](const TensorDim &dim) { return !dim.ends.empty(); });
  }
  /// True if the tile may begin before the tensor, which a copy to the tensor must not.
  bool mayStartBefore() const {
    return llvm::any_of(dims,
                        [](const TensorDim &dim) { return dim.tileDim >= 0 && !dim.startsInside; });
  }
  /// The position of the first element along dimension `dim`, computed where `builder` stands.
  mlir::Value makeCoordinate(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim) const;
  /// As makeCoordinate, for a copy to the tensor: one position that does not exist is behind the
  /// tensor, not before it.
  mlir::Value makeStoreCoordinate(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim) const;
  /// The number of positions of dimension `dim` before its ends; null without ends.
  mlir::Value makeLimit(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim) const;
};

/// Follows the views of a load or store up to the tensor. `tileOrder` lists the tile's dimensions
/// as they lie in shared memory, the fastest first.
TensorAccess analyzeAccess(LoadOp load, llvm::ArrayRef<int64_t> tileOrder, IndexBounds &bounds,
                           const DivisibilityAnalysis &divisibility);
TensorAccess analyzeAccess(StoreOp store, llvm::ArrayRef<int64_t> tileOrder, IndexBounds &bounds,
                           const DivisibilityAnalysis &divisibility);
/// Of an atomic that takes no tiles of positions.
TensorAccess analyzeAccess(AtomicOp atomic, llvm::ArrayRef<int64_t> tileOrder, IndexBounds &bounds,
                           const DivisibilityAnalysis &divisibility);

} // namespace tile::gpu

#endif
