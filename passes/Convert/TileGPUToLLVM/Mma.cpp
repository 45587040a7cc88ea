// tile_gpu.mma: fragments of the operands' registers through mma.sync.
//
// One instruction: 16 rows, 8 columns, 32 bytes of K. Lane l = 4 g + t of a warp holds, of 16-bit
// elements (two in a register),
//
//   a   rows g and g + 8,  K at 2t, 2t+1 and 2t+8, 2t+9      4 registers
//   b   column g,          K at 2t, 2t+1 and 2t+8, 2t+9      2 registers
//   c   rows g and g + 8,  columns 2t, 2t+1                  4 registers of f32
//
// The layouts of the operands say so already (tile-gpu-assign-layouts); here registers are only
// counted off in their order. Source: PTX ISA, "Matrix Fragments for mma.m16n8k16".
//
// Of f64 a fragment has 8 elements of K: lane t holds those at 2t and 2t+1, where the instruction
// has t and t+4. Of a and b alike, so terms meet as they should; their sum has no order.
//
// Where the target knows no 8-bit floats they are widened: a fragment of theirs becomes two of f16,
// one for each half of its 32 elements of K. Of the four neighbours in a word two become one
// register, two another, whichever is least work: the same of a and b, too.
#include "dialect/TileGPU/MatrixOperands.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// One instruction's operands and how to name it. But for f64 all have 16 x 8 accumulators and take
/// 32 bytes of K.
struct Instruction {
  std::array<NVVM::MMATypes, 2> multiplicands;
  Type word;                 // of one register of an operand
  Type accumulatorWord;      // of one register of the accumulator
  unsigned accumulators = 4; // registers of the accumulator: 4, or 2 of two halves each
  std::string intrinsic;     // for 8-bit floats, which the NVVM dialect has no operation for
};

/// The instruction for these element types; none if tensor cores have none.
/// Both operands have one type, except that 8-bit floats may have either format and 8-bit integers
/// a sign or none.
std::optional<Instruction> selectInstruction(Type a, Type b, Type acc, bool unsignedA,
                                             bool unsignedB) {
  OpBuilder builder(a.getContext());
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  auto both = [](NVVM::MMATypes type) { return std::array<NVVM::MMATypes, 2>{type, type}; };
  if (a.isF16() && b.isF16() && acc.isF32())
    return Instruction{both(NVVM::MMATypes::f16), VectorType::get(2, a), f32, 4, ""};
  if (a.isF16() && b.isF16() && acc.isF16())
    return Instruction{both(NVVM::MMATypes::f16), VectorType::get(2, a), VectorType::get(2, acc), 2,
                       ""};
  if (a.isBF16() && b.isBF16() && acc.isF32())
    return Instruction{both(NVVM::MMATypes::bf16), i32, f32, 4, ""};
  if (a.isF32() && b.isF32() && acc.isF32())
    return Instruction{both(NVVM::MMATypes::tf32), i32, f32, 4, ""};
  if (a.isF64() && b.isF64() && acc.isF64())
    return Instruction{both(NVVM::MMATypes::f64), acc, acc, 4, ""};
  auto integer = [](bool isUnsigned) {
    return isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
  };
  if (a.isInteger(8) && b.isInteger(8) && acc.isInteger(32))
    return Instruction{{integer(unsignedA), integer(unsignedB)}, i32, i32, 4, ""};
  auto nameOf = [](Type type) {
    return isa<Float8E4M3FNType>(type) ? "e4m3" : isa<Float8E5M2Type>(type) ? "e5m2" : nullptr;
  };
  if (nameOf(a) && nameOf(b) && acc.isF32())
    return Instruction{both(NVVM::MMATypes::e4m3), i32, f32, 4,
                       std::string("llvm.nvvm.mma.m16n8k32.row.col.f32.") + nameOf(a) + "." +
                           nameOf(b) + ".f32"};
  return std::nullopt;
}

//===--- Operands ---------------------------------------------------------===//

/// The four 8-bit floats of a word in f16, two and two neighbours.
std::pair<Value, Value> convertWord(OpBuilder &b, Location loc, Value word, Type format) {
  Value bytes = LLVM::BitcastOp::create(b, loc, VectorType::get(4, b.getI8Type()), word);
  auto convert = [&](int64_t first) -> Value {
    return NVVM::ConvertF8x2ToF16x2Op::create(b, loc, VectorType::get(2, b.getF16Type()),
                                              takeElements(b, loc, bytes, {first, first + 1}),
                                              /*relu=*/false, format);
  };
  return {convert(0), convert(2)};
}

/// The same without instructions for it: those at 0 and 2, and those at 1 and 3.
///
/// The bytes' upper bits are an f16's, after the sign; f8E4M3FN lacks one bit of the exponent,
/// whose bias is 8 less: a multiplication by 2^8 makes up for it, of subnormals, too. Its one NaN
/// is told by the carry of an addition, and becomes one of f16 by the highest bit of the exponent.
std::pair<Value, Value> widenWord(OpBuilder &b, Location loc, Value word, Type format) {
  auto number = [&](uint32_t bits) { return constantI32(b, loc, int32_t(bits)); };
  auto mask = [&](Value x, uint32_t bits) -> Value {
    return arith::AndIOp::create(b, loc, x, number(bits));
  };
  auto left = [&](Value x, unsigned by) -> Value {
    return arith::ShLIOp::create(b, loc, x, number(by));
  };
  auto right = [&](Value x, unsigned by) -> Value {
    return arith::ShRUIOp::create(b, loc, x, number(by));
  };
  auto either = [&](Value x, Value y) -> Value { return arith::OrIOp::create(b, loc, x, y); };
  auto f16x2 = VectorType::get(2, b.getF16Type());
  auto asHalves = [&](Value x) -> Value { return LLVM::BitcastOp::create(b, loc, f16x2, x); };
  constexpr uint32_t upperBytes = 0xff00ff00;
  if (isa<Float8E5M2Type>(format))
    return {asHalves(mask(left(word, 8), upperBytes)), asHalves(mask(word, upperBytes))};

  // Each byte without its sign, and with bit 7 where it is the NaN.
  constexpr uint32_t sign = 0x80008000, magnitude = 0x7f807f80;
  Value unsignedBytes = mask(word, 0x7f7f7f7f);
  Value carries = arith::AddIOp::create(b, loc, unsignedBytes, number(0x01010101));
  Value bytes = either(unsignedBytes, mask(carries, 0x80808080));
  Value even = either(mask(left(word, 8), sign), mask(left(bytes, 7), magnitude)),
        odd = either(mask(word, sign), mask(right(bytes, 1), magnitude));
  Value scale = LLVM::ConstantOp::create(
      b, loc, f16x2, DenseElementsAttr::get(f16x2, Attribute(b.getF16FloatAttr(256.0))));
  auto scaled = [&](Value x) -> Value { return LLVM::FMulOp::create(b, loc, asHalves(x), scale); };
  return {scaled(even), scaled(odd)};
}

/// The words of half a fragment of 8-bit floats, of 16 elements of K, as those of a fragment of
/// f16: one word for each half of its rows.
SmallVector<Value> widenWords(OpBuilder &builder, Location loc, ArrayRef<Value> words, Type format,
                              bool hasConversions) {
  SmallVector<Value> wide, second;
  for (Value word : words) {
    auto [one, other] = hasConversions ? convertWord(builder, loc, word, format)
                                       : widenWord(builder, loc, word, format);
    wide.push_back(one);
    second.push_back(other);
  }
  llvm::append_range(wide, second);
  return wide;
}

/// An operand's registers as the words that instructions take, in the order of the layout's
/// registers.
/// f32 becomes tf32, rounded to nearest with ties away from zero; the hardware would cut the bits
/// off.
SmallVector<Value> getOperandWords(OpBuilder &builder, Location loc, Value vector, Type word,
                                   bool isTF32) {
  SmallVector<Value> words;
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  if (isTF32 || word.isF64()) {
    for (int64_t i = 0; i < count; ++i) {
      Value element = vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{i});
      auto rounding =
          NVVM::FPRoundingModeAttr::get(builder.getContext(), NVVM::FPRoundingMode::RNA);
      words.push_back(isTF32 ? NVVM::ConvertFloatToTF32Op::create(
                                   builder, loc, builder.getI32Type(), element, rounding)
                                   .getResult()
                             : element);
    }
    return words;
  }
  Value stored = toStoredVector(builder, loc, vector);
  int64_t packed = 32 / cast<VectorType>(stored.getType()).getElementTypeBitWidth();
  for (int64_t i = 0; i < count; i += packed) {
    Value piece = takeElements(builder, loc, stored, llvm::to_vector(llvm::seq(i, i + packed)));
    words.push_back(piece.getType() == word
                        ? piece
                        : LLVM::BitcastOp::create(builder, loc, word, piece).getResult());
  }
  return words;
}

//===--- Instructions -----------------------------------------------------===//

/// The results of an instruction that the NVVM dialect has no operation for.
SmallVector<Value> callIntrinsic(OpBuilder &builder, Location loc, const std::string &name,
                                 ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
  SmallVector<Value> operands(a), results;
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  Type type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(c.size(), c[0].getType()));
  Value all =
      LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), operands)
          .getResult(0);
  for (size_t i = 0; i < c.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, all, i));
  return results;
}

/// The same for f64, whose instructions have 8 rows or 16. `a` has each row's elements of K one
/// after the other; the instruction of 16 rows takes each element's rows so.
SmallVector<Value> multiplyF64(OpBuilder &builder, Location loc, bool has16Rows, ArrayRef<Value> a,
                               ArrayRef<Value> b, ArrayRef<Value> c) {
  size_t depth = b.size(), halves = a.size() / depth;
  SmallVector<Value> sums(c);
  if (has16Rows) {
    SmallVector<Value> ordered, all(c);
    for (size_t k = 0; k < depth; ++k)
      for (size_t half : {size_t(0), halves - 1}) // nobody reads the second of one half
        ordered.push_back(a[half * depth + k]);
    if (halves == 1)
      all.append(c.begin(), c.end());
    sums = callIntrinsic(builder, loc,
                         "llvm.nvvm.mma.m16n8k" + std::to_string(4 * depth) + ".row.col.f64",
                         ordered, b, all);
    sums.truncate(c.size());
    return sums;
  }
  for (size_t half = 0; half < halves; ++half)
    for (size_t k = 0; k < depth; ++k)
      llvm::copy(callIntrinsic(builder, loc, "llvm.nvvm.mma.m8n8k4.row.col.f64",
                               a[half * depth + k], b[k], ArrayRef<Value>(sums).slice(2 * half, 2)),
                 sums.begin() + 2 * half);
  return sums;
}

/// A bundle of accumulator registers after one more instruction. Where `a` and `c` are the upper
/// half of their fragments, the lower half of the instruction's rows repeats it, and nobody reads
/// what becomes of that.
SmallVector<Value> multiply(OpBuilder &builder, Location loc, const Instruction &instruction,
                            ArrayRef<Value> upperA, ArrayRef<Value> b, ArrayRef<Value> upperC,
                            int64_t k) {
  SmallVector<Value> a(upperA), c(upperC);
  // Of a tile with 8 rows or fewer, a and c have half of the registers: rows g alone. The other
  // half of the instruction's rows gets the same operands.
  if (a.size() == 2)
    a = {upperA[0], upperA[0], upperA[1], upperA[1]};
  if (c.size() < instruction.accumulators)
    c.append(upperC.begin(), upperC.end());
  Type type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      SmallVector<Type>(instruction.accumulators, instruction.accumulatorWord));
  SmallVector<Value> results;
  if (!instruction.intrinsic.empty()) {
    results = callIntrinsic(builder, loc, instruction.intrinsic, a, b, c);
    results.truncate(upperC.size());
    return results;
  }
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (instruction.accumulatorWord.isInteger())
    overflow = NVVM::MMAIntOverflow::wrapped;
  std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
  Value product = NVVM::MmaOp::create(builder, loc, type, a, b, c, {16, 8, k}, std::nullopt,
                                      overflow, instruction.multiplicands, layouts);
  for (unsigned i = 0; i < upperC.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, product, i));
  return results;
}

struct LowerMma : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType typeA = op.getA().getType(), typeB = op.getB().getType(), typeC = op.getType();
    const GPUTarget *target = getTarget(op);
    Type elementA = typeA.getElementType(), elementB = typeB.getElementType(),
         widened = target ? getWidenedOperand(elementA, *target) : Type();
    auto instruction =
        selectInstruction(widened ? widened : elementA, widened ? widened : elementB,
                          typeC.getElementType(), op.getUnsignedA(), op.getUnsignedB());
    if (!instruction)
      return op.emitError("tensor cores multiply f16, bf16, f32 (as tf32), f64, 8-bit floats and "
                          "i8, found ")
             << typeA.getElementType() << " by " << typeB.getElementType() << " into "
             << typeC.getElementType();

    // Order of a thread's registers, fastest first. Operands: the registers of a fragment, then
    // fragments along K, then along M (a) or N (b). Accumulator: the registers of a fragment, then
    // fragments along N, then along M. Of few rows there is half a fragment of a and accumulator.
    constexpr int64_t rowsOfHalf = 8;
    bool isHalf = typeC.getShape()[typeC.getRank() - 2] <= rowsOfHalf;
    ArrayRef<int64_t> shape = typeA.getShape();
    int64_t k = getFragmentDepth(typeA.getElementTypeBitWidth(), shape.back());
    bool isF64 = elementA.isF64();
    // Of a fragment: elements of the accumulator, words of b, words of a.
    unsigned registers = isHalf ? 2 : 4, wordsB = isF64 ? k / 4 : 2,
             wordsA = registers / 2 * wordsB;
    unsigned steps = shape.back() / k, batches = 1;
    for (int64_t extent : shape.drop_back(2))
      batches *= extent;
    Type word = widened ? rewriter.getI32Type() : instruction->word;
    bool isTF32 = elementA.isF32();
    SmallVector<Value> a = getOperandWords(rewriter, loc, adaptor.getA(), word, isTF32);
    SmallVector<Value> b = getOperandWords(rewriter, loc, adaptor.getB(), word, isTF32);
    unsigned fragmentsM = a.size() / batches / wordsA / steps,
             fragmentsN = b.size() / batches / wordsB / steps;
    int64_t held = cast<VectorType>(adaptor.getAcc().getType()).getNumElements();
    if (shape.back() % k || held != int64_t(registers * batches * fragmentsM * fragmentsN))
      return op.emitError("internal: expected operands in the fragments' layouts, found ")
             << typeA << " and " << typeB;

    if (widened) { // half a fragment a step
      steps *= 2;
      wordsA /= 2;
      wordsB /= 2;
      k /= 2;
    }
    auto takeFragment = [&](ArrayRef<Value> words, unsigned number, unsigned count, Type element) {
      ArrayRef<Value> own = words.slice(count * number, count);
      return widened
                 ? widenWords(rewriter, loc, own, element, target->has(Feature::Float8Conversions))
                 : SmallVector<Value>(own);
    };
    const MatrixInstruction *f64 =
        isF64 && target ? target->find(MatrixUnit::MmaSync, MatrixElement::F64, MatrixElement::F64)
                        : nullptr;
    constexpr unsigned allRows = 16;
    auto multiplyStep = [&](ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
      return isF64 ? multiplyF64(rewriter, loc, f64 && f64->m == allRows, a, b, c)
                   : multiply(rewriter, loc, *instruction, a, b, c, k);
    };

    SmallVector<SmallVector<Value>> fragments;
    // Kept as words through all steps, so that LLVM sees no vectors between instructions.
    for (unsigned f = 0; f < batches * fragmentsM * fragmentsN; ++f)
      fragments.push_back(splitAccumulator(rewriter, loc, adaptor.getAcc(), registers * f,
                                           registers, *instruction));
    // Sums that leave the tensor core start anew from zero.
    // Promotion: each `together` steps are summed by the tensor core from zero, and added to the
    // totals in f32, since the tensor core keeps fewer bits of a sum of 8-bit floats.
    unsigned usedSteps = steps;
    if (DenseI64ArrayAttr valid = op.getValidAttr())
      usedSteps = std::min<int64_t>(steps, llvm::divideCeil(valid[2], k));
    LinearLayout layout = getLayout(typeC);
    unsigned together = op.getPromote() ? std::max<int64_t>(1, *op.getPromote() / k) : steps;
    Value zero;
    if (op.getPromote())
      zero = LLVM::ZeroOp::create(rewriter, loc, instruction->accumulatorWord);
    // Padding is 0, so that no register carries it through a loop.
    if (op.getValidAttr()) {
      Value padding = LLVM::ZeroOp::create(rewriter, loc, instruction->accumulatorWord);
      for (auto [f, words] : llvm::enumerate(fragments))
        if (isPadding(op, layout.apply(registers * f, 0, 0)))
          words.assign(words.size(), padding);
    }
    SmallVector<SmallVector<Value>> sums = fragments;
    // j innermost: an operand of a is used for all columns while it is in registers. What is
    // widened is so when it is first used, a step's alone.
    for (unsigned batch = 0; batch < batches; ++batch)
      for (unsigned step = 0; step < usedSteps; ++step) {
        SmallVector<SmallVector<Value>> columns(fragmentsN);
        for (unsigned i = 0; i < fragmentsM; ++i) {
          SmallVector<Value> rows;
          for (unsigned j = 0; j < fragmentsN; ++j) {
            unsigned f = (batch * fragmentsM + i) * fragmentsN + j;
            if (isPadding(op, layout.apply(registers * f, 0, 0)))
              continue;
            SmallVector<Value> &c = sums[f];
            if (zero && step % together == 0)
              c.assign(c.size(), zero);
            if (rows.empty())
              rows = takeFragment(a, (batch * fragmentsM + i) * steps + step, wordsA, elementA);
            if (columns[j].empty())
              columns[j] =
                  takeFragment(b, (batch * fragmentsN + j) * steps + step, wordsB, elementB);
            c = multiplyStep(rows, columns[j], c);
            // At the end of a bundle, or of K.
            if (!zero || ((step + 1) % together != 0 && step + 1 != usedSteps))
              continue;
            for (auto [total, sum] : llvm::zip(fragments[f], c))
              total = LLVM::FAddOp::create(rewriter, loc, total, sum);
          }
        }
      }
    if (!zero)
      fragments = sums;

    SmallVector<Value> elements;
    for (const SmallVector<Value> &fragment : fragments)
      for (Value word : fragment)
        if (instruction->accumulators == 4)
          elements.push_back(word);
        else
          for (int64_t half : {0, 1})
            elements.push_back(
                vector::ExtractOp::create(rewriter, loc, word, ArrayRef<int64_t>{half}));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op, cast<VectorType>(adaptor.getAcc().getType()), elements);
    return success();
  }

  /// True if a fragment whose first element of the first lane and warp is at `first` holds no
  /// element of the valid part: no other lane or warp has one nearer to 0.
  static bool isPadding(MmaOp op, ArrayRef<int64_t> first) {
    DenseI64ArrayAttr valid = op.getValidAttr();
    size_t rank = first.size();
    return valid && (first[rank - 2] >= valid[0] || first[rank - 1] >= valid[1]);
  }

  /// The accumulator words of the fragment of `elements` registers whose first one is `first`.
  static SmallVector<Value> splitAccumulator(OpBuilder &builder, Location loc, Value acc,
                                             int64_t first, int64_t elements,
                                             const Instruction &instruction) {
    SmallVector<Value> words;
    for (int64_t i = 0; i < elements * instruction.accumulators / 4; ++i)
      if (instruction.accumulators == 4)
        words.push_back(vector::ExtractOp::create(builder, loc, acc, ArrayRef<int64_t>{first + i}));
      else
        words.push_back(takeElements(builder, loc, acc, {first + 2 * i, first + 2 * i + 1}));
    return words;
  }
};

} // namespace

void tile::gpu::populateMmaPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMma>(converter, patterns.getContext());
}
