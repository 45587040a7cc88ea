// tile-expand-float8: 8-bit floats become bytes, conversions from and to them arithmetic on bits or
// pairs of GPU instructions. Both directions round once: every 8-bit float is exact in f16, bf16
// and f32.
//
//              bits        bias   largest           NaN           infinity
//   f8E4M3FN   s eeee mmm     7   0x7e, 448         0x7f          none
//   f8E5M2     s eeeee mm    15   0x7b, 57344       0x7d .. 0x7f  0x7c
//
// Rounding saturates: what is larger, infinity included, becomes the largest number of its sign.
#include "dialect/Tile/Float8.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Convert/Rounding.h"
#include "passes/Passes.h"

#include <cmath>

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_EXPANDFLOAT8
#include "passes/Passes.h.inc"
} // namespace tile

using namespace tile;

static bool isFloat8(Type type) { return isFloat8Element(getElementTypeOrSelf(type)); }

/// Has the GPU instructions for a format?
static bool hasInstructionsFor(Type format) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(format);
}

namespace {
/// The meaning of the bits of a format.
struct Format {
  explicit Format(Type type)
      : semantics(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics()) {}

  const llvm::fltSemantics &semantics;
  bool hasInfinity() const { return APFloat::semanticsHasInf(semantics); }
  int mantissa() const { return int(APFloat::semanticsPrecision(semantics)) - 1; }
  int bias() const { return 1 - APFloat::semanticsMinExponent(semantics); }
  /// Bits of the largest finite number, of infinity, and of the NaN that conversions make.
  int largest() const { return bits(APFloat::getLargest(semantics)); }
  int infinity() const { return bits(APFloat::getInf(semantics)); }
  int nan() const { return bits(APFloat::getQNaN(semantics)); }

private:
  static int bits(const APFloat &value) { return int(value.bitcastToAPInt().getZExtValue()); }
};

/// Arithmetic on scalars or vectors of one shape.
struct Bits {
  OpBuilder &b;
  Location loc;
  Type like; // of any element

  Type i8 = withElement(like, b.getI8Type()), i32 = withElement(like, b.getI32Type()),
       f32 = withElement(like, b.getF32Type());

  Value number(int64_t value) { return integerLike(b, loc, i32, int32_t(value)); }
  Value real(double value) {
    TypedAttr attr = b.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(f32))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mask(Value x, int64_t bits) { return arith::AndIOp::create(b, loc, x, number(bits)); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value left(Value x, int by) { return arith::ShLIOp::create(b, loc, x, number(by)); }
  Value right(Value x, int by) { return arith::ShRUIOp::create(b, loc, x, number(by)); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value compare(arith::CmpIPredicate how, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, how, x, number(y));
  }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, loc, f32, x); }
  Value asInteger(Value x) { return arith::BitcastOp::create(b, loc, i32, x); }
};
} // namespace

/// Bytes to f32, exactly. No subnormal f32 appears, so that code which flushes them is right too.
static Value widen(OpBuilder &b, Location loc, Value bytes, Format format) {
  Bits x{b, loc, bytes.getType()};
  Value wide = arith::ExtUIOp::create(b, loc, x.i32, bytes), magnitude = x.mask(wide, 0x7f);
  constexpr int place = 23;
  int shift = place - format.mantissa();
  Value bits = x.add(x.left(magnitude, shift), x.number(int64_t(127 - format.bias()) << place));
  if (format.hasInfinity()) // the top exponent holds infinity and NaN here as there
    bits = x.select(x.compare(arith::CmpIPredicate::uge, magnitude, format.infinity()),
                    x.add(bits, x.number(int64_t(127 - format.bias()) << place)), bits);
  else
    bits = x.select(x.compare(arith::CmpIPredicate::eq, magnitude, format.nan()),
                    x.number(0x7fc00000), bits);
  // A subnormal has no hidden one: read with one, at the exponent of the smallest normal number,
  // and take it off again.
  Value tiny = x.asFloat(x.add(bits, x.number(int64_t(1) << place)));
  Value subnormal = arith::SubFOp::create(b, loc, tiny, x.real(std::ldexp(1.0, 1 - format.bias())));
  Value isSubnormal = x.compare(arith::CmpIPredicate::ult, magnitude, 1 << format.mantissa());
  bits = x.select(isSubnormal, x.asInteger(subnormal), bits);
  return x.asFloat(x.either(bits, x.left(x.mask(wide, 0x80), 24)));
}

/// f32 to bytes: to nearest even, saturating to finite; NaN stays.
static Value round(OpBuilder &b, Location loc, Value value, Format format) {
  Bits x{b, loc, value.getType()};
  constexpr int place = 23;
  int shift = place - format.mantissa(), smallest = 1 - format.bias();
  Value bits = x.asInteger(value), magnitude = x.mask(bits, 0x7fffffff);
  // Half of the last place is added, less one where the kept part is even; a carry into the
  // exponent is right.
  Value odd = x.mask(x.right(magnitude, shift), 1);
  Value rounded = x.right(x.add(x.add(magnitude, odd), x.number((1 << (shift - 1)) - 1)), shift);
  Value normal = x.sub(rounded, x.number(int64_t(127 - format.bias()) << format.mantissa()));
  // Below the smallest normal number places are all alike: adding 1.0 of the fitting size rounds to
  // them.
  double unit = std::ldexp(1.0, smallest - format.mantissa() + place);
  Value sum = arith::AddFOp::create(b, loc, x.asFloat(magnitude), x.real(unit));
  Value subnormal = x.sub(x.asInteger(sum), x.asInteger(x.real(unit)));
  Value code =
      x.select(x.compare(arith::CmpIPredicate::ult, magnitude, int64_t(127 + smallest) << place),
               subnormal, normal);
  code = arith::MinUIOp::create(b, loc, code, x.number(format.largest()));
  code = x.select(x.compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000),
                  x.number(format.nan()), code);
  return arith::TruncIOp::create(b, loc, x.i8,
                                 x.either(code, x.right(x.mask(bits, 0x80000000), 24)));
}

/// Calls `body` on each pair of `vector`'s elements and joins what it returns as elements of
/// `element`.
static Value forPairs(OpBuilder &b, Location loc, Value vector, Type element,
                      function_ref<Value(Value, Value)> body) {
  auto type = cast<VectorType>(vector.getType());
  SmallVector<Value> elements;
  for (int64_t i = 0, count = type.getNumElements(); i < count; i += 2) {
    Value first = vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{i});
    Value second = i + 1 < count
                       ? Value(vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{i + 1}))
                       : first;
    Value pair = body(first, second);
    for (int64_t j = 0; j < std::min<int64_t>(2, count - i); ++j)
      elements.push_back(vector::ExtractOp::create(b, loc, pair, ArrayRef<int64_t>{j}));
  }
  return vector::FromElementsOp::create(b, loc, type.clone(element), elements);
}

/// Bytes to f16, two with each instruction.
static Value widenPairs(OpBuilder &b, Location loc, Value bytes, Type format) {
  auto f16x2 = VectorType::get(2, b.getF16Type());
  return forPairs(b, loc, bytes, b.getF16Type(), [&](Value first, Value second) -> Value {
    Value pair = vector::FromElementsOp::create(b, loc, VectorType::get(2, b.getI8Type()),
                                                ValueRange{first, second});
    return NVVM::ConvertF8x2ToF16x2Op::create(b, loc, f16x2, pair, /*relu=*/false, format);
  });
}

/// f32 to bytes, two with each instruction.
static Value roundPairs(OpBuilder &b, Location loc, Value value, Type format) {
  auto pairType = VectorType::get(2, b.getI8Type());
  return forPairs(b, loc, value, b.getI8Type(), [&](Value first, Value second) -> Value {
    // The first operand becomes the upper byte.
    return NVVM::ConvertF32x2ToF8x2Op::create(
        b, loc, pairType, second, first, NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
        /*relu=*/false, format);
  });
}

/// The operand of `op`, a conversion to 8 bits, as f32 and ready to be rounded.
static Value toF32(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value value = op->getOperand(0);
  Type element = getElementTypeOrSelf(value.getType()),
       f32 = withElement(value.getType(), b.getF32Type());
  // An integer that f32 does not hold exactly is beyond every 8-bit float. Canonicalisation makes
  // these of longer chains.
  if (isa<arith::SIToFPOp>(op))
    return arith::SIToFPOp::create(b, loc, f32, value);
  if (isa<arith::UIToFPOp>(op))
    return arith::UIToFPOp::create(b, loc, f32, value);
  if (element.isF64())
    return narrowToOdd(b, loc, value);
  if (element.isF32())
    return value;
  return arith::ExtFOp::create(b, loc, f32, value);
}

/// A value of f16 or f32 as `type`, whose elements hold it exactly.
static Value fromExact(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  unsigned have = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(),
           want = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (have == want) // f16 to bf16
    return fromExact(b, loc,
                     arith::ExtFOp::create(b, loc, withElement(type, b.getF32Type()), value), type);
  return have < want ? Value(arith::ExtFOp::create(b, loc, type, value))
                     : Value(arith::TruncFOp::create(b, loc, type, value));
}

static Type toBytes(Type type) {
  if (!isFloat8(type))
    return type;
  return withElement(type, IntegerType::get(type.getContext(), 8));
}

static TypedAttr toBytes(TypedAttr attr) {
  Type byte = IntegerType::get(attr.getContext(), 8);
  if (auto number = dyn_cast<FloatAttr>(attr))
    return IntegerAttr::get(byte, number.getValue().bitcastToAPInt());
  auto elements = cast<DenseFPElementsAttr>(attr);
  return elements.mapValues(byte, [](const APFloat &value) { return value.bitcastToAPInt(); });
}

namespace {
struct ExpandFloat8 : tile::impl::ExpandFloat8Base<ExpandFloat8> {
  using ExpandFloat8Base::ExpandFloat8Base;

  void runOnOperation() override {
    const GPUTarget *target = nullptr;
    if (processor == "gpu") {
      if (!(target = ::tile::gpu::getTarget(getOperation())))
        return signalPassFailure();
    } else if (processor != "cpu") {
      getOperation()->emitError() << "expected processor 'cpu' or 'gpu', found '" << processor
                                  << "'";
      return signalPassFailure();
    }
    hasInstructions = target && target->has(Feature::Float8Conversions);
    bool roundsTwice = target && !target->has(Feature::IntegerToBF16);
    SmallVector<Cast> casts;
    SmallVector<Operation *> integers;
    getOperation()->walk([&](Operation *op) {
      if (roundsTwice && isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
          getElementTypeOrSelf(op->getResult(0).getType()).isBF16() &&
          getElementTypeOrSelf(op->getOperand(0).getType()).getIntOrFloatBitWidth() > 16)
        integers.push_back(op);
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isFloat8(constant.getType()))
        constant.setValueAttr(toBytes(constant.getValue()));
      if (!isa<arith::ExtFOp, arith::TruncFOp, RoundFloat8Op, arith::BitcastOp, arith::SIToFPOp,
               arith::UIToFPOp>(op))
        return;
      Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
           to = getElementTypeOrSelf(op->getResult(0).getType());
      if (isFloat8(from) || isFloat8(to))
        casts.push_back({op, isFloat8(from) ? from : to});
    });
    getOperation()->walk([](Operation *op) {
      auto retype = [](Value value) { value.setType(toBytes(value.getType())); };
      llvm::for_each(op->getResults(), retype);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
    });
    for (auto [op, format] : casts)
      expand(op, format);
    // Where there is no instruction for these, LLVM would round to f32 in between.
    for (Operation *op : integers) {
      OpBuilder b(op);
      Value wide =
          integerToF32(b, op->getLoc(), op->getOperand(0), /*hasSign=*/isa<arith::SIToFPOp>(op));
      op->getResult(0).replaceAllUsesWith(
          arith::TruncFOp::create(b, op->getLoc(), op->getResult(0).getType(), wide));
      op->erase();
    }
  }

private:
  /// A conversion from or to `format`, which the types do not tell any more.
  struct Cast {
    Operation *op;
    Type format;
  };

  void expand(Operation *op, Type format) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    Value source = op->getOperand(0), result = op->getResult(0), replacement = source;
    bool instructions =
        hasInstructions && hasInstructionsFor(format) && isa<VectorType>(source.getType());
    if (isa<arith::ExtFOp>(op)) {
      Value exact =
          instructions ? widenPairs(b, loc, source, format) : widen(b, loc, source, Format(format));
      replacement = fromExact(b, loc, exact, result.getType());
    } else if (!isa<arith::BitcastOp>(op)) {
      Value value = toF32(b, op);
      replacement =
          instructions ? roundPairs(b, loc, value, format) : round(b, loc, value, Format(format));
    }
    result.replaceAllUsesWith(replacement);
    op->erase();
  }

  bool hasInstructions = false;
};
} // namespace
