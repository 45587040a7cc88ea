// See the header.
//
// A butterfly over pairs of lanes, as in the transforms of Hadamard and Fourier, comes from slices
// that are put side by side: each lane selects its two operands, computes both results, and selects
// its own. By the same bit, so in each arm of the last selection those before it are decided:
//
//   a = bit ? other : own         bit ? own - other : other + own
//   b = bit ? own : other    ->   and of a sum and a difference of the same two,
//   bit ? a - b : a + b           fma(b, bit ? -1 : 1, a): exact but for its one rounding
#include "passes/Convert/TileGPUToLLVM/LaneSelects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

/// Chains of operations longer than this are not followed.
constexpr unsigned mostSteps = 16;

/// The largest number that an integer, or an element of a vector, can be; all ones: nothing known.
static uint64_t getMost(Value value, unsigned depth = 0) {
  constexpr uint64_t unknown = ~uint64_t(0);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getZExtValue();
  Operation *op = value.getDefiningOp();
  if (!op || depth == mostSteps)
    return unknown;
  auto most = [&](unsigned i) { return getMost(op->getOperand(i), depth + 1); };
  if (isa<vector::BroadcastOp, arith::IndexCastOp>(op))
    return most(0);
  if (isa<vector::ShuffleOp>(op))
    return std::max(most(0), most(1));
  if (isa<arith::AndIOp>(op))
    return std::min(most(0), most(1));
  if (isa<arith::OrIOp, arith::AddIOp>(op))
    return most(0) == 0 ? most(1) : most(1) == 0 ? most(0) : unknown;
  if (isa<arith::ShRUIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return most(0) == unknown ? unknown : most(0) >> constant.getZExtValue();
  return unknown;
}

namespace {

/// A comparison that asks for one bit.
struct BitTest {
  Value bit;  // 0 or 1
  bool isSet; // true where it is 1
};

} // namespace

static std::optional<BitTest> getBitTest(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  APInt constant;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&constant)) || constant.ugt(1) ||
      getMost(compare.getLhs()) > 1)
    return std::nullopt;
  bool one = constant.isOne();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return BitTest{compare.getLhs(), one};
  case arith::CmpIPredicate::ne:
    return BitTest{compare.getLhs(), !one};
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return one ? std::optional(BitTest{compare.getLhs(), true}) : std::nullopt;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return one ? std::optional(BitTest{compare.getLhs(), false}) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// What `value` is where the bit is `set`.
static Value decide(Value value, Value bit, bool set) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto test = select ? getBitTest(select.getCondition()) : std::nullopt;
  if (!test || test->bit != bit)
    return value;
  return test->isSet == set ? select.getTrueValue() : select.getFalseValue();
}

/// True if both are computed in the same way; what other lanes hold is asked for by each use anew.
static bool isSame(Value a, Value b, unsigned depth = 0) {
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!left || !right || depth == mostSteps || left->getName() != right->getName() ||
      left->getBlock() != right->getBlock() || left->getNumResults() != 1 ||
      left->getResultTypes() != right->getResultTypes() || left->getNumRegions() ||
      !(isPure(left) || isa<NVVM::ShflOp>(left)) ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumOperands() != right->getNumOperands())
    return false;
  return llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSame(std::get<0>(pair), std::get<1>(pair), depth + 1);
  });
}

namespace {

/// left + right, or left - right.
struct Sum {
  Value left, right;
  bool isDifference;
};

} // namespace

static std::optional<Sum> getSum(Value value, Value bit, bool set) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddFOp, arith::SubFOp>(op) || !value.hasOneUse())
    return std::nullopt;
  return Sum{decide(op->getOperand(0), bit, set), decide(op->getOperand(1), bit, set),
             isa<arith::SubFOp>(op)};
}

/// A sum where the bit is 0 and a difference where it is 1, or the other way round, of the same two
/// values.
static Value makeSignedSum(arith::SelectOp select, BitTest test) {
  auto type = dyn_cast<VectorType>(select.getType());
  if (!type || !type.getElementType().isF32())
    return {};
  Value one = test.isSet ? select.getTrueValue() : select.getFalseValue(),
        zero = test.isSet ? select.getFalseValue() : select.getTrueValue();
  auto a = getSum(one, test.bit, true), b = getSum(zero, test.bit, false);
  if (!a || !b || a->isDifference == b->isDifference)
    return {};
  const Sum &difference = a->isDifference ? *a : *b;
  const Sum &sum = a->isDifference ? *b : *a;
  bool isAlike = isSame(difference.left, sum.left) && isSame(difference.right, sum.right);
  if (!isAlike && !(isSame(difference.left, sum.right) && isSame(difference.right, sum.left)))
    return {};
  OpBuilder builder(select);
  Location loc = select.getLoc();
  auto splat = [&](float x) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, builder.getF32FloatAttr(x)));
  };
  bool negatesIfTrue = test.isSet == a->isDifference;
  Value sign =
      arith::SelectOp::create(builder, loc, select.getCondition(), splat(negatesIfTrue ? -1 : 1),
                              splat(negatesIfTrue ? 1 : -1));
  auto flags =
      one.getDefiningOp<arith::ArithFastMathInterface>().getFastMathFlagsAttr().getValue() &
      zero.getDefiningOp<arith::ArithFastMathInterface>().getFastMathFlagsAttr().getValue();
  return math::FmaOp::create(builder, loc, difference.right, sign, difference.left, flags);
}

/// Drops what nobody asks for any more; exchanges too, which all lanes leave out together.
static void eraseUnused(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op) || (isa<NVVM::ShflOp>(op) && op->use_empty()))
      op->erase();
}

void tile::gpu::foldLaneSelects(func::FuncOp function) {
  SmallVector<arith::SelectOp> selects;
  function.walk([&](arith::SelectOp select) { selects.push_back(select); });
  bool changed = false;
  for (arith::SelectOp select : selects)
    if (std::optional<BitTest> test = getBitTest(select.getCondition()))
      if (Value made = makeSignedSum(select, *test)) {
        select.replaceAllUsesWith(made);
        changed = true;
      }
  if (changed)
    eraseUnused(function);
}
