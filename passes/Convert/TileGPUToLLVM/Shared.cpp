// local_alloc, local_load, private_store, private_load, extract_part and memdesc_permute: tiles in
// shared memory.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/PrivatePlace.h"
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

void tile::gpu::fenceAsyncProxy(OpBuilder &builder, Location loc) {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
}

namespace {

struct LowerLocalAlloc : OpConversionPattern<LocalAllocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalAllocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // The offset is from the beginning of the block's shared memory, in bytes.
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    Value base = getSharedPointer(rewriter, op.getLoc(), *offset);
    if (op->hasAttr(alternatesName))
      base = alternate(rewriter, op, base);
    bool forWgmma = isReadByWgmma(op.getResult()); // then the target has stmatrix
    storeTile(rewriter, op.getLoc(), adaptor.getSource(), getLayout(op.getSource().getType()),
              getSharedLayout(op.getType()), base, /*matrices=*/forWgmma,
              op->hasAttr(recomputesName));
    // Ordinary stores and wgmma reach shared memory by different ways; the block's barrier alone
    // does not order them.
    // The fence is each thread's own, ahead of the barrier that tile-gpu-insert-barriers puts
    // before the product. It waits for the stores, so what multiplies something else goes ahead.
    if (forWgmma) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(findFencePlace(op));
      fenceAsyncProxy(rewriter, op.getLoc());
    }
    rewriter.replaceOp(op, base);
    return success();
  }

private:
  /// Behind the products that follow and do not read the tile: ahead of what else has an effect.
  static Operation *findFencePlace(LocalAllocOp op) {
    auto readsTile = [&](Value memory) {
      while (auto view = memory.getDefiningOp<MemDescPermuteOp>())
        memory = view.getSource();
      return memory == op.getResult() || memory.getDefiningOp<MemDescJoinOp>();
    };
    Operation *place = op->getNextNode();
    for (Operation *next = place; next; next = next->getNextNode()) {
      if (auto product = dyn_cast<WgmmaOp>(next);
          product && !readsTile(product.getA()) && !readsTile(product.getB()))
        place = next->getNextNode();
      else if (!isMemoryEffectFree(next) || next->getNumRegions())
        break;
    }
    return place;
  }

  /// The place of this trip, of two from `base` on. Which one it is stands in a local variable, the
  /// distance from `base` in bytes, which LLVM turns into a register.
  static Value alternate(OpBuilder &builder, LocalAllocOp op, Value base) {
    Location loc = op.getLoc();
    SharedLayout layout = getSharedLayout(op.getType());
    auto distance = int32_t(llvm::alignTo(layout.getBytes(), layout.getAlignment()));
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value variable;
    {
      // At entry, as LLVM promotes only such variables to registers.
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
      variable = LLVM::AllocaOp::create(builder, loc, pointer, builder.getI32Type(),
                                        constantI32(builder, loc, 1));
      LLVM::StoreOp::create(builder, loc, constantI32(builder, loc, 0), variable);
    }
    Value now = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variable);
    Value next = arith::SubIOp::create(builder, loc, constantI32(builder, loc, distance), now);
    LLVM::StoreOp::create(builder, loc, next, variable);
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{now});
  }
};

struct LowerLocalLoad : OpConversionPattern<LocalLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SharedLayout shared = getSharedLayout(op.getSource().getType());
    LinearLayout layout = getLayout(op.getType());
    ExtraOffset extra;
    if (!op.getOffsets().empty()) { // the part's elements, by their place in the whole
      // The part lies in the same layout of shared memory: its elements are those of the whole,
      // moved by a constant, which in a swizzled layout is XORed.
      layout = LinearLayout(shared.getShape(), layout.getBases(InDim::Register),
                            layout.getBases(InDim::Lane), layout.getBases(InDim::Warp));
      extra.constant = shared.getOffset(op.getOffsets());
    }
    rewriter.replaceOp(op, loadTile(rewriter, op.getLoc(), op.getType().getElementType(), layout,
                                    shared, adaptor.getSource(), /*matrices=*/true, extra));
    return success();
  }
};

struct LowerPrivateStore : OpConversionPattern<PrivateStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PrivateStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PrivatePlace place(rewriter, loc, adaptor.getMemory(), op.getSource().getType());
    Value words = vector::BitCastOp::create(
        rewriter, loc, VectorType::get(place.count * place.getWords(), rewriter.getI32Type()),
        toStoredVector(rewriter, loc, adaptor.getSource()));
    for (int64_t piece = 0; piece < place.count; ++piece) {
      SmallVector<int64_t> held;
      for (int64_t word = 0; word < place.getWords(); ++word)
        held.push_back(piece * place.getWords() + word);
      LLVM::StoreOp::create(rewriter, loc, takeElements(rewriter, loc, words, held),
                            place.get(rewriter, loc, piece), unsigned(place.bytes));
    }
    if (hasRotatedEnd(op.getSource().getType(), op.getMemory().getType()))
      keepRotated(rewriter, loc, op.getSource().getType(), place);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerPrivateLoad : OpConversionPattern<PrivateLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PrivateLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PrivatePlace place(rewriter, loc, adaptor.getMemory(), op.getType());
    auto pieceType = VectorType::get(place.getWords(), rewriter.getI32Type());
    SmallVector<Value> pieces;
    SmallVector<unsigned> positions;
    for (int64_t piece = 0; piece < place.count; ++piece) {
      pieces.push_back(LLVM::LoadOp::create(
          rewriter, loc, pieceType, place.get(rewriter, loc, piece), unsigned(place.bytes)));
      for (int64_t word = 0; word < place.getWords(); ++word)
        positions.push_back(unsigned(piece * place.getWords() + word));
    }
    if (hasRotatedEnd(op.getType(), op.getMemory().getType()))
      pieces[0] = readRotated(rewriter, loc, op.getType(), place, pieces[0]);
    VectorType held = getRegisterType(op.getType());
    Value stored =
        vector::BitCastOp::create(rewriter, loc, held.clone(getStoredType(held.getElementType())),
                                  joinPieces(rewriter, loc, pieces, positions));
    rewriter.replaceOp(op, fromStoredVector(rewriter, loc, stored, held.getElementType()));
    return success();
  }
};

/// The part's registers; both layouts have equal lanes and warps.
struct LowerExtractPart : OpConversionPattern<ExtractPartOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ExtractPartOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout source = getLayout(op.getSource().getType()), part = getLayout(op.getType());
    // Of thread 0, by the place in the whole. Duplicates: the first register that holds an element
    // counts.
    llvm::SmallDenseMap<uint64_t, int64_t> held; // registers by the place of their elements
    auto place = [&](Coord coord) {
      uint64_t flat = 0;
      for (auto [x, extent] : llvm::zip(coord, source.getShape()))
        flat = flat * extent + x;
      return flat;
    };
    for (unsigned reg = 0; reg < source.getNumRegisters(); ++reg)
      held.try_emplace(place(source.apply(reg, 0, 0)), reg);
    SmallVector<int64_t> registers;
    for (unsigned reg = 0; reg < part.getNumRegisters(); ++reg) {
      Coord coord = part.apply(reg, 0, 0);
      for (auto [x, offset] : llvm::zip(coord, op.getOffsets()))
        x += offset;
      auto found = held.find(place(coord));
      // Equal lanes and warps: then register r of the part is in the same thread as its element of
      // the whole.
      if (found == held.end() || source.getBases(InDim::Lane) != part.getBases(InDim::Lane) ||
          source.getBases(InDim::Warp) != part.getBases(InDim::Warp))
        return op.emitError("internal: expected a part that its threads hold, found ")
               << op.getType() << " of " << op.getSource().getType();
      registers.push_back(found->second);
    }
    rewriter.replaceOp(op, takeElements(rewriter, op.getLoc(), adaptor.getSource(), registers));
    return success();
  }
};

/// The parts' registers, by the places of their elements in the whole.
struct LowerJoinParts : OpConversionPattern<JoinPartsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(JoinPartsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getParts().front().getType());
    LinearLayout whole = getLayout(op.getType()), part = getLayout(type);
    unsigned dim = unsigned(op.getDim());
    int64_t extent = type.getDimSize(dim);
    std::map<std::vector<int64_t>, unsigned> held; // registers of a part by their elements' places
    for (unsigned reg = part.getNumRegisters(); reg-- > 0;) {
      Coord coord = part.apply(reg, 0, 0);
      held[std::vector<int64_t>(coord.begin(), coord.end())] = reg;
    }
    SmallVector<int64_t> registers;
    for (unsigned reg = 0; reg < whole.getNumRegisters(); ++reg) {
      Coord coord = whole.apply(reg, 0, 0);
      std::vector<int64_t> place(coord.begin(), coord.end());
      int64_t number = place[dim] / extent;
      place[dim] %= extent;
      auto found = held.find(place);
      if (found == held.end() || whole.getBases(InDim::Lane) != part.getBases(InDim::Lane) ||
          whole.getBases(InDim::Warp) != part.getBases(InDim::Warp))
        return op.emitError("internal: expected parts that the same threads hold, found ")
               << type << " of " << op.getType();
      registers.push_back(number * part.getNumRegisters() + found->second);
    }
    Value all = joinPieces(rewriter, op.getLoc(), llvm::to_vector(adaptor.getParts()));
    rewriter.replaceOp(op, takeElements(rewriter, op.getLoc(), all, registers));
    return success();
  }
};

/// The bytes stay; only the names of dimensions change, which the result's type says.
struct LowerMemDescPermute : OpConversionPattern<MemDescPermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MemDescPermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

/// The first source's address: the others' bytes follow.
struct LowerMemDescJoin : OpConversionPattern<MemDescJoinOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MemDescJoinOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSources().front());
    return success();
  }
};

} // namespace

void tile::gpu::populateSharedPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerLocalAlloc, LowerLocalLoad, LowerPrivateStore, LowerPrivateLoad,
               LowerExtractPart, LowerJoinParts, LowerMemDescPermute, LowerMemDescJoin>(
      converter, patterns.getContext());
}
