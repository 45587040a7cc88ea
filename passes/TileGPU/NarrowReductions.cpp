// tile-gpu-narrow-reductions: reductions of widened numbers, taken before they are widened, or of
// as many bits as the result needs.
//
//   max(extf(x)), x of f16       ->   extf(max(x))                     two in one instruction
//   sum(index(b)), b of bools    ->   index(sum(i32(b)))               one redux for a warp
//
// Widening is exact and keeps order, so both are the same number; of sums of floats that would not
// be so. A sum of few small integers fits into 32 bits, as a count does.
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUNARROWREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The reduction's source, widened by `Cast`, or by one ahead of a reshape; null of others.
template <typename Cast> Cast getWidening(ReduceOp reduce, ReshapeOp reshape) {
  return (reshape ? reshape.getSource() : reduce.getSource()).getDefiningOp<Cast>();
}

/// `reduce` of `source`, which has the widened tile's shape, by its element type.
Value reduceNarrow(ReduceOp reduce, ReshapeOp reshape, Value source) {
  OpBuilder b(reduce);
  Type element = getElementTypeOrSelf(source), result = element;
  if (auto tile = dyn_cast<RankedTensorType>(reduce.getType()))
    result = tile.clone(element);
  if (reshape)
    source = ReshapeOp::create(b, reshape.getLoc(), reshape.getType().clone(element), source);
  IRMapping mapping;
  mapping.map(reduce.getSource(), source);
  Operation *small = b.clone(*reduce, mapping);
  small->getResult(0).setType(result);
  return small->getResult(0);
}

void narrowExtrema(ReduceOp reduce, ReshapeOp reshape) {
  auto widened = getWidening<arith::ExtFOp>(reduce, reshape);
  if (!widened)
    return;
  Type narrow = getElementTypeOrSelf(widened.getIn());
  if (!narrow.isF16() && !narrow.isBF16())
    return;
  Value small = reduceNarrow(reduce, reshape, widened.getIn());
  OpBuilder b(reduce);
  reduce.replaceAllUsesWith(
      arith::ExtFOp::create(b, reduce.getLoc(), reduce.getType(), small).getResult());
  reduce.erase();
}

/// True for a sum that a loop only adds to what it carries: tile-gpu-defer-row-sums takes it across
/// lanes once, behind the loop.
bool isRunningSum(ReduceOp reduce) {
  auto add = reduce->hasOneUse() ? dyn_cast<arith::AddIOp>(*reduce->user_begin()) : arith::AddIOp();
  return add && add->hasOneUse() && isa<scf::YieldOp>(*add->user_begin());
}

/// A sum of `index` or i64, of integers that were widened from so few bits that 32 hold the sum of
/// all of the tile.
void narrowSum(ReduceOp reduce, ReshapeOp reshape) {
  Type wide = getElementTypeOrSelf(reduce.getType());
  Operation *widened = (reshape ? reshape.getSource() : reduce.getSource()).getDefiningOp();
  if ((!wide.isIndex() && !wide.isInteger(64)) || !widened ||
      !isa<arith::IndexCastUIOp, arith::ExtUIOp, arith::IndexCastOp, arith::ExtSIOp>(widened) ||
      isRunningSum(reduce))
    return;
  bool isUnsigned = isa<arith::IndexCastUIOp, arith::ExtUIOp>(widened);
  Value source = widened->getOperand(0);
  auto narrow = cast<RankedTensorType>(source.getType());
  if (narrow.getElementType().isIndex()) // narrower, as a cast of index to i64 is
    return;
  constexpr unsigned bits = 32;
  unsigned each = narrow.getElementTypeBitWidth();
  if (each + llvm::Log2_64_Ceil(narrow.getNumElements()) >= bits)
    return;
  OpBuilder b(reduce);
  Location loc = reduce.getLoc();
  RankedTensorType word = narrow.clone(b.getI32Type());
  source = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, word, source))
                      : arith::ExtSIOp::create(b, loc, word, source);
  Value sum = reduceNarrow(reduce, reshape, source);
  Type type = reduce.getType();
  if (wide.isIndex())
    sum = isUnsigned ? Value(arith::IndexCastUIOp::create(b, loc, type, sum))
                     : arith::IndexCastOp::create(b, loc, type, sum);
  else
    sum = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, type, sum))
                     : arith::ExtSIOp::create(b, loc, type, sum);
  reduce.replaceAllUsesWith(sum);
  reduce.erase();
}

struct TileGPUNarrowReductions : tile::impl::TileGPUNarrowReductionsBase<TileGPUNarrowReductions> {
  void runOnOperation() override {
    getOperation().walk([](ReduceOp reduce) {
      auto reshape = reduce.getSource().getDefiningOp<ReshapeOp>();
      if (reduce.getKind() == ReduceKind::Max || reduce.getKind() == ReduceKind::Min)
        narrowExtrema(reduce, reshape);
      else if (reduce.getKind() == ReduceKind::Sum)
        narrowSum(reduce, reshape);
    });
  }
};

} // namespace
