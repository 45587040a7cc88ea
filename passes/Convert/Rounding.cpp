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

Value tile::narrowToOdd(OpBuilder &b, Location loc, Value value) {
  Type f32 = withElement(value.getType(), b.getF32Type()), i32 = withElement(value.getType(), b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, loc, f32, value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest), one = integerLike(b, loc, i32, 1);
  Value even = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, arith::AndIOp::create(b, loc, bits, one),
                                     integerLike(b, loc, i32, 0));
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, value);
  Value larger = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                                       math::AbsFOp::create(b, loc, value));
  Value moved = arith::SelectOp::create(b, loc, larger, arith::SubIOp::create(b, loc, bits, one),
                                        arith::AddIOp::create(b, loc, bits, one));
  Value change = arith::AndIOp::create(b, loc, even, inexact);
  return arith::BitcastOp::create(b, loc, f32, arith::SelectOp::create(b, loc, change, moved, bits));
}
