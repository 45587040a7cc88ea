// Loads, stores and existence masks of tiles: predicated global accesses, vectorised as
// tile-gpu-vectorize-accesses says.
//
//   address     base of the view + start * stride       the same for the block
//               + coordinate of register 0 * stride     the thread's, once (GlobalAccess.h)
//               + what a register adds                  constants, where strides are known
//   predicate   low <= coordinate < high                high = min(extent, end) - start
//
// A piece of neighbours has one address and one predicate: the width is such that all of them exist
// or none does. Where nothing proves that, RaggedPieces.cpp moves them one by one.
#include "passes/Convert/TileGPUToLLVM/GlobalAccess.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Pieces.h"
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/WindowLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// By the forms that positions have. False means unknown.
bool tile::gpu::isNonNegative(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return !constant.isNegative();
  // Deep enough for an index computed from a program's number and a loop's variable.
  if (depth > 6)
    return false;
  // A loop counts up: a step is positive in scf.for. So does what each trip adds to.
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return false;
    if (argument == loop.getInductionVar())
      return isNonNegative(loop.getLowerBound(), depth + 1);
    OpOperand *first = loop.getTiedLoopInit(argument),
              *next = loop.getTiedLoopYieldedValue(argument);
    auto sum = next->get().getDefiningOp<arith::AddIOp>();
    return sum && value.getType().isIndex() && sum.getLhs() == argument &&
           isNonNegative(sum.getRhs(), depth + 1) && isNonNegative(first->get(), depth + 1);
  }
  Operation *op = value.getDefiningOp();
  if (op->hasAttr(nonNegativeName))
    return true;
  // Sums and products of narrower integers, and what an index is cut down to, may wrap around.
  if (isa<arith::AddIOp, arith::MulIOp, arith::IndexCastOp>(op) && !value.getType().isIndex())
    return false;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::MinSIOp,
          arith::CeilDivSIOp, arith::IndexCastOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value v) { return isNonNegative(v, depth + 1); });
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value v) { return isNonNegative(v, depth + 1); });
  return false;
}

/// Registers that begin with padding, at most. ptxas fills all of them ahead of the first load: for
/// 64 it wants 215 registers a thread in a streaming softmax, and 128 with selections.
/// A count of registers of one thread, not of elements.
static constexpr unsigned mostFilled = 32;

/// The bits that registers begin with where padding is a constant of 16 or 32 bits: no selection is
/// needed then.
static std::optional<uint32_t> getFill(Value pad) {
  FloatAttr number;
  IntegerAttr integer;
  APInt bits;
  if (matchPattern(pad, m_Constant(&number)))
    bits = number.getValue().bitcastToAPInt();
  else if (isa<IntegerType>(pad.getType()) && matchPattern(pad, m_Constant(&integer)))
    bits = integer.getValue();
  if (bits.getBitWidth() == 32)
    return bits.getZExtValue();
  if (bits.getBitWidth() == 16)
    return bits.getZExtValue() * 0x10001;
  return std::nullopt;
}

static bool isZeroPad(Value pad) {
  return matchPattern(pad, m_Zero()) || matchPattern(pad, m_PosZeroFloat());
}

/// Whether an access in pieces of `width` elements, for want of an alignment for `wide`, goes
/// element by element in one statement. Ragged rows are moved by RaggedPieces.cpp only if the
/// aligned way exists as well, behind the branch on canVectorize.
template <typename Op>
static bool isRaggedAccess(const GlobalAccess<Op> &access, Op op, unsigned width, unsigned wide) {
  return width == 1 && wide > 1 && !isNibble(access.getElement()) &&
         isRagged(getStoredType(access.getElement()).getIntOrFloatBitWidth(), wide) &&
         access.canCount(getVectorWidth(op, fastestName));
}

/// How many lanes hold pieces of `width` elements that follow each other along `dim`.
static unsigned countNeighbourLanes(const LinearLayout &layout, unsigned dim, unsigned width) {
  unsigned lanes = 1;
  for (const Coord &basis : layout.getBases(InDim::Lane)) {
    Coord next(basis.size(), 0);
    next[dim] = int64_t(lanes) * width;
    if (basis != next)
      break;
    lanes *= 2;
  }
  return lanes;
}

namespace {

/// Loads, and gathers: these are of tiles only.
template <typename Op> struct LowerLoad : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    GlobalAccess<Op> access = makeGlobalAccess(op, adaptor, tile, rewriter);
    bool readOnly = op->hasAttr(readOnlyName);
    Type element = access.getElement(), stored = getStoredType(element);
    Value pad = adaptor.getPad().front();
    Value mask = op.getMask() ? adaptor.getMask().front() : Value();
    if (!tile) {
      auto one = VectorType::get(1, element);
      Value predicate = access.conjunction(access.scalarExists(), mask);
      Value piece = loadPiece(rewriter, loc, VectorType::get(1, stored), access.scalarAddress(),
                              predicate, readOnly, op.getCache());
      if (isNibble(element)) { // padding is 0
        Value byte = vector::ExtractOp::create(rewriter, loc, piece, ArrayRef<int64_t>{0});
        rewriter.template replaceOpWithNewOp<arith::TruncIOp>(op, element,
                                                              access.selectScalarNibble(byte));
        return success();
      }
      Value value = vector::ExtractOp::create(rewriter, loc, fromStored(rewriter, loc, piece, one),
                                              ArrayRef<int64_t>{0});
      if (predicate && !isZeroPad(op.getPad()))
        value = arith::SelectOp::create(rewriter, loc, predicate, value, pad);
      rewriter.replaceOp(op, value);
      return success();
    }
    auto type = cast<VectorType>(this->getTypeConverter()->convertType(tile));
    // A mask says of each element whether it is wanted: no piece of neighbours has one answer.
    unsigned width = mask ? 1 : getVectorWidth(op), count = type.getNumElements();
    width = std::min(width, count);
    std::optional<uint32_t> fill;
    if (isZeroPad(op.getPad()))
      fill = 0;
    else if (count <= mostFilled)
      fill = getFill(op.getPad());
    if constexpr (std::is_same_v<Op, LoadOp>)
      if (access.getRotation()) {
        Value whole = loadRotated(rewriter, op, access, pad, fill);
        rewriter.replaceOp(op, fromStored(rewriter, loc, whole, type));
        return success();
      }
    // In registers' order; width divides count, as both are powers of two.
    auto loadAll = [&](unsigned width) -> Value {
      if (isNibble(element))
        return loadNibbles(op, access, width, count, mask, rewriter);
      auto pieceType = VectorType::get(width, stored);
      SmallVector<Value> pieces;
      Value padStored;
      if (!fill)
        padStored = toStored(
            rewriter, loc,
            vector::BroadcastOp::create(rewriter, loc, VectorType::get(width, element), pad));
      for (unsigned r = 0; r < count; r += width) {
        Value predicate = access.exists(r);
        if (mask)
          predicate = access.conjunction(
              predicate,
              vector::ExtractOp::create(rewriter, loc, mask, ArrayRef<int64_t>{int64_t(r)}));
        Value piece = loadPiece(rewriter, loc, pieceType, access.address(r), predicate, readOnly,
                                op.getCache(), fill.value_or(0));
        if (!fill && predicate)
          piece = arith::SelectOp::create(rewriter, loc, predicate, piece, padStored);
        pieces.push_back(piece);
      }
      return joinPieces(rewriter, loc, pieces);
    };
    unsigned wide = std::min(mask ? 1 : getVectorWidth(op, vectorIfName), count);
    Value whole;
    bool ragged = wide > width && isRaggedAccess(access, op, width, wide);
    if (ragged && canShareLoad(op, access, wide, count, getVectorWidth(op, fastestName))) {
      Value aligned = access.canVectorize(wide, getVectorWidth(op, fastestName));
      whole = loadPieces(op, access, wide, count, stored, fill, pad, aligned, rewriter);
    } else if (wide > width) {
      // A branch that all threads of the block take alike: pieces of the wide width on one side,
      // single elements or ragged pieces on the other.
      Value condition = access.canVectorize(wide, getVectorWidth(op, fastestName));
      auto wholeType =
          isNibble(element) ? getPackedType(rewriter, count) : VectorType::get(count, stored);
      auto branch = scf::IfOp::create(rewriter, loc, TypeRange{wholeType}, condition,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(rewriter, loc, loadAll(wide));
      rewriter.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(rewriter, loc,
                           ragged ? loadPieces(op, access, wide, count, stored, fill, pad,
                                               /*aligned=*/Value(), rewriter)
                                  : loadAll(width));
      whole = branch.getResult(0);
    } else {
      whole = loadAll(width);
    }
    // Packed words and a vector of nibbles have the same bits in the same order.
    if (isNibble(element))
      whole = whole.getType() == type
                  ? whole
                  : Value(vector::BitCastOp::create(rewriter, loc, type, whole));
    else
      whole = fromStored(rewriter, loc, whole, type);
    rewriter.replaceOp(op, whole);
    return success();
  }

  /// Whether several pieces of a thread go by windows, all on their way at once: those of a tile of
  /// rows, of which each begins elsewhere, where a line's beginning is the tensor's as a rule. They
  /// take twice the registers, of which a loop has few to spare. One piece has a statement of its
  /// own; words are as good one by one, as a warp's are whole sectors.
  static bool goesByWindows(Op op, unsigned width, unsigned count, unsigned bits) {
    constexpr unsigned word = 32;
    return std::is_same_v<Op, LoadOp> && cast<RankedTensorType>(op.getType()).getRank() > 1 &&
           bits < word && count > width && op->hasAttr(windowsName);
  }

  /// Whether all ways of a load may be one statement: each line of pieces has an address and a
  /// number of elements, which wait in registers for it. A loop has none to spare: a product of a
  /// matrix and a vector took 62 in place of 46, and 1.13 of the time.
  static bool canShareLoad(Op op, GlobalAccess<Op> &access, unsigned width, unsigned count,
                           unsigned dim) {
    if (op->template getParentOfType<LoopLikeOpInterface>())
      return false;
    constexpr unsigned mostLines = 8;
    unsigned lines = 1, first = 0;
    for (unsigned r = width; r < count; r += width)
      if (!access.distance(first, r, dim)) {
        first = r;
        ++lines;
      }
    return lines <= mostLines;
  }

  /// All `count` elements of a thread, in pieces of `width`, of rows that may begin anywhere, as
  /// one statement. Words of a piece come back in order: elements of a word from the low bits up.
  /// `aligned`, an i1, says whether all pieces are whole and aligned; null: they are not.
  static Value loadPieces(Op op, GlobalAccess<Op> &access, unsigned width, unsigned count,
                          Type stored, std::optional<uint32_t> fill, Value pad, Value aligned,
                          OpBuilder &builder) {
    Location loc = op.getLoc();
    unsigned bits = stored.getIntOrFloatBitWidth(), words = width * bits / 32;
    Value fillBits;
    if (fill) {
      fillBits = constantI32(builder, loc, int32_t(*fill & (~0u >> (32 - bits))));
    } else {
      Value one = toStored(
          builder, loc,
          vector::BroadcastOp::create(builder, loc, VectorType::get(1, access.getElement()), pad));
      Type integer = builder.getIntegerType(bits);
      one = vector::ExtractOp::create(
          builder, loc, vector::BitCastOp::create(builder, loc, VectorType::get(1, integer), one),
          ArrayRef<int64_t>{0});
      fillBits =
          bits == 32 ? one : Value(arith::ExtUIOp::create(builder, loc, builder.getI32Type(), one));
    }
    SmallVector<RaggedPiece> pieces;
    unsigned first = 0;
    for (unsigned r = 0; r < count; r += width)
      addRaggedPiece(pieces, first, access, getVectorWidth(op, fastestName), r);
    RaggedAccess how;
    how.bits = bits;
    how.words = words;
    how.cache = cachePriority(op.getCache());
    unsigned fastest = getVectorWidth(op, fastestName);
    how.aligned = aligned;
    how.exist = !access.exists(0);
    how.selects = !fill;
    if (op.getCache() == StringRef("keep"))
      how.policy = createCachePolicy(builder, loc, *op.getCache());
    if (goesByWindows(op, width, count, bits))
      how.inside = access.canLoadWindows(fastest, width * bits / 8);
    constexpr unsigned fewPieces = 2;
    if (op->template getParentOfType<LoopLikeOpInterface>() && !op->hasAttr(aheadName))
      how.together = fewPieces;
    // Windows take twice the registers of their pieces, and ptxas gives the whole kernel as many as
    // it finds a use for: with two pieces a thread a product of a matrix and a vector took 89 in
    // place of 62, aligned or not, and half of the blocks of a multiprocessor.
    if (op->hasAttr(windowsName) && count == width)
      how.behind = access.behindView();
    SmallVector<Value> loaded =
        loadRagged(builder, loc, pieces, how, fillBits, op->hasAttr(readOnlyName));
    auto type = VectorType::get(loaded.size(), builder.getI32Type());
    return vector::BitCastOp::create(builder, loc, VectorType::get(count, stored),
                                     vector::FromElementsOp::create(builder, loc, type, loaded));
  }

  /// The type that carries `count` nibbles: words where they fill some, so that LLVM sees no narrow
  /// elements.
  static VectorType getPackedType(OpBuilder &builder, unsigned count) {
    return count < 8 ? VectorType::get(count, builder.getIntegerType(4))
                     : VectorType::get(count / 8, builder.getI32Type());
  }

  /// All `count` nibbles of a thread in pieces of `width`; what does not exist is 0, the only
  /// padding that they have.
  static Value loadNibbles(Op op, GlobalAccess<Op> &access, unsigned width, unsigned count,
                           Value mask, OpBuilder &builder) {
    Location loc = op.getLoc();
    bool readOnly = op->hasAttr(readOnlyName);
    auto exists = [&](unsigned reg) {
      Value bit = mask ? Value(vector::ExtractOp::create(builder, loc, mask,
                                                         ArrayRef<int64_t>{int64_t(reg)}))
                       : Value();
      return access.conjunction(access.exists(reg), bit);
    };
    // A piece is made of units, of words where it has as many bits.
    // width 1: a byte is read for one nibble, and its half selected; from 2 on a piece is whole
    // bytes.
    unsigned unit = std::clamp(4 * width, 8u, 32u), perUnit = width == 1 ? 1 : unit / 4;
    auto unitType = builder.getIntegerType(unit);
    auto pieceType = VectorType::get(width / perUnit, unitType);
    SmallVector<Value> pieces;
    for (unsigned reg = 0; reg < count; reg += width) {
      Value piece = loadPiece(builder, loc, pieceType, access.address(reg), exists(reg), readOnly,
                              op.getCache());
      if (width == 1) {
        Value byte = vector::ExtractOp::create(builder, loc, piece, ArrayRef<int64_t>{0});
        piece =
            vector::BroadcastOp::create(builder, loc, pieceType, access.selectNibble(byte, reg));
      }
      pieces.push_back(piece);
    }
    Value whole = joinPieces(builder, loc, pieces);
    if (width == 1)
      whole = arith::TruncIOp::create(builder, loc,
                                      VectorType::get(count, builder.getIntegerType(4)), whole);
    VectorType packed = getPackedType(builder, count);
    return whole.getType() == packed
               ? whole
               : Value(vector::BitCastOp::create(builder, loc, packed, whole));
  }
};

/// Stores, and scatters.
template <typename Op> struct LowerStore : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
    GlobalAccess<Op> access = makeGlobalAccess(op, adaptor, tile, rewriter);
    Value value = adaptor.getValue().front();
    Value mask = op.getMask() ? adaptor.getMask().front() : Value();
    if (!tile) {
      // Every thread holds the scalar: one stores it.
      // Lane 0 of warp 0 stores. In a specialised kernel these are threads that compute.
      Value thread =
          arith::OrIOp::create(rewriter, loc, getLane(rewriter, loc), getWarp(rewriter, loc));
      Value first = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                          constantI32(rewriter, loc, 0));
      Value predicate = access.conjunction(access.conjunction(access.scalarExists(), mask), first);
      Value one =
          vector::BroadcastOp::create(rewriter, loc, VectorType::get(1, value.getType()), value);
      storePiece(rewriter, loc, toStored(rewriter, loc, one), access.scalarAddress(), predicate,
                 op.getCache());
      rewriter.eraseOp(op);
      return success();
    }
    Value stored = toStored(rewriter, loc, value);
    unsigned count = cast<VectorType>(stored.getType()).getNumElements();
    unsigned width = std::min(mask ? 1 : getVectorWidth(op), count);
    Value owner = getOwnerPredicate(rewriter, loc, access.getTileLayout());
    if constexpr (std::is_same_v<Op, StoreOp>)
      if (access.getRotation()) {
        storeRotated(rewriter, op, access, stored, owner);
        rewriter.eraseOp(op);
        return success();
      }
    // Registers that repeat an earlier one's element have nothing to store.
    // Quadratic in registers, at compile time, where layouts have at most some hundreds.
    auto isRepeated = [&](unsigned r) {
      for (unsigned s = 0; s < r; ++s)
        if (access.getTileLayout().apply(s, 0, 0) == access.getTileLayout().apply(r, 0, 0))
          return true;
      return false;
    };
    auto storeAll = [&](unsigned width) {
      for (unsigned r = 0; r < count; r += width) {
        if (isRepeated(r))
          continue;
        Value predicate = access.conjunction(access.exists(r), owner);
        if (mask)
          predicate = access.conjunction(
              predicate,
              vector::ExtractOp::create(rewriter, loc, mask, ArrayRef<int64_t>{int64_t(r)}));
        Value piece = vector::ExtractStridedSliceOp::create(
            rewriter, loc, stored, ArrayRef<int64_t>{int64_t(r)}, ArrayRef<int64_t>{int64_t(width)},
            ArrayRef<int64_t>{1});
        storePiece(rewriter, loc, piece, access.address(r), predicate, op.getCache());
      }
    };
    unsigned wide = std::min(mask ? 1 : getVectorWidth(op, vectorIfName), count);
    auto storePieces = [&] {
      unsigned bits = cast<VectorType>(stored.getType()).getElementTypeBitWidth(),
               words = wide * bits / 32, first = 0;
      Value packed = stored;
      if (!cast<VectorType>(stored.getType()).getElementType().isF32())
        packed = vector::BitCastOp::create(
            rewriter, loc, VectorType::get(count * bits / 32, rewriter.getI32Type()), stored);
      SmallVector<RaggedPiece> pieces;
      SmallVector<Value> values;
      for (unsigned r = 0; r < count; r += wide) {
        if (isRepeated(r))
          continue;
        addRaggedPiece(pieces, first, access, getVectorWidth(op, fastestName), r, owner);
        for (unsigned w = r / wide * words; w < (r / wide + 1) * words; ++w)
          values.push_back(
              vector::ExtractOp::create(rewriter, loc, packed, ArrayRef<int64_t>{int64_t(w)}));
      }
      RaggedAccess how;
      how.bits = bits;
      how.words = words;
      how.cache = cachePriority(op.getCache());
      // A store is one of few lanes beside each other: windows would save little.
      constexpr unsigned fewLanes = 4;
      how.lanes =
          countNeighbourLanes(access.getTileLayout(), getVectorWidth(op, fastestName), wide);
      if (op->hasAttr(windowsName) && how.lanes >= fewLanes) {
        how.windows = true;
        how.lane = getLane(rewriter, loc);
      }
      storeRagged(rewriter, loc, pieces, how, values);
    };
    if (wide > width) {
      Value condition = access.canVectorize(wide, getVectorWidth(op, fastestName));
      auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      storeAll(wide);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      if (isRaggedAccess(access, op, width, wide))
        storePieces();
      else
        storeAll(width);
    } else {
      storeAll(width);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerInside : OpConversionPattern<InsideOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(InsideOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    GlobalAccess<InsideOp> access = makeGlobalAccess(op, adaptor, tile, rewriter);
    auto orTrue = [&](Value v) {
      return v ? v : Value(arith::ConstantIntOp::create(rewriter, loc, 1, 1));
    };
    if (!tile) {
      rewriter.replaceOp(op, orTrue(access.scalarExists()));
      return success();
    }
    auto type = cast<VectorType>(getTypeConverter()->convertType(tile));
    if (access.getRotation()) {
      rewriter.replaceOp(op, findRotatedInside(rewriter, op, access, type));
      return success();
    }
    SmallVector<Value> bits;
    // Only as wide as contracts prove; a branch at run time would cost more than the comparisons.
    unsigned width = getVectorWidth(op); // neighbours of which all exist or none does
    for (unsigned r = 0; r < type.getNumElements(); ++r)
      bits.push_back(r % width ? bits.back() : orTrue(access.exists(r)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, bits);
    return success();
  }
};

} // namespace

void tile::gpu::populateMemoryPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerLoad<LoadOp>, LowerLoad<GatherOp>, LowerStore<StoreOp>, LowerStore<ScatterOp>,
               LowerInside>(converter, patterns.getContext());
}
