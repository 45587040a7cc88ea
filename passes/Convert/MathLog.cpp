// log, log2, log1p and pow.
#include "passes/Convert/ExpandMathCoefficients.h"
#include "passes/Convert/MathFunctions.h"
#include <limits>

using namespace mlir;

namespace tile::math {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

Decomposed decompose(Number x) {
  Format format(x);
  bool single = x.getWidth() == 32;
  Number small = less(x, single ? 0x1p-126 : 0x1p-1022);
  Number normal = select(small, x * (single ? 0x1p32 : 0x1p64), x);
  Number bits = toBits(normal);
  Number base = toBits(x.constant(single ? 0x1.6a09e6p-1 : 0x1.6a09e667f3bcdp-1));
  Number exponent = shiftRightSigned(bits - base, format.fraction);
  Number fraction = fromBits(bits - shiftLeft(exponent, format.fraction), x) - 1.0;
  Number correction = select(small, exponent.like(single ? 32 : 64), exponent.like(0));
  return {exponent - correction, fraction};
}

Number logTail(Number f) {
  Number square = f * f;
  if (f.getWidth() == 32)
    return square * fma(f, polynomial(f, logTail32), f.like(-0.5));
  // s = f / (2 + f) needs a division but halves the degree.
  Number s = f / (f + 2.0);
  Number z = s * s;
  Number half = square * 0.5;
  return fma(s, fma(z, polynomial(z, logTail64), half), -half);
}

/// Exponents fit 32 bits, and more processors convert those.
static Number exponentToFloat(Number exponent, Number like) {
  return toFloat(resize(exponent, 32), like);
}

/// log of 2^exponent * (1 + fraction).
static Number logOf(Decomposed parts) {
  bool single = parts.fraction.getWidth() == 32;
  Number e = exponentToFloat(parts.exponent, parts.fraction);
  Number high = fma(e, single ? log2Parts32[0] : log2Parts64[0], parts.fraction);
  return high + fma(e, single ? log2Parts32[1] : log2Parts64[1], logTail(parts.fraction));
}

/// Puts in the values at and outside the ends of a logarithm's domain (low, inf).
static Number withDomain(Number x, double low, Number result) {
  result = select(equal(x, infinity), x, result);
  result = select(equal(x, low), x.like(-infinity), result);
  return select(compare(arith::CmpFPredicate::ULT, x, x.like(low)), x.like(notANumber), result);
}

Number expandLog(Number x) { return withDomain(x, 0.0, logOf(decompose(x))); }

Number expandLog2(Number x) {
  bool single = x.getWidth() == 32;
  Decomposed parts = decompose(x);
  Number f = parts.fraction;
  double high = single ? log2eParts32[0] : log2eParts64[0],
         low = single ? log2eParts32[1] : log2eParts64[1];
  Number log2 = fma(f, high, fma(logTail(f), high, f * low));
  return withDomain(x, 0.0, log2 + exponentToFloat(parts.exponent, x));
}

Number expandLog1P(Number x) {
  Decomposed parts = decompose(x + 1.0);
  // The part of x that 1 + x rounds away is recovered by scaling first: f = x 2^-e + (2^-e - 1).
  // Where x is huge nothing is lost.
  Number factor = powerOfTwo(parts.exponent.like(0) - parts.exponent, x);
  parts.fraction = select(greater(x, 0x1p60), parts.fraction, fma(x, factor, factor - 1.0));
  Number result = select(equal(x, 0.0), x, logOf(parts)); // -0 stays -0
  return withDomain(x, -1.0, result);
}

//===--- pow --------------------------------------------------------------===//

namespace {
/// The unevaluated sum of two floats, the second below the first's precision.
struct Pair {
  Number high, low;
};
} // namespace

/// a + b exactly, |a| >= |b| or a = 0.
static Pair sum(Number a, Number b) {
  Number high = a + b;
  return {high, b - (high - a)};
}
/// a * b exactly.
static Pair product(Number a, Number b) {
  Number high = a * b;
  return {high, fma(a, b, -high)};
}

/// log(x) to about 2^-64 for f64.
static Pair preciseLog(Number x) {
  Decomposed parts = decompose(x);
  Number f = parts.fraction;
  Pair divisor = sum(f.like(2.0), f);
  Number s = f / divisor.high;
  Number rest = fma(-s, divisor.high, f) - s * divisor.low;
  Number sLow = rest / divisor.high;

  Pair z = product(s, s);
  z.low = fma(s * 2.0, sLow, z.low);
  // w = z (2/3 + z P(z)); log(1 + f) = s (2 + w).
  Pair w = product(z.high, z.high.like(twoThirdsParts64[0]));
  w.low = w.low + fma(z.high, twoThirdsParts64[1], z.low * twoThirdsParts64[0]);
  w.low = fma(z.high * z.high, polynomial(z.high, powTail64), w.low);
  Pair v = sum(w.high.like(2.0), w.high);
  v.low = v.low + w.low;
  Pair log = product(s, v.high);
  log.low = log.low + fma(s, v.low, sLow * v.high);

  Number e = exponentToFloat(parts.exponent, x);
  Pair total = sum(e * log2Parts64[0], log.high);
  total.low = total.low + fma(e, log2Parts64[1], log.low);
  return sum(total.high, total.low);
}

/// |x|^y for f64, |x| neither 0 nor infinite, in twice the precision up to the last step.
static Number powMagnitude64(Number magnitude, Number y) {
  Pair log = preciseLog(magnitude);
  Pair exponent = product(y, log.high);
  Number tail = fma(y, log.low, exponent.low);
  // Beyond exp's range the tail may be NaN, and no longer matters.
  tail = select(less(absolute(exponent.high), 800.0), tail, 0.0);
  return exponential(exponent.high, tail, {});
}

/// |x|^y for f32 by way of f64: a product y log2|x| in f32 would lose seven bits.
static Number powMagnitude32(Number magnitude, Number y) {
  auto &at = y.at();
  Type wide = y.withElement(at.getF64Type());
  Number x64 = y.make(arith::ExtFOp::create(at, wide, magnitude.get()));
  Number y64 = y.make(arith::ExtFOp::create(at, wide, y.get()));
  Number result = expandExp2(y64 * expandLog2(x64), {});
  return y.make(arith::TruncFOp::create(at, y.get().getType(), result.get()));
}

Number expandPow(Number x, Number y) {
  auto truncated = [](Number a) { return a.make(mlir::math::TruncOp::create(a.at(), a.get())); };
  auto differs = [](Number a, Number b) { return compare(arith::CmpFPredicate::UNE, a, b); };
  Number magnitude = absolute(x);
  Number result = x.getWidth() == 32 ? powMagnitude32(magnitude, y) : powMagnitude64(magnitude, y);

  // 0 and infinity to a power: infinite if 0^negative or infinity^positive, else 0. 1 to any power
  // is 1.
  Number zero = equal(magnitude, 0.0);
  Number extreme = zero | equal(magnitude, infinity);
  Number toInfinity = zero ^ greater(y, 0.0);
  result = select(extreme, select(toInfinity, x.like(infinity), x.like(0.0)), result);
  result = select(equal(magnitude, 1.0), x.like(1.0), result);

  // A negative x wants an integral y, whose parity gives the sign.
  Number fractional = differs(truncated(y), y);
  Number half = y * 0.5;
  Number odd = differs(truncated(half), half) & (fractional ^ fractional.like(1));
  result = select(odd, copySign(result, x), result);
  Number finiteNegative = less(x, 0.0) & greater(x, -infinity);
  Number invalid = (finiteNegative & fractional) | isNaN(x) | isNaN(y);
  result = select(invalid, x.like(notANumber), result);
  return select(equal(x, 1.0) | equal(y, 0.0), x.like(1.0), result);
}

} // namespace tile::math
