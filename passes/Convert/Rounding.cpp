// Rounding twice as if once, by integer code on the bits of f32.
#include "passes/Convert/Rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

Type tile::withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

Value tile::integerLike(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

/// f64 to f32, rounded to odd: of the two neighbours the one whose last bit is 1, unless the value
/// is exact. A second rounding to fewer than 23 bits then sees whether anything was lost, and gives
/// the result of one rounding.
Value tile::narrowToOdd(OpBuilder &b, Location loc, Value value) {
  Type f32 = withElement(value.getType(), b.getF32Type()),
       i32 = withElement(value.getType(), b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, loc, f32, value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest), one = integerLike(b, loc, i32, 1);
  // An odd neighbour is the right one already, whichever side it lies on; of an even one the
  // neighbour towards the exact value is odd.
  Value even =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            arith::AndIOp::create(b, loc, bits, one), integerLike(b, loc, i32, 0));
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, value);
  Value larger =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                            math::AbsFOp::create(b, loc, value));
  // The bits of a float's magnitude count up with it, so that one more or less is the next float,
  // also from the largest number to infinity and back.
  Value moved = arith::SelectOp::create(b, loc, larger, arith::SubIOp::create(b, loc, bits, one),
                                        arith::AddIOp::create(b, loc, bits, one));
  Value change = arith::AndIOp::create(b, loc, even, inexact);
  return arith::BitcastOp::create(b, loc, f32,
                                  arith::SelectOp::create(b, loc, change, moved, bits));
}

/// A 64-bit integer that f64 holds and that rounds as `x` does: of a large one the last 11 bits
/// become one sticky bit.
static Value fitF64(OpBuilder &b, Location loc, Value x, bool hasSign) {
  auto number = [&](int64_t value) { return tile::integerLike(b, loc, x.getType(), value); };
  Value rest = arith::AndIOp::create(b, loc, x, number(0x7ff));
  Value isExact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, number(0));
  Value kept = arith::AndIOp::create(b, loc, x, number(~int64_t(0x7ff)));
  // One above the bits that are cut: the kept part is made odd where anything was cut.
  Value sticky = arith::SelectOp::create(b, loc, isExact, number(0), number(0x800));
  // Below 2^53 in magnitude all of it fits.
  constexpr int64_t limit = int64_t(1) << 53;
  // x + 2^53 <= 2^54, unsigned: one comparison for both signs.
  Value shifted = hasSign ? Value(arith::AddIOp::create(b, loc, x, number(limit))) : x;
  Value isSmall = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, shifted,
                                        number(hasSign ? 2 * limit : limit));
  return arith::SelectOp::create(b, loc, isSmall, x, arith::OrIOp::create(b, loc, kept, sticky));
}

Value tile::integerToF32(OpBuilder &b, Location loc, Value value, bool hasSign) {
  unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  auto convert = [&](Value integer, Type element) -> Value {
    Type type = withElement(value.getType(), element);
    return hasSign ? arith::SIToFPOp::create(b, loc, type, integer).getResult()
                   : arith::UIToFPOp::create(b, loc, type, integer).getResult();
  };
  // f32 holds integers of up to 16 bits exactly, f64 those of 32.
  // SIToFP to f64 is exact up to 53 bits; rounding to odd is done on the way from f64.
  if (width <= 16)
    return convert(value, b.getF32Type());
  return narrowToOdd(b, loc,
                     convert(width == 64 ? fitF64(b, loc, value, hasSign) : value, b.getF64Type()));
}

Value tile::fmaToF32(OpBuilder &b, Location loc, Value x, Value y, Value z) {
  Type f64 = withElement(x.getType(), b.getF64Type()),
       i64 = withElement(x.getType(), b.getI64Type());
  auto widen = [&](Value value) -> Value { return arith::ExtFOp::create(b, loc, f64, value); };
  auto add = [&](Value p, Value q) -> Value { return arith::AddFOp::create(b, loc, p, q); };
  auto subtract = [&](Value p, Value q) -> Value { return arith::SubFOp::create(b, loc, p, q); };
  // The product is exact in f64. What the sum loses is exact too (Knuth's two-sum); where it is not
  // zero the sum is made odd.
  Value product = arith::MulFOp::create(b, loc, widen(x), widen(y)), wide = widen(z),
        sum = add(product, wide);
  // Where |sum| is infinite or NaN, `lost` is NaN, and the ordered comparison below leaves the sum
  // alone.
  Value part = subtract(sum, product);
  Value lost = add(subtract(product, subtract(sum, part)), subtract(wide, part));
  TypedAttr none = b.getF64FloatAttr(0);
  if (auto shaped = dyn_cast<ShapedType>(f64))
    none = DenseElementsAttr::get(shaped, Attribute(none));
  Value zero = arith::ConstantOp::create(b, loc, none), one = integerLike(b, loc, i64, 1);
  auto compare = [&](arith::CmpFPredicate how, Value p) -> Value {
    return arith::CmpFOp::create(b, loc, how, p, zero);
  };
  Value bits = arith::BitcastOp::create(b, loc, i64, sum);
  Value even =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            arith::AndIOp::create(b, loc, bits, one), integerLike(b, loc, i64, 0));
  Value change = arith::AndIOp::create(b, loc, even, compare(arith::CmpFPredicate::ONE, lost));
  // Away from zero if the lost part has the sum's sign; the bits of a magnitude grow that way.
  Value outward = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        compare(arith::CmpFPredicate::OGT, lost),
                                        compare(arith::CmpFPredicate::OGT, sum));
  Value moved = arith::SelectOp::create(b, loc, outward, arith::AddIOp::create(b, loc, bits, one),
                                        arith::SubIOp::create(b, loc, bits, one));
  Value odd = arith::SelectOp::create(b, loc, change, moved, bits);
  return narrowToOdd(b, loc, arith::BitcastOp::create(b, loc, f64, odd));
}
