// Division of f32 vectors on the GPU, correctly rounded, without a branch for each element.
//
// ptxas expands div.rn.f32 to a reciprocal, five products and fused operations, a test and a branch
// to code for operands out of the ordinary: divisions run one after another, each as long as its
// chain takes. Here the elements of a group run side by side, and one branch of all leads to that
// instruction. Elements that are divided by the same value share its reciprocal.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Convert/FloatsToBytes.h"
#include "passes/Convert/MathFunctions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;

namespace tile::math {

/// Elements that share a branch: operands and results of all stay in registers until it.
static constexpr int64_t groupSize = 8;

/// Divisors of moderate size: of 2^least up to 2^most.
static constexpr int leastDivisor = -64, mostDivisor = 32;

static bool isOne(Value value) {
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValue().isExactlyValue(1.0);
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         constant.getSplatValue<APFloat>().isExactlyValue(1.0);
}

Number approximateReciprocal(Number x) {
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
static constexpr uint32_t bitsOfPower(int exponent) { return uint32_t(exponent + 127) << 23; }

namespace {

/// The quotients of a group as one statement of PTX: LLVM finds nothing in its steps, and its
/// branch is no block. All elements are computed with what is right for most of them; `m` and `l`
/// are the largest and the smallest of what tells whether one may be wrong, and then all are
/// computed once more, by div.rn.f32.
class GroupStatement {
public:
  GroupStatement(ImplicitLocOpBuilder &b, int64_t size) : b(b), size(size) {}

  SmallVector<Value> invert(ArrayRef<Value> divisors);
  SmallVector<Value> divide(ArrayRef<Value> dividends, ArrayRef<Value> divisors, bool tinyCounts);

private:
  std::string take(Value operand);
  SmallVector<Value> write(const std::string &doubt, const std::string &again);

  ImplicitLocOpBuilder &b;
  int64_t size;
  SmallVector<Value> operands;
  std::string inputs, body;
};

} // namespace

static std::string name(const char *prefix, int64_t number) {
  return prefix + std::to_string(number);
}

/// The operand's name: results are numbered before operands.
std::string GroupStatement::take(Value operand) {
  operands.push_back(operand);
  inputs += operand.getType().isF32() ? ",f" : ",b";
  return name("$", size + int64_t(operands.size()) - 1);
}

/// 1 / d. Right where d and its reciprocal are normal.
SmallVector<Value> GroupStatement::invert(ArrayRef<Value> divisors) {
  body += "mov.b32 m, 0;\n";
  std::string again;
  for (auto [i, divisor] : llvm::enumerate(divisors)) {
    std::string d = take(divisor), q = name("q", i);
    body += "rcp.approx.ftz.f32 " + q + ", " + d + "; neg.f32 t, " + d + "; fma.rn.f32 t, t, " + q +
            ", 0f3F800000; fma.rn.f32 " + q + ", t, " + q + ", " + q + "; mov.b32 u, " + d +
            "; shl.b32 u, u, 1; " + // without the sign
            name("sub.u32 u, u, ", 2 * bitsOfPower(-126)) + "; max.u32 m, m, u;\n";
    again += "rcp.rn.f32 " + q + ", " + d + ";\n";
  }
  return write(name("setp.ge.u32 p, m, ", 2 * (bitsOfPower(126) - bitsOfPower(-126))) + ";", again);
}

/// a / d. Right where d is positive and of moderate size, a is 0 or not tiny, and the quotient is
/// finite: then no step leaves the normal numbers, and remainders are exact. Of a tiny a the
/// quotient has the right sign and is below 2^-25; where not `tinyCounts`, that is enough.
SmallVector<Value> GroupStatement::divide(ArrayRef<Value> dividends, ArrayRef<Value> divisors,
                                          bool tinyCounts) {
  constexpr int leastDividend = -90;
  struct Divisor {
    std::string value, reciprocal;
  };
  // Computed outside, where groups share what they have in common.
  llvm::SmallMapVector<Value, Divisor, 8> known;
  std::string doubt = "setp.gtu.f32 p, m, 0f7F7FFFFF;"; // infinite or NaN
  if (tinyCounts)
    doubt += " setp.lt.u32 w, l, " + std::to_string(2 * bitsOfPower(leastDividend) - 1) +
             "; or.pred p, p, w;";
  for (Value divisor : divisors) {
    auto [at, isNew] = known.try_emplace(divisor);
    if (!isNew)
      continue;
    at->second.value = take(divisor);
    FloatAttr constant;
    if (matchPattern(divisor, m_Constant(&constant))) {
      float r = 1.0F / constant.getValue().convertToFloat();
      at->second.reciprocal = take(arith::ConstantOp::create(b, b.getF32FloatAttr(r)).getResult());
      continue;
    }
    Number d(b, divisor), r = approximateReciprocal(d);
    r = fma(fma(-d, r, d.like(1.0)), r, r);
    Number from = toBits(d) - int64_t(bitsOfPower(leastDivisor));
    Number wrong =
        compare(arith::CmpIPredicate::uge, from,
                from.like(int64_t(bitsOfPower(mostDivisor) - bitsOfPower(leastDivisor))));
    at->second.reciprocal = take(r.get());
    doubt += " or.pred p, p, " + take(wrong.get()) + ";";
  }
  body += "mov.b32 m, 0; mov.b32 l, -1;\n";
  std::string again;
  for (auto [i, dividend] : llvm::enumerate(dividends)) {
    const Divisor &d = known[divisors[i]];
    std::string a = take(dividend), q = name("q", i);
    // In this form -0 / d stays -0.
    body += "mul.rn.f32 " + q + ", " + a + ", " + d.reciprocal + "; neg.f32 t, " + a +
            "; fma.rn.f32 t, " + d.value + ", " + q + ", t; neg.f32 s, " + d.reciprocal +
            "; fma.rn.f32 " + q + ", s, t, " + q + "; abs.f32 t, " + q + "; max.NaN.f32 m, m, t;";
    // Twice a's bits, less one: 0 becomes the largest number.
    if (tinyCounts)
      body += " mov.b32 u, " + a + "; shl.b32 u, u, 1; sub.u32 u, u, 1; min.u32 l, l, u;";
    body += "\n";
    again += "div.rn.f32 " + q + ", " + a + ", " + d.value + ";\n";
  }
  return write(doubt, again);
}

/// `doubt` sets p where an element may be wrong, `again` computes all of them.
SmallVector<Value> GroupStatement::write(const std::string &doubt, const std::string &again) {
  std::string code = "{ .reg .f32 q<" + std::to_string(size) +
                     ">, t, s; .reg .b32 u, m, l; .reg .pred p, w;\n" + body + doubt +
                     " @!p bra RIGHT;\n" + again + "RIGHT:\n",
              outputs;
  for (int64_t i = 0; i < size; ++i) {
    code += name("mov.f32 $", i) + name(", q", i) + "; ";
    outputs += i ? ",=f" : "=f";
  }
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(size, b.getF32Type()));
  Value all =
      LLVM::InlineAsmOp::create(b, type, operands, code + "}", outputs + inputs,
                                /*has_side_effects=*/false, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> quotients;
  for (int64_t i = 0; i < size; ++i)
    quotients.push_back(LLVM::ExtractValueOp::create(b, all, i));
  return quotients;
}

/// What element `i` of a vector is a copy of.
static std::pair<Value, int64_t> getSource(Value vector, int64_t i) {
  DenseElementsAttr constant;
  if (matchPattern(vector, m_Constant(&constant)) && constant.isSplat())
    return {vector, 0};
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

/// True unless the divisor is a constant out of the ordinary, or one that LLVM multiplies by.
static bool isUsualIfConstant(Value divisor) {
  DenseElementsAttr constant;
  if (!matchPattern(divisor, m_Constant(&constant)))
    return true;
  if (!constant.isSplat())
    return false;
  const auto number = constant.getSplatValue<APFloat>();
  return !number.getExactInverse(nullptr) && number >= APFloat(std::ldexp(1.0F, leastDivisor)) &&
         number < APFloat(std::ldexp(1.0F, mostDivisor));
}

/// True if everything that reads the value rounds what is below 2^-25 to zero.
static bool dropsTiny(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<vector::ExtractOp, vector::ExtractStridedSliceOp, vector::ShuffleOp>(user))
      return dropsTiny(user->getResult(0));
    if (isa<arith::TruncFOp>(user))
      return getElementTypeOrSelf(user->getResult(0)).isF16();
    return isRoundingToInteger(user) || isa<mlir::math::RoundEvenOp, arith::FPToSIOp,
                                            arith::FPToUIOp, NVVM::ConvertF32x2ToF8x2Op>(user);
  });
}

bool hasOneDivisor(arith::DivFOp op) {
  std::pair<Value, int64_t> first = getSource(op.getRhs(), 0);
  for (int64_t i = 1; i < cast<VectorType>(op.getType()).getNumElements(); ++i)
    if (getSource(op.getRhs(), i) != first)
      return false;
  return true;
}

mlir::math::ExpOp getExponentialOfSigmoid(arith::DivFOp op) {
  auto isApproximate = [](arith::FastMathFlags flags) {
    return bitEnumContainsAny(flags, arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
  };
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  if (!isOne(op.getLhs()) || !sum || !sum->hasOneUse() || isApproximate(op.getFastmath()) ||
      !getElementTypeOrSelf(op.getType()).isF32())
    return {};
  for (auto [term, other] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto power = term.getDefiningOp<mlir::math::ExpOp>();
        power && isOne(other) && power->hasOneUse() && !isApproximate(power.getFastmath()))
      return power;
  return {};
}

bool isExpandableDivision(arith::DivFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  return type && type.getRank() == 1 && type.getElementType().isF32() &&
         type.getNumElements() > 1 &&
         !bitEnumContainsAny(op.getFastmath(),
                             arith::FastMathFlags::arcp | arith::FastMathFlags::afn) &&
         (isOne(op.getLhs()) ||
          (isUsualIfConstant(op.getRhs()) && sharesDivisors(op.getRhs(), type.getNumElements())));
}

void expandDivision(arith::DivFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType());
  bool inverts = isOne(op.getLhs()), tinyCounts = !dropsTiny(op.getResult());
  auto get = [&](Value vector, int64_t i) -> Value {
    auto [source, at] = getSource(vector, i);
    DenseElementsAttr constant;
    if (matchPattern(source, m_Constant(&constant)))
      return arith::ConstantOp::create(b, cast<TypedAttr>(constant.getValues<Attribute>()[at]));
    return isa<VectorType>(source.getType())
               ? vector::ExtractOp::create(b, source, ArrayRef<int64_t>{at}).getResult()
               : source;
  };
  SmallVector<Value> elements;
  for (int64_t from = 0; from < type.getNumElements(); from += groupSize) {
    int64_t size = std::min(groupSize, type.getNumElements() - from);
    SmallVector<Value> dividends, divisors;
    llvm::SmallDenseMap<std::pair<Value, int64_t>, Value> known; // looked up only
    for (int64_t i = from; i < from + size; ++i) {
      Value &divisor = known[getSource(op.getRhs(), i)];
      divisor = divisor ? divisor : get(op.getRhs(), i);
      divisors.push_back(divisor);
      if (!inverts)
        dividends.push_back(get(op.getLhs(), i));
    }
    if (size == 1)
      elements.push_back(arith::DivFOp::create(b, get(op.getLhs(), from), divisors[0]));
    else if (inverts)
      llvm::append_range(elements, GroupStatement(b, size).invert(divisors));
    else
      llvm::append_range(elements, GroupStatement(b, size).divide(dividends, divisors, tinyCounts));
  }
  op.replaceAllUsesWith(Value(vector::FromElementsOp::create(b, type, elements)));
  op.erase();
}

} // namespace tile::math
