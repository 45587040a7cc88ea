// Conversions from i4: eight elements of a 32-bit register become floats with three instructions for each pair, by writing
// the element's bits into the mantissa of a float whose last place is 1.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A pair of neighbours, which share a byte, as two halves of a 32-bit register.
struct PairFormat {
  uint32_t mask;            // the element's bits in each half
  uint32_t magic;           // XORed in: the exponent, and the flipped sign bit of signed elements
  double scale[2], move[2]; // the value is half * scale + move, exactly
  bool shifted;             // the upper half takes its byte from the register shifted right by 4
};

/// 1024 + n in f16: the upper element stays where it is in its byte, 16 times as large. bf16 has too few bits for that:
/// 128 + n in both halves.
PairFormat getFormat(bool isF16, bool isSigned) {
  double flipped = isSigned ? 8 : 0; // n with its sign bit flipped is n + 8
  uint32_t bias = isSigned ? 8 : 0;
  if (isF16)
    return {0x00f0000f, 0x64006400 | bias << 20 | bias, {1, 1.0 / 16}, {-1024 - flipped, -64 - flipped}, false};
  return {0x000f000f, 0x43004300 | bias << 16 | bias, {1, 1}, {-128 - flipped, -128 - flipped}, true};
}

/// The value's eight elements of each word, as vectors of i32; `nibbles` has 8 or a greater power of two.
Value getWords(OpBuilder &builder, Location loc, Value nibbles) {
  int64_t count = cast<VectorType>(nibbles.getType()).getNumElements();
  return vector::BitCastOp::create(builder, loc, VectorType::get(count / 8, builder.getI32Type()), nibbles);
}

Value constantWord(OpBuilder &builder, Location loc, uint32_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), int32_t(value));
}

Value constantPair(OpBuilder &builder, Location loc, Type element, const double values[2]) {
  auto type = VectorType::get(2, element);
  SmallVector<Attribute> attributes{builder.getFloatAttr(element, values[0]), builder.getFloatAttr(element, values[1])};
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, attributes));
}

/// To f16 or bf16.
Value toHalves(OpBuilder &builder, Location loc, Value nibbles, Type element, bool isSigned) {
  PairFormat format = getFormat(element.isF16(), isSigned);
  auto pairType = VectorType::get(2, element);
  int64_t count = cast<VectorType>(nibbles.getType()).getNumElements();
  Value words = getWords(builder, loc, nibbles);
  Value scale = constantPair(builder, loc, element, format.scale), move = constantPair(builder, loc, element, format.move);
  Value mask = constantWord(builder, loc, format.mask), magic = constantWord(builder, loc, format.magic);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count / 8; ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i}), upper = word;
    if (format.shifted)
      upper = arith::ShRUIOp::create(builder, loc, word, constantWord(builder, loc, 4));
    for (uint32_t byte = 0; byte < 4; ++byte) {
      // Byte 4 + k of a prmt is byte k of its second operand. What stands beside the elements is masked away.
      Value selector = constantWord(builder, loc, byte | byte << 4 | (4 + byte) << 8 | (4 + byte) << 12);
      Value bits = LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(), builder.getStringAttr("llvm.nvvm.prmt"),
                                                 ValueRange{word, upper, selector})
                       .getResult(0);
      bits = arith::XOrIOp::create(builder, loc, arith::AndIOp::create(builder, loc, bits, mask), magic);
      Value pair = LLVM::BitcastOp::create(builder, loc, pairType, bits);
      pair = LLVM::FMAOp::create(builder, loc, pair, scale, move);
      for (int64_t half : {0, 1})
        elements.push_back(vector::ExtractOp::create(builder, loc, pair, ArrayRef<int64_t>{half}));
    }
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(count, element), elements);
}

/// To i32.
Value toIntegers(OpBuilder &builder, Location loc, Value nibbles, bool isSigned) {
  auto type = VectorType::get(cast<VectorType>(nibbles.getType()).getNumElements(), builder.getI32Type());
  Value words = getWords(builder, loc, nibbles);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i / 8});
    uint32_t place = 4 * (i % 8);
    if (isSigned) {
      Value top = arith::ShLIOp::create(builder, loc, word, constantWord(builder, loc, 28 - place));
      elements.push_back(arith::ShRSIOp::create(builder, loc, top, constantWord(builder, loc, 28)));
    } else {
      Value low = arith::ShRUIOp::create(builder, loc, word, constantWord(builder, loc, place));
      elements.push_back(arith::AndIOp::create(builder, loc, low, constantWord(builder, loc, 15)));
    }
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

struct LowerUnpack : OpConversionPattern<UnpackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UnpackOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, cast<VectorType>(getTypeConverter()->convertType(op.getType())), adaptor.getSource());
    return success();
  }
};

template <typename Op, bool isSigned> struct LowerNibbleCast : OpConversionPattern<Op> {
  LowerNibbleCast(const TypeConverter &converter, MLIRContext *context) : OpConversionPattern<Op>(converter, context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto source = dyn_cast<VectorType>(adaptor.getIn().getType());
    if (!source || !isNibble(source.getElementType()) || source.getNumElements() < 8)
      return rewriter.notifyMatchFailure(op, "not a register of nibbles");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(this->getTypeConverter()->convertType(op.getType()));
    Type element = type.getElementType();
    Value value;
    if (element.isBF16() || element.isF16() || element.isF32()) {
      value = toHalves(rewriter, loc, adaptor.getIn(), element.isF32() ? rewriter.getF16Type() : element, isSigned);
      if (element.isF32())
        value = arith::ExtFOp::create(rewriter, loc, type, value);
    } else {
      value = toIntegers(rewriter, loc, adaptor.getIn(), isSigned);
      if (isa<FloatType>(element))
        value = arith::SIToFPOp::create(rewriter, loc, type, value);
      else if (element.isIndex())
        value = arith::IndexCastOp::create(rewriter, loc, type, value);
      else if (element.getIntOrFloatBitWidth() > 32)
        value = arith::ExtSIOp::create(rewriter, loc, type, value);
      else if (element.getIntOrFloatBitWidth() < 32)
        value = arith::TruncIOp::create(rewriter, loc, type, value);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace

void tile::gpu::populateNibblePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerUnpack, LowerNibbleCast<arith::SIToFPOp, true>, LowerNibbleCast<arith::UIToFPOp, false>, LowerNibbleCast<arith::ExtSIOp, true>,
               LowerNibbleCast<arith::ExtUIOp, false>, LowerNibbleCast<arith::IndexCastOp, true>,
               LowerNibbleCast<arith::IndexCastUIOp, false>>(converter, patterns.getContext());
}
