// What views of memory say of the tiles that are loaded and stored by them, by constants and
// contracts alone.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDVIEWS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDVIEWS_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/TileGPU/DotSelection.h"

#include <algorithm>
#include <cstdint>

namespace tile::cost {

/// What memory may hold in place of its operand: a transposed tile, joined rows.
bool isRenaming(mlir::Operation *op);

/// The view of a whole parameter behind a view.
ViewOp findRoot(mlir::Value view);

/// The strides of a view's dimensions.
llvm::SmallVector<mlir::Value> getStrides(mlir::Value view);

/// A number that divides the value, by constants and contracts alone.
int64_t getDivisor(mlir::Value value, unsigned depth = 0);

/// Bits of a tile's rows: neighbours in memory.
template <typename Op> int64_t countRowBits(Op op, mlir::Type element) {
  for (auto [size, stride] : llvm::zip(op.getSizes(), getStrides(op.getView())))
    if (stride && mlir::matchPattern(stride, mlir::m_One()))
      return std::max<int64_t>(size, 1) * gpu::getElementBits(element);
  return 0;
}

} // namespace tile::cost

#endif
