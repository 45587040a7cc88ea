// tile_gpu.wgmma, wgmma_wait and hold: one block of inline PTX each.
//
// A product is one piece of PTX from its fence to its wait, so that nothing comes between its steps
// and LLVM's IR stays small. Accumulators are tied to it: the hardware writes them until the wait,
// which ptxas alone cannot tell.
//
//   fence
//   for each step of K, 32 bytes             descriptors of a and b move on; a may be in registers
//     for each 64 rows of the warpgroup
//       for each 256 columns or fewer        one wgmma.mma_async into its words of the accumulator
//   commit; wait, unless the product is left in flight (wgmma_wait)
//
// Rows, columns and steps of padding alone are left out (`valid`).
#include "dialect/ProductNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/WgmmaDescriptor.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/SlotPlace.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

//===--- Registers --------------------------------------------------------===//

/// A tile's registers as 32-bit words, each an operand of its own: f32 as such, all else as i32.
SmallVector<Value> getWords(OpBuilder &builder, Location loc, Value vector) {
  vector = toStoredVector(builder, loc, vector);
  auto type = cast<VectorType>(vector.getType());
  int64_t packed = 32 / type.getElementTypeBitWidth();
  SmallVector<Value> words;
  for (int64_t i = 0; i < type.getNumElements(); i += packed) {
    if (packed == 1) {
      words.push_back(vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{i}));
      continue;
    }
    Value piece = takeElements(builder, loc, vector, llvm::to_vector(llvm::seq(i, i + packed)));
    words.push_back(LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), piece));
  }
  return words;
}

/// The results of a piece of PTX.
SmallVector<Value> getResults(OpBuilder &builder, Location loc, Value structure) {
  SmallVector<Value> words;
  unsigned count = cast<LLVM::LLVMStructType>(structure.getType()).getBody().size();
  for (unsigned i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loc, structure, i));
  return words;
}

/// The tile of type `type` whose registers are `words`, as above.
Value joinWords(OpBuilder &builder, Location loc, SmallVector<Value> words, VectorType type) {
  int64_t packed = 32 / type.getElementTypeBitWidth();
  SmallVector<unsigned> positions;
  if (packed == 1)
    return vector::FromElementsOp::create(builder, loc, type, words);
  auto piece = VectorType::get(packed, type.getElementType());
  for (Value &word : words) {
    word = LLVM::BitcastOp::create(builder, loc, piece, word);
    for (int64_t i = 0; i < packed; ++i)
      positions.push_back(positions.size());
  }
  return joinPieces(builder, loc, words, positions);
}

/// The type and constraint of a tile's words as results.
Type getWordType(VectorType type) {
  return type.getElementType().isF32() ? type.getElementType()
                                       : IntegerType::get(type.getContext(), 32);
}
StringRef getConstraint(Type word) { return word.isF32() ? "f" : word.isInteger(64) ? "l" : "r"; }

/// `text` with `results` words of type `word` first, then `inputs`, then the words that results
/// start from (or none).
Value createAsm(OpBuilder &builder, Location loc, StringRef text, Type word, unsigned results,
                ArrayRef<Value> inputs, ArrayRef<Value> tied) {
  std::string constraints, result = tied.empty() ? "=&" : "="; // written before all is read
  for (unsigned i = 0; i < results; ++i)
    constraints += (result + getConstraint(word) + ",").str();
  for (Value input : inputs)
    constraints += (getConstraint(input.getType()) + ",").str();
  for (unsigned i = 0; i < tied.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, tied);
  Type type =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(results, word));
  return inlinePTX(builder, loc, type, operands, text, constraints);
}

//===--- Instructions -----------------------------------------------------===//

/// Names of an instruction's element types, accumulator first.
struct Instruction {
  const char *acc, *a, *b;
};

std::optional<Instruction> selectInstruction(Type a, Type b, Type acc, bool unsignedA,
                                             bool unsignedB) {
  auto float8 = [](Type type) {
    return isa<Float8E4M3FNType>(type) ? "e4m3" : isa<Float8E5M2Type>(type) ? "e5m2" : nullptr;
  };
  if (float8(a) && float8(b) && acc.isF32())
    return Instruction{"f32", float8(a), float8(b)};
  if (a != b)
    return std::nullopt;
  if (a.isF16() && (acc.isF32() || acc.isF16()))
    return Instruction{acc.isF32() ? "f32" : "f16", "f16", "f16"};
  if (a.isBF16() && acc.isF32())
    return Instruction{"f32", "bf16", "bf16"};
  if (a.isF32() && acc.isF32())
    return Instruction{"f32", "tf32", "tf32"};
  if (a.isInteger(8) && acc.isInteger(32))
    return Instruction{"s32", unsignedA ? "u8" : "s8", unsignedB ? "u8" : "s8"};
  return std::nullopt;
}

/// How a product is cut into instructions of 64 rows, up to 256 columns and 32 bytes of K.
struct Plan {
  int64_t rowBlocks,
      rowStride; ///< blocks of 64 rows of one warpgroup, and rows from one to the next
  int64_t columnBlocks, columns; ///< instructions along N, and their width
  int64_t steps, k;              ///< instructions along K, and elements of K in each
  int64_t usedRowBlocks, usedColumns, usedSteps; ///< those that are not padding alone
  SmallVector<Coord> warpgroups; ///< the accumulator's position by bit of the warpgroup's number
};

/// The narrowest instruction for `columns` columns: of integers from 32 on a multiple of 16.
int64_t roundColumns(int64_t columns, bool isInteger) {
  return llvm::alignTo(columns, isInteger && columns > 32 ? 16 : 8);
}

std::optional<Plan> makePlan(const LinearLayout &acc, int64_t depth, unsigned elementBits,
                             DenseI64ArrayAttr valid, bool isInteger) {
  int64_t m = acc.getShape()[0], n = acc.getShape()[1];
  ArrayRef<Coord> warps = acc.getBases(InDim::Warp);
  if (m < 64 || n < 8 || warps.size() < 2)
    return std::nullopt;
  Plan plan;
  unsigned warpsN = 1;
  for (const Coord &basis : warps)
    warpsN *= basis[1] ? 2 : 1;
  unsigned warpsM = acc.getNumWarps() / warpsN;
  if (warpsM < 4 || acc != LinearLayout::mmaAccumulator(m, n, warpsM, warpsN))
    return std::nullopt;
  plan.rowStride = std::min<int64_t>(m, 16 * warpsM);
  plan.rowBlocks = m / plan.rowStride;
  plan.columns = std::min<int64_t>(n / warpsN, 256);
  plan.columnBlocks = n / warpsN / plan.columns;
  plan.k = 256 / elementBits;
  plan.steps = depth / plan.k;
  plan.warpgroups.assign(warps.begin() + 2, warps.end());
  if (depth % plan.k)
    return std::nullopt;
  plan.usedRowBlocks = plan.rowBlocks;
  plan.usedColumns = n / warpsN;
  plan.usedSteps = plan.steps;
  if (valid) {
    plan.usedRowBlocks = llvm::divideCeil(std::min(valid[0], m), plan.rowStride);
    plan.usedColumns = std::min(roundColumns(valid[1], isInteger), n / warpsN);
    plan.usedSteps = llvm::divideCeil(std::min(valid[2], depth), plan.k);
  }
  return plan;
}

/// An instruction's part of the accumulator.
struct Piece {
  int64_t row, column, columns;
  unsigned first, words; ///< words of the accumulator that it adds to
};

/// The instructions of one step along K. An accumulator of `words` words runs through a block's
/// columns, then blocks along N, then along M.
SmallVector<Piece> makePieces(const Plan &plan, unsigned words) {
  unsigned perBlock = words / (plan.rowBlocks * plan.columnBlocks);
  SmallVector<Piece> pieces;
  for (int64_t i = 0; i < plan.usedRowBlocks; ++i)
    for (int64_t j = 0; j < plan.columnBlocks; ++j) {
      int64_t columns = std::min(plan.columns, plan.usedColumns - j * plan.columns);
      if (columns > 0)
        pieces.push_back({i * plan.rowStride, j * plan.columns, columns,
                          unsigned(i * plan.columnBlocks + j) * perBlock,
                          unsigned(perBlock * columns / plan.columns)});
    }
  return pieces;
}

/// The text of a product. Operand numbers: the pieces' accumulators, `words` in all, then A (a
/// descriptor or its words, by rows, then steps), then B's descriptor, of which the product begins
/// at row `from` and at `column`, then, `asks`, whether to add to the sum.
std::string writeProduct(const Plan &plan, const Instruction &instruction, ArrayRef<Piece> pieces,
                         unsigned words, const WgmmaDescriptor *a, const WgmmaDescriptor &b,
                         int64_t from, int64_t column, bool fromZero, bool asks, bool async) {
  unsigned wordsA = 4 * plan.usedSteps * plan.usedRowBlocks;
  unsigned first = words, descriptorB = words + (a ? 1 : wordsA);
  bool transposes = StringRef(instruction.a).ends_with("f16");
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n.reg .pred zero, add;\n.reg .b64 a, b;\nsetp.ne.b32 zero, 0, 0;\nsetp.ne.b32 add, 1, "
         "0;\n";
  if (asks)
    out << ".reg .pred asked;\nsetp.ne.b32 asked, $" << descriptorB + 1 << ", 0;\n";
  out << "wgmma.fence.sync.aligned;\n";
  auto list = [&](unsigned from, unsigned count) {
    out << "{";
    for (unsigned i = 0; i < count; ++i)
      out << (i ? ",$" : "$") << from + i;
    out << "}, ";
  };
  for (int64_t step = 0; step < plan.usedSteps; ++step) {
    unsigned next = 0;
    for (const Piece &piece : pieces) {
      if (a)
        out << "add.s64 a, $" << first << ", " << a->getOffset(piece.row, step * plan.k) / 16
            << ";\n";
      out << "add.s64 b, $" << descriptorB << ", "
          << b.getOffset(column + piece.column, from + step * plan.k) / 16 << ";\n"
          << "wgmma.mma_async.sync.aligned.m64n" << piece.columns << "k" << plan.k << "."
          << instruction.acc << "." << instruction.a << "." << instruction.b << " ";
      list(next, piece.words);
      next += piece.words;
      if (a)
        out << "a, ";
      else
        list(first + 4 * (piece.row / plan.rowStride * plan.usedSteps + step), 4);
      out << "b, " << (step ? "add" : asks ? "asked" : fromZero ? "zero" : "add");
      if (StringRef(instruction.acc) != "s32")
        out << ", 1, 1";
      if (transposes && a)
        out << ", " << !a->isKMajor();
      if (transposes)
        out << ", " << !b.isKMajor();
      out << ";\n";
    }
  }
  out << "wgmma.commit_group.sync.aligned;\n";
  if (!async)
    out << "wgmma.wait_group.sync.aligned 0;\n";
  out << "}";
  return text;
}

//===--- Lowering ---------------------------------------------------------===//

/// From which row on a warpgroup's rows are padding alone, and each warpgroup's first row by bits
/// of its number; where none has such rows, no bits.
struct PaddingRows {
  int64_t first = 0;
  SmallVector<uint32_t> images;
};

/// Where warpgroups multiply one block of rows each, the last ones may have padding alone, for
/// which there need not be memory (CopyBoxes.cpp).
PaddingRows getPaddingRows(const Plan &plan, DenseI64ArrayAttr valid, int64_t rows) {
  constexpr int64_t blockRows = 64;
  PaddingRows padding;
  if (!valid || plan.rowBlocks != 1 || valid[0] > rows - blockRows)
    return padding;
  padding.first = valid[0];
  for (const Coord &basis : plan.warpgroups)
    padding.images.push_back(uint32_t(basis[0]));
  return padding;
}

/// The descriptor of the running warpgroup's part of an operand at `base`; images[i] is how far bit
/// i of the warpgroup's number moves it, in bytes. A warpgroup that has padding alone reads what
/// the first one reads: behind the tile others write.
///
/// Of a ring's tile it is that of slot 0, which a loop makes once, plus as many sixteenths of the
/// slot's bytes: a sum of addresses takes no more than its 14 bits, since all of shared memory has
/// addresses of 18. A product waits for two operations where it waited for six.
Value getDescriptor(OpBuilder &builder, Location loc, Value base, const WgmmaDescriptor &descriptor,
                    SmallVector<uint32_t> images, const PaddingRows &padding) {
  constexpr int64_t unit = 16; // bytes that an address of the descriptor counts
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  std::optional<SlotPlace> place = getSlotPlace(builder, base);
  if (place && place->stride % unit)
    place.reset();
  Value address = LLVM::PtrToIntOp::create(builder, loc, i32, place ? place->first : base);
  if (llvm::any_of(images, [](uint32_t image) { return image != 0; })) {
    Value warpgroup = arith::ShRUIOp::create(builder, loc, getThreadId(builder, loc),
                                             constantI32(builder, loc, 7));
    Value moved = applyLinear(builder, loc, warpgroup, images);
    if (!padding.images.empty()) {
      Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                           applyLinear(builder, loc, warpgroup, padding.images),
                                           constantI32(builder, loc, padding.first));
      moved = arith::SelectOp::create(builder, loc, exists, moved, constantI32(builder, loc, 0));
    }
    address = arith::AddIOp::create(builder, loc, address, moved);
  }
  // The address takes 18 bits, without the lowest 4.
  uint64_t bits = descriptor.getBits();
  Value field = arith::ShRUIOp::create(builder, loc, address, constantI32(builder, loc, 4));
  field = arith::AndIOp::create(builder, loc, field, constantI32(builder, loc, 0x3FFF));
  if (place) {
    constexpr unsigned half = 32;
    field = arith::OrIOp::create(builder, loc, field, constantI32(builder, loc, int32_t(bits)));
    Value moved = arith::MulIOp::create(builder, loc, place->slot,
                                        constantI32(builder, loc, place->stride / unit));
    field = arith::AddIOp::create(builder, loc, field, moved);
    bits = bits >> half << half;
  }
  field = arith::ExtUIOp::create(builder, loc, i64, field);
  Value rest = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(int64_t(bits)));
  return arith::OrIOp::create(builder, loc, field, rest);
}

struct LowerWgmma : OpConversionPattern<WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto tileA = dyn_cast<RankedTensorType>(op.getA().getType());
    MemDescType memoryB = op.getB().getType();
    Type elementA =
        tileA ? tileA.getElementType() : cast<MemDescType>(op.getA().getType()).getElementType();
    int64_t depth = tileA ? tileA.getDimSize(1) : memoryB.getShape()[0];
    auto instruction =
        selectInstruction(elementA, memoryB.getElementType(), op.getType().getElementType(),
                          op.getUnsignedA(), op.getUnsignedB());
    if (!instruction)
      return op.emitError("wgmma multiplies f16, bf16, f32 (as tf32), 8-bit floats and i8, found ")
             << elementA << " by " << memoryB.getElementType() << " into "
             << op.getType().getElementType();

    unsigned bits = elementA.getIntOrFloatBitWidth();
    bool isInteger = elementA.isInteger(8);
    auto plan = makePlan(getLayout(op.getType()), depth, bits, op.getValidAttr(), isInteger);
    WgmmaDescriptor b(getSharedLayout(memoryB), 0);
    std::optional<WgmmaDescriptor> a;
    if (!tileA)
      a.emplace(getSharedLayout(cast<MemDescType>(op.getA().getType())), 1);
    if (!plan || !b.isLegal() || (a && !a->isLegal()) ||
        (tileA && !isOperandLayout(op, tileA, bits)))
      return op.emitError("internal: expected operands and accumulator in layouts of wgmma, found ")
             << op.getA().getType() << ", " << memoryB << " and " << op.getType();

    auto type = cast<VectorType>(adaptor.getAcc().getType());
    Type word = getWordType(type);
    unsigned words = type.getNumElements() * type.getElementTypeBitWidth() / 32;
    SmallVector<uint32_t> imagesA, imagesB;
    for (const Coord &basis : plan->warpgroups) {
      imagesA.push_back(a ? a->getOffset(basis[0], 0) : 0);
      imagesB.push_back(b.getOffset(basis[1], 0));
    }
    SmallVector<Value> inputs;
    if (a)
      inputs.push_back(
          getDescriptor(rewriter, loc, adaptor.getA(), *a, imagesA,
                        getPaddingRows(*plan, op.getValidAttr(), op.getType().getDimSize(0))));
    else
      inputs = getUsedWordsA(rewriter, loc, adaptor.getA(), *plan);
    inputs.push_back(getDescriptor(rewriter, loc, adaptor.getB(), b, imagesB, PaddingRows()));
    bool asks = op->hasAttr(freshName);
    if (asks) {
      auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
      if (!loop)
        return op.emitError("internal: expected an scf.for around a product with ") << freshName;
      Value adds = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                         loop.getInductionVar(), loop.getLowerBound());
      inputs.push_back(arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), adds));
    }

    bool fromZero =
        matchPattern(op.getAcc(), m_PosZeroFloat()) || matchPattern(op.getAcc(), m_Zero());
    SmallVector<Piece> pieces = makePieces(*plan, words);
    SmallVector<Value> all, tied;
    unsigned used = 0;
    for (const Piece &piece : pieces)
      used += piece.words;
    bool overwrites = op->hasAttr(overwritesName);
    if (!fromZero) {
      all = getWords(rewriter, loc, adaptor.getAcc());
      for (const Piece &piece : pieces)
        llvm::append_range(tied, ArrayRef(all).slice(piece.first, piece.words));
    }
    std::string text = writeProduct(*plan, *instruction, pieces, used, a ? &*a : nullptr, b,
                                    op.getFrom().value_or(0), op.getColumn().value_or(0),
                                    fromZero || overwrites, asks, op.getAsync());
    Value result = createAsm(rewriter, loc, text, word, used, inputs, tied);
    // Padding is 0, so that no register carries it through a loop.
    SmallVector<Value> sums(words);
    if (used < words)
      sums.assign(words, LLVM::ZeroOp::create(rewriter, loc, word));
    unsigned next = 0;
    for (const Piece &piece : pieces)
      for (unsigned i = 0; i < piece.words; ++i)
        sums[piece.first + i] = LLVM::ExtractValueOp::create(rewriter, loc, result, next++);
    rewriter.replaceOp(op, joinWords(rewriter, loc, sums, type));
    return success();
  }

  /// True if the registers of `tile` are A's fragments for the accumulator's warps.
  static bool isOperandLayout(WgmmaOp op, RankedTensorType tile, unsigned bits) {
    unsigned warpsN = 1;
    LinearLayout acc = getLayout(op.getType());
    for (const Coord &basis : acc.getBases(InDim::Warp))
      warpsN *= basis[1] ? 2 : 1;
    return getLayout(tile) == LinearLayout::mmaOperand(0, tile.getDimSize(0), tile.getDimSize(1),
                                                       bits, acc.getNumWarps() / warpsN, warpsN);
  }

  /// The words of an operand in registers that instructions read; f32 is rounded to tf32.
  static SmallVector<Value> getUsedWordsA(OpBuilder &builder, Location loc, Value vector,
                                          const Plan &plan) {
    SmallVector<Value> all = getWords(builder, loc, vector), words;
    for (int64_t i = 0; i < plan.usedRowBlocks; ++i)
      llvm::append_range(words, ArrayRef(all).slice(4 * i * plan.steps, 4 * plan.usedSteps));
    for (Value &word : words)
      if (word.getType().isF32())
        word = NVVM::ConvertFloatToTF32Op::create(
            builder, loc, builder.getI32Type(), word,
            NVVM::FPRoundingModeAttr::get(builder.getContext(), NVVM::FPRoundingMode::RNA));
    return words;
  }
};

struct LowerWgmmaWait : OpConversionPattern<WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  /// The words of the tile, of `words`, that are not padding alone.
  static SmallVector<unsigned> getUsedWords(WgmmaWaitOp op, unsigned words) {
    RankedTensorType type = op.getValue().getType();
    // Any K will do: it does not change which words there are.
    constexpr int64_t bits = 16, depth = 16;
    auto plan = op.getValidAttr() ? makePlan(getLayout(type), depth, bits, op.getValidAttr(),
                                             type.getElementType().isInteger())
                                  : std::nullopt;
    if (!plan)
      return llvm::to_vector(llvm::seq(0u, words));
    SmallVector<unsigned> used;
    for (const Piece &piece : makePieces(*plan, words))
      llvm::append_range(used, llvm::seq(piece.first, piece.first + piece.words));
    return used;
  }

  LogicalResult matchAndRewrite(WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(adaptor.getValue().getType());
    SmallVector<Value> words = getWords(rewriter, loc, adaptor.getValue());
    // Padding is 0, before as behind the wait.
    SmallVector<unsigned> places = getUsedWords(op, words.size());
    SmallVector<Value> used;
    for (unsigned place : places)
      used.push_back(words[place]);
    std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
    Value result = createAsm(rewriter, loc, text, getWordType(type), used.size(), {}, used);
    if (used.size() < words.size())
      words.assign(words.size(), LLVM::ZeroOp::create(rewriter, loc, getWordType(type)));
    for (auto [place, word] : llvm::zip(places, getResults(rewriter, loc, result)))
      words[place] = word;
    rewriter.replaceOp(op, joinWords(rewriter, loc, words, type));
    return success();
  }
};

struct LowerOptimizationBarrier : OpConversionPattern<OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  // Of any dtype: truth values as bytes, 64 bits as one operand, a last word that is not full with
  // elements that occur twice.
  LogicalResult matchAndRewrite(OptimizationBarrierOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = cast<VectorType>(adaptor.getValue().getType()).getElementType();
    Value stored = toStoredVector(rewriter, loc, adaptor.getValue());
    auto type = cast<VectorType>(stored.getType());
    int64_t count = type.getNumElements(), bits = type.getElementTypeBitWidth();
    Value held;
    if (bits > 32) {
      auto words = VectorType::get(count, rewriter.getI64Type());
      Value vector = vector::BitCastOp::create(rewriter, loc, words, stored);
      SmallVector<Value> all;
      for (int64_t i = 0; i < count; ++i)
        all.push_back(vector::ExtractOp::create(rewriter, loc, vector, ArrayRef<int64_t>{i}));
      Value result = createAsm(rewriter, loc, "", words.getElementType(), count, {}, all);
      held =
          vector::FromElementsOp::create(rewriter, loc, words, getResults(rewriter, loc, result));
      held = vector::BitCastOp::create(rewriter, loc, type, held);
    } else {
      int64_t full = llvm::alignTo(count, 32 / bits);
      auto whole = VectorType::get(full, type.getElementType());
      SmallVector<int64_t> filled;
      for (int64_t i = 0; i < full; ++i)
        filled.push_back(i % count);
      if (full > count)
        stored = takeElements(rewriter, loc, stored, filled);
      SmallVector<Value> words = getWords(rewriter, loc, stored);
      Value result = createAsm(rewriter, loc, "", getWordType(whole), words.size(), {}, words);
      held = joinWords(rewriter, loc, getResults(rewriter, loc, result), whole);
      if (full > count)
        held = takeElements(rewriter, loc, held, ArrayRef(filled).take_front(count));
    }
    rewriter.replaceOp(op, fromStoredVector(rewriter, loc, held, element));
    return success();
  }
};

} // namespace

void tile::gpu::populateWgmmaPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerWgmma, LowerWgmmaWait, LowerOptimizationBarrier>(converter,
                                                                     patterns.getContext());
}
