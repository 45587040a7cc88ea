// Operations on the numbers that lanes hold, in doubles: enough for what padding becomes.
#include "passes/Analysis/PaddingValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile;

/// Bools are 0 and 1; other integers have their sign. A 64-bit integer may be rounded, which
/// padding's values hardly ever are.
std::optional<double> tile::getUniform(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto elements = dyn_cast<SplatElementsAttr>(attr))
    attr = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getType().isInteger(1) ? double(!number.getValue().isZero())
                                         : double(number.getValue().getSExtValue());
  return std::nullopt;
}

/// Predicates that the language writes; any other compares as false, which the lint takes for
/// padding that is left out.
static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  default:
    return false;
  }
}

/// Signed and unsigned alike, on the numbers as they are.
static bool compare(arith::CmpIPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return a > b;
  default:
    return a >= b;
  }
}

bool tile::isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::IndexCastUIOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::FPToSIOp, arith::FPToUIOp, RoundFloat8Op>(op);
}

/// A number as an integer of 64 bits, the nearest where there is none.
/// Casting a double out of range is undefined in C++; positions of padding may be any number.
static int64_t toInteger(double value) {
  constexpr double end = 9223372036854775808.0;
  if (std::isnan(value))
    return 0;
  return value >= end    ? std::numeric_limits<int64_t>::max()
         : value <= -end ? std::numeric_limits<int64_t>::min()
                         : int64_t(value);
}

/// The bits of a float, as a number with a sign.
/// Sorting compares floats by their bits: see visitSort in PaddingLint.cpp.
static double bitsOf(double value, FloatType type) {
  APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return double(number.bitcastToAPInt().getSExtValue());
}

/// Of integers, by their bits.
static std::optional<double> foldBits(Operation *op, ArrayRef<double> x) {
  if (x.size() != 2)
    return std::nullopt;
  int64_t a = toInteger(x[0]), b = toInteger(x[1]);
  if (isa<arith::AndIOp>(op))
    return double(a & b);
  if (isa<arith::OrIOp>(op))
    return double(a | b);
  if (isa<arith::XOrIOp>(op))
    return double(a ^ b);
  return std::nullopt;
}

/// Arithmetic in doubles: exact for the numbers that padding is made of (0, 1, infinities, lowest
/// and highest of a type), close enough for all others, as results are compared with a tolerance.
std::optional<double> tile::fold(Operation *op, ArrayRef<double> x) {
  if (isConversion(op))
    return x[0];
  if (isa<arith::BitcastOp>(op)) {
    auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
    if (from && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0))))
      return bitsOf(x[0], from);
    // Bits other than +0 say nothing as a number.
    return x[0] == 0 && !std::signbit(x[0]) ? std::optional(0.0) : std::nullopt;
  }
  if (isa<arith::SelectOp>(op))
    return x[0] != 0 ? x[1] : x[2];
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return compare(cmp.getPredicate(), x[0], x[1]);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compare(cmp.getPredicate(), x[0], x[1]);
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return x[0] + x[1];
  if (isa<arith::SubFOp, arith::SubIOp>(op))
    return x[0] - x[1];
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return x[0] * x[1];
  if (isa<arith::DivFOp>(op))
    return x[0] / x[1];
  // std::max keeps its first operand where the second is NaN, unlike these operations.
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return std::max(x[0], x[1]);
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return std::min(x[0], x[1]);
  if (isa<arith::AndIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return x[0] && x[1];
  if (isa<arith::OrIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return x[0] || x[1];
  if (isa<arith::XOrIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return (x[0] != 0) != (x[1] != 0);
  if (isa<arith::NegFOp>(op))
    return -x[0];
  if (isa<math::ExpOp>(op))
    return std::exp(x[0]);
  if (isa<math::Exp2Op>(op))
    return std::exp2(x[0]);
  if (isa<math::ExpM1Op>(op))
    return std::expm1(x[0]);
  if (isa<math::LogOp>(op))
    return std::log(x[0]);
  if (isa<math::Log2Op>(op))
    return std::log2(x[0]);
  if (isa<math::Log1pOp>(op))
    return std::log1p(x[0]);
  if (isa<math::SqrtOp>(op))
    return std::sqrt(x[0]);
  if (isa<math::AbsFOp, math::AbsIOp>(op))
    return std::fabs(x[0]);
  if (isa<math::TanhOp>(op))
    return std::tanh(x[0]);
  if (isa<math::ErfOp>(op))
    return std::erf(x[0]);
  if (isa<math::SinOp>(op))
    return std::sin(x[0]);
  if (isa<math::CosOp>(op))
    return std::cos(x[0]);
  if (isa<math::TanOp>(op))
    return std::tan(x[0]);
  if (isa<math::FloorOp>(op))
    return std::floor(x[0]);
  if (isa<math::CeilOp>(op))
    return std::ceil(x[0]);
  if (isa<math::TruncOp>(op))
    return std::trunc(x[0]);
  if (isa<math::RoundEvenOp>(op))
    return std::nearbyint(x[0]);
  if (isa<math::FmaOp>(op))
    return x[0] * x[1] + x[2];
  return foldBits(op, x);
}

/// By trying, since a function of the program is any expression: with padding on the right, does
/// the left come back? True also where the lint cannot compute the function: it then keeps silent.
bool tile::leavesAlone(Block &combiner, ArrayRef<std::optional<double>> right) {
  // Numbers that no function treats alike unless it has to.
  static constexpr double samples[] = {-3.5, -0.25, 2, 7};
  constexpr unsigned count = std::size(samples);
  for (unsigned trial = 0; trial < count; ++trial) {
    DenseMap<Value, double> numbers; // looked up only
    for (auto [i, argument] : llvm::enumerate(combiner.getArguments())) {
      double sample = samples[(trial + i) % count];
      if (argument.getType().isInteger(1))
        sample = (trial + i) % 2;
      else if (!isa<FloatType>(argument.getType()))
        sample = std::floor(sample);
      // A combiner takes all left operands first, then all right ones.
      bool isRight = i >= right.size();
      numbers[argument] = isRight && right[i - right.size()] ? *right[i - right.size()] : sample;
    }
    for (Operation &op : combiner.without_terminator()) {
      if (op.getNumResults() != 1)
        return true;
      std::optional<double> result = getUniform(op.getResult(0));
      SmallVector<double> operands;
      for (Value operand : op.getOperands()) {
        auto known = numbers.find(operand);
        std::optional<double> uniform =
            known == numbers.end() ? getUniform(operand) : std::optional(known->second);
        if (!uniform)
          return true;
        operands.push_back(*uniform);
      }
      if (!result)
        result = fold(&op, operands);
      if (!result)
        return true;
      numbers[op.getResult(0)] = *result;
    }
    for (auto [i, value] : llvm::enumerate(combiner.getTerminator()->getOperands())) {
      auto found = numbers.find(value);
      std::optional<double> result =
          found == numbers.end() ? getUniform(value) : std::optional(found->second);
      double left = numbers.lookup(combiner.getArgument(i));
      // Relative, as sums of samples with tiny constants round; NaN counts as changed.
      if (result && !(std::fabs(*result - left) <= 1e-9 * std::fabs(left)))
        return false;
    }
  }
  return true;
}
