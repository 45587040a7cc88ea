// The values of a kernel's tiles in the layouts, and in the shared memory, that operations ask for.
#ifndef TILE_PASSES_TILEGPU_LAYOUTCOPIES_H
#define TILE_PASSES_TILEGPU_LAYOUTCOPIES_H

#include "mlir/IR/Builders.h"
#include "passes/TileGPU/LayoutInference.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tile::gpu {

/// Makes and remembers a tile's copies: each layout and each order in shared memory once.
class LayoutCopies {
public:
  LayoutCopies(KernelOp kernel, const LayoutInference &inference)
      : inference(inference), builder(kernel) {}

  /// Gives the value the layout that inference has for it, if it has one.
  void setLayout(mlir::Value value);
  /// The value has a layout of its own, and is not repeated in another one.
  void keep(mlir::Value value) { layouts.insert({value, getLayoutOf(value)}); }
  /// The value is read from shared memory by all that want it in another layout.
  void hold(mlir::Value load) { heldLoads.insert(load); }
  /// True for an operation whose tile result takes any layout: it is cloned for its users.
  bool isFree(mlir::Operation *op) const;

  /// The value in `layout`: itself, converted, or computed again.
  mlir::Value get(mlir::Value value, const LinearLayout &layout);
  /// A dot operand in shared memory: written where the tile is defined, transposed by reading it
  /// so. Its fastest dimension is that of the registers, or `fastest`.
  mlir::Value stage(mlir::Value value, std::optional<unsigned> fastest = std::nullopt);
  /// A dot operand as fragments: from registers if each thread has its own already, else through
  /// shared memory, read at `at`.
  mlir::Value fragment(mlir::Value value, const LinearLayout &layout, mlir::OpBuilder &at);

  static bool isTile(mlir::Value value) {
    return mlir::isa<mlir::RankedTensorType>(value.getType());
  }
  static LinearLayout getLayoutOf(mlir::Value value) {
    return getLayout(mlir::cast<mlir::RankedTensorType>(value.getType()));
  }

private:
  bool isRepeated(mlir::Value value) const;
  bool isBetterRepeated(mlir::Value value) const;
  mlir::Value repeat(mlir::Operation *op, mlir::RankedTensorType wanted,
                     const LinearLayout &layout);

  const LayoutInference &inference;
  mlir::OpBuilder builder;
  llvm::DenseSet<mlir::Value> heldLoads;                                  // looked up only
  llvm::DenseMap<mlir::Value, LinearLayout> layouts;                      // looked up only
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> copies; // looked up only
  /// By tile and fastest dimension; looked up only.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> staged;
};

} // namespace tile::gpu

#endif
