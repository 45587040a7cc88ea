// Proof by substitution: each symbol of an expression is replaced by a bound in terms of earlier
// ones, till dimensions remain.
//
//   block i of 128 positions of x[M], on a grid of cdiv(M, 128), M % 128 == 0: does its last one
//   exist?
//
//     M - 1 - (128 i + 127)         >= 0 ?   the latest symbol is i, its coefficient negative
//     i <= M / 128 - 1                       so its upper bound goes in
//     M - 128 - 128 (M / 128 - 1)   = 0      proven
//
// Coefficients are fractions, so that M / 128 cancels exactly. Bounds name earlier symbols alone,
// hence this ends; a budget limits how many bounds of one symbol are tried.
#include "passes/Analysis/IndexBounds.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using Number = mlir::presburger::Fraction;

namespace tile {

Linear &Linear::operator+=(const Linear &other) {
  // Terms of coefficient 0 go, so that `terms.empty()` means a constant.
  constant = constant + other.constant;
  for (const auto &[symbol, coefficient] : other.terms) {
    Number sum = terms[symbol] + coefficient;
    if (sum == Number(0))
      terms.erase(symbol);
    else
      terms[symbol] = sum;
  }
  return *this;
}

Linear &Linear::operator*=(Number factor) {
  if (factor == Number(0))
    return *this = Linear(0);
  constant = constant * factor;
  for (auto &[symbol, coefficient] : terms)
    coefficient = coefficient * factor;
  return *this;
}

/// A constant that leaves room to compute with.
/// Two bits are left for sums and products of a few constants.
static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 62)
    return std::nullopt;
  return number.getSExtValue();
}

/// Order is what makes substitution end: a bound of a symbol names symbols of lower order alone.
IndexBounds::IndexBounds(KernelOp kernel, const DivisibilityAnalysis &divisibility)
    : kernel(kernel), divisibility(divisibility) {
  // Dimensions come first: they are what proofs end in. Then values in program order, the grid's
  // before the body's.
  unsigned order = 0;
  for (Attribute attr : kernel.getDims())
    dimOrders[cast<DimAttr>(attr).getName().str()] = order++;
  auto number = [&](Value value) { orders[value] = order++; };
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel)
      llvm::for_each(op->getResults(), number);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), number);
  });
}

/// For remarks: "this contract would help" is found by supposing it.
void IndexBounds::suppose(StringRef name, int64_t number) {
  supposedName = name.str();
  supposedNumber = number;
}

int64_t IndexBounds::getDivisor(Value value) {
  int64_t divisor = divisibility.getDivisor(value);
  if (auto dim = value.getDefiningOp<DimOp>();
      dim && dim.getDim().getName() == supposedName && divisor != 0)
    return std::lcm(divisor, supposedNumber);
  return divisor;
}

/// True if both divide one dimension by one constant.
static bool isSameQuotient(arith::CeilDivSIOp a, arith::CeilDivSIOp b) {
  auto dim = a.getLhs().getDefiningOp<DimOp>(), other = b.getLhs().getDefiningOp<DimOp>();
  std::optional<int64_t> divisor = constantOf(a.getRhs());
  return dim && other && dim.getDim() == other.getDim() && divisor &&
         divisor == constantOf(b.getRhs());
}

Linear::Symbol IndexBounds::symbolOf(Value value) {
  if (auto dim = value.getDefiningOp<DimOp>())
    return {dimOrders[dim.getDim().getName().str()], {}, dim.getDim()};
  // A number of blocks that the grid has too: `cdiv(M, BM) - 1 - i` is not negative.
  // Two values for one number: the grid's stands for both, or they would never cancel.
  if (auto blocks = value.getDefiningOp<arith::CeilDivSIOp>())
    for (auto same : kernel.getGrid().front().getOps<arith::CeilDivSIOp>())
      if (isSameQuotient(blocks, same))
        return {orders.lookup(same.getResult()), same.getResult(), {}};
  return {orders.lookup(value), value, {}};
}

/// Only exact identities are opened up. All else is a symbol, of which boundsOf may know something.
Linear IndexBounds::linear(Value value) {
  if (auto constant = constantOf(value))
    return Linear(*constant);
  if (value.getType().isIndex()) { // narrower arithmetic may wrap around
    if (auto add = value.getDefiningOp<arith::AddIOp>())
      return linear(add.getLhs()) + linear(add.getRhs());
    if (auto sub = value.getDefiningOp<arith::SubIOp>())
      return linear(sub.getLhs()) - linear(sub.getRhs());
    if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
      if (auto factor = constantOf(mul.getRhs()))
        return linear(mul.getLhs()) * Number(*factor);
      if (auto factor = constantOf(mul.getLhs()))
        return linear(mul.getRhs()) * Number(*factor);
    }
    if (auto shift = value.getDefiningOp<arith::ShLIOp>())
      if (auto amount = constantOf(shift.getRhs()); amount && *amount >= 0 && *amount < 31)
        return linear(shift.getLhs()) * Number(int64_t(1) << *amount);
    // An exact division is a multiplication.
    if (isa_and_nonnull<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                        arith::FloorDivSIOp>(value.getDefiningOp())) {
      auto divisor = constantOf(value.getDefiningOp()->getOperand(1));
      Value dividend = value.getDefiningOp()->getOperand(0);
      if (divisor && *divisor > 0 && getDivisor(dividend) % *divisor == 0)
        return linear(dividend) * Number(1, *divisor);
    }
  }
  return Linear(symbolOf(value));
}

/// Bounds of dividend / divisor: exactly so if rounded toward zero and never negative.
/// dividend / divisor rounded up lies in [exact, exact + (d - 1) / d], rounded down in [exact - (d
/// - 1) / d, exact].
SmallVector<Linear> IndexBounds::boundsOfQuotient(Value dividend, int64_t divisor, bool roundsUp,
                                                  bool upper) {
  Linear exact = linear(dividend) * Number(1, divisor);
  Linear slack = Linear(divisor - 1) * Number(1, divisor);
  if (upper)
    return {roundsUp ? exact + slack : exact};
  return {roundsUp ? exact : exact - slack};
}

/// The largest value lower + i * step below the limit.
SmallVector<Linear> IndexBounds::lastBefore(Value limit, Value lower, int64_t step) {
  // Where limit and start are multiples of the step, the last value is limit - step; else limit - 1
  // is all that is known.
  if (std::gcd(getDivisor(limit), lower ? getDivisor(lower) : 0) % step == 0)
    return {linear(limit) - Linear(step)};
  return {linear(limit) - Linear(1)};
}

/// The bound that MLIR's range analysis finds. It runs when first asked: most proofs need no more
/// than the kernel's structure.
std::optional<int64_t> IndexBounds::rangeBound(Value value, bool upper) {
  if (!ranges) {
    ranges = std::make_unique<DataFlowSolver>();
    dataflow::loadBaselineAnalyses(*ranges);
    ranges->load<dataflow::IntegerRangeAnalysis>();
    (void)ranges->initializeAndRun(kernel); // without ranges there are only fewer facts
  }
  const auto *range = ranges->lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!range || range->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &known = range->getValue().getValue();
  APInt bound = upper ? known.smax() : known.smin();
  if (bound.getSignificantBits() > 62) // the type's own limits teach nothing
    return std::nullopt;
  return bound.getSExtValue();
}

/// The end of a dimension's range, drawn in to a multiple of what divides the dimension.
/// The range's ends need not be multiples; no launch has a dimension between the end and the last
/// multiple.
Linear IndexBounds::dimBound(DimAttr dim, bool upper) const {
  int64_t multiple = std::max<int64_t>(dim.getMultipleOf(), 1);
  if (dim.getName() == supposedName)
    multiple = std::lcm(multiple, supposedNumber);
  if (upper)
    return dim.getMax() < 0 ? dim.getMax() : dim.getMax() / multiple * multiple;
  return dim.getMin() <= 0 ? dim.getMin() : (dim.getMin() - 1) / multiple * multiple + multiple;
}

/// A `for` that may be left early is a `while` with a counter: in its body, while counter < limit,
/// which starts at `low` and advances by a constant.
struct Counter {
  Value low, limit;
  int64_t step;
};
static std::optional<Counter> counterOf(BlockArgument argument) {
  auto loop = dyn_cast_or_null<scf::WhileOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getOwner() != loop.getAfterBody())
    return std::nullopt;
  auto tested = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[argument.getArgNumber()]);
  if (!tested || tested.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  auto next = loop.getYieldOp()->getOperand(tested.getArgNumber()).getDefiningOp<arith::AddIOp>();
  if (!next || next.getLhs() != argument)
    return std::nullopt;
  auto step = constantOf(next.getRhs());
  if (!step || *step <= 0)
    return std::nullopt;
  SmallVector<Value> conditions = {loop.getConditionOp().getCondition()};
  while (!conditions.empty()) {
    Operation *condition = conditions.pop_back_val().getDefiningOp();
    if (auto both = dyn_cast_or_null<arith::AndIOp>(condition))
      conditions.append({both.getLhs(), both.getRhs()});
    auto compare = dyn_cast_or_null<arith::CmpIOp>(condition);
    // A limit that the loop computes anew in each trip bounds nothing.
    if (compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
        compare.getLhs() == tested &&
        !loop.getBefore().isAncestor(compare.getRhs().getParentRegion()))
      return Counter{loop.getInits()[tested.getArgNumber()], compare.getRhs(), *step};
  }
  return std::nullopt;
}

/// Alternative bounds, each right for itself, in terms of symbols of lower order.
SmallVector<Linear> IndexBounds::boundsOf(Linear::Symbol symbol, bool upper) {
  if (symbol.dim)
    return {dimBound(symbol.dim, upper)};
  Value value = symbol.value;
  SmallVector<Linear> bounds;
  Operation *op = value.getDefiningOp();
  // 0 <= i <= extent - 1, since a program that runs has a number in the grid.
  if (auto id = dyn_cast_or_null<ProgramIdOp>(op)) {
    Value extent = kernel.getGrid().front().getTerminator()->getOperand(id.getAxis());
    bounds = upper ? lastBefore(extent, {}, 1) : SmallVector<Linear>{Linear(0)};
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    // Inside of its own loop: at least one trip is made there, so that lower <= i < upper.
    if (loop && argument == loop.getInductionVar())
      if (auto step = constantOf(loop.getStep()); step && *step > 0)
        bounds = upper ? lastBefore(loop.getUpperBound(), loop.getLowerBound(), *step)
                       : SmallVector<Linear>{linear(loop.getLowerBound())};
    // A step beyond 1 must not pass the end of 64 bits.
    auto isFar = [&](Value limit) {
      return !isNonNegative(Linear(int64_t(1) << 61) - linear(limit));
    };
    if (auto counter = counterOf(argument);
        counter && (counter->step == 1 || !isFar(counter->limit)))
      bounds = upper ? lastBefore(counter->limit, counter->low, counter->step)
                     : SmallVector<Linear>{linear(counter->low)};
  } else if (isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op)) {
    // A minimum is bounded from above by both operands, a maximum from below.
    if (isa<arith::MinSIOp>(op) == upper)
      bounds = {linear(op->getOperand(0)), linear(op->getOperand(1))};
  } else if (isa_and_nonnull<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op)) {
    auto divisor = constantOf(op->getOperand(1));
    bool flooring = isa<arith::FloorDivSIOp>(op), roundsUp = isa<arith::CeilDivSIOp>(op);
    // Truncation rounds toward zero: for negative numbers up, hence the question.
    if (divisor && *divisor > 0 &&
        (flooring || roundsUp || isNonNegative(linear(op->getOperand(0)))))
      bounds = boundsOfQuotient(op->getOperand(0), *divisor, roundsUp, upper);
  } else if (isa_and_nonnull<arith::RemSIOp>(op)) {
    auto divisor = constantOf(op->getOperand(1));
    if (divisor && *divisor > 0 && isNonNegative(linear(op->getOperand(0))))
      bounds = upper ? SmallVector<Linear>{Linear(*divisor - 1), linear(op->getOperand(0))}
                     : SmallVector<Linear>{Linear(0)};
  }
  if (bounds.empty())
    if (auto bound = rangeBound(value, upper))
      bounds.push_back(Linear(*bound));
  return bounds;
}

/// Whether expression > 0, replacing symbols from the latest back. `budget` bounds the alternatives
/// tried.
bool IndexBounds::isPositive(Linear expression, unsigned budget) {
  if (expression.terms.empty())
    return expression.constant > Number(0);
  if (budget == 0)
    return false;
  // The latest symbol goes first: its bounds bring earlier ones only.
  auto [symbol, coefficient] = *expression.terms.rbegin();
  Number factor = coefficient;
  expression.terms.erase(symbol);
  for (const Linear &bound : boundsOf(symbol, /*upper=*/factor < Number(0)))
    if (isPositive(expression + bound * factor, budget - 1))
      return true;
  return false;
}

/// Eight substitutions: deeper chains of minima and loops than that are taken as unproven.
bool IndexBounds::isNonNegative(const Linear &expression) {
  return isPositive(expression + Linear(1), 8);
}

bool IndexBounds::isNonNegative(Value value) {
  return isNonNegative(linear(value)) || rangeBound(value, /*upper=*/false).value_or(-1) >= 0;
}

/// Of a view as the program sees it; none where clamping or an index out of bounds may change it.
std::optional<Linear> IndexBounds::extent(Value view, unsigned dim) {
  int64_t known = cast<ViewType>(view.getType()).getShape()[dim];
  if (auto made = view.getDefiningOp<ViewOp>())
    return !ShapedType::isDynamic(known) ? Linear(known) : linear(made.getExtents()[dim]);
  if (auto permute = view.getDefiningOp<PermuteViewOp>())
    return extent(permute.getSource(), permute.getPermutation()[dim]);
  auto subview = view.getDefiningOp<SubviewOp>();
  if (!subview)
    return std::nullopt;
  std::optional<Linear> result;
  unsigned index = 0, slice = 0, kept = 0;
  for (unsigned d = 0; d < subview.getKinds().size(); ++d) {
    SubscriptKind kind = subview.getKind(d);
    if (kind == SubscriptKind::All) {
      if (kept++ == dim)
        result = extent(subview.getSource(), d);
      continue;
    }
    std::optional<Linear> whole = extent(subview.getSource(), d);
    if (kind == SubscriptKind::Index) {
      // An index out of bounds would empty every dimension.
      Linear at = linear(subview.getIndices()[index++]);
      if (!whole || !isNonNegative(at) || !isNonNegative(*whole - at - Linear(1)))
        return std::nullopt;
      continue;
    }
    Linear low = linear(subview.getLows()[slice]), high = linear(subview.getHighs()[slice]);
    ++slice;
    // Unclamped only if 0 <= low <= high <= extent.
    if (kept++ == dim && whole && isNonNegative(low) && isNonNegative(high - low) &&
        isNonNegative(*whole - high))
      result = high - low;
  }
  return result;
}

/// The whole reach of the access: first and last position against 0, the extent and the access's
/// own end.
bool IndexBounds::isInBounds(Value view, unsigned dim, Value start, int64_t size, int64_t step,
                             Value end) {
  if (size == 0)
    return true;
  std::optional<Linear> limit = extent(view, dim);
  if (!limit)
    return false;
  Linear first = linear(start), last = first;
  Linear span = Linear(size - 1) * Number(step);
  (step < 0 ? first : last) += span;
  return isNonNegative(first) && isNonNegative(*limit - last - Linear(1)) &&
         (!end || isNonNegative(linear(end) - last - Linear(1)));
}

} // namespace tile
