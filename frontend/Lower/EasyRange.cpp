// Ranges of integers by a look at their definitions, a few operations deep.
//
// A range is never too narrow, which code may rely on; it is the whole type where the look is too
// short. Used where a check can be left out (division, shifts), so it must be cheap: no analysis of
// the body, since the body is not finished when it is asked for.
#include "frontend/Lower/EasyRange.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tile;

using Bounds = std::pair<int64_t, int64_t>;

/// All that a type holds, read with a sign.
static Bounds rangeOfType(Type type) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return {llvm::minIntN(std::min(width, 64u)), llvm::maxIntN(std::min(width, 64u))};
}

static Bounds rangeOfConstant(arith::ConstantOp constant, Bounds any) {
  Attribute attr = constant.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return any;
  return {integer.getValue().getSExtValue(), integer.getValue().getSExtValue()};
}

/// Of results of index arithmetic, from the ranges of its operands.
/// Ends that overflow give the whole type, since the operation wraps.
static Bounds rangeOfArithmetic(Operation *op, Bounds a, Bounds b, Bounds any) {
  auto [aLow, aHigh] = a;
  auto [bLow, bHigh] = b;
  if (isa<arith::MinSIOp>(op))
    return {std::min(aLow, bLow), std::min(aHigh, bHigh)};
  if (isa<arith::MaxSIOp>(op))
    return {std::max(aLow, bLow), std::max(aHigh, bHigh)};
  int64_t low, high;
  if (isa<arith::AddIOp>(op) && !__builtin_add_overflow(aLow, bLow, &low) &&
      !__builtin_add_overflow(aHigh, bHigh, &high))
    return {low, high};
  if (isa<arith::SubIOp>(op) && !__builtin_sub_overflow(aLow, bHigh, &low) &&
      !__builtin_sub_overflow(aHigh, bLow, &high))
    return {low, high};
  if (isa<arith::MulIOp>(op)) {
    Bounds product{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (int64_t x : {aLow, aHigh})
      for (int64_t y : {bLow, bHigh}) {
        int64_t corner;
        if (__builtin_mul_overflow(x, y, &corner))
          return any;
        product = {std::min(product.first, corner), std::max(product.second, corner)};
      }
    return product;
  }
  // Of a divisor of both signs the quotient may be anything up to the dividend: see below.
  if (isa<arith::DivSIOp>(op) && aLow >= 0 && bLow > 0)
    return {aLow / bHigh, aHigh / bLow};
  if (isa<arith::CeilDivSIOp>(op) && aLow >= 0 && bLow > 0)
    return {aLow > 0 ? 1 : 0, aHigh};
  bool roundsUp = isa<arith::CeilDivSIOp>(op) && bLow > 0;
  if ((isa<arith::DivSIOp, arith::RemSIOp>(op) || roundsUp) && aLow > any.first) {
    // A quotient or remainder is no further from 0 than the dividend.
    int64_t farthest = std::max(std::abs(aLow), std::abs(aHigh));
    return {aLow >= 0 && isa<arith::RemSIOp>(op) ? 0 : -farthest, farthest};
  }
  return any;
}

/// Of a view's extent: at most what there is of the tensor.
static Bounds rangeOfExtent(Value view, unsigned dim, int depth) {
  Bounds any{0, std::numeric_limits<int64_t>::max()};
  while (depth-- > 0) {
    int64_t known = cast<ViewType>(view.getType()).getShape()[dim];
    if (!ShapedType::isDynamic(known))
      return {0, known};
    if (auto tensor = view.getDefiningOp<ViewOp>())
      return {0, std::max<int64_t>(0, easyRange(tensor.getExtents()[dim], depth).second)};
    if (auto permute = view.getDefiningOp<PermuteViewOp>()) {
      dim = permute.getPermutation()[dim];
      view = permute.getSource();
      continue;
    }
    auto part = view.getDefiningOp<SubviewOp>();
    if (!part)
      return any;
    unsigned source = 0; // the dimension of the source that is kept as `dim`
    for (unsigned kept = 0;; ++source)
      if (part.getKind(source) != SubscriptKind::Index && kept++ == dim)
        break;
    dim = source;
    view = part.getSource();
  }
  return any;
}

Bounds tile::easyRange(Value value, int depth) {
  Bounds any = rangeOfType(value.getType());
  if (depth == 0)
    return any;
  auto of = [&](Value operand) { return easyRange(operand, depth - 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return any;
    int64_t low = of(loop.getLowerBound()).first, end = of(loop.getUpperBound()).second;
    // An empty loop has no value of its variable: any range is right, but its ends stay in order.
    return {low, std::max(low, end == any.first ? end : end - 1)};
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return rangeOfConstant(constant, any);
  if (auto dim = dyn_cast<DimOp>(op))
    return {dim.getDim().getMin(), dim.getDim().getMax()};
  if (auto extent = dyn_cast<ExtentOp>(op))
    return rangeOfExtent(extent.getSource(), extent.getDim(), depth);
  if (isa<ProgramIdOp>(op))
    return {0, (int64_t(1) << 31) - 1};
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Bounds a = of(select.getTrueValue()), b = of(select.getFalseValue());
    return {std::min(a.first, b.first), std::max(a.second, b.second)};
  }
  if (isa<tensor::SplatOp, arith::ExtSIOp>(op))
    return of(op->getOperand(0));
  if (isa<arith::IndexCastOp, arith::TruncIOp>(op)) {
    Bounds source = of(op->getOperand(0));
    return source.first >= any.first && source.second <= any.second ? source : any;
  }
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op)) {
    Type from = getElementTypeOrSelf(op->getOperand(0).getType());
    if (!from.isInteger() || from.getIntOrFloatBitWidth() > 62)
      return any;
    Bounds source = of(op->getOperand(0));
    return source.first >= 0 ? source : Bounds{0, (int64_t(1) << from.getIntOrFloatBitWidth()) - 1};
  }
  if (op->getNumOperands() != 2 || !value.getType().isIndex())
    return any;
  return rangeOfArithmetic(op, of(op->getOperand(0)), of(op->getOperand(1)), any);
}
