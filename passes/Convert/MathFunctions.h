// The approximations of elementary functions that tile-expand-math puts in place of math
// operations.
#ifndef TILE_PASSES_CONVERT_MATHFUNCTIONS_H
#define TILE_PASSES_CONVERT_MATHFUNCTIONS_H

#include "passes/Convert/MathNumber.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::math {

/// Permissions for the approximations.
struct Machine {
  bool gpu = false;  ///< NVIDIA's approximate instructions for f32 exist
  bool fast = false; ///< they may stand alone, though less accurate (fastmath afn)
};

/// x = quadrant * pi/2 + rest with |rest| <= pi/4; only the low two bits of the quadrant count.
struct ReducedAngle {
  Number rest, quadrant;
};

/// The reduced angles of a function's sines, cosines and tangents: those of one angle in one block
/// share a reduction. LLVM would not merge them, since there are branches in it. Operations are
/// expanded in the order of their block.
class Angles {
public:
  ReducedAngle reduce(Number x, Machine machine);

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Block *>, ReducedAngle> reduced;
};

// Each takes f32 or f64, scalars or vectors, and returns the same type. Errors and special cases:
// docs/Math.md.
Number expandExp(Number x, Machine machine);
Number expandExp2(Number x, Machine machine);
Number expandExpM1(Number x);
Number expandTanh(Number x, Machine machine);
Number expandErf(Number x, Machine machine);
Number expandLog(Number x);
Number expandLog2(Number x);
Number expandLog1P(Number x);
Number expandSin(Number x, Angles &angles, Machine machine);
Number expandCos(Number x, Angles &angles, Machine machine);
Number expandTan(Number x, Angles &angles, Machine machine);
Number expandPow(Number x, Number y);
Number expandRsqrt(Number x, Machine machine);
/// 1 / (1 + exp(x)) of f32 on a GPU, without the branch of a division.
Number invertSum(Number x);

/// The exponential of a 1 / (1 + exp(x)) of f32 that nothing else uses, which the flags do not let
/// be approximate; null where the division is another.
mlir::math::ExpOp getExponentialOfSigmoid(mlir::arith::DivFOp op);
/// Whether a division on the GPU is written out: of few f32, more than one, with the dividend 1 or
/// divisors in common, which the flags do not let be approximate.
bool isExpandableDivision(mlir::arith::DivFOp op);
/// Whether all elements of such a division are divided by the same number.
bool hasOneDivisor(mlir::arith::DivFOp op);
/// Replaces such a division by operations with the same result.
void expandDivision(mlir::arith::DivFOp op);

// Shared between the files.

/// a / d within a thousandth of half an ulp, where d is normal and below 2^126 and |a| at most d.
/// On a GPU, f32 without the branch of a division to operands out of the ordinary.
Number divideModerate(Number a, Number d, Machine machine);

/// 1 / x of f32 within an ulp on a GPU, where neither is subnormal; 0 for larger x.
Number approximateReciprocal(Number x);

/// The layout of a float type.
struct Format {
  explicit Format(Number x)
      : fraction(x.getWidth() == 32 ? 23 : 52), bias(x.getWidth() == 32 ? 127 : 1023) {}
  int fraction; ///< bits of the significand after the point
  int bias;     ///< of the exponent
};

/// The nearest integer to x (ties to even) as float and as integer of x's width; |x| < 2^(fraction
/// - 1). For NaN and beyond the bound the integer is arbitrary, but never undefined.
struct Rounded {
  Number number, integer;
};
Rounded roundToInteger(Number x);

/// 2^n as a float of the type of `like`; n within the range of normal exponents.
Number powerOfTwo(Number n, Number like);

/// x * 2^n, rounded once, also where the result is subnormal or overflows; |n| is at most twice the
/// exponent's range.
Number scale(Number x, Number n);

/// exp(x + tail) for a tail below x's precision (null: none). Overflows and underflows as exp does.
Number exponential(Number x, Number tail, Machine machine);

/// x = 2^exponent * (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)); x is positive and
/// finite, or the parts are arbitrary.
struct Decomposed {
  Number exponent; ///< integer
  Number fraction; ///< float, exact
};
Decomposed decompose(Number x);

/// log(1 + f) - f for sqrt(1/2) <= 1 + f <= sqrt(2).
Number logTail(Number f);

} // namespace tile::math

#endif
