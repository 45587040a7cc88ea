// Division of f32 vectors on the GPU, correctly rounded, without a branch for each element.
//
// ptxas expands div.rn.f32 to a reciprocal, five products and fused operations, a test and a branch
// to code for operands out of the ordinary: divisions run one after another, each as long as its
// chain takes. Here the elements of a group run side by side, and one branch of all leads to that
// instruction. Elements that are divided by the same value share its reciprocal.
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Convert/MathFunctions.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tile::math {

/// Elements that share a branch: operands and results of all stay in registers until it.
static constexpr int64_t groupSize = 8;

static bool isOne(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         constant.getSplatValue<APFloat>().isExactlyValue(1.0);
}

/// The reciprocal, right to an ulp, of each element.
static Number approximateReciprocal(Number x) {
  ImplicitLocOpBuilder &b = x.at();
  auto one = [&](Value element) -> Value {
    return NVVM::RcpApproxFtzF32Op::create(b, b.getF32Type(), element).getResult();
  };
  auto type = dyn_cast<VectorType>(x.get().getType());
  if (!type)
    return x.make(one(x.get()));
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    results.push_back(one(vector::ExtractOp::create(b, x.get(), ArrayRef<int64_t>{i})));
  return x.make(vector::FromElementsOp::create(b, type, results));
}

/// The remainder is exact, and what it adds to the quotient needs few of the reciprocal's bits.
Number divideModerate(Number a, Number d, Machine machine) {
  if (!machine.gpu || d.getWidth() != 32)
    return a / d;
  Number r = approximateReciprocal(d), q = a * r;
  return fma(fma(-d, q, a), r, q);
}

/// The bits of 2^exponent.
static constexpr uint64_t bitsOfPower(int exponent) { return uint64_t(exponent + 127) << 23; }

namespace {

/// A kind of quotient that may be wrong: where the bits of `value` are at least, or below, `limit`.
struct Doubt {
  Number value;
  int64_t limit;
  bool isBelow = false;
};

/// Quotients, and what tells of each that may be wrong. One test of the largest or smallest element
/// stands for the tests of all.
struct Quotients {
  Number value;
  SmallVector<Doubt> doubts;
};

} // namespace

/// 1 / d. Right where d and its reciprocal are normal.
static Quotients invert(Number d) {
  Number r = approximateReciprocal(d);
  // Twice the bits: without the sign.
  Number doubled = shiftLeft(toBits(d), 1) - int64_t(2 * bitsOfPower(-126));
  Doubt doubtful{doubled, int64_t(2 * (bitsOfPower(126) - bitsOfPower(-126)))};
  return {fma(fma(-d, r, d.like(1.0)), r, r), {doubtful}};
}

/// a / d. Right where d is positive and of moderate size, a is 0 or not tiny, and the quotient is
/// finite: then no step leaves the normal numbers, and remainders are exact.
static Quotients divide(Number a, Number d) {
  constexpr int leastDividend = -90, leastDivisor = -64, mostDivisor = 32;
  Number r = approximateReciprocal(d);
  r = fma(fma(-d, r, d.like(1.0)), r, r);
  Number q = a * r;
  q = fma(-r, fma(d, q, -a), q); // in this form -0 / d stays -0
  Doubt wrong{toBits(d) - int64_t(bitsOfPower(leastDivisor)),
              int64_t(bitsOfPower(mostDivisor) - bitsOfPower(leastDivisor))};
  // Twice the bits, less one: 0 becomes the largest number.
  Doubt tiny{shiftLeft(toBits(a), 1) - 1, int64_t(2 * bitsOfPower(leastDividend) - 1),
             /*isBelow=*/true};
  Doubt infinite{shiftLeft(toBits(q), 1), int64_t(2 * bitsOfPower(128))};
  return {q, {wrong, tiny, infinite}};
}

/// True if the doubt is about any element.
static Value concernsAny(const Doubt &doubt) {
  ImplicitLocOpBuilder &b = doubt.value.at();
  auto get = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(b, doubt.value.get(), ArrayRef<int64_t>{i});
  };
  Value most = get(0);
  for (int64_t i = 1; i < cast<VectorType>(doubt.value.get().getType()).getNumElements(); ++i)
    most = doubt.isBelow ? Value(arith::MinUIOp::create(b, most, get(i)))
                         : Value(arith::MaxUIOp::create(b, most, get(i)));
  Number extreme = doubt.value.make(most);
  return compare(doubt.isBelow ? arith::CmpIPredicate::ult : arith::CmpIPredicate::uge, extreme,
                 extreme.like(doubt.limit))
      .get();
}

static Value divideGroup(ImplicitLocOpBuilder &b, Value a, Value d) {
  Number divisor(b, d);
  Quotients quotients = isOne(a) ? invert(divisor) : divide(Number(b, a), divisor);
  Value any;
  for (const Doubt &doubt : quotients.doubts) {
    Value some = concernsAny(doubt);
    any = any ? Value(arith::OrIOp::create(b, any, some)) : some;
  }
  auto branch = scf::IfOp::create(
      b, any,
      [&](OpBuilder &inner, Location loc) {
        scf::YieldOp::create(inner, loc, arith::DivFOp::create(inner, loc, a, d).getResult());
      },
      [&](OpBuilder &inner, Location loc) {
        scf::YieldOp::create(inner, loc, quotients.value.get());
      });
  return branch.getResult(0);
}

/// What element `i` of a vector is a copy of.
static std::pair<Value, int64_t> getSource(Value vector, int64_t i) {
  while (Operation *op = vector.getDefiningOp()) {
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      auto from = dyn_cast<VectorType>(broadcast.getSource().getType());
      if (!from || from.getNumElements() == 1)
        return {broadcast.getSource(), 0};
      break;
    }
    if (auto elements = dyn_cast<vector::FromElementsOp>(op))
      return {elements.getElements()[i], 0};
    auto shuffle = dyn_cast<vector::ShuffleOp>(op);
    if (!shuffle)
      break;
    int64_t first = shuffle.getV1VectorType().getNumElements();
    i = shuffle.getMask()[i];
    vector = i < first ? shuffle.getV1() : shuffle.getV2();
    i -= i < first ? 0 : first;
  }
  return {vector, i};
}

/// True if at least two of each group's elements have a divisor in common on the average.
static bool sharesDivisors(Value divisor, int64_t size) {
  for (int64_t from = 0; from < size; from += groupSize) {
    llvm::SmallDenseSet<std::pair<Value, int64_t>> distinct; // only counted
    int64_t count = std::min(groupSize, size - from);
    for (int64_t i = from; i < from + count; ++i)
      distinct.insert(getSource(divisor, i));
    if (2 * int64_t(distinct.size()) > count)
      return false;
  }
  return true;
}

bool hasOneDivisor(arith::DivFOp op) {
  std::pair<Value, int64_t> first = getSource(op.getRhs(), 0);
  DenseElementsAttr constant;
  if (matchPattern(op.getRhs(), m_Constant(&constant)))
    return constant.isSplat();
  for (int64_t i = 1; i < cast<VectorType>(op.getType()).getNumElements(); ++i)
    if (getSource(op.getRhs(), i) != first)
      return false;
  return true;
}

bool isExpandableDivision(arith::DivFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  return type && type.getRank() == 1 && type.getElementType().isF32() &&
         type.getNumElements() > 1 &&
         !bitEnumContainsAny(op.getFastmath(),
                             arith::FastMathFlags::arcp | arith::FastMathFlags::afn) &&
         (isOne(op.getLhs()) || sharesDivisors(op.getRhs(), type.getNumElements()));
}

void expandDivision(arith::DivFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType());
  SmallVector<Value> elements;
  for (int64_t from = 0; from < type.getNumElements(); from += groupSize) {
    int64_t size = std::min(groupSize, type.getNumElements() - from);
    auto part = [&](Value value) -> Value {
      DenseElementsAttr constant;
      if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
        return arith::ConstantOp::create(
            b, constant.resizeSplat(VectorType::get(size, type.getElementType())));
      return vector::ShuffleOp::create(b, value, value,
                                       llvm::to_vector(llvm::seq(from, from + size)));
    };
    Value a = part(op.getLhs()), d = part(op.getRhs());
    Value quotient = size > 1 ? divideGroup(b, a, d) : Value(arith::DivFOp::create(b, a, d));
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(vector::ExtractOp::create(b, quotient, ArrayRef<int64_t>{i}));
  }
  op.replaceAllUsesWith(Value(vector::FromElementsOp::create(b, type, elements)));
  op.erase();
}

} // namespace tile::math
