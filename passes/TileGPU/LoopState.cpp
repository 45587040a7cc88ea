// Matches the values that a loop carries, and merges them. A sum that is relative to a maximum is
// the denominator of an online softmax: each part has its own maximum m_p, so that
//
//   m = max of all m_p,   s = sum of s_p * exp(m_p - m)
//
// That holds only where all that is added is relative to the same maximum: exp(x - m') by itself,
// or times numbers that do not hang on m'. So every use of m and m' in the loop is accounted for.
#include "passes/TileGPU/LoopState.h"
#include "dialect/Tile/Accumulation.h"
#include "passes/Convert/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static bool mayRegroup(Operation *op) {
  auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(op);
  return math &&
         bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
}

/// The other operand of a commutative operation, if one is `operand`.
static Value getOther(Operation *op, Value operand) {
  if (op->getOperand(0) == operand)
    return op->getOperand(1);
  return op->getOperand(1) == operand ? op->getOperand(0) : Value();
}

static bool isSum(Value value) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == ReduceKind::Sum;
}

/// True if the additions of floats between the loop's carried value and the one that it yields may
/// be regrouped. getAccumulation() has seen that each is used by the next alone.
static bool addsInAnyOrder(scf::ForOp loop, unsigned index) {
  Value value = loop.getRegionIterArg(index);
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return true;
  while (value != loop.getYieldedValues()[index]) {
    auto add = dyn_cast<arith::AddFOp>(*value.getUsers().begin());
    if (!add || add->getBlock() != loop.getBody() ||
        !(mayRegroup(add) || isSum(getOther(add, value))))
      return false;
    value = add.getResult();
  }
  return true;
}

namespace {

/// Finds the sums that are relative to a maximum.
class RelativeSums {
public:
  explicit RelativeSums(scf::ForOp loop) : loop(loop) {}

  /// `m' = max(m, …)` from a finite start: a part that has seen only -inf then has a number to
  /// subtract.
  std::optional<CarriedState> matchMaximum(unsigned index) {
    Value carried = loop.getRegionIterArg(index), next = loop.getYieldedValues()[index];
    auto update = next.getDefiningOp<arith::MaximumFOp>();
    if (!update || !getOther(update, carried) || !isFinite(loop.getInitArgs()[index]) ||
        llvm::count(loop.getYieldedValues(), next) != 1)
      return std::nullopt;
    known.insert(update);
    return CarriedState{ReduceKind::Max, -1, nullptr, nullptr};
  }

  std::optional<CarriedState> matchSum(unsigned index, ArrayRef<std::optional<CarriedState>> all) {
    Value carried = loop.getRegionIterArg(index), next = loop.getYieldedValues()[index];
    auto add = next.getDefiningOp<arith::AddFOp>();
    if (!add || !mayRegroup(add) || !carried.hasOneUse() || !next.hasOneUse())
      return std::nullopt;
    auto scaled = dyn_cast<arith::MulFOp>(*carried.getUsers().begin());
    Value added = scaled ? getOther(add, scaled.getResult()) : Value();
    if (!added || !mayRegroup(scaled) || !scaled->hasOneUse() || !isSum(added))
      return std::nullopt;
    Operation *factor = getOther(scaled, carried).getDefiningOp();
    if (!isExponential(factor))
      return std::nullopt;
    auto change = factor->getOperand(0).getDefiningOp<arith::SubFOp>();
    for (auto [number, maximum] : llvm::enumerate(all)) {
      if (!change || !maximum || maximum->kind != ReduceKind::Max ||
          change.getLhs() != loop.getRegionIterArg(unsigned(number)) ||
          change.getRhs() != loop.getYieldedValues()[number] ||
          !isRelative(added.getDefiningOp<ReduceOp>().getSource(), change.getRhs()))
        continue;
      for (Operation *op : {add.getOperation(), scaled.getOperation(), factor,
                            change.getOperation(), added.getDefiningOp()})
        known.insert(op);
      return CarriedState{ReduceKind::Sum, int(number), change, factor};
    }
    return std::nullopt;
  }

  /// True if nothing but the matched operations sees a value that hangs on a maximum.
  bool isComplete(unsigned maximum) {
    auto isKnown = [&](Operation *user) {
      return known.contains(user) || user == loop.getBody()->getTerminator();
    };
    if (!llvm::all_of(loop.getRegionIterArg(maximum).getUsers(), isKnown))
      return false;
    return llvm::all_of(known,
                        [&](Operation *op) { return llvm::all_of(op->getUsers(), isKnown); });
  }

private:
  static bool isFinite(Value value) {
    Attribute found;
    if (!matchPattern(value, m_Constant(&found)))
      return false;
    if (auto splat = dyn_cast<SplatElementsAttr>(found))
      found = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(found);
    return number && number.getValue().isFinite();
  }

  static bool isExponential(Operation *op) {
    return isa_and_nonnull<math::ExpOp, math::Exp2Op>(op) && mayRegroup(op);
  }

  /// True for exp(x - m'), and for its product with numbers that do not hang on m'. Notes the
  /// operations on the way.
  bool isRelative(Value value, Value maximum) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody())
      return false;
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      // A second factor that hangs on m' has an operation on the way that is not known, or is
      // relative itself: a product of two has the square of the factor.
      bool left = isRelative(product.getLhs(), maximum);
      bool right = isRelative(product.getRhs(), maximum);
      if (left == right || !mayRegroup(op))
        return false;
      known.insert(op);
      return true;
    }
    if (!isExponential(op))
      return false;
    auto difference = op->getOperand(0).getDefiningOp<arith::SubFOp>();
    if (!difference || !spreads(difference.getRhs(), maximum))
      return false;
    known.insert(op);
    known.insert(difference);
    return true;
  }

  /// True if each element of `value` is one of `maximum`, which rows may share.
  bool spreads(Value value, Value maximum) {
    if (value == maximum)
      return true;
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tensor::SplatOp, ReshapeOp, BroadcastOp>(op) ||
        !spreads(op->getOperand(0), maximum))
      return false;
    known.insert(op);
    return true;
  }

  scf::ForOp loop;
  llvm::SetVector<Operation *> known;
};

} // namespace

std::optional<SmallVector<CarriedState>> tile::gpu::findLoopState(scf::ForOp loop) {
  unsigned count = loop.getNumRegionIterArgs();
  SmallVector<std::optional<CarriedState>> found(count);
  SmallVector<unsigned> maxima; // that the loop reads
  RelativeSums relative(loop);
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ReduceKind> kind = getAccumulation(loop, i);
    if (kind && (*kind != ReduceKind::Sum || addsInAnyOrder(loop, i)))
      found[i] = CarriedState{*kind, -1, nullptr, nullptr};
    else if ((found[i] = relative.matchMaximum(i)))
      maxima.push_back(i);
  }
  for (unsigned i = 0; i < count; ++i)
    if (!found[i] && !(found[i] = relative.matchSum(i, found)))
      return std::nullopt;
  if (!llvm::all_of(maxima, [&](unsigned i) { return relative.isComplete(i); }))
    return std::nullopt;
  return llvm::map_to_vector(found, [](const auto &each) { return *each; });
}

SmallVector<Value> tile::gpu::mergeLoopStates(OpBuilder &b, Location loc,
                                              ArrayRef<CarriedState> state,
                                              ArrayRef<SmallVector<Value>> parts) {
  SmallVector<Value> merged(state.size());
  for (auto [i, each] : llvm::enumerate(state)) {
    if (each.maximum >= 0)
      continue;
    merged[i] = parts[0][i];
    for (const SmallVector<Value> &part : parts.drop_front())
      merged[i] = tile::combine(b, loc, each.kind, merged[i], part[i]);
  }
  for (auto [i, each] : llvm::enumerate(state)) {
    if (each.maximum < 0)
      continue;
    auto place = size_t(each.maximum);
    for (const SmallVector<Value> &part : parts) {
      IRMapping values;
      values.map(each.change->getOperand(0), part[place]);
      values.map(each.change->getOperand(1), merged[place]);
      b.clone(*each.change, values);
      Value factor = b.clone(*each.factor, values)->getResult(0);
      Value scaled = arith::MulFOp::create(b, loc, part[i], factor);
      merged[i] = merged[i] ? Value(arith::AddFOp::create(b, loc, merged[i], scaled)) : scaled;
    }
  }
  return merged;
}
