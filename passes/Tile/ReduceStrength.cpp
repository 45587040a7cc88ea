// tile-reduce-strength: cheaper float arithmetic where one operand is the same along a row, as far
// as fp(...) permits.
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_REDUCESTRENGTH
#include "passes/Passes.h.inc"

/// The source that a tile repeats: the scalar of a splat, the smaller tile of a broadcast. Null if
/// it repeats nothing.
static Value getRepeated(Value tile) {
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    return broadcast.getSource();
  return {};
}

/// `value`, which took the place of what `like` repeats, repeated in the same way.
static Value repeatLike(OpBuilder &b, Location loc, Value like, Value value) {
  if (like.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, like.getType(), value);
  return BroadcastOp::create(b, loc, like.getType(), value);
}

/// A constant of a float type or of a tile of one.
static Value constantLike(OpBuilder &b, Location loc, Type type, const llvm::APFloat &number) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), number);
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tile, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

static Value constantLike(OpBuilder &b, Location loc, Type type, double number) {
  llvm::APFloat exact(number);
  bool inexact;
  exact.convert(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(),
                llvm::APFloat::rmNearestTiesToEven, &inexact);
  return constantLike(b, loc, type, exact);
}

/// x / d with d the same along a row: x times one reciprocal.
/// Needs `arcp`: x times the rounded reciprocal differs from the quotient by an ulp or two.
static LogicalResult shareReciprocal(arith::DivFOp op, PatternRewriter &rewriter) {
  using Flags = arith::FastMathFlags;
  Value divisor = getRepeated(op.getRhs());
  Type element = getElementTypeOrSelf(op.getType());
  if (!divisor || !bitEnumContainsAll(op.getFastmath(), Flags::arcp) ||
      !(element.isF32() || element.isF64()))
    return failure();
  Location loc = op.getLoc();
  Value one = constantLike(rewriter, loc, divisor.getType(), 1.0);
  Value reciprocal = arith::DivFOp::create(rewriter, loc, one, divisor, op.getFastmath());
  Value repeated = repeatLike(rewriter, loc, op.getRhs(), reciprocal);
  rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), repeated, op.getFastmathAttr());
  return success();
}

/// exp(x - t) with t the same along a row: exp2(x log2(e) - t log2(e)), where the first product and
/// the difference fuse.
/// One fused operation in the place of a subtraction and a product: on a GPU ex2.approx takes a
/// power of two, and the factor of log2(e) for it would be one more instruction for each element.
///
///    x - t    then * log2(e), ex2        three for each element
///    fma(x, log2(e), -t * log2(e)), ex2  two, and one for each row
static LogicalResult foldScaleOfExp(mlir::math::ExpOp op, PatternRewriter &rewriter) {
  using Flags = arith::FastMathFlags;
  auto difference = op.getOperand().getDefiningOp<arith::SubFOp>();
  // The exponent must be free to differ by the rounding of two products, which `afn` and `reassoc`
  // say.
  if (!difference || !bitEnumContainsAll(op.getFastmath(), Flags::afn | Flags::reassoc) ||
      !bitEnumContainsAll(difference.getFastmath(), Flags::reassoc | Flags::contract))
    return failure();
  Value shift = getRepeated(difference.getRhs());
  Type type = op.getType();
  if (!shift || !getElementTypeOrSelf(type).isF32())
    return failure();
  Location loc = op.getLoc();
  constexpr double log2e = 1.4426950408889634;
  const llvm::fltSemantics &format = llvm::APFloat::IEEEsingle();
  // A finite shift stays finite: lowest(f32) is what running maxima start from, and then -inf minus
  // it is -inf. The lower bound also keeps the factor from being taken out of the difference again.
  Type small = shift.getType();
  Value product =
      arith::MulFOp::create(rewriter, loc, shift, constantLike(rewriter, loc, small, log2e));
  Value lowest =
      constantLike(rewriter, loc, small, llvm::APFloat::getLargest(format, /*Negative=*/true));
  Value finite = arith::MaximumFOp::create(rewriter, loc, product, lowest);
  // An infinite shift must stay infinite: -inf - -inf is NaN in both forms, and stays what the
  // program computes.
  Value infinity =
      constantLike(rewriter, loc, small, llvm::APFloat::getInf(format, /*Negative=*/true));
  Value isInfinite =
      arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OEQ, shift, infinity);
  Value bounded = arith::SelectOp::create(rewriter, loc, isInfinite, shift, finite);
  Value repeated = repeatLike(rewriter, loc, difference.getRhs(), bounded);
  Value scaled = arith::MulFOp::create(rewriter, loc, difference.getLhs(),
                                       constantLike(rewriter, loc, type, log2e), Flags::contract);
  Value exponent = arith::SubFOp::create(rewriter, loc, scaled, repeated, Flags::contract);
  rewriter.replaceOpWithNewOp<mlir::math::Exp2Op>(op, exponent, op.getFastmathAttr());
  return success();
}

namespace {
struct ReduceStrength : impl::ReduceStrengthBase<ReduceStrength> {
  using ReduceStrengthBase::ReduceStrengthBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(shareReciprocal);
    patterns.add(foldScaleOfExp);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation()->emitError("strength reduction did not come to an end");
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace tile
