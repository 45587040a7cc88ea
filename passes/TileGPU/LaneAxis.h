// An axis of a tile whose positions the lanes of a warp, or of several, share out: what each lane
// holds of it is a tile with a dimension of lanes, [.., outer, lanes, inner, ..] without outer and
// inner.
#ifndef TILE_PASSES_TILEGPU_LANEAXIS_H
#define TILE_PASSES_TILEGPU_LANEAXIS_H

#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// Which lanes may share an axis.
enum class Sharing { Warp, Block };

/// How the axis of a reduction is taken apart, where lanes of one warp alone, or of the whole
/// block, share it.
struct LaneAxis {
  unsigned axis = 0;
  mlir::SmallVector<int64_t> split; ///< the tile's shape with [outer, lanes, inner] for its axis
  LinearLayout layout;              ///< of that

  /// Of a tile that is reduced along one axis, or of a line that is reduced to a scalar. None if no
  /// lanes share a row, if lanes do that may not, or if a number a row and one for each lane of it
  /// are not the same registers.
  static std::optional<LaneAxis> of(ReduceOp reduce, Sharing sharing = Sharing::Warp);

  /// The layout of one number for each lane, [.., lanes, ..].
  LinearLayout getPartial() const { return layout.dropDim(axis + 2).dropDim(axis); }

  /// What each lane holds of the tile that `reduce` takes, reduced: registers alone.
  mlir::Value reduceInLanes(mlir::OpBuilder &builder, ReduceOp reduce) const;

  /// A number a row, or the scalar of a line, for each lane of it: registers are renamed.
  mlir::Value spreadOverLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value row) const;

  /// The reduction across lanes of what they hold: a tile of rows, or a line's scalar.
  mlir::Value reduceAcrossLanes(mlir::OpBuilder &builder, mlir::Location loc, ReduceKind kind,
                                mlir::Value partial) const;
};

} // namespace tile::gpu

#endif
