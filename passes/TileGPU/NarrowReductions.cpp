// tile-gpu-narrow-reductions: maxima and minima of 16-bit floats are taken before they are widened,
// two in one instruction.
//
//   max(extf(x)), x of f16   ->   extf(max(x))
//
// Widening is exact and keeps order, so both are the same number; of sums that would not be so.
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUNARROWREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct TileGPUNarrowReductions : tile::impl::TileGPUNarrowReductionsBase<TileGPUNarrowReductions> {
  void runOnOperation() override {
    getOperation().walk([](ReduceOp reduce) {
      auto reshape = reduce.getSource().getDefiningOp<ReshapeOp>();
      auto widened =
          (reshape ? reshape.getSource() : reduce.getSource()).getDefiningOp<arith::ExtFOp>();
      if (!widened || (reduce.getKind() != ReduceKind::Max && reduce.getKind() != ReduceKind::Min))
        return;
      auto narrow = cast<RankedTensorType>(widened.getIn().getType());
      if (!narrow.getElementType().isF16() && !narrow.getElementType().isBF16())
        return;
      // Widening is exact and keeps order, so either order gives the same.
      OpBuilder b(reduce);
      Type wide = reduce.getType(), result = narrow.getElementType();
      if (auto tile = dyn_cast<RankedTensorType>(wide))
        result = tile.clone(narrow.getElementType());
      Value source = widened.getIn();
      if (reshape)
        source = ReshapeOp::create(b, reshape.getLoc(),
                                   reshape.getType().clone(narrow.getElementType()), source);
      IRMapping mapping;
      mapping.map(reduce.getSource(), source);
      Operation *small = b.clone(*reduce, mapping);
      small->getResult(0).setType(result);
      reduce.replaceAllUsesWith(
          arith::ExtFOp::create(b, reduce.getLoc(), wide, small->getResult(0)).getResult());
      reduce.erase();
    });
  }
};

} // namespace
