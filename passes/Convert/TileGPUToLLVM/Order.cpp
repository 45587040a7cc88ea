// Sorting and counting in shared memory, with loops at run time: the code does not grow with the tile.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Arithmetic on i32 at one place of the program.
struct I32Builder {
  OpBuilder &b;
  Location loc;
  Value operator()(int64_t value) const { return constantI32(b, loc, value); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
  Value bitAnd(Value x, Value y) const { return arith::AndIOp::create(b, loc, x, y); }
  Value bitOr(Value x, Value y) const { return arith::OrIOp::create(b, loc, x, y); }
  Value shl(Value x, Value y) const { return arith::ShLIOp::create(b, loc, x, y); }
  Value shr(Value x, Value y) const { return arith::ShRUIOp::create(b, loc, x, y); }
};

/// `for (i = begin; i < end; i += step)` on i32.
void loopOver(OpBuilder &b, Location loc, Value begin, Value end, Value step, function_ref<void(OpBuilder &, Value)> body) {
  scf::ForOp::create(b, loc, begin, end, step, ValueRange(), [&](OpBuilder &b, Location loc, Value at, ValueRange) {
    body(b, at);
    scf::YieldOp::create(b, loc);
  });
}

/// A bitonic network (Batcher, 1968): rounds merge runs of 2^round elements, each by steps of half the distance of the one
/// before; a barrier follows each step. Threads take pairs in turn.
struct LowerSort : OpConversionPattern<SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SortOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() + " from tile-gpu-allocate-shared, found none");
    auto type = cast<RankedTensorType>(op.getSource().getType());
    if (type.getDimSize(op.getAxis()) == 1)
      return rewriter.replaceOp(op, adaptor.getSource()), success();
    LinearLayout layout = getLayout(type), target = getLayout(cast<RankedTensorType>(op.getType()));
    SharedLayout shared = getTakeScratch(type);
    Value base = getSharedPointer(rewriter, loc, *offset);
    storeTile(rewriter, loc, adaptor.getSource(), layout, shared, base);
    BarrierOp::create(rewriter, loc);

    int64_t axis = op.getAxis(), pairs = type.getNumElements() / 2, threads = int64_t(layout.getNumWarps()) * 32;
    unsigned axisBits = llvm::Log2_64(type.getDimSize(axis));
    unsigned innerBits = llvm::Log2_64(ShapedType::getNumElements(type.getShape().drop_front(axis + 1)));
    Type element = type.getElementType();
    I32Builder i32{rewriter, loc};
    Value thread = getThreadId(rewriter, loc), zero = i32(0), one = i32(1);
    loopOver(rewriter, loc, one, i32(axisBits + 1), one, [&](OpBuilder &b, Value round) {
      loopOver(b, loc, zero, round, one, [&](OpBuilder &b, Value step) {
        I32Builder i32{b, loc};
        Value distanceBit = i32.sub(i32.sub(round, step), one), distance = i32.shl(one, distanceBit);
        loopOver(b, loc, thread, i32(pairs), i32(threads), [&](OpBuilder &b, Value pair) {
          I32Builder i32{b, loc};
          // A pair's number: [outer dimensions][place along the axis without the bit of the distance][inner dimensions].
          Value inner = i32.bitAnd(pair, i32((int64_t(1) << innerBits) - 1)), line = i32.shr(pair, i32(innerBits));
          Value place = i32.bitAnd(line, i32((int64_t(1) << (axisBits - 1)) - 1)), outer = i32.shr(line, i32(axisBits - 1));
          Value below = i32.bitAnd(place, i32.sub(distance, one));
          Value low = i32.bitOr(i32.shl(i32.sub(place, below), one), below);
          Value first = i32.bitOr(i32.shl(outer, i32(axisBits)), low);
          first = i32.bitOr(i32.shl(first, i32(innerBits)), inner);
          Value second = i32.add(first, i32.shl(distance, i32(innerBits)));
          auto at = [&](Value number) -> Value {
            return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{number});
          };
          Value firstAt = at(first), secondAt = at(second);
          Value x = LLVM::LoadOp::create(b, loc, element, firstAt), y = LLVM::LoadOp::create(b, loc, element, secondAt);
          // Every second run is sorted downwards, but in the last round, which has one run.
          Value run = i32.bitAnd(i32.shr(low, round), one);
          Value isDown = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, run, i32(0));
          Value isAbove = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
          Value swaps = arith::XOrIOp::create(b, loc, isDown, isAbove);
          LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, swaps, y, x), firstAt);
          LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, swaps, x, y), secondAt);
        });
        BarrierOp::create(b, loc);
      });
    });
    rewriter.replaceOp(op, loadTile(rewriter, loc, element, target, shared, base, /*matrices=*/false));
    return success();
  }
};

/// Counters in shared memory, which threads add their elements to.
struct LowerHistogram : OpConversionPattern<HistogramOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(HistogramOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() + " from tile-gpu-allocate-shared, found none");
    auto source = cast<RankedTensorType>(op.getSource().getType()), result = cast<RankedTensorType>(op.getType());
    LinearLayout layout = getLayout(source);
    int64_t bins = result.getNumElements(), threads = int64_t(layout.getNumWarps()) * 32;
    Value base = getSharedPointer(b, loc, *offset), one = constantI32(b, loc, 1), zero = constantI32(b, loc, 0);
    Value limit = constantI32(b, loc, bins);
    auto at = [&](OpBuilder &b, Value number) -> Value {
      return LLVM::GEPOp::create(b, loc, base.getType(), b.getI32Type(), base, ArrayRef<LLVM::GEPArg>{number});
    };
    loopOver(b, loc, getThreadId(b, loc), limit, constantI32(b, loc, threads),
             [&](OpBuilder &b, Value bin) { LLVM::StoreOp::create(b, loc, zero, at(b, bin)); });
    BarrierOp::create(b, loc);
    // Elements that several threads hold are counted by one of them, those in several registers once.
    Value owns = getOwnerPredicate(b, loc, layout);
    for (unsigned r = 0; r < layout.getNumRegisters(); ++r) {
      bool repeats = false;
      for (unsigned before = 0; before < r && !repeats; ++before)
        repeats = layout.apply(before, 0, 0) == layout.apply(r, 0, 0);
      if (repeats)
        continue;
      Value x = vector::ExtractOp::create(b, loc, adaptor.getSource(), ArrayRef<int64_t>{r});
      Value counts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, limit);
      if (owns)
        counts = arith::AndIOp::create(b, loc, counts, owns);
      scf::IfOp::create(b, loc, counts, [&](OpBuilder &b, Location loc) {
        LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, at(b, x), one, LLVM::AtomicOrdering::monotonic, "block");
        scf::YieldOp::create(b, loc);
      });
    }
    BarrierOp::create(b, loc);
    b.replaceOp(op, loadTile(b, loc, b.getI32Type(), getLayout(result), getTakeScratch(result), base, /*matrices=*/false));
    return success();
  }
};

} // namespace

void tile::gpu::populateOrderPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerSort, LowerHistogram>(converter, patterns.getContext());
}
