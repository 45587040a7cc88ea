// Conversions from i4: eight elements of a 32-bit register become floats with three instructions
// for each pair, by writing the element's bits into the mantissa of a float whose last place is 1.
//
//   word w         | e7 e6 | e5 e4 | e3 e2 | e1 e0 |    w >> 4 has the odd ones in the low halves
//   prmt           | byte k of w >> 4, twice | byte k of w, twice |
//   lop3           | 0x6400 + e(2k+1)        | 0x6400 + e(2k)     |    & 0x000f000f, ^ magic
//   as f16         | 1024 + e(2k+1)          | 1024 + e(2k)       |
//   add -1024      | e(2k+1)                 | e(2k)              |    exactly
//
// bf16 has 0x4300, 128 + e. Of signed elements the flipped sign bit makes e + 8 of e.
//
// f32 has room for five elements where they stand, and takes two instructions for each:
//
//   lop3           | 2^23 + e(k) * 2^p |    & 0xf << p, ^ 0x4b000000; p = 4k, from k = 5 of w >> 20
//   fma            | e(k)              |    * 2^-p, - 2^(23-p), exactly
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Pairs of neighbours, which share a byte, as two halves of a 32-bit register: an element's bits
/// in the mantissa of a number whose last place is 1.
struct PairFormat {
  uint32_t magic; // XORed in: the number's exponent, and the flipped sign bit of signed elements
  double move;    // the value is half + move, exactly
};

/// 1024 + n in f16, 128 + n in bf16; n with its sign bit flipped is n + 8.
PairFormat getFormat(bool isF16, bool isSigned) {
  uint32_t bias = isSigned ? 0x00080008 : 0;
  return {(isF16 ? 0x64006400 : 0x43004300) | bias,
          (isF16 ? -1024.0 : -128.0) - (isSigned ? 8 : 0)};
}

/// The value's eight elements of each word, as vectors of i32; `nibbles` has 8 or a greater power
/// of two.
Value getWords(OpBuilder &builder, Location loc, Value nibbles) {
  int64_t count = cast<VectorType>(nibbles.getType()).getNumElements();
  return vector::BitCastOp::create(builder, loc, VectorType::get(count / 8, builder.getI32Type()),
                                   nibbles);
}

Value constantWord(OpBuilder &builder, Location loc, uint32_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), int32_t(value));
}

/// The bits of `bits` under the mask, the others those of `magic`. As one statement: of an AND and
/// an XOR with a constant each, ptxas makes two instructions.
Value insertBits(OpBuilder &builder, Location loc, Value bits, uint32_t mask, Value magic) {
  std::string text = llvm::formatv("lop3.b32 $0, $1, {0:x8}, $2, 0x6a;", mask);
  return LLVM::InlineAsmOp::create(builder, loc, builder.getI32Type(), ValueRange{bits, magic},
                                   text, "=r,r,r", /*has_side_effects=*/false,
                                   /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// To f16 or bf16.
Value toHalves(OpBuilder &builder, Location loc, Value nibbles, Type element, bool isSigned) {
  PairFormat format = getFormat(element.isF16(), isSigned);
  auto pairType = VectorType::get(2, element);
  int64_t count = cast<VectorType>(nibbles.getType()).getNumElements();
  Value words = getWords(builder, loc, nibbles);
  auto constantPair = [&](double value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(pairType, Attribute(builder.getFloatAttr(element, value))));
  };
  Value one = constantPair(1), move = constantPair(format.move);
  Value magic = constantWord(builder, loc, format.magic), four = constantWord(builder, loc, 4);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count / 8; ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i});
    Value upper = arith::ShRUIOp::create(builder, loc, word, four);
    for (uint32_t byte = 0; byte < 4; ++byte) {
      // Byte 4 + k of a prmt is byte k of its second operand. What stands beside the elements is
      // masked away.
      Value selector =
          constantWord(builder, loc, byte | byte << 4 | (4 + byte) << 8 | (4 + byte) << 12);
      Value bits = LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(),
                                                 builder.getStringAttr("llvm.nvvm.prmt"),
                                                 ValueRange{word, upper, selector})
                       .getResult(0);
      Value pair = LLVM::BitcastOp::create(builder, loc, pairType,
                                           insertBits(builder, loc, bits, 0x000f000f, magic));
      // Not every target adds bf16.
      pair = element.isF16() ? Value(LLVM::FAddOp::create(builder, loc, pair, move))
                             : LLVM::FMAOp::create(builder, loc, pair, one, move);
      for (int64_t half : {0, 1})
        elements.push_back(vector::ExtractOp::create(builder, loc, pair, ArrayRef<int64_t>{half}));
    }
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(count, element), elements);
}

/// To f32: one number that is added for each place of an element, since a mantissa has room for
/// several places.
Value toFloats(OpBuilder &builder, Location loc, Value nibbles, bool isSigned) {
  constexpr uint32_t bitsOfElement = 4, upper = 5; // the first element of the upper part of a word
  constexpr uint32_t magic = 0x4b000000;           // 2^23
  Type f32 = builder.getF32Type();
  int64_t count = cast<VectorType>(nibbles.getType()).getNumElements();
  Value words = getWords(builder, loc, nibbles);
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
  };
  SmallVector<Value> elements;
  Value word;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t inWord = i % 8, place = bitsOfElement * (inWord % upper);
    if (inWord == 0)
      word = vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i / 8});
    else if (inWord == upper)
      word = arith::ShRUIOp::create(builder, loc, word,
                                    constantWord(builder, loc, bitsOfElement * upper));
    // The flipped sign bit of a signed element makes e + 8 of e.
    uint32_t sign = isSigned ? 8u << place : 0;
    Value number = LLVM::BitcastOp::create(
        builder, loc, f32,
        insertBits(builder, loc, word, 0xfu << place, constantWord(builder, loc, magic | sign)));
    double unit = 1.0 / (1u << place), move = -8388608.0 * unit - (isSigned ? 8 : 0);
    elements.push_back(LLVM::FMAOp::create(builder, loc, number, constant(unit), constant(move)));
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(count, f32), elements);
}

/// To i32.
Value toIntegers(OpBuilder &builder, Location loc, Value nibbles, bool isSigned) {
  auto type =
      VectorType::get(cast<VectorType>(nibbles.getType()).getNumElements(), builder.getI32Type());
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
  LogicalResult matchAndRewrite(UnpackOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(
        op, cast<VectorType>(getTypeConverter()->convertType(op.getType())), adaptor.getSource());
    return success();
  }
};

template <typename Op, bool isSigned> struct LowerNibbleCast : OpConversionPattern<Op> {
  LowerNibbleCast(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<Op>(converter, context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto source = dyn_cast<VectorType>(adaptor.getIn().getType());
    if (!source || !isNibble(source.getElementType()) || source.getNumElements() < 8)
      return rewriter.notifyMatchFailure(op, "not a register of nibbles");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(this->getTypeConverter()->convertType(op.getType()));
    Type element = type.getElementType();
    Value value;
    if (element.isBF16() || element.isF16()) {
      value = toHalves(rewriter, loc, adaptor.getIn(), element, isSigned);
    } else if (element.isF32()) {
      value = toFloats(rewriter, loc, adaptor.getIn(), isSigned);
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

void tile::gpu::populateNibblePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerUnpack, LowerNibbleCast<arith::SIToFPOp, true>,
               LowerNibbleCast<arith::UIToFPOp, false>, LowerNibbleCast<arith::ExtSIOp, true>,
               LowerNibbleCast<arith::ExtUIOp, false>, LowerNibbleCast<arith::IndexCastOp, true>,
               LowerNibbleCast<arith::IndexCastUIOp, false>>(converter, patterns.getContext());
}
