// Emission of arithmetic with the language's semantics: total division, saturating casts, shifts past the width.
#include "frontend/Lower/Elaborator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;

mlir::Value Elaborator::constant(TypedAttr value, Location location) {
  mlir::Value &cached = constantCache[{mlir::Attribute(value).getAsOpaquePointer(), value.getType().getAsOpaquePointer()}];
  if (!cached) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    cached = arith::ConstantOp::create(builder, location, value);
  }
  return cached;
}

mlir::Value Elaborator::constantIndex(int64_t value, Location location) {
  return constant(builder.getIndexAttr(value), location);
}

/// A scalar or splat of `type` whose elements are `value`.
mlir::Value Elaborator::constantLike(Type type, double value, Location location) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto floatType = dyn_cast<FloatType>(element))
    attr = FloatAttr::get(floatType, value);
  else
    attr = IntegerAttr::get(element, int64_t(value));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(tensor, attr));
  return constant(attr, location);
}

/// Splat of an integer too wide for a double.
static mlir::Value integerLike(OpBuilder &builder, Type type, APInt value, Location location) {
  TypedAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tensor, Attribute(attr));
  return arith::ConstantOp::create(builder, location, attr);
}

static Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element);
  return element;
}

/// A range that `value` is sure to lie in, where that is easy to see: enough to leave out guards of divisions.
static std::pair<int64_t, int64_t> easyRange(mlir::Value value, int depth = 8) {
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();
  std::pair<int64_t, int64_t> any{lowest, highest};
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return any;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute attr = constant.getValue();
    if (auto splat = dyn_cast<SplatElementsAttr>(attr))
      attr = splat.getSplatValue<Attribute>();
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      return {integer.getValue().getSExtValue(), integer.getValue().getSExtValue()};
    return any;
  }
  if (auto dim = dyn_cast<DimOp>(op))
    return {dim.getDim().getMin(), dim.getDim().getMax()};
  if (isa<ProgramIdOp>(op))
    return {0, (int64_t(1) << 31) - 1};
  if (isa<tensor::SplatOp, arith::ExtSIOp>(op))
    return easyRange(op->getOperand(0), depth - 1);
  if (op->getNumOperands() != 2 || !value.getType().isIndex())
    return any;
  auto [aLow, aHigh] = easyRange(op->getOperand(0), depth - 1);
  auto [bLow, bHigh] = easyRange(op->getOperand(1), depth - 1);
  if (isa<arith::MinSIOp>(op))
    return {std::min(aLow, bLow), std::min(aHigh, bHigh)};
  if (isa<arith::MaxSIOp>(op))
    return {std::max(aLow, bLow), std::max(aHigh, bHigh)};
  constexpr int64_t small = int64_t(1) << 61;
  if (isa<arith::AddIOp>(op) && aLow > -small && aHigh < small && bLow > -small && bHigh < small)
    return {aLow + bLow, aHigh + bHigh};
  int64_t product;
  if (isa<arith::MulIOp>(op) && aLow >= 0 && bLow >= 0 && !__builtin_mul_overflow(aHigh, bHigh, &product))
    return {aLow * bLow, product};
  if (isa<arith::DivSIOp>(op) && aLow >= 0 && bLow > 0)
    return {aLow / bHigh, aHigh / bLow};
  if (isa<arith::CeilDivSIOp>(op) && aLow >= 0 && bLow > 0)
    return {aLow > 0 ? 1 : 0, aHigh};
  return any;
}

mlir::Value Elaborator::emitDivision(mlir::Value a, mlir::Value b, bool remainder, Location location) {
  Type type = a.getType();
  auto divide = [&](mlir::Value divisor) -> mlir::Value {
    return remainder ? builder.createOrFold<arith::RemSIOp>(location, a, divisor)
                     : builder.createOrFold<arith::DivSIOp>(location, a, divisor);
  };
  auto [low, high] = easyRange(b);
  bool mayBeZero = low <= 0 && high >= 0;
  // lowest / -1 overflows: the machine's division may trap.
  bool mayBeMinusOne = low <= -1 && high >= -1 && easyRange(a).first == std::numeric_limits<int64_t>::min();
  if (!mayBeZero && !mayBeMinusOne)
    return divide(b);
  mlir::Value zero = constantLike(type, 0, location), one = constantLike(type, 1, location), isZero, isMinusOne, unsafe;
  if (mayBeZero)
    unsafe = isZero = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, b, zero);
  if (mayBeMinusOne) {
    isMinusOne = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, b, constantLike(type, -1, location));
    unsafe = unsafe ? builder.createOrFold<arith::OrIOp>(location, isZero, isMinusOne) : isMinusOne;
  }
  mlir::Value safe = builder.createOrFold<arith::SelectOp>(location, unsafe, one, b);
  mlir::Value result = divide(safe);
  if (mayBeMinusOne) {
    mlir::Value special = remainder ? zero : builder.createOrFold<arith::SubIOp>(location, zero, a);
    result = builder.createOrFold<arith::SelectOp>(location, isMinusOne, special, result);
  }
  if (mayBeZero)
    result = builder.createOrFold<arith::SelectOp>(location, isZero, remainder ? a : zero, result);
  return result;
}

mlir::Value Elaborator::emitCeilDivision(mlir::Value a, mlir::Value b, Location location) {
  if (easyRange(b).first > 0 && a.getType().isIndex())
    return builder.createOrFold<arith::CeilDivSIOp>(location, a, b);
  // The quotient rounded up is the truncated one, plus one where a remainder of the divisor's sign is left.
  mlir::Value quotient = emitDivision(a, b, false, location), rest = emitDivision(a, b, true, location);
  mlir::Value zero = constantLike(a.getType(), 0, location);
  auto compare = [&](arith::CmpIPredicate predicate, mlir::Value x) {
    return builder.createOrFold<arith::CmpIOp>(location, predicate, x, zero);
  };
  mlir::Value inexact = compare(arith::CmpIPredicate::ne, rest);
  mlir::Value sameSign = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq,
                                                             compare(arith::CmpIPredicate::slt, a),
                                                             compare(arith::CmpIPredicate::slt, b));
  mlir::Value up = builder.createOrFold<arith::AndIOp>(location, inexact, sameSign);
  // x / 0 is 0, rounded up or not.
  up = builder.createOrFold<arith::AndIOp>(location, up, compare(arith::CmpIPredicate::ne, b));
  mlir::Value plusOne = builder.createOrFold<arith::AddIOp>(location, quotient, constantLike(a.getType(), 1, location));
  return builder.createOrFold<arith::SelectOp>(location, up, plusOne, quotient);
}

mlir::Value Elaborator::emitNextPow2(mlir::Value x, Location location) {
  Type original = x.getType();
  if (fromType(original) == DType::Index)
    x = emitCast(x, DType::I64, location);
  Type type = x.getType();
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  mlir::Value one = constantLike(type, 1, location);
  mlir::Value below = builder.createOrFold<arith::SubIOp>(location, x, one);
  mlir::Value zeros = builder.createOrFold<math::CountLeadingZerosOp>(location, below);
  mlir::Value bits = builder.createOrFold<arith::SubIOp>(location, constantLike(type, width, location), zeros);
  mlir::Value power = emitShift(BinaryOp::shl, one, bits, location);
  mlir::Value small = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::sle, x, one);
  mlir::Value result = builder.createOrFold<arith::SelectOp>(location, small, one, power);
  return fromType(original) == DType::Index ? emitCast(result, DType::Index, location) : result;
}

mlir::Value Elaborator::emitShift(BinaryOp op, mlir::Value a, mlir::Value b, Location location) {
  Type type = a.getType();
  bool isIndex = fromType(type) == DType::Index;
  int64_t width = isIndex ? 64 : getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto [low, high] = easyRange(b);
  bool inRange = low >= 0 && high < width;
  if (op == BinaryOp::shl) {
    if (inRange)
      return builder.createOrFold<arith::ShLIOp>(location, a, b);
    mlir::Value fits = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::ult, b, constantLike(type, width, location));
    mlir::Value zero = constantLike(type, 0, location);
    mlir::Value safe = builder.createOrFold<arith::SelectOp>(location, fits, b, zero);
    mlir::Value shifted = builder.createOrFold<arith::ShLIOp>(location, a, safe);
    return builder.createOrFold<arith::SelectOp>(location, fits, shifted, zero);
  }
  if (!inRange)
    b = builder.createOrFold<arith::MinUIOp>(location, b, constantLike(type, width - 1, location));
  return builder.createOrFold<arith::ShRSIOp>(location, a, b);
}

/// Float to integer: truncates, saturates, NaN gives 0. `to` is an integer type of at most 64 bits.
mlir::Value Elaborator::emitSaturatingCast(mlir::Value x, Type to, Location location) {
  unsigned width = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  double limit = std::ldexp(1.0, int(width) - 1); // becomes inf where the float type does not reach it
  auto compare = [&](arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return builder.createOrFold<arith::CmpFOp>(location, predicate, a, b);
  };
  mlir::Value isNan = compare(arith::CmpFPredicate::UNO, x, x);
  mlir::Value tooHigh = compare(arith::CmpFPredicate::OGE, x, constantLike(x.getType(), limit, location));
  mlir::Value tooLow = compare(arith::CmpFPredicate::OLE, x, constantLike(x.getType(), -limit, location));
  mlir::Value unsafe = builder.createOrFold<arith::OrIOp>(location, isNan, builder.createOrFold<arith::OrIOp>(location, tooHigh, tooLow));
  mlir::Value safe = builder.createOrFold<arith::SelectOp>(location, unsafe, constantLike(x.getType(), 0, location), x);
  mlir::Value result = builder.createOrFold<arith::FPToSIOp>(location, to, safe);
  result = builder.createOrFold<arith::SelectOp>(location, tooHigh, integerLike(builder, to, APInt::getSignedMaxValue(width), location), result);
  return builder.createOrFold<arith::SelectOp>(location, tooLow, integerLike(builder, to, APInt::getSignedMinValue(width), location), result);
}

/// `as`: any dtype to any other but bool.
mlir::Value Elaborator::emitCast(mlir::Value x, DType to, Location location) {
  DType from = fromType(x.getType());
  if (from == to)
    return x;
  Type target = withElement(x.getType(), toType(to, context));
  if (isFloat(from) && isFloat(to)) {
    if (bitWidth(from) == bitWidth(to)) // f16 and bf16 meet in f32, which holds both exactly
      return emitCast(emitCast(x, DType::F32, location), to, location);
    return bitWidth(from) < bitWidth(to) ? builder.createOrFold<arith::ExtFOp>(location, target, x)
                                         : builder.createOrFold<arith::TruncFOp>(location, target, x);
  }
  if (isFloat(from)) {
    if (to == DType::Index)
      return emitCast(emitCast(x, DType::I64, location), to, location);
    return emitSaturatingCast(x, target, location);
  }
  if (from == DType::Bool) {
    if (isFloat(to))
      return builder.createOrFold<arith::UIToFPOp>(location, target, x);
    if (to == DType::Index)
      return builder.createOrFold<arith::IndexCastUIOp>(location, target, x);
    return builder.createOrFold<arith::ExtUIOp>(location, target, x);
  }
  if (isFloat(to)) {
    if (from == DType::Index)
      x = emitCast(x, DType::I64, location);
    return builder.createOrFold<arith::SIToFPOp>(location, target, x);
  }
  if (from == DType::Index || to == DType::Index)
    return builder.createOrFold<arith::IndexCastOp>(location, target, x);
  return bitWidth(from) < bitWidth(to) ? builder.createOrFold<arith::ExtSIOp>(location, target, x)
                                       : builder.createOrFold<arith::TruncIOp>(location, target, x);
}

/// An operator on SSA values of one type; the caller has checked that the dtype has it.
mlir::Value Elaborator::emitBinary(BinaryOp op, mlir::Value a, mlir::Value b, Location location) {
  bool floats = isFloat(fromType(a.getType()));
  auto compare = [&](arith::CmpFPredicate onFloats, arith::CmpIPredicate onIntegers) -> mlir::Value {
    return floats ? builder.createOrFold<arith::CmpFOp>(location, onFloats, a, b)
                  : builder.createOrFold<arith::CmpIOp>(location, onIntegers, a, b);
  };
  switch (op) {
  case BinaryOp::add:
    return floats ? builder.createOrFold<arith::AddFOp>(location, a, b) : builder.createOrFold<arith::AddIOp>(location, a, b);
  case BinaryOp::sub:
    return floats ? builder.createOrFold<arith::SubFOp>(location, a, b) : builder.createOrFold<arith::SubIOp>(location, a, b);
  case BinaryOp::mul:
    return floats ? builder.createOrFold<arith::MulFOp>(location, a, b) : builder.createOrFold<arith::MulIOp>(location, a, b);
  case BinaryOp::div:
    return floats ? builder.createOrFold<arith::DivFOp>(location, a, b) : emitDivision(a, b, false, location);
  case BinaryOp::rem:
    return emitDivision(a, b, true, location);
  case BinaryOp::shl:
  case BinaryOp::shr:
    return emitShift(op, a, b, location);
  case BinaryOp::bitAnd:
  case BinaryOp::logicalAnd:
    return builder.createOrFold<arith::AndIOp>(location, a, b);
  case BinaryOp::bitOr:
  case BinaryOp::logicalOr:
    return builder.createOrFold<arith::OrIOp>(location, a, b);
  case BinaryOp::bitXor:
    return builder.createOrFold<arith::XOrIOp>(location, a, b);
  case BinaryOp::eq:
    return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
  case BinaryOp::ne:
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
  case BinaryOp::lt:
    return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
  case BinaryOp::le:
    return compare(arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
  case BinaryOp::gt:
    return compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
  case BinaryOp::ge:
    return compare(arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
  }
  return {};
}

/// Repeats a scalar or tile to `shape`, which its own shape broadcasts to.
mlir::Value Elaborator::emitBroadcast(mlir::Value x, ArrayRef<int64_t> shape, Location location) {
  auto tensor = dyn_cast<RankedTensorType>(x.getType());
  if (shape.empty())
    return x;
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(x.getType()));
  if (!tensor)
    return builder.createOrFold<tensor::SplatOp>(location, type, x);
  if (tensor == type)
    return x;
  return builder.createOrFold<BroadcastOp>(location, type, x);
}

/// The same elements under another shape of as many; a shape of rank 0 gives a scalar.
mlir::Value Elaborator::emitReshape(mlir::Value x, ArrayRef<int64_t> shape, Location location) {
  auto tensor = dyn_cast<RankedTensorType>(x.getType());
  Type element = getElementTypeOrSelf(x.getType());
  if (!tensor)
    return shape.empty() ? x : emitBroadcast(x, shape, location);
  if (!shape.empty())
    return builder.createOrFold<ReshapeOp>(location, RankedTensorType::get(shape, element), x);
  SmallVector<mlir::Value> zeros(tensor.getRank(), constantIndex(0, location));
  return builder.createOrFold<tensor::ExtractOp>(location, x, zeros);
}
