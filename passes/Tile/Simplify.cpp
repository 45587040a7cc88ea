// tile-simplify: removes tile operations that say nothing, and those whose outcome is known.
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/Passes.h.inc"

/// The scalar that fills the tile, if one is known to.
static Value splatOf(Value tile) {
  auto splat = tile.getDefiningOp<tensor::SplatOp>();
  return splat ? splat.getInput() : Value();
}

/// The value of a bool scalar, or of every element of a bool tile, if it is a known constant.
/// A tile counts only if all its elements are equal: known at compile time, or a splat of a known
/// scalar.
static std::optional<bool> constantBool(Value value) {
  Attribute attr;
  if (!value || !matchPattern(value, m_Constant(&attr))) {
    if (Value scalar = value ? splatOf(value) : Value())
      return constantBool(scalar);
    return std::nullopt;
  }
  if (auto elements = dyn_cast<SplatElementsAttr>(attr))
    return elements.getSplatValue<bool>();
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getValue().getBoolValue();
  return std::nullopt;
}

/// `scalar` as a value of `type`: itself, or a tile full of it.
static Value fill(OpBuilder &builder, Location loc, Type type, Value scalar) {
  if (isa<RankedTensorType>(type))
    return tensor::SplatOp::create(builder, loc, type, scalar).getResult();
  return scalar;
}

/// permute(permute(x, p), q) = permute(x, i -> p[q[i]]); the identity is x.
static LogicalResult mergePermutes(PermuteOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<PermuteOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> composed;
  bool identity = true;
  for (auto [i, q] : llvm::enumerate(op.getPermutation())) {
    composed.push_back(inner.getPermutation()[q]);
    identity &= composed.back() == int64_t(i);
  }
  if (identity)
    rewriter.replaceOp(op, inner.getSource());
  else
    rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), inner.getSource(),
                                           rewriter.getDenseI64ArrayAttr(composed));
  return success();
}

static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  if (inner.getSource().getType() == op.getType())
    rewriter.replaceOp(op, inner.getSource());
  else
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSource());
  return success();
}

/// Broadcasting aligns at the right both times, so the intermediate shape does not matter.
static LogicalResult mergeBroadcasts(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSource());
  return success();
}

/// Moving equal elements about gives a splat of another shape.
/// True of permutations, reshapes and broadcasts alike, as each element of the result is one of the
/// source.
template <typename Op> static LogicalResult moveSplat(Op op, PatternRewriter &rewriter) {
  Value scalar = splatOf(op.getSource());
  if (!scalar)
    return failure();
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, op.getType(), scalar);
  return success();
}

/// Positions that lie in bounds are inside.
static LogicalResult foldInside(InsideOp op, PatternRewriter &rewriter) {
  if (!op.allInBounds())
    return failure();
  Value yes = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 1);
  rewriter.replaceOp(op, fill(rewriter, op.getLoc(), op.getType(), yes));
  return success();
}

/// A load that nothing passes is padding; a mask that passes everything is none.
/// The operand goes, not only its value: an access without a mask may be vectorised and copied by
/// TMA.
template <typename Op> static LogicalResult simplifyLoad(Op op, PatternRewriter &rewriter) {
  std::optional<bool> mask = constantBool(op.getMask());
  if (!mask)
    return failure();
  if (*mask)
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  else
    rewriter.replaceOp(op, fill(rewriter, op.getLoc(), op.getType(), op.getPad()));
  return success();
}

template <typename Op> static LogicalResult simplifyStore(Op op, PatternRewriter &rewriter) {
  std::optional<bool> mask = constantBool(op.getMask());
  if (!mask)
    return failure();
  if (*mask)
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  else
    rewriter.eraseOp(op);
  return success();
}

/// An atomic that touches nothing gives zeros.
static LogicalResult simplifyAtomic(AtomicOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = constantBool(op.getMask());
  if (!mask ||
      (!*mask && op.getOrder() != MemoryOrder::Relaxed)) // one that orders stays: it still does
    return failure();
  if (*mask) {
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
  Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                         rewriter.getZeroAttr(getElementTypeOrSelf(op.getType())));
  rewriter.replaceOp(op, fill(rewriter, op.getLoc(), op.getType(), zero));
  return success();
}

/// A whole table whose elements grow by one number is computed: 0, 4, 8, 12.
static LogicalResult computeTable(LookupOp op, PatternRewriter &rewriter) {
  auto iota = op.getPosition().getDefiningOp<IotaOp>();
  auto table = cast<DenseElementsAttr>(op.getTable());
  auto element = dyn_cast<IntegerType>(table.getElementType());
  if (!iota || iota.getStep() != 1 || !matchPattern(iota.getStart(), m_Zero()) || !element ||
      element.isInteger(1) || iota.getType().getNumElements() != table.getNumElements() ||
      table.getNumElements() < 2)
    return failure();
  SmallVector<APInt> values(table.getValues<APInt>());
  APInt step = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step)
      return failure();
  Location loc = op.getLoc();
  Value start = arith::ConstantIndexOp::create(rewriter, loc, values[0].getSExtValue());
  Value positions = IotaOp::create(rewriter, loc, iota.getType(), start,
                                   rewriter.getI64IntegerAttr(step.getSExtValue()));
  rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, op.getType(), positions);
  return success();
}

/// Some of a line of positions are such a line, too.
static LogicalResult computeSlice(tensor::ExtractSliceOp op, PatternRewriter &rewriter) {
  auto iota = op.getSource().getDefiningOp<IotaOp>();
  auto type = op.getResultType();
  if (!iota || type.getRank() != 1 || ShapedType::isDynamic(op.getStaticOffset(0)) ||
      ShapedType::isDynamic(op.getStaticStride(0)))
    return failure();
  Location loc = op.getLoc();
  Value distance =
      arith::ConstantIndexOp::create(rewriter, loc, op.getStaticOffset(0) * iota.getStep());
  Value start = arith::AddIOp::create(rewriter, loc, iota.getStart(), distance);
  rewriter.replaceOpWithNewOp<IotaOp>(
      op, type, start, rewriter.getI64IntegerAttr(op.getStaticStride(0) * iota.getStep()));
  return success();
}

/// One of a line of positions is computed.
static LogicalResult computePosition(tensor::ExtractOp op, PatternRewriter &rewriter) {
  auto iota = op.getTensor().getDefiningOp<IotaOp>();
  if (!iota || op.getIndices().size() != 1)
    return failure();
  Location loc = op.getLoc();
  Value step = arith::ConstantIndexOp::create(rewriter, loc, iota.getStep()),
        distance = arith::MulIOp::create(rewriter, loc, op.getIndices()[0], step);
  rewriter.replaceOpWithNewOp<arith::AddIOp>(op, iota.getStart(), distance);
  return success();
}

/// A comparison of a table's elements with a constant whose outcome is the same for all of them: a
/// shift by one of a table is none by the width or more.
static LogicalResult decideComparison(arith::CmpIOp op, PatternRewriter &rewriter) {
  Value tile = op.getLhs();
  while (Operation *moved = tile.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp, PermuteOp>(moved))
      break;
    tile = moved->getOperand(0);
  }
  auto lookup = tile.getDefiningOp<LookupOp>();
  APInt bound;
  if (!lookup || !matchPattern(op.getRhs(), m_ConstantInt(&bound)))
    return failure();
  std::optional<bool> outcome;
  for (const APInt &value : cast<DenseElementsAttr>(lookup.getTable()).getValues<APInt>()) {
    bool here = arith::applyCmpPredicate(op.getPredicate(), value, bound);
    if (outcome.value_or(here) != here)
      return failure();
    outcome = here;
  }
  Value scalar = arith::ConstantIntOp::create(rewriter, op.getLoc(), *outcome, 1);
  rewriter.replaceOp(op, fill(rewriter, op.getLoc(), op.getType(), scalar));
  return success();
}

/// An integer that becomes a float without rounding, and then a wider one, becomes that at once:
/// weights of a few bits by way of bf16. The float between is used nowhere else.
static LogicalResult widenInteger(arith::ExtFOp op, PatternRewriter &rewriter) {
  auto reshape = op.getIn().getDefiningOp<ReshapeOp>();
  Operation *cast = (reshape ? reshape.getSource() : op.getIn()).getDefiningOp();
  if (!isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(cast) || !cast->hasOneUse() ||
      (reshape && !reshape->hasOneUse()))
    return failure();
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(cast->getOperand(0).getType()));
  auto narrow = cast_or_null<FloatType>(getElementTypeOrSelf(cast->getResult(0).getType()));
  auto wide = cast_or_null<FloatType>(getElementTypeOrSelf(op.getType()));
  // The least number of a signed type is a power of two, which takes one bit.
  unsigned digits = integer ? integer.getWidth() - isa<arith::SIToFPOp>(cast) : 0;
  const llvm::fltSemantics &format = narrow.getFloatSemantics();
  if (!integer || digits > llvm::APFloat::semanticsPrecision(format) ||
      int(digits) > llvm::APFloat::semanticsMaxExponent(format))
    return failure();
  Type type = wide;
  if (auto tile = dyn_cast<RankedTensorType>(cast->getResult(0).getType()))
    type = tile.clone(wide);
  Value value =
      isa<arith::SIToFPOp>(cast)
          ? Value(arith::SIToFPOp::create(rewriter, cast->getLoc(), type, cast->getOperand(0)))
          : arith::UIToFPOp::create(rewriter, cast->getLoc(), type, cast->getOperand(0));
  if (reshape)
    value = ReshapeOp::create(rewriter, reshape.getLoc(), op.getType(), value);
  rewriter.replaceOp(op, value);
  return success();
}

namespace {
struct Simplify : impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(mergePermutes);
    patterns.add(mergeReshapes);
    patterns.add(mergeBroadcasts);
    patterns.add(moveSplat<PermuteOp>);
    patterns.add(moveSplat<ReshapeOp>);
    patterns.add(moveSplat<BroadcastOp>);
    patterns.add(foldInside);
    patterns.add(simplifyLoad<LoadOp>);
    patterns.add(simplifyLoad<GatherOp>);
    patterns.add(simplifyStore<StoreOp>);
    patterns.add(simplifyStore<ScatterOp>);
    patterns.add(simplifyAtomic);
    patterns.add(computeTable);
    patterns.add(computeSlice);
    patterns.add(computePosition);
    patterns.add(decideComparison);
    patterns.add(widenInteger);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation()->emitError("simplification of tile operations did not come to an end");
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace tile
