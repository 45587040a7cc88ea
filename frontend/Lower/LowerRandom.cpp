// Random numbers: words of a counter-based generator at positions, and the distributions made from
// them.
#include "frontend/Lower/Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;

/// `like` (a scalar or tile type) with other elements.
static Type withElement(Type like, Type element) {
  auto tile = dyn_cast<RankedTensorType>(like);
  return tile ? Type(tile.clone(element)) : element;
}

mlir::Value RandomCalls::emitRandomBits(mlir::Value seed, mlir::Value position, Location location) {
  return RandomBitsOp::create(
      builder, location, withElement(position.getType(), builder.getI32Type()), seed, position);
}

/// The upper 24 bits as a multiple of 2^-24: every value is exact, and 1 is none of them.
mlir::Value RandomCalls::emitUniform(mlir::Value bits, Location location) {
  Type floats = withElement(bits.getType(), builder.getF32Type());
  mlir::Value upper = arith::ShRUIOp::create(builder, location, bits,
                                             emitter.constantLike(bits.getType(), 8, location));
  mlir::Value number = arith::SIToFPOp::create(builder, location, floats, upper);
  return arith::MulFOp::create(builder, location, number,
                               emitter.constantLike(floats, 0x1p-24, location));
}

/// Box and Muller's method on the pair of words that position p belongs to: the even one gives the
/// radius sqrt(-2 ln u), the odd one the angle; even positions take the cosine, odd ones the sine.
/// Absolute error below 2e-6.
mlir::Value RandomCalls::emitNormal(mlir::Value seed, mlir::Value position, Location location) {
  mlir::Value one = emitter.constantLike(position.getType(), 1, location);
  mlir::Value own = emitRandomBits(seed, position, location);
  mlir::Value other =
      emitRandomBits(seed, arith::XOrIOp::create(builder, location, position, one), location);
  mlir::Value low = arith::AndIOp::create(builder, location, position, one);
  mlir::Value isEven = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, low, one);
  mlir::Value radiusBits = arith::SelectOp::create(builder, location, isEven, own, other);
  mlir::Value angleBits = arith::SelectOp::create(builder, location, isEven, other, own);
  Type words = own.getType(), floats = withElement(words, builder.getF32Type());
  auto word = [&](int64_t value) {
    return emitter.constantLike(words, double(int32_t(value)), location);
  };
  auto number = [&](double value) { return emitter.constantLike(floats, value, location); };

  // u = (word + 1/2) / 2^32, in (0, 1].
  mlir::Value u = arith::UIToFPOp::create(builder, location, floats, radiusBits);
  u = math::FmaOp::create(builder, location, u, number(0x1p-32), number(0x1p-33));
  mlir::Value radius = arith::MulFOp::create(
      builder, location, math::LogOp::create(builder, location, u), number(-2.0));
  radius = math::SqrtOp::create(builder, location, radius);

  // The angle is word * 2 pi / 2^32: a quarter turn makes a cosine a sine, and sin(pi - x) = sin(x)
  // brings it to the right half, all in integers that wrap around.
  mlir::Value quarter = arith::AddIOp::create(builder, location, angleBits, word(0x40000000));
  mlir::Value angle = arith::SelectOp::create(builder, location, isEven, quarter, angleBits);
  mlir::Value doubled = arith::ShLIOp::create(builder, location, angle, word(1));
  mlir::Value differ = arith::XOrIOp::create(builder, location, angle, doubled);
  mlir::Value isLeft =
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, differ, word(0));
  mlir::Value mirrored = arith::SubIOp::create(builder, location, word(INT32_MIN), angle);
  angle = arith::SelectOp::create(builder, location, isLeft, mirrored, angle);
  mlir::Value t = arith::SIToFPOp::create(builder, location, floats, angle);
  t = arith::MulFOp::create(builder, location, t,
                            number(0x1p-31)); // in halves of a turn: [-1/2, 1/2]
  // sin(pi t) / t as a polynomial in t^2, least squares on Chebyshev nodes of [0, 1/4];
  // error 1.8e-7.
  static const double coefficients[] = {0.07765766233205795, -0.598291277885437, 2.550077438354492,
                                        -5.167710304260254, 3.1415927410125732};
  mlir::Value square = arith::MulFOp::create(builder, location, t, t),
              sine = number(coefficients[0]);
  for (double coefficient : llvm::drop_begin(coefficients))
    sine = math::FmaOp::create(builder, location, sine, square, number(coefficient));
  sine = arith::MulFOp::create(builder, location, sine, t);
  return arith::MulFOp::create(builder, location, radius, sine);
}

/// low + floor(bits * (high - low) / 2^32), and `low` where high <= low.
SemValue RandomCalls::emitRandInt(mlir::Value bits, MutableArrayRef<Arg> bounds, Range range) {
  Location location = emitter.loc(range);
  if (!conversions.unifyDtypes(bounds, "'randint'", range))
    return SemValue::error();
  DType dtype = bounds[0].value.dtype;
  if (!isInteger(dtype)) {
    here.error(diag::wrongOperand, range, "'randint'", "integers as its bounds",
               dtypeSpelling(dtype));
    return SemValue::error();
  }
  Arg operands[] = {{ofData(bits, DType::U32), range, ""}, bounds[0], bounds[1]};
  if (!conversions.unifyShapes(operands, range))
    return SemValue::error();
  mlir::Value low = ssaOf(operands[1].value), high = ssaOf(operands[2].value);
  // Both bounds as 64 bits, where neither the distance nor its product with 32 bits is lost.
  mlir::Value wideLow = emitter.emitCast(low, dtype, DType::I64, location),
              wideHigh = emitter.emitCast(high, dtype, DType::I64, location);
  mlir::Value width = arith::SubIOp::create(builder, location, wideHigh, wideLow);
  auto predicate = isUnsigned(dtype) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  mlir::Value isOpen = arith::CmpIOp::create(builder, location, predicate, wideHigh, wideLow);
  width = arith::SelectOp::create(builder, location, isOpen, width,
                                  emitter.constantLike(width.getType(), 0, location));
  mlir::Value offset = emitter.emitCast(ssaOf(operands[0].value), DType::U32, DType::I64, location);
  offset = arith::MulIOp::create(builder, location, offset, width);
  offset = arith::ShRUIOp::create(builder, location, offset,
                                  emitter.constantLike(width.getType(), 32, location));
  mlir::Value result = arith::AddIOp::create(builder, location, wideLow, offset);
  return ofData(emitter.emitCast(result, DType::I64, dtype, location), dtype);
}

SemValue RandomCalls::callRandom(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  Location location = emitter.loc(range);
  Arg &seedArg = args[0], &positionArg = args[1];
  auto isInt = [](const SemValue &value) {
    return value.isInt() || (value.isData() && isInteger(value.dtype));
  };
  if (!isInt(seedArg.value) || seedArg.value.rank() != 0) {
    here.error(diag::wrongOperand, seedArg.range, ("the seed of '" + name + "'").str(),
               "an integer scalar", describe(seedArg.value));
    return SemValue::error();
  }
  if (!isInt(positionArg.value)) {
    DiagnosticBuilder report =
        here.error(diag::wrongOperand, positionArg.range, ("the positions of '" + name + "'").str(),
                   "an integer, or a tile of integers", describe(positionArg.value));
    if (positionArg.value.isRange())
      report.note("iota(r) makes a tile of an index range's positions");
    return SemValue::error();
  }
  auto wide = [&](Arg &arg) -> mlir::Value {
    SemValue value = arg.value.isInt()
                         ? ofData(conversions.toDtype(arg.value, DType::I64, arg.range), DType::I64)
                         : arg.value;
    return ssaOf(value) ? emitter.emitCast(ssaOf(value), value.dtype, DType::I64, location)
                        : mlir::Value();
  };
  mlir::Value seed = wide(seedArg), position = wide(positionArg);
  if (!seed || !position)
    return SemValue::error();
  if (auto tile = dyn_cast<RankedTensorType>(position.getType()))
    seed = emitter.emitBroadcast(seed, tile.getShape(), location);
  if (name == "randn")
    return ofData(emitNormal(seed, position, location), DType::F32);
  mlir::Value bits = emitRandomBits(seed, position, location);
  if (name == "rand")
    return ofData(emitUniform(bits, location), DType::F32);
  if (name == "randint")
    return emitRandInt(bits, MutableArrayRef<Arg>(args).drop_front(2), range);
  return ofData(bits, DType::U32);
}
