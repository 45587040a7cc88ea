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
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// One instruction's operands and how to name it. All have 16 x 8 accumulators and take 32 bytes of
/// K.
struct Instruction {
  NVVM::MMATypes multiplicands = NVVM::MMATypes::f16;
  Type word;             // of one 32-bit register of an operand
  Type accumulatorWord;  // of one register of the accumulator
  unsigned accumulators; // registers of the accumulator: 4, or 2 of two halves each
  std::string intrinsic; // for 8-bit floats, which the NVVM dialect has no operation for
};

/// The instruction for these element types; none if tensor cores have none.
/// Both operands have one type, except of 8-bit floats, where each may have either format.
std::optional<Instruction> selectInstruction(Type a, Type b, Type acc, bool isUnsigned) {
  OpBuilder builder(a.getContext());
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  if (a.isF16() && b.isF16() && acc.isF32())
    return Instruction{NVVM::MMATypes::f16, VectorType::get(2, a), f32, 4, ""};
  if (a.isF16() && b.isF16() && acc.isF16())
    return Instruction{NVVM::MMATypes::f16, VectorType::get(2, a), VectorType::get(2, acc), 2, ""};
  if (a.isBF16() && b.isBF16() && acc.isF32())
    return Instruction{NVVM::MMATypes::bf16, i32, f32, 4, ""};
  if (a.isF32() && b.isF32() && acc.isF32())
    return Instruction{NVVM::MMATypes::tf32, i32, f32, 4, ""};
  if (a.isInteger(8) && b.isInteger(8) && acc.isInteger(32))
    return Instruction{isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8, i32, i32, 4, ""};
  auto nameOf = [](Type type) {
    return isa<Float8E4M3FNType>(type) ? "e4m3" : isa<Float8E5M2Type>(type) ? "e5m2" : nullptr;
  };
  if (nameOf(a) && nameOf(b) && acc.isF32())
    return Instruction{NVVM::MMATypes::e4m3, i32, f32, 4,
                       std::string("llvm.nvvm.mma.m16n8k32.row.col.f32.") + nameOf(a) + "." +
                           nameOf(b) + ".f32"};
  return std::nullopt;
}

/// An operand's registers as the 32-bit words that instructions take, in the order of the layout's
/// registers.
/// f32 becomes tf32, rounded to nearest with ties away from zero; the hardware would cut the bits
/// off.
SmallVector<Value> getOperandWords(OpBuilder &builder, Location loc, Value vector,
                                   const Instruction &instruction) {
  SmallVector<Value> words;
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  if (instruction.multiplicands == NVVM::MMATypes::tf32) {
    for (int64_t i = 0; i < count; ++i) {
      Value element = vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{i});
      auto rounding =
          NVVM::FPRoundingModeAttr::get(builder.getContext(), NVVM::FPRoundingMode::RNA);
      words.push_back(NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(),
                                                         element, rounding));
    }
    return words;
  }
  Value stored = toStoredVector(builder, loc, vector);
  int64_t packed = 32 / cast<VectorType>(stored.getType()).getElementTypeBitWidth();
  for (int64_t i = 0; i < count; i += packed) {
    Value piece = takeElements(builder, loc, stored, llvm::to_vector(llvm::seq(i, i + packed)));
    words.push_back(
        piece.getType() == instruction.word
            ? piece
            : LLVM::BitcastOp::create(builder, loc, instruction.word, piece).getResult());
  }
  return words;
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
  Value product;
  if (instruction.intrinsic.empty()) {
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (instruction.multiplicands == NVVM::MMATypes::s8 ||
        instruction.multiplicands == NVVM::MMATypes::u8)
      overflow = NVVM::MMAIntOverflow::wrapped;
    std::array<NVVM::MMATypes, 2> types = {instruction.multiplicands, instruction.multiplicands};
    std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
    product = NVVM::MmaOp::create(builder, loc, type, a, b, c, {16, 8, k}, std::nullopt, overflow,
                                  types, layouts);
  } else {
    SmallVector<Value> operands(a);
    llvm::append_range(operands, b);
    llvm::append_range(operands, c);
    product = LLVM::CallIntrinsicOp::create(builder, loc, type,
                                            builder.getStringAttr(instruction.intrinsic), operands)
                  .getResult(0);
  }
  SmallVector<Value> results;
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
    auto instruction = selectInstruction(typeA.getElementType(), typeB.getElementType(),
                                         typeC.getElementType(), op.getIsUnsigned());
    if (!instruction)
      return op.emitError(
                 "tensor cores multiply f16, bf16, f32 (as tf32), 8-bit floats and i8, found ")
             << typeA.getElementType() << " by " << typeB.getElementType() << " into "
             << typeC.getElementType();

    // Order of a thread's registers, fastest first. Operands: the registers of a fragment, then
    // fragments along K, then along M (a) or N (b). Accumulator: the registers of a fragment, then
    // fragments along N, then along M. Of few rows there is half a fragment of a and accumulator.
    constexpr int64_t rowsOfHalf = 8;
    bool isHalf = typeC.getShape()[typeC.getRank() - 2] <= rowsOfHalf;
    unsigned registers = isHalf ? 2 : 4; // of a fragment: words of a, elements of the accumulator
    int64_t k = 256 / typeA.getElementTypeBitWidth();
    ArrayRef<int64_t> shape = typeA.getShape();
    unsigned steps = shape.back() / k, batches = 1;
    for (int64_t extent : shape.drop_back(2))
      batches *= extent;
    SmallVector<Value> a = getOperandWords(rewriter, loc, adaptor.getA(), *instruction);
    SmallVector<Value> b = getOperandWords(rewriter, loc, adaptor.getB(), *instruction);
    unsigned fragmentsM = a.size() / batches / registers / steps,
             fragmentsN = b.size() / batches / 2 / steps;
    int64_t held = cast<VectorType>(adaptor.getAcc().getType()).getNumElements();
    if (shape.back() % k || held != int64_t(registers * batches * fragmentsM * fragmentsN))
      return op.emitError("internal: expected operands in the fragments' layouts, found ")
             << typeA << " and " << typeB;

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
    // j innermost: an operand of a is used for all columns while it is in registers.
    for (unsigned batch = 0; batch < batches; ++batch)
      for (unsigned step = 0; step < usedSteps; ++step)
        for (unsigned i = 0; i < fragmentsM; ++i)
          for (unsigned j = 0; j < fragmentsN; ++j) {
            unsigned f = (batch * fragmentsM + i) * fragmentsN + j;
            if (isPadding(op, layout.apply(registers * f, 0, 0)))
              continue;
            SmallVector<Value> &c = sums[f];
            if (zero && step % together == 0)
              c.assign(c.size(), zero);
            c = multiply(rewriter, loc, *instruction,
                         ArrayRef<Value>(a).slice(
                             registers * ((batch * fragmentsM + i) * steps + step), registers),
                         ArrayRef<Value>(b).slice(2 * ((batch * fragmentsN + j) * steps + step), 2),
                         c, k);
            // At the end of a bundle, or of K.
            if (!zero || ((step + 1) % together != 0 && step + 1 != usedSteps))
              continue;
            for (auto [total, sum] : llvm::zip(fragments[f], c))
              total = LLVM::FAddOp::create(rewriter, loc, total, sum);
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
