// Decides in which layout each tile of a kernel lives in registers.
#ifndef TILE_PASSES_TILEGPU_LAYOUTINFERENCE_H
#define TILE_PASSES_TILEGPU_LAYOUTINFERENCE_H

#include "mlir/IR/Value.h"
#include "passes/TileGPU/DotSelection.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tile::gpu {

/// True if the operation can be repeated in any layout that its users ask for: constants,
/// positions, masks, broadcasts, and element-wise work on nothing else. Loads too where they only
/// feed broadcasts.
bool isRematerializable(mlir::Operation *op);

/// Layouts of all tile values of one kernel: *anchored* ones have a layout of their own, the others
/// take the one that each user asks for. Anchors are loads, dots, reductions and what depends on
/// them; tensor-core layouts win over blocked ones.
class LayoutInference {
public:
  LayoutInference(KernelOp kernel, const KernelShape &shape);

  /// The layout of an anchored value; none if the value takes any.
  std::optional<LinearLayout> getAnchor(mlir::Value value) const;
  /// Its layout, or the default for its shape.
  LinearLayout getLayoutOrDefault(mlir::Value value) const;
  /// Blocked, the last dimension fastest (or `order`).
  LinearLayout getDefault(mlir::RankedTensorType type) const;
  LinearLayout getDefault(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order) const;
  LinearLayout getDotLayout(DotOp dot) const;
  /// The layout that a reduction by a function goes through: that of its first tile, if it can.
  LinearLayout getReduceByLayout(ReduceByOp reduce) const;
  const KernelShape &getShape() const { return shape; }
  /// The blocked layout that suits a load or store: the dimension with stride 1 is the fastest.
  template <typename AccessOp>
  LinearLayout getAccessLayout(AccessOp access, mlir::RankedTensorType type) const;
  /// The layout in which a tile is stored, whose values are in layout `present`, if they have one.
  template <typename AccessOp>
  LinearLayout getStoreLayout(AccessOp store, mlir::RankedTensorType type,
                              const std::optional<LinearLayout> &present) const;

private:
  /// That of the access, but where parts of the tile meet later, or a scan goes along a slower
  /// dimension: then what meets is held by one thread.
  LinearLayout getLoadLayout(LoadOp load, mlir::RankedTensorType type) const;

  struct Anchor {
    LinearLayout layout;
    unsigned priority; // 0 where its parts are, 1 blocked, 2 tensor core
  };
  std::optional<LinearLayout> getJoinedLayout(mlir::Value operand) const;
  bool anchor(mlir::Value value, const LinearLayout &layout, unsigned priority);
  bool anchorLike(mlir::Value value, mlir::Value other);
  bool anchorOrigins(mlir::Value value, const LinearLayout &layout);
  bool visit(mlir::Operation *op);
  bool visitRegions(mlir::Operation *op);

  KernelShape shape;
  llvm::DenseMap<mlir::Value, Anchor> anchors; // looked up only, never iterated
  // The fixed point is sought three times: from what loops compute; then with their first values,
  // which are converted once, before the loop; then with defaults for what has no anchor.
  bool asksInits = false, settled = false;
};

/// Of a load whose tile is stored with another dimension fastest, perhaps after element-wise work:
/// that dimension of the tile.
std::optional<unsigned> getTransposedDim(LoadOp load);

/// Fastest dimension first, for the tile of an access: by the strides of its view.
template <typename AccessOp> llvm::SmallVector<unsigned> getAccessOrder(AccessOp access);

} // namespace tile::gpu

#endif
