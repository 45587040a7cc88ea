// sin, cos and tan, with argument reduction that is accurate for every finite argument.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Convert/ExpandMathCoefficients.h"
#include "passes/Convert/MathFunctions.h"
#include <limits>

using namespace mlir;

namespace tile::math {

/// Subtracts a multiple of pi/2 in three parts (Cody and Waite): right while the multiple is below
/// 2^(fraction - 5).
static ReducedAngle reduceModerate(Number x) {
  bool single = x.getWidth() == 32;
  Rounded n = roundToInteger(x * 0x1.45f306dc9c883p-1);
  Number rest = x;
  for (int i = 0; i < 3; ++i)
    rest = fma(n.number, single ? -halfPiParts32[i] : -halfPiParts64[i], rest);
  return {rest, n.integer};
}

/// Four consecutive words of `words`, the first of them at `index`: a tree of selects, one level
/// for each bit of the index.
static SmallVector<Number> selectWords(SmallVector<Number> words, Number index) {
  unsigned bit = llvm::PowerOf2Ceil(words.size() - 3) / 2;
  for (; bit > 0; bit /= 2) {
    Number clear = equal(index & static_cast<int>(bit), 0);
    SmallVector<Number> chosen;
    for (unsigned i = 0; i < std::min<size_t>(words.size(), bit + 3); ++i)
      chosen.push_back(i + bit < words.size() ? select(clear, words[i], words[i + bit]) : words[i]);
    words = chosen;
  }
  words.resize(4);
  return words;
}

/// Multiplies |x| = m 2^e by those bits of 2/pi that matter modulo 4 (Payne and Hanek): any x from
/// 2^10 up.
static ReducedAngle reduceLarge(Number x) {
  Format format(x);
  unsigned width = x.getWidth();
  Number bits = toBits(absolute(x));
  Number significand =
      (bits & ((int64_t(1) << format.fraction) - 1)) | bits.like(int64_t(1) << format.fraction);
  // The window starts at the bit of 2/pi whose product with 2^e weighs 2. One word of zeros stands
  // before the point.
  Number position =
      shiftRight(bits, format.fraction) + (int(width) - 2 - format.bias - format.fraction);
  unsigned wordBits = width == 32 ? 5 : 6;
  SmallVector<Number> table = {bits.like(0)};
  for (unsigned i = 0; i < (width == 32 ? 7u : 19u); ++i)
    table.push_back(bits.integer(width == 32 ? (twoOverPi[i / 2] >> (i % 2 ? 0 : 32)) & 0xffffffff
                                             : twoOverPi[i]));
  SmallVector<Number> words = selectWords(table, shiftRight(position, wordBits));
  Number shift = position & int(width - 1);
  Number complement = int(width - 1) - shift;
  Number window[3];
  for (int i = 0; i < 3; ++i)
    window[i] = shiftLeft(words[i], shift) | shiftRight(shiftRight(words[i + 1], 1), complement);

  Number fraction, low; // x * 2/pi modulo 4 as fixed point: 2 bits before the point, 62 after it;
                        // then 64 more in `low`
  if (width == 32) {
    Number m = resize(significand, 64);
    fraction = shiftLeft(m * resize(window[0], 64), 32) + m * resize(window[1], 64) +
               shiftRight(m * resize(window[2], 64), 32);
  } else {
    auto multiply = [&](Number a, Number b) {
      auto op = arith::MulUIExtendedOp::create(a.at(), a.get(), b.get());
      return std::pair(a.make(op.getLow()), a.make(op.getHigh()));
    };
    auto [middleLow, middleHigh] = multiply(significand, window[1]);
    low = middleLow + multiply(significand, window[2]).second;
    Number carried = compare(arith::CmpIPredicate::ult, low, middleLow);
    Number carry = low.make(arith::ExtUIOp::create(low.at(), low.get().getType(), carried.get()));
    fraction = significand * window[0] + middleHigh + carry;
  }
  Number quadrant = shiftRight(fraction + (int64_t(1) << 61), 62);
  Number remainder = fraction - shiftLeft(quadrant, 62);

  Number rest = toFloat(remainder, x);
  if (width == 64) {
    // The bits that the conversion rounded off, and those below.
    Number back = rest.make(arith::FPToSIOp::create(x.at(), remainder.get().getType(), rest.get()));
    Number lost = toFloat(remainder - back, x);
    rest = rest + fma(toFloat(shiftRight(low, 1), x), 0x1p-63, lost);
    rest = fma(rest, halfPiParts64[0] * 0x1p-62, rest * (halfPiParts64[1] * 0x1p-62));
  } else {
    rest = fma(rest, halfPiParts32[0] * 0x1p-62, rest * (halfPiParts32[1] * 0x1p-62));
  }
  quadrant = resize(quadrant, width);
  Number negative = less(x, 0.0);
  return {select(negative, -rest, rest), select(negative, quadrant.like(0) - quadrant, quadrant)};
}

/// Whether any element is set: an i1.
static Value any(Number condition) {
  auto type = dyn_cast<VectorType>(condition.get().getType());
  if (!type)
    return condition.get();
  Value result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value one = vector::ExtractOp::create(condition.at(), condition.get(), ArrayRef<int64_t>{i});
    result = result ? Value(arith::OrIOp::create(condition.at(), result, one)) : one;
  }
  return result;
}

/// Yields both parts.
static void yield(OpBuilder &builder, Location loc, ReducedAngle angle) {
  scf::YieldOp::create(builder, loc, ValueRange{angle.rest.get(), angle.quadrant.get()});
}

/// One element by the large way, if its own condition says so. One after another, since tables for
/// many elements at once would fill the registers.
static ReducedAngle reduceElement(Number x, Number isLarge, ReducedAngle moderate) {
  auto branch = scf::IfOp::create(
      x.at(), isLarge.get(),
      [&](OpBuilder &inner, Location loc) {
        ImplicitLocOpBuilder builder(loc, inner);
        yield(inner, loc, reduceLarge(Number(builder, x.get())));
      },
      [&](OpBuilder &inner, Location loc) { yield(inner, loc, moderate); });
  return {x.make(branch.getResult(0)), x.make(branch.getResult(1))};
}

/// The elements of a vector by the large way.
static ReducedAngle reduceElements(Number x, Number isLarge, ReducedAngle moderate) {
  auto type = dyn_cast<VectorType>(x.get().getType());
  if (!type)
    return reduceLarge(x);
  SmallVector<Value> rests, quadrants;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    auto at = [&](Number vector) {
      return x.make(vector::ExtractOp::create(x.at(), vector.get(), ArrayRef<int64_t>{i}));
    };
    ReducedAngle one =
        reduceElement(at(x), at(isLarge), {at(moderate.rest), at(moderate.quadrant)});
    rests.push_back(one.rest.get());
    quadrants.push_back(one.quadrant.get());
  }
  Type integers = moderate.quadrant.get().getType();
  return {x.make(vector::FromElementsOp::create(x.at(), type, rests)),
          x.make(vector::FromElementsOp::create(x.at(), integers, quadrants))};
}

/// The large way costs four times the rest of a sine, and few programs have such arguments. A GPU's
/// thread branches around it, once for all of its elements; on the CPU the loop over elements is
/// vectorised later, and both ways stand side by side.
static ReducedAngle reduce(Number x, Machine machine) {
  ReducedAngle moderate = reduceModerate(x);
  Number magnitude = absolute(x);
  // Infinity and NaN take the moderate path, which gives NaN.
  Number isLarge = greater(magnitude, x.getWidth() == 32 ? 65536.0 : 0x1p30) &
                   less(magnitude, std::numeric_limits<double>::infinity());
  if (!machine.gpu) {
    ReducedAngle large = reduceLarge(x);
    return {select(isLarge, large.rest, moderate.rest),
            select(isLarge, large.quadrant, moderate.quadrant)};
  }
  auto branch = scf::IfOp::create(
      x.at(), any(isLarge),
      [&](OpBuilder &inner, Location loc) {
        ImplicitLocOpBuilder builder(loc, inner);
        yield(inner, loc, reduceElements(Number(builder, x.get()), isLarge, moderate));
      },
      [&](OpBuilder &inner, Location loc) { yield(inner, loc, moderate); });
  return {x.make(branch.getResult(0)), x.make(branch.getResult(1))};
}

ReducedAngle Angles::reduce(Number x, Machine machine) {
  Value angle = x.get();
  if (auto wide = angle.getDefiningOp<arith::ExtFOp>())
    angle = wide.getIn();
  ReducedAngle &known = reduced[{angle, x.at().getInsertionBlock()}];
  if (!known.rest.get())
    known = math::reduce(x, machine);
  return {x.make(known.rest.get()), x.make(known.quadrant.get())};
}

static Number sinPolynomial(Number r) {
  Number square = r * r;
  Number tail = r.getWidth() == 32 ? polynomial(square, sinTail32) : polynomial(square, sinTail64);
  return fma(r * square, tail, r);
}

static Number cosPolynomial(Number r) {
  Number square = r * r;
  Number tail = r.getWidth() == 32 ? polynomial(square, cosTail32) : polynomial(square, cosTail64);
  return fma(square * square, tail, fma(square, -0.5, r.like(1.0)));
}

/// sin(rest + quadrant * pi/2).
static Number sinOf(ReducedAngle reduced) {
  Number odd = equal(reduced.quadrant & 1, 1);
  Number value = select(odd, cosPolynomial(reduced.rest), sinPolynomial(reduced.rest));
  Number sign = shiftLeft(reduced.quadrant & 2, value.getWidth() - 2);
  return fromBits(toBits(value) ^ sign, value);
}

/// Where sin(x) and tan(x) round to x; keeps subnormals and -0 as they are.
static Number isTiny(Number x) { return less(absolute(x), x.getWidth() == 32 ? 0x1p-13 : 0x1p-28); }

template <typename Intrinsic> static Number approximate(Number x) {
  return x.make(Intrinsic::create(x.at(), x.get().getType(), x.get(), LLVM::FastmathFlags::afn));
}

Number expandSin(Number x, Angles &angles, Machine machine) {
  if (x.getWidth() == 32 && machine.gpu && machine.fast)
    return approximate<LLVM::SinOp>(x);
  return select(isTiny(x), x, sinOf(angles.reduce(x, machine)));
}

Number expandCos(Number x, Angles &angles, Machine machine) {
  if (x.getWidth() == 32 && machine.gpu && machine.fast)
    return approximate<LLVM::CosOp>(x);
  ReducedAngle reduced = angles.reduce(x, machine);
  return sinOf({reduced.rest, reduced.quadrant + 1});
}

Number expandTan(Number x, Angles &angles, Machine machine) {
  ReducedAngle reduced = angles.reduce(x, machine);
  Number sine = sinPolynomial(reduced.rest), cosine = cosPolynomial(reduced.rest);
  Number odd = equal(reduced.quadrant & 1, 1);
  Number tangent = select(odd, cosine, sine) / select(odd, -sine, cosine);
  return select(isTiny(x), x, tangent);
}

} // namespace tile::math
