// A small arithmetic language over SSA values, so that approximations read like formulas. Scalars
// and 1-D vectors alike.
#ifndef TILE_PASSES_CONVERT_MATHNUMBER_H
#define TILE_PASSES_CONVERT_MATHNUMBER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>

namespace tile::math {

/// A value (float, integer or i1; scalar or vector) with the place where operations on it are
/// built.
class Number {
public:
  Number() = default;
  Number(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : builder(&builder), value(value) {}

  mlir::Value get() const { return value; }
  mlir::ImplicitLocOpBuilder &at() const { return *builder; }
  mlir::Type getElementType() const { return mlir::getElementTypeOrSelf(value.getType()); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(getElementType()); }
  unsigned getWidth() const { return getElementType().getIntOrFloatBitWidth(); }

  /// This value's type with another element type.
  mlir::Type withElement(mlir::Type element) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(value.getType()))
      return vector.clone(element);
    return element;
  }
  Number make(mlir::Value other) const { return Number(*builder, other); }

  /// A float constant of this value's type, rounded to it.
  Number constant(double number) const {
    llvm::APFloat exact(number);
    bool inexact;
    auto type = llvm::cast<mlir::FloatType>(getElementType());
    exact.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return constant(builder->getFloatAttr(type, exact));
  }
  /// An integer constant of this value's type, taken modulo its width.
  Number integer(uint64_t number) const {
    auto type = llvm::cast<mlir::IntegerType>(getElementType());
    return constant(
        builder->getIntegerAttr(type, llvm::APInt(64, number).zextOrTrunc(type.getWidth())));
  }
  /// A constant of this value's type, whichever it is.
  template <typename T> Number like(T number) const {
    static_assert(std::is_arithmetic_v<T>);
    return isFloat() ? constant(static_cast<double>(number))
                     : integer(static_cast<uint64_t>(static_cast<int64_t>(number)));
  }

private:
  Number constant(mlir::TypedAttr attr) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(value.getType()))
      attr = mlir::DenseElementsAttr::get(vector.clone(attr.getType()), mlir::Attribute(attr));
    return make(mlir::arith::ConstantOp::create(*builder, attr));
  }

  mlir::ImplicitLocOpBuilder *builder = nullptr;
  mlir::Value value;
};

template <typename FloatOp, typename IntOp> Number combine(Number a, Number b) {
  if (a.isFloat())
    return a.make(FloatOp::create(a.at(), a.get(), b.get()));
  return a.make(IntOp::create(a.at(), a.get(), b.get()));
}
inline Number operator+(Number a, Number b) {
  return combine<mlir::arith::AddFOp, mlir::arith::AddIOp>(a, b);
}
inline Number operator-(Number a, Number b) {
  return combine<mlir::arith::SubFOp, mlir::arith::SubIOp>(a, b);
}
inline Number operator*(Number a, Number b) {
  return combine<mlir::arith::MulFOp, mlir::arith::MulIOp>(a, b);
}
inline Number operator/(Number a, Number b) {
  return a.make(mlir::arith::DivFOp::create(a.at(), a.get(), b.get()));
}
inline Number operator-(Number a) { return a.make(mlir::arith::NegFOp::create(a.at(), a.get())); }
inline Number operator&(Number a, Number b) {
  return a.make(mlir::arith::AndIOp::create(a.at(), a.get(), b.get()));
}
inline Number operator|(Number a, Number b) {
  return a.make(mlir::arith::OrIOp::create(a.at(), a.get(), b.get()));
}
inline Number operator^(Number a, Number b) {
  return a.make(mlir::arith::XOrIOp::create(a.at(), a.get(), b.get()));
}
inline Number shiftLeft(Number a, Number b) {
  return a.make(mlir::arith::ShLIOp::create(a.at(), a.get(), b.get()));
}
/// Shifts in zeros.
inline Number shiftRight(Number a, Number b) {
  return a.make(mlir::arith::ShRUIOp::create(a.at(), a.get(), b.get()));
}
/// Shifts in copies of the sign.
inline Number shiftRightSigned(Number a, Number b) {
  return a.make(mlir::arith::ShRSIOp::create(a.at(), a.get(), b.get()));
}

template <typename T> using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<T>, Number>;
template <typename T> IfArithmetic<T> operator+(Number a, T b) { return a + a.like(b); }
template <typename T> IfArithmetic<T> operator-(Number a, T b) { return a - a.like(b); }
template <typename T> IfArithmetic<T> operator*(Number a, T b) { return a * a.like(b); }
template <typename T> IfArithmetic<T> operator-(T a, Number b) { return b.like(a) - b; }
template <typename T> IfArithmetic<T> operator/(T a, Number b) { return b.like(a) / b; }
template <typename T> IfArithmetic<T> operator&(Number a, T b) { return a & a.like(b); }
template <typename T> IfArithmetic<T> shiftLeft(Number a, T b) { return shiftLeft(a, a.like(b)); }
template <typename T> IfArithmetic<T> shiftRight(Number a, T b) { return shiftRight(a, a.like(b)); }
template <typename T> IfArithmetic<T> shiftRightSigned(Number a, T b) {
  return shiftRightSigned(a, a.like(b));
}

inline Number compare(mlir::arith::CmpFPredicate predicate, Number a, Number b) {
  return a.make(mlir::arith::CmpFOp::create(a.at(), predicate, a.get(), b.get()));
}
inline Number compare(mlir::arith::CmpIPredicate predicate, Number a, Number b) {
  return a.make(mlir::arith::CmpIOp::create(a.at(), predicate, a.get(), b.get()));
}
// Ordered: false if either is NaN.
template <typename T> IfArithmetic<T> less(Number a, T b) {
  return compare(mlir::arith::CmpFPredicate::OLT, a, a.like(b));
}
template <typename T> IfArithmetic<T> greater(Number a, T b) {
  return compare(mlir::arith::CmpFPredicate::OGT, a, a.like(b));
}
template <typename T> IfArithmetic<T> equal(Number a, T b) {
  return a.isFloat() ? compare(mlir::arith::CmpFPredicate::OEQ, a, a.like(b))
                     : compare(mlir::arith::CmpIPredicate::eq, a, a.like(b));
}
inline Number isNaN(Number a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }

inline Number select(Number condition, Number a, Number b) {
  return a.make(mlir::arith::SelectOp::create(a.at(), condition.get(), a.get(), b.get()));
}
template <typename T> IfArithmetic<T> select(Number condition, Number a, T b) {
  return select(condition, a, a.like(b));
}
/// `a` held within [low, high]; NaN stays NaN.
inline Number clamp(Number a, double low, double high) {
  Number raised = select(less(a, low), a.like(low), a);
  return select(greater(raised, high), a.like(high), raised);
}

/// a * b + c, rounded once.
inline Number fma(Number a, Number b, Number c) {
  return a.make(mlir::math::FmaOp::create(a.at(), a.get(), b.get(), c.get()));
}
template <typename T> IfArithmetic<T> fma(Number a, T b, Number c) { return fma(a, a.like(b), c); }
inline Number absolute(Number a) { return a.make(mlir::math::AbsFOp::create(a.at(), a.get())); }
inline Number squareRoot(Number a) { return a.make(mlir::math::SqrtOp::create(a.at(), a.get())); }
inline Number copySign(Number magnitude, Number sign) {
  return magnitude.make(
      mlir::math::CopySignOp::create(magnitude.at(), magnitude.get(), sign.get()));
}

/// The bits of a float as an integer of the same width.
inline Number toBits(Number a) {
  mlir::Type type = a.withElement(a.at().getIntegerType(a.getWidth()));
  return a.make(mlir::arith::BitcastOp::create(a.at(), type, a.get()));
}
/// The float of the type of `like` with these bits.
inline Number fromBits(Number bits, Number like) {
  return bits.make(mlir::arith::BitcastOp::create(bits.at(), like.get().getType(), bits.get()));
}
/// Converts a signed integer to the float type of `like`, rounding once.
inline Number toFloat(Number integer, Number like) {
  return integer.make(
      mlir::arith::SIToFPOp::create(integer.at(), like.get().getType(), integer.get()));
}
/// Changes the width of an integer; wider ones get zeros.
inline Number resize(Number integer, unsigned width) {
  mlir::Type type = integer.withElement(integer.at().getIntegerType(width));
  if (width > integer.getWidth())
    return integer.make(mlir::arith::ExtUIOp::create(integer.at(), type, integer.get()));
  if (width < integer.getWidth())
    return integer.make(mlir::arith::TruncIOp::create(integer.at(), type, integer.get()));
  return integer;
}

/// sum coefficients[i] x^i by Horner's rule.
template <size_t N> Number polynomial(Number x, const double (&coefficients)[N]) {
  Number sum = x.like(coefficients[N - 1]);
  for (size_t i = N - 1; i-- > 0;)
    sum = fma(sum, x, x.like(coefficients[i]));
  return sum;
}

} // namespace tile::math

#endif
