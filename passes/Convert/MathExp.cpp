// exp and the functions made from it (exp2, expm1, tanh, erf), and rsqrt.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Convert/ExpandMathCoefficients.h"
#include "passes/Convert/MathFunctions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::math {

/// `afn` on an f32 intrinsic selects the approximate instruction on NVPTX; LLVM splits vectors at
/// the very end.
template <typename Intrinsic> static Number approximate(Number x) {
  return x.make(Intrinsic::create(x.at(), x.get().getType(), x.get(), LLVM::FastmathFlags::afn));
}

Rounded roundToInteger(Number x) {
  // Adding 1.5 * 2^fraction pushes the fraction out of the significand and leaves the integer in
  // its low bits.
  Number magic = x.constant(x.getWidth() == 32 ? 0x1.8p23 : 0x1.8p52);
  Number shifted = x + magic;
  return {shifted - magic, toBits(shifted) - toBits(magic)};
}

Number powerOfTwo(Number n, Number like) {
  Format format(like);
  return fromBits(shiftLeft(n + format.bias, format.fraction), like);
}

Number scale(Number x, Number n) {
  // Two steps: the first is exact, so that a subnormal result is rounded only once.
  Number half = shiftRightSigned(n, 1);
  return x * powerOfTwo(half, x) * powerOfTwo(n - half, x);
}

namespace {
/// x = n log(2) + rest.
struct Reduced {
  Number rest, n;
};
} // namespace

static Reduced reduceByLog2(Number x) {
  bool single = x.getWidth() == 32;
  Rounded n = roundToInteger(x * (single ? log2eParts32[0] : log2eParts64[0]));
  Number rest = fma(n.number, single ? -log2Parts32[0] : -log2Parts64[0], x);
  rest = fma(n.number, single ? -log2Parts32[1] : -log2Parts64[1], rest);
  return {rest, n.integer};
}

/// exp(r) - 1 for |r| <= log(2)/2.
static Number expM1Polynomial(Number r) {
  Number tail = r.getWidth() == 32 ? polynomial(r, expTail32) : polynomial(r, expTail64);
  return fma(r * r, tail, r);
}

/// What `end` makes of 2^r (e) and of the float whose bits are i << 23 (t), for each element of an
/// f32 x: x log2(e) = n + r with n an integer of [-`below`, 252 - `below`] and |r| <= 1/2 (more
/// beyond where n ends), so that ex2.approx sees no argument whose power it would have to scale; i
/// is n + `below` + 1, the exponent's bits of 2^(n + `below` - 126). fma.sat keeps n in its range;
/// NaN comes back in through r. A negation of x stands in the code, too, where ptxas makes it a
/// part of the products.
static Number withExp2(Number x, int below, const char *end) {
  ImplicitLocOpBuilder &b = x.at();
  auto number = [](float value) {
    return "0f" + llvm::utohexstr(llvm::bit_cast<uint32_t>(value), /*LowerCase=*/false, 8);
  };
  auto negation = x.get().getDefiningOp<arith::NegFOp>();
  std::string code = "{ .reg .f32 s, t, n, r, e; .reg .b32 i;\n", argument = "$1";
  if (negation) {
    x = x.make(negation.getOperand());
    code += ".reg .f32 x; neg.f32 x, $1;\n";
    argument = "x";
  }
  constexpr float magic = 0x1.8p23F; // 1 is the last place of its sums
  // s = (n + below) / 252, t = magic + i, n = -n; then what log2(e) loses in f32.
  code += llvm::formatv("fma.rn.sat.f32 s, {0}, 0f3BBB989D, {1};\n"
                        "fma.rn.f32 t, s, 0f437C0000, {2};\n"
                        "sub.f32 n, {3}, t;\n"
                        "fma.rn.f32 r, {0}, 0f3FB8AA3B, n;\n"
                        "fma.rn.f32 r, {0}, 0f32A57060, r;\n"
                        "ex2.approx.ftz.f32 e, r;\n"
                        "mov.b32 i, t; shl.b32 i, i, 23; mov.b32 t, i;\n"
                        "{4} }",
                        argument, number(float(below) / 252.0F), number(magic + 1),
                        number(magic + 1 + float(below)), end)
              .str();
  auto one = [&](Value element) -> Value {
    return LLVM::InlineAsmOp::create(b, b.getF32Type(), element, code, "=f,f",
                                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(x.get().getType());
  if (!vector)
    return x.make(one(x.get()));
  SmallVector<Value> results;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    results.push_back(one(vector::ExtractOp::create(b, x.get(), ArrayRef<int64_t>{i})));
  return x.make(vector::FromElementsOp::create(b, vector, results));
}

/// exp of f32: 2^r times 2^n, put together from bits. One product rounds subnormal results.
static Number exponentialByExp2(Number x) { return withExp2(x, 126, "mul.f32 $0, e, t;"); }

/// 1 / (1 + exp(x)) of f32, as 2^-24 / (2^-24 + 2^(n - 24) 2^r): the sum is a number for every x
/// whose result is not 0, and normal, so the reciprocal may be the approximate one; the product
/// behind it rounds subnormal results. Where exp(x) is too large even so, the reciprocal is 0.
Number invertSum(Number x) {
  return withExp2(x, 102,
                  "fma.rn.f32 e, e, t, 0f33800000; rcp.approx.ftz.f32 e, e; "
                  "mul.f32 $0, e, 0f33800000;");
}

Number exponential(Number x, Number tail, Machine machine) {
  bool single = x.getWidth() == 32;
  if (single && machine.gpu && !tail.get())
    return exponentialByExp2(x);
  Reduced reduced = reduceByLog2(single ? clamp(x, -104.0, 89.0) : clamp(x, -746.0, 710.0));
  Number rest = tail.get() ? reduced.rest + tail : reduced.rest;
  Number mantissa = single && machine.gpu ? approximate<LLVM::Exp2Op>(rest * log2eParts32[0])
                                          : expM1Polynomial(rest) + 1.0;
  return scale(mantissa, reduced.n);
}

Number expandExp(Number x, Machine machine) {
  if (x.getWidth() == 32 && machine.gpu && machine.fast)
    return approximate<LLVM::Exp2Op>(x * log2eParts32[0]);
  return exponential(x, {}, machine);
}

Number expandExp2(Number x, Machine machine) {
  bool single = x.getWidth() == 32;
  if (single && machine.gpu)
    return approximate<LLVM::Exp2Op>(x); // accurate to 2 ulp over the whole range
  Number held = single ? clamp(x, -151.0, 129.0) : clamp(x, -1076.0, 1025.0);
  Rounded n = roundToInteger(held);
  Number rest = (held - n.number) * (log2Parts64[0] + log2Parts64[1]);
  return scale(expM1Polynomial(rest) + 1.0, n.integer);
}

Number expandExpM1(Number x) {
  bool single = x.getWidth() == 32;
  Reduced reduced = reduceByLog2(single ? clamp(x, -25.0, 89.0) : clamp(x, -45.0, 710.0));
  Number mantissa = expM1Polynomial(reduced.rest);
  // 2^n (mantissa + 1) - 1, halved so that 2^n cannot overflow before the result does.
  Number half = powerOfTwo(reduced.n - 1, x);
  Number result = fma(half, mantissa, half - 0.5) * 2.0;
  result = select(equal(reduced.n, 0), mantissa, result);
  return copySign(result, x); // -0 stays -0
}

/// tanh of f32 with one ex2.approx: near 0 a polynomial, elsewhere 1 - 2 / (exp(2|x|) + 1), whose
/// sum is at least 4.3. Both are computed, and no branch is taken. The sign is x's in the end: of
/// -0 the polynomial is +0.
static Number tanhByExp2(Number x) {
  Number square = x * x;
  Number near = fma(x * square, polynomial(square, tanhTail32), x);
  Number power = approximate<LLVM::Exp2Op>(absolute(x) * (2 * log2eParts32[0]));
  Number far = fma(approximateReciprocal(power + 1.0), x.like(-2.0), x.like(1.0));
  return copySign(select(less(absolute(x), 0.6), near, far), x);
}

Number expandTanh(Number x, Machine machine) {
  bool single = x.getWidth() == 32;
  if (single && machine.gpu && machine.fast)
    return approximate<LLVM::TanhOp>(x);
  if (single && machine.gpu)
    return tanhByExp2(x);
  // tanh = t / (t + 2) with t = exp(2|x|) - 1; beyond the clamp it rounds to 1.
  Number t = expandExpM1(clamp(absolute(x) * 2.0, 0.0, single ? 24.0 : 44.0));
  return copySign(divideModerate(t, t + 2.0, machine), x);
}

/// erf by tanh.approx; the polynomial's own error is 6e-5 of the result. Beyond |x| = 3 tanh is 1
/// already, and NaN stays.
static Number fastErf(Number x) {
  Number square = x * x;
  Number held = x.make(arith::MinimumFOp::create(x.at(), square.get(), x.like(9.0).get()));
  return approximate<LLVM::TanhOp>(x * polynomial(held, erfByTanh32));
}

Number expandErf(Number x, Machine machine) {
  bool single = x.getWidth() == 32;
  if (single && machine.gpu && machine.fast)
    return fastErf(x);
  Number magnitude = absolute(x);
  Number square = x * x;
  Number near = fma(x, single ? polynomial(square, erfTail32) : polynomial(square, erfTail64), x);
  Number t = clamp(magnitude, 0.0, single ? 4.0 : 6.0) - 2.5;
  Number log = single ? polynomial(t, erfcLog32) : polynomial(t, erfcLog64);
  Number far = copySign(1.0 - exponential(-log, {}, machine), x);
  return select(less(magnitude, single ? 0.92 : 1.0), near, far);
}

Number expandRsqrt(Number x, Machine machine) {
  if (x.getWidth() != 32 || !machine.gpu)
    return 1.0 / squareRoot(x);
  // NVPTX turns this pair into rsqrt.approx, which is right to 2 ulp over the whole range.
  auto flags =
      arith::FastMathFlags::afn | arith::FastMathFlags::contract | arith::FastMathFlags::arcp;
  auto root = mlir::math::SqrtOp::create(x.at(), x.get(), flags);
  return x.make(arith::DivFOp::create(x.at(), x.constant(1.0).get(), root.getResult(), flags));
}

} // namespace tile::math
