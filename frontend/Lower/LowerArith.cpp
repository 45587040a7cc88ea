// Emission of arithmetic with the language's semantics: total division, saturating casts, shifts
// past the width.
#include "frontend/Lower/EasyRange.h"
#include "frontend/Lower/Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;

mlir::Value Emitter::constant(TypedAttr value, Location location) {
  mlir::Value &cached = constantCache[{mlir::Attribute(value).getAsOpaquePointer(),
                                       value.getType().getAsOpaquePointer()}];
  if (!cached) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    cached = arith::ConstantOp::create(builder, location, value);
  }
  return cached;
}

mlir::Value Emitter::constantIndex(int64_t value, Location location) {
  return constant(builder.getIndexAttr(value), location);
}

/// A scalar or splat of `type` whose elements are `value`.
mlir::Value Emitter::constantLike(Type type, double value, Location location) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto floatType = dyn_cast<FloatType>(element))
    attr = FloatAttr::get(floatType, value);
  else
    attr = IntegerAttr::get(
        element, element.isIndex()
                     ? APInt(64, int64_t(value), true)
                     : APInt(64, int64_t(value), true).trunc(element.getIntOrFloatBitWidth()));
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

mlir::Value Emitter::signBitLike(Type type, Location location) {
  return integerLike(builder, type,
                     APInt::getSignMask(getElementTypeOrSelf(type).getIntOrFloatBitWidth()),
                     location);
}

static Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element);
  return element;
}

mlir::Value Emitter::emitDivision(mlir::Value a, mlir::Value b, DType dtype, bool remainder,
                                  Location location) {
  Type type = a.getType();
  bool hasSign = !isUnsigned(dtype);
  auto divide = [&](mlir::Value divisor) -> mlir::Value {
    if (hasSign)
      return remainder ? builder.createOrFold<arith::RemSIOp>(location, a, divisor)
                       : builder.createOrFold<arith::DivSIOp>(location, a, divisor);
    return remainder ? builder.createOrFold<arith::RemUIOp>(location, a, divisor)
                     : builder.createOrFold<arith::DivUIOp>(location, a, divisor);
  };
  auto [low, high] = easyRange(b);
  bool mayBeZero = low <= 0 && high >= 0;
  // lowest / -1 overflows: the machine's division may trap.
  bool mayBeMinusOne =
      hasSign && low <= -1 && high >= -1 && easyRange(a).first == llvm::minIntN(bitWidth(dtype));
  if (!mayBeZero && !mayBeMinusOne)
    return divide(b);
  mlir::Value zero = constantLike(type, 0, location), one = constantLike(type, 1, location), isZero,
              isMinusOne, unsafe;
  if (mayBeZero)
    unsafe = isZero =
        builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, b, zero);
  if (mayBeMinusOne) {
    isMinusOne = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, b,
                                                     constantLike(type, -1, location));
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

mlir::Value Emitter::emitCeilDivision(mlir::Value a, mlir::Value b, DType dtype,
                                      Location location) {
  if (easyRange(b).first > 0 && dtype == DType::Index)
    return builder.createOrFold<arith::CeilDivSIOp>(location, a, b);
  // The quotient rounded up is the truncated one, plus one where a remainder of the divisor's sign
  // is left.
  mlir::Value quotient = emitDivision(a, b, dtype, false, location),
              rest = emitDivision(a, b, dtype, true, location);
  mlir::Value zero = constantLike(a.getType(), 0, location);
  auto compare = [&](arith::CmpIPredicate predicate, mlir::Value x) {
    return builder.createOrFold<arith::CmpIOp>(location, predicate, x, zero);
  };
  mlir::Value up = compare(arith::CmpIPredicate::ne, rest);
  if (!isUnsigned(dtype)) {
    mlir::Value sameSign = builder.createOrFold<arith::CmpIOp>(
        location, arith::CmpIPredicate::eq, compare(arith::CmpIPredicate::slt, a),
        compare(arith::CmpIPredicate::slt, b));
    up = builder.createOrFold<arith::AndIOp>(location, up, sameSign);
  }
  // x / 0 is 0, rounded up or not.
  up = builder.createOrFold<arith::AndIOp>(location, up, compare(arith::CmpIPredicate::ne, b));
  mlir::Value plusOne = builder.createOrFold<arith::AddIOp>(location, quotient,
                                                            constantLike(a.getType(), 1, location));
  return builder.createOrFold<arith::SelectOp>(location, up, plusOne, quotient);
}

mlir::Value Emitter::emitNextPow2(mlir::Value x, DType dtype, Location location) {
  if (dtype == DType::Index)
    return emitCast(emitNextPow2(emitCast(x, dtype, DType::I64, location), DType::I64, location),
                    DType::I64, dtype, location);
  Type type = x.getType();
  mlir::Value one = constantLike(type, 1, location);
  mlir::Value below = builder.createOrFold<arith::SubIOp>(location, x, one);
  mlir::Value zeros = builder.createOrFold<math::CountLeadingZerosOp>(location, below);
  mlir::Value bits = builder.createOrFold<arith::SubIOp>(
      location, constantLike(type, bitWidth(dtype), location), zeros);
  mlir::Value power = emitShift(BinaryOp::shl, one, bits, dtype, location);
  mlir::Value small = emitBinary(BinaryOp::le, x, one, dtype, location);
  return builder.createOrFold<arith::SelectOp>(location, small, one, power);
}

mlir::Value Emitter::emitMinMax(bool isMax, mlir::Value a, mlir::Value b, DType dtype,
                                Location location) {
  if (isFloat(dtype))
    return isMax ? builder.createOrFold<arith::MaximumFOp>(location, a, b)
                 : builder.createOrFold<arith::MinimumFOp>(location, a, b);
  if (isUnsigned(dtype))
    return isMax ? builder.createOrFold<arith::MaxUIOp>(location, a, b)
                 : builder.createOrFold<arith::MinUIOp>(location, a, b);
  return isMax ? builder.createOrFold<arith::MaxSIOp>(location, a, b)
               : builder.createOrFold<arith::MinSIOp>(location, a, b);
}

mlir::Value Emitter::emitShift(BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                               Location location) {
  Type type = a.getType();
  int64_t width = bitWidth(dtype);
  auto [low, high] = easyRange(b);
  bool inRange = low >= 0 && high < width, isLeft = op == BinaryOp::shl;
  if (isLeft || isUnsigned(dtype)) {
    auto shift = [&](mlir::Value by) -> mlir::Value {
      return isLeft ? builder.createOrFold<arith::ShLIOp>(location, a, by)
                    : builder.createOrFold<arith::ShRUIOp>(location, a, by);
    };
    if (inRange)
      return shift(b);
    mlir::Value fits = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::ult, b,
                                                           constantLike(type, width, location));
    mlir::Value zero = constantLike(type, 0, location);
    mlir::Value safe = builder.createOrFold<arith::SelectOp>(location, fits, b, zero);
    return builder.createOrFold<arith::SelectOp>(location, fits, shift(safe), zero);
  }
  if (!inRange)
    b = builder.createOrFold<arith::MinUIOp>(location, b, constantLike(type, width - 1, location));
  return builder.createOrFold<arith::ShRSIOp>(location, a, b);
}

/// Float to integer: truncates, saturates, NaN gives 0. `to` is an integer dtype but index.
mlir::Value Emitter::emitSaturatingCast(mlir::Value x, DType to, Location location) {
  Type target = withElement(x.getType(), toType(to, context));
  unsigned width = bitWidth(to);
  bool hasSign = !isUnsigned(to);
  double limit =
      std::ldexp(1.0, int(width) - hasSign); // becomes inf where the float type does not reach it
  auto compare = [&](arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return builder.createOrFold<arith::CmpFOp>(location, predicate, a, b);
  };
  mlir::Value isNan = compare(arith::CmpFPredicate::UNO, x, x);
  // Where the float type represents both limits of the integer, clamp before the conversion: that
  // takes fewer operations than selects after it.
  auto element = cast<mlir::FloatType>(getElementTypeOrSelf(x.getType()));
  if (width <= element.getFPMantissaWidth()) {
    mlir::Value number = builder.createOrFold<arith::SelectOp>(
        location, isNan, constantLike(x.getType(), 0, location), x);
    number = builder.createOrFold<arith::MaximumFOp>(
        location, number, constantLike(x.getType(), hasSign ? -limit : 0, location));
    number = builder.createOrFold<arith::MinimumFOp>(
        location, number, constantLike(x.getType(), limit - 1, location));
    return hasSign ? builder.createOrFold<arith::FPToSIOp>(location, target, number)
                   : builder.createOrFold<arith::FPToUIOp>(location, target, number);
  }
  mlir::Value tooHigh =
      compare(arith::CmpFPredicate::OGE, x, constantLike(x.getType(), limit, location));
  mlir::Value tooLow = compare(arith::CmpFPredicate::OLE, x,
                               constantLike(x.getType(), hasSign ? -limit : 0, location));
  mlir::Value unsafe = builder.createOrFold<arith::OrIOp>(
      location, isNan, builder.createOrFold<arith::OrIOp>(location, tooHigh, tooLow));
  mlir::Value safe = builder.createOrFold<arith::SelectOp>(
      location, unsafe, constantLike(x.getType(), 0, location), x);
  mlir::Value result = hasSign ? builder.createOrFold<arith::FPToSIOp>(location, target, safe)
                               : builder.createOrFold<arith::FPToUIOp>(location, target, safe);
  APInt highest = hasSign ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  result = builder.createOrFold<arith::SelectOp>(
      location, tooHigh, integerLike(builder, target, highest, location), result);
  if (!hasSign) // 0 already
    return result;
  return builder.createOrFold<arith::SelectOp>(
      location, tooLow, integerLike(builder, target, APInt::getSignedMinValue(width), location),
      result);
}

/// `as`: any dtype to any other but bool, i4 and u4.
mlir::Value Emitter::emitCast(mlir::Value x, DType from, DType to, Location location) {
  if (from == to)
    return x;
  Type target = withElement(x.getType(), toType(to, context));
  auto through = [&](DType middle) {
    return emitCast(emitCast(x, from, middle, location), middle, to, location);
  };
  if (isFloat(from) && isFloat(to)) {
    if (bitWidth(from) ==
        bitWidth(to)) // f16 and bf16, and 8-bit floats, meet in f32, which holds both exactly
      return through(DType::F32);
    if (isFloat8(to))
      return builder.createOrFold<RoundFloat8Op>(location, target, x);
    return bitWidth(from) < bitWidth(to)
               ? builder.createOrFold<arith::ExtFOp>(location, target, x)
               : builder.createOrFold<arith::TruncFOp>(location, target, x);
  }
  // An integer that f32 does not hold is beyond every 8-bit float: rounding twice is rounding once.
  if (isFloat8(from) || isFloat8(to))
    return through(DType::F32);
  if (isFloat(from))
    return to == DType::Index ? through(DType::I64) : emitSaturatingCast(x, to, location);
  bool hasSign = from != DType::Bool && !isUnsigned(from);
  if (isFloat(to)) {
    if (from == DType::Index)
      return through(DType::I64);
    return hasSign ? builder.createOrFold<arith::SIToFPOp>(location, target, x)
                   : builder.createOrFold<arith::UIToFPOp>(location, target, x);
  }
  if (from == DType::Index || to == DType::Index)
    return hasSign ? builder.createOrFold<arith::IndexCastOp>(location, target, x)
                   : builder.createOrFold<arith::IndexCastUIOp>(location, target, x);
  if (bitWidth(from) == bitWidth(to)) // the same bits
    return x;
  if (bitWidth(from) > bitWidth(to))
    return builder.createOrFold<arith::TruncIOp>(location, target, x);
  return hasSign ? builder.createOrFold<arith::ExtSIOp>(location, target, x)
                 : builder.createOrFold<arith::ExtUIOp>(location, target, x);
}

/// An operator on SSA values of one type; the caller has checked that the dtype has it.
mlir::Value Emitter::emitBinary(BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                                Location location) {
  bool floats = isFloat(dtype), hasSign = !isUnsigned(dtype);
  using I = arith::CmpIPredicate;
  auto compare = [&](arith::CmpFPredicate onFloats, I onSigned, I onUnsigned) -> mlir::Value {
    return floats ? builder.createOrFold<arith::CmpFOp>(location, onFloats, a, b)
                  : builder.createOrFold<arith::CmpIOp>(location, hasSign ? onSigned : onUnsigned,
                                                        a, b);
  };
  switch (op) {
  case BinaryOp::add:
    return floats ? builder.createOrFold<arith::AddFOp>(location, a, b)
                  : builder.createOrFold<arith::AddIOp>(location, a, b);
  case BinaryOp::sub:
    return floats ? builder.createOrFold<arith::SubFOp>(location, a, b)
                  : builder.createOrFold<arith::SubIOp>(location, a, b);
  case BinaryOp::mul:
    return floats ? builder.createOrFold<arith::MulFOp>(location, a, b)
                  : builder.createOrFold<arith::MulIOp>(location, a, b);
  case BinaryOp::div:
    return floats ? builder.createOrFold<arith::DivFOp>(location, a, b)
                  : emitDivision(a, b, dtype, false, location);
  case BinaryOp::rem:
    return emitDivision(a, b, dtype, true, location);
  case BinaryOp::shl:
  case BinaryOp::shr:
    return emitShift(op, a, b, dtype, location);
  case BinaryOp::bitAnd:
  case BinaryOp::logicalAnd:
    return builder.createOrFold<arith::AndIOp>(location, a, b);
  case BinaryOp::bitOr:
  case BinaryOp::logicalOr:
    return builder.createOrFold<arith::OrIOp>(location, a, b);
  case BinaryOp::bitXor:
    return builder.createOrFold<arith::XOrIOp>(location, a, b);
  case BinaryOp::eq:
    return compare(arith::CmpFPredicate::OEQ, I::eq, I::eq);
  case BinaryOp::ne:
    return compare(arith::CmpFPredicate::UNE, I::ne, I::ne);
  case BinaryOp::lt:
    return compare(arith::CmpFPredicate::OLT, I::slt, I::ult);
  case BinaryOp::le:
    return compare(arith::CmpFPredicate::OLE, I::sle, I::ule);
  case BinaryOp::gt:
    return compare(arith::CmpFPredicate::OGT, I::sgt, I::ugt);
  case BinaryOp::ge:
    return compare(arith::CmpFPredicate::OGE, I::sge, I::uge);
  }
  return {};
}

/// Repeats a scalar or tile to `shape`, which its own shape broadcasts to.
mlir::Value Emitter::emitBroadcast(mlir::Value x, ArrayRef<int64_t> shape, Location location) {
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
mlir::Value Emitter::emitReshape(mlir::Value x, ArrayRef<int64_t> shape, Location location) {
  auto tensor = dyn_cast<RankedTensorType>(x.getType());
  Type element = getElementTypeOrSelf(x.getType());
  if (!tensor)
    return shape.empty() ? x : emitBroadcast(x, shape, location);
  if (!shape.empty())
    return builder.createOrFold<ReshapeOp>(location, RankedTensorType::get(shape, element), x);
  SmallVector<mlir::Value> zeros(tensor.getRank(), constantIndex(0, location));
  return builder.createOrFold<tensor::ExtractOp>(location, x, zeros);
}

Location Emitter::loc(Range range) {
  auto at = [&](Range place) -> Location {
    if (!place.isValid())
      return UnknownLoc::get(context);
    LineColumn position = sources.begin(place);
    return FileLineColLoc::get(context, sources.name(place.file), position.line, position.column);
  };
  Location result = at(range);
  for (auto call = here.calls.rbegin(); call != here.calls.rend(); ++call)
    result = CallSiteLoc::get(result, at(call->call));
  return result;
}

/// The upper half of a product. In operations of one result each: tiles of operations with several
/// have no layout on GPUs. 64 bits by the halves of the factors, as in H. S. Warren, Hacker's
/// Delight, 8-2.
mlir::Value Emitter::emitMulHigh(mlir::Value a, mlir::Value b, DType dtype, Location location) {
  if (dtype == DType::Index)
    return emitCast(emitMulHigh(emitCast(a, dtype, DType::I64, location),
                                emitCast(b, dtype, DType::I64, location), DType::I64, location),
                    DType::I64, dtype, location);
  mlir::Type type = a.getType(), element = getElementTypeOrSelf(type);
  unsigned width = element.getIntOrFloatBitWidth();
  auto constantOf = [&](mlir::Type of, int64_t value) {
    mlir::TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(of), value);
    if (auto tensor = dyn_cast<RankedTensorType>(of))
      attr = DenseElementsAttr::get(tensor, mlir::Attribute(attr));
    return constant(attr, location);
  };
  auto add = [&](mlir::Value x, mlir::Value y) {
    return builder.createOrFold<arith::AddIOp>(location, x, y);
  };
  auto multiply = [&](mlir::Value x, mlir::Value y) {
    return builder.createOrFold<arith::MulIOp>(location, x, y);
  };
  if (width < 64) {
    mlir::Type wide = builder.getIntegerType(2 * width);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      wide = tensor.clone(wide);
    auto extend = [&](mlir::Value x) -> mlir::Value {
      return isUnsigned(dtype) ? builder.createOrFold<arith::ExtUIOp>(location, wide, x)
                               : builder.createOrFold<arith::ExtSIOp>(location, wide, x);
    };
    mlir::Value product = multiply(extend(a), extend(b));
    return builder.createOrFold<arith::TruncIOp>(
        location, type,
        builder.createOrFold<arith::ShRUIOp>(location, product, constantOf(wide, width)));
  }
  mlir::Value half = constantOf(type, 32), mask = constantOf(type, 0xffffffff),
              zero = constantOf(type, 0);
  auto low = [&](mlir::Value x) { return builder.createOrFold<arith::AndIOp>(location, x, mask); };
  auto high = [&](mlir::Value x) {
    return builder.createOrFold<arith::ShRUIOp>(location, x, half);
  };
  mlir::Value carry = add(multiply(high(a), low(b)), high(multiply(low(a), low(b))));
  mlir::Value middle = add(multiply(low(a), high(b)), low(carry));
  mlir::Value result = add(add(multiply(high(a), high(b)), high(carry)), high(middle));
  if (isUnsigned(dtype))
    return result;
  // A negative factor counts as 2^64 more than it is.
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    mlir::Value isNegative =
        builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::slt, x, zero);
    mlir::Value excess = builder.createOrFold<arith::SelectOp>(location, isNegative, y, zero);
    result = builder.createOrFold<arith::SubIOp>(location, result, excess);
  }
  return result;
}
