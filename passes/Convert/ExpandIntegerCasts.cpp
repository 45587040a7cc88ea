// tile-expand-integer-casts: integers of few bits become floats by writing their bits into the
// mantissa of a number whose last place is 1, and subtracting that number. The GPU's conversion
// instruction takes several times as long as an addition, and one element at a time.
//
//   two integers x, y   | ....xxxx | ....yyyy |     packed by one prmt, with whatever is above them
//   lop3, f16           | 0x6400+x | 0x6400+y |     & 0x000f000f, ^ 0x64006400
//   as f16              | 1024 + x | 1024 + y |
//   add -1024           |    x     |    y     |     exactly
//
//            magic    one more than the mantissa's largest integer
//   f16     0x6400    2^10
//   bf16    0x4300    2^7
//   f32   0x4b000000  2^23
//
// Of a difference of two such numbers that is taken at once, as of weights and their zero points,
// nothing needs to be subtracted first: (1024 + x) - (1024 + y) is the same number, exactly.
//
// Of signed integers the sign bit is flipped, which adds 2^(bits - 1); more is subtracted then.
// bf16 has no room for bytes: their upper bit becomes a number of its own, 128 or 256.
//
// The other way, f32 to bytes: FloatsToBytes.cpp.
#include "passes/Convert/FloatsToBytes.h"
#include "passes/Convert/ValueRanges.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_EXPANDINTEGERCASTS
#include "passes/Passes.h.inc"
} // namespace tile

namespace {

constexpr uint32_t keepLow = 0x5410;            // prmt: the lower halves of both operands
constexpr uint32_t andXor = 0x6a, andOr = 0xea; // lop3: (a & b) ^ c, (a & b) | c

/// What the low bits of an integer mean.
struct Bits {
  unsigned count;
  bool isSigned;
};

/// The fewest low bits that tell every value of the range.
Bits getBits(const ConstantIntRanges &range, bool isSigned) {
  if (!isSigned || range.smin().isNonNegative())
    return {std::max(range.umax().getActiveBits(), 1u), false};
  return {std::max(range.smin().getSignificantBits(), range.smax().getSignificantBits()), true};
}

/// Whole bytes: truth values and nibbles are no elements of the words that hold them here.
bool hasBytes(Type element) {
  return element.isIndex() || element.getIntOrFloatBitWidth() % 8 == 0;
}

/// The value before masks that keep the low bits, and before extensions from types that have them.
Value skipMasks(Value value, unsigned bits) {
  while (Operation *op = value.getDefiningOp()) {
    DenseIntElementsAttr mask;
    Type before = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
    if (isa<arith::ExtUIOp, arith::ExtSIOp>(op) && hasBytes(before) &&
        before.getIntOrFloatBitWidth() >= bits)
      value = op->getOperand(0);
    else if (isa<arith::AndIOp>(op) && matchPattern(op->getOperand(1), m_Constant(&mask)) &&
             llvm::all_of(mask.getValues<APInt>(),
                          [&](const APInt &each) { return each.countr_one() >= bits; }))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

/// Writes one conversion.
class Expansion {
public:
  Expansion(OpBuilder &b, Location loc, Value source, Bits bits, FloatType element)
      : b(b), loc(loc), bits(bits), element(element) {
    auto type = cast<VectorType>(source.getType());
    count = type.getNumElements();
    width = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    packWords(source);
  }

  /// The numbers; `moved`: each with one more than the mantissa's largest integer, as it is made.
  Value write(bool moved = false) {
    isMoved = moved;
    SmallVector<Value> elements;
    if (element.isF32())
      for (int64_t i = 0; i < count; ++i)
        elements.push_back(toF32(i));
    else
      for (int64_t i = 0; i < count; i += 2) {
        Value pair = toPair(i);
        for (int64_t half = 0; half < std::min<int64_t>(2, count - i); ++half)
          elements.push_back(vector::ExtractOp::create(b, loc, pair, ArrayRef<int64_t>{half}));
      }
    return vector::FromElementsOp::create(b, loc, VectorType::get(count, element), elements);
  }

private:
  /// Registers that hold the elements: a word has four bytes, two halves or one element.
  void packWords(Value source) {
    Type i32 = b.getI32Type();
    auto asWords = [&](Type each, int64_t number) { return VectorType::get(number, each); };
    if (width > 32)
      source = cast<VectorType>(source.getType()).getElementType().isIndex()
                   ? Value(arith::IndexCastOp::create(b, loc, asWords(i32, count), source))
                   : arith::TruncIOp::create(b, loc, asWords(i32, count), source);
    else if (width < 32 && count * width % 32 == 0)
      source = vector::BitCastOp::create(b, loc, asWords(i32, count * width / 32), source);
    else if (width < 32) {
      source = arith::ExtUIOp::create(b, loc, asWords(i32, count), source);
      width = 32;
    }
    width = std::min<unsigned>(width, 32);
    isWholeByte = width == 8 && bits.count == 8 && !element.isBF16();
    for (int64_t i = 0; i < cast<VectorType>(source.getType()).getNumElements(); ++i) {
      Value each = vector::ExtractOp::create(b, loc, source, ArrayRef<int64_t>{i});
      if (isWholeByte && bits.isSigned)
        each = arith::XOrIOp::create(b, loc, each, word(0x80808080)); // four signs at once
      words.push_back(each);
    }
  }

  Value word(uint32_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), int32_t(value));
  }

  Value permute(Value first, Value second, uint32_t selector) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
                                         ValueRange{first, second, word(selector)})
        .getResult(0);
  }

  /// As one statement: of two operations with a constant each, ptxas makes two instructions.
  Value combine(Value value, uint32_t mask, uint32_t other, uint32_t table) {
    std::string text =
        "lop3.b32 $0, $1, " + std::to_string(mask) + ", $2, " + std::to_string(table) + ";";
    return LLVM::InlineAsmOp::create(b, loc, b.getI32Type(), ValueRange{value, word(other)}, text,
                                     "=r,r,r", /*has_side_effects=*/false,
                                     /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                     LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  }

  uint32_t getSign() const { return bits.isSigned ? 1u << (bits.count - 1) : 0; }

  /// Two neighbours' low bits in the lower bits of both halves of a register; whole bytes below
  /// f16's magic.
  Value packPair(int64_t i) {
    if (width == 16)
      return words[i / 2];
    if (width == 8) {
      uint32_t byte = i % 4; // and the next; above each, any byte
      return permute(words[i / 4], word(isWholeByte ? 0x64646464 : 0),
                     byte | 4 << 4 | (byte + 1) << 8 | 4 << 12);
    }
    return permute(words[i], words[std::min(i + 1, count - 1)], keepLow);
  }

  Value constantPair(double value) {
    auto type = VectorType::get(2, element);
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, Attribute(b.getFloatAttr(element, value))));
  }

  Value toHalves(Value pair) {
    return LLVM::BitcastOp::create(b, loc, VectorType::get(2, element), pair);
  }

  /// a * factor + c: not every target adds bf16.
  Value multiplyAdd(Value a, double factor, Value c) {
    return LLVM::FMAOp::create(b, loc, a, constantPair(factor), c);
  }

  Value toPair(int64_t i) {
    bool isHalf = element.isF16();
    Value pair = packPair(i);
    if (!isHalf && bits.count == 8)
      return bytesToBF16(pair);
    auto twice = [](uint32_t half) { return half | half << 16; };
    Value number =
        toHalves(isWholeByte ? pair
                             : combine(pair, twice((1u << bits.count) - 1),
                                       twice((isHalf ? 0x6400 : 0x4300) | getSign()), andXor));
    if (isMoved)
      return number;
    Value move = constantPair(-(isHalf ? 1024.0 : 128.0) - getSign());
    return isHalf ? Value(LLVM::FAddOp::create(b, loc, number, move))
                  : multiplyAdd(number, 1, move);
  }

  /// The lower seven bits n as 128 + n, less the upper bit as 128 or 256; each difference is exact.
  ///   signed: (128 + n) - (128 or 256); unsigned: with the bit flipped, and 128 more.
  Value bytesToBF16(Value pair) {
    Value low = toHalves(combine(pair, 0x007f007f, 0x43004300, andOr));
    Value high =
        toHalves(combine(pair, 0x00800080, bits.isSigned ? 0x43004300 : 0x43804380, andXor));
    Value difference = multiplyAdd(high, -1, low);
    return bits.isSigned ? difference : multiplyAdd(difference, 1, constantPair(128));
  }

  Value toF32(int64_t i) {
    uint32_t magic = 0x4b000000;
    int64_t each = 32 / width, place = i % each;
    Value value = words[i / each];
    if (width == 8)
      value = permute(value, word(isWholeByte ? magic : 0), place | 4 << 4 | 4 << 8 | 7 << 12);
    else if (width == 16 && place)
      value = arith::ShRUIOp::create(b, loc, value, word(16));
    if (!isWholeByte)
      value = combine(value, (1u << bits.count) - 1, magic | getSign(), andXor);
    Type f32 = b.getF32Type();
    if (isMoved)
      return LLVM::BitcastOp::create(b, loc, f32, value);
    Value move = arith::ConstantOp::create(b, loc, b.getFloatAttr(f32, -8388608.0 - getSign()));
    return LLVM::FAddOp::create(b, loc, LLVM::BitcastOp::create(b, loc, f32, value), move);
  }

  OpBuilder &b;
  Location loc;
  Bits bits;
  FloatType element;
  int64_t count;
  unsigned width;           ///< bits of an element as it lies in `words`
  bool isMoved = false;     ///< what the bits make a number of stays added to it
  bool isWholeByte = false; ///< prmt writes the magic: `words` hold bytes whose sign is flipped
  SmallVector<Value> words;
};

/// A conversion that this pass expands.
struct Cast {
  Operation *op = nullptr;
  Bits bits = {};
  FloatType element;
  unsigned room = 0; ///< bits that the mantissa has for the integer

  static std::optional<Cast> of(Operation *op, tile::ValueRanges &ranges) {
    if (!isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op))
      return std::nullopt;
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    auto element = type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
    unsigned room = !element           ? 0
                    : element.isF32()  ? 23
                    : element.isF16()  ? 10
                    : element.isBF16() ? 8
                                       : 0;
    Value source = op->getOperand(0);
    if (!room || type.getRank() != 1 || type.getNumElements() < 2 ||
        !hasBytes(getElementTypeOrSelf(source.getType())))
      return std::nullopt;
    Bits bits = getBits(ranges.find(source), isa<arith::SIToFPOp>(op));
    return bits.count <= room ? std::optional<Cast>({op, bits, element, room}) : std::nullopt;
  }

  Value write(OpBuilder &b, bool moved = false) const {
    Value low = skipMasks(op->getOperand(0), bits.count);
    return Expansion(b, op->getLoc(), low, bits, element).write(moved);
  }
};

struct ExpandIntegerCasts : tile::impl::ExpandIntegerCastsBase<ExpandIntegerCasts> {
  void runOnOperation() override {
    SmallVector<arith::SubFOp> differences;
    getOperation()->walk([&](arith::SubFOp op) { differences.push_back(op); });
    for (arith::SubFOp op : differences)
      subtract(op);
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isa<VectorType>(op->getResult(0).getType()))
        casts.push_back(op);
    });
    tile::ValueRanges ranges;
    for (Operation *op : casts)
      expand(op, ranges);
    tile::expandFloatsToBytes(getOperation());
  }

private:
  /// Both numbers with the same one more, where the difference is all that is made of the first.
  static void subtract(arith::SubFOp op) {
    tile::ValueRanges ranges;
    Value other = op.getRhs();
    auto shuffle = other.getDefiningOp<vector::ShuffleOp>();
    if (shuffle && shuffle.getV1() == shuffle.getV2())
      other = shuffle.getV1();
    else
      shuffle = {};
    std::optional<Cast> left = Cast::of(op.getLhs().getDefiningOp(), ranges),
                        right = left ? Cast::of(other.getDefiningOp(), ranges) : std::nullopt;
    auto isPlain = [](const Cast &cast) {
      constexpr unsigned pieces = 8; // of bf16: these are numbers of two pieces
      return !cast.bits.isSigned && cast.bits.count < pieces;
    };
    if (!right || !op.getLhs().hasOneUse() || !isPlain(*left) || !isPlain(*right))
      return;
    OpBuilder b(op);
    Value subtracted = right->write(b, /*moved=*/true);
    if (shuffle)
      subtracted =
          vector::ShuffleOp::create(b, op.getLoc(), subtracted, subtracted, shuffle.getMask());
    Value difference = arith::SubFOp::create(b, op.getLoc(), left->write(b, /*moved=*/true),
                                             subtracted, op.getFastmath());
    op.getResult().replaceAllUsesWith(difference);
    op.erase();
    for (Operation *unused : {left->op, shuffle.getOperation(), right->op})
      if (unused && unused->use_empty())
        unused->erase();
  }

  static void expand(Operation *op, tile::ValueRanges &ranges) {
    std::optional<Cast> cast = Cast::of(op, ranges);
    if (!cast)
      return;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(cast->write(b));
    op->erase();
  }
};
} // namespace
