// The lattice of the padding lint: joins, element-wise operations, what reductions take no notice
// of.
#include "passes/Analysis/PaddingLanes.h"
#include "passes/Analysis/PaddingValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::padding;

/// True if no element is below 0.
/// To tell harmless zeros ahead of a maximum: exp and squares are never below 0. False means
/// unknown.
static bool isNonNegative(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 6)
    return false;
  if (isa<math::AbsFOp, math::ExpOp, math::Exp2Op, math::SqrtOp>(op))
    return true;
  if (auto product = dyn_cast<arith::MulFOp>(op))
    return product.getLhs() == product.getRhs();
  if (auto largest = dyn_cast<arith::MaximumFOp>(op)) {
    std::optional<double> a = getUniform(largest.getLhs()), b = getUniform(largest.getRhs());
    return (a && *a >= 0) || (b && *b >= 0);
  }
  if (isConversion(op) || isa<BroadcastOp, ReshapeOp, PermuteOp>(op))
    return isNonNegative(op->getOperand(0), depth + 1);
  return false;
}

/// Join in the lattice's order: Exist below, one Constant above, Unknown at the top.
///
///                  Unknown
///       Constant 0  Constant 1  ...      different ones join to Unknown
///                  Exist
Lanes padding::join(const Lanes &a, const Lanes &b) {
  if (a.kind == Lanes::Exist || b.kind == Lanes::Exist)
    return a.kind == Lanes::Exist ? b : a;
  // Of two loads the first is named in a message; which one is arbitrary but always the same.
  Lanes result = a.load ? a : b;
  result.direct = a.direct && b.direct;
  if (a.kind == Lanes::Unknown || b.kind == Lanes::Unknown || a.value != b.value)
    result.kind = Lanes::Unknown;
  return result;
}

static Lanes constant(double value) {
  Lanes lanes;
  lanes.kind = Lanes::Constant;
  lanes.value = value;
  return lanes;
}

/// Products by factors too: an accumulator that is rescaled in each trip is carried all the same.
bool padding::isCarried(Value value, unsigned depth) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<scf::ForOp>(argument.getOwner()->getParentOp());
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && depth < 4 &&
         (isCarried(product.getLhs(), depth + 1) || isCarried(product.getRhs(), depth + 1));
}

static bool isNeutral(Operation *op, const Operand &x) {
  if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op))
    return x.is(0);
  constexpr double far = 6.0e4; // below the lowest of any float
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return x.kind == Operand::Constant && x.value <= -far;
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return x.kind == Operand::Constant && x.value >= far;
  return false;
}

/// Silence is preferred to a false alarm: where a program decides by a comparison or a select, it
/// has thought of padding.
Lanes padding::evaluate(Operation *op, ArrayRef<Operand> x) {
  Lanes unknown;
  unknown.kind = Lanes::Unknown;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (x[0].kind == Operand::Constant) {
      const Operand &taken = x[0].value != 0 ? x[1] : x[2];
      return taken.kind == Operand::Constant ? constant(taken.value)
             : taken.kind == Operand::Real   ? Lanes()
                                             : unknown;
    }
    // A constant branch is there to take the place of what does not count.
    if (std::optional<double> c = getUniform(select.getFalseValue()))
      return constant(*c);
    if (std::optional<double> c = getUniform(select.getTrueValue()))
      return constant(*c);
    bool same = x[1].kind == Operand::Constant && x[2].is(x[1].value);
    return same ? constant(x[1].value) : unknown;
  }
  if (llvm::all_of(x, [](const Operand &o) { return o.kind == Operand::Constant; })) {
    SmallVector<double> values;
    for (const Operand &operand : x)
      values.push_back(operand.value);
    std::optional<double> folded = fold(op, values);
    return folded ? constant(*folded) : unknown;
  }
  bool anyUnknown = llvm::any_of(x, [](const Operand &o) { return o.kind == Operand::Unknown; });
  // Comparisons of real lanes with padding are taken for decisions.
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return Lanes();
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op) && (x[0].is(0) || x[1].is(0)))
    return constant(0);
  if (isa<arith::DivFOp>(op) && x[0].is(0) && x[1].kind == Operand::Real)
    return constant(0);
  if (isa<arith::AddFOp, arith::SubFOp>(op) && !anyUnknown)
    for (unsigned i : {0, 1})
      if (x[i].kind == Operand::Constant && std::isinf(x[i].value))
        return constant(i == 1 && isa<arith::SubFOp>(op) ? -x[i].value : x[i].value);
  // Scaled, an infinity stays one; the sign of a factor is mostly known to who wrote it.
  if (isa<arith::MulFOp, arith::DivFOp>(op) && !anyUnknown)
    for (unsigned i = 0; i < (isa<arith::DivFOp>(op) ? 1u : 2u); ++i)
      if (x[i].kind == Operand::Constant && std::isinf(x[i].value))
        return constant(x[i].value);
  // Adding the identity element leaves an accumulator's lanes as they are.
  for (unsigned i : {0, 1})
    if (op->getNumOperands() == 2 && isCarried(op->getOperand(i)) && x[i].kind == Operand::Real &&
        isNeutral(op, x[1 - i]))
      return Lanes();
  if (isa<math::FmaOp>(op) && (x[0].is(0) || x[1].is(0)) && isCarried(op->getOperand(2)))
    return Lanes();
  return unknown;
}

bool padding::isHarmless(ReduceKind kind, const Lanes &lanes, Value source) {
  if (lanes.kind != Lanes::Constant)
    return lanes.kind == Lanes::Exist;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(source));
  // 127 is what the lowest and highest of i8 reach.
  double far = isFloat ? 6.0e4 : 127;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
  case ReduceKind::MaxUnsigned:
    return lanes.value == 0;
  case ReduceKind::Prod:
    return lanes.value == 1;
  case ReduceKind::And:
  case ReduceKind::MinUnsigned:
    return lanes.value != 0;
  case ReduceKind::Max:
    return lanes.value <= -far || (lanes.value == 0 && isNonNegative(source));
  case ReduceKind::Min:
    return lanes.value >= far;
  }
  return true;
}
