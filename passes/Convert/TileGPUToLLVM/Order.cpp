// Sorting and counting in shared memory, with loops at run time: the code does not grow with the
// tile.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

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
/// All numbers are i32 known at run time: so loops over rounds and steps are loops of the program.
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
/// begin may differ between threads; barriers stand in the body only of loops over rounds and
/// steps, whose bounds do not.
void loopOver(OpBuilder &b, Location loc, Value begin, Value end, Value step,
              function_ref<void(OpBuilder &, Value)> body) {
  scf::ForOp::create(b, loc, begin, end, step, ValueRange(),
                     [&](OpBuilder &b, Location loc, Value at, ValueRange) {
                       body(b, at);
                       scf::YieldOp::create(b, loc);
                     });
}

/// A bitonic network (Batcher, 1968) on a tile in shared memory, row by row: rounds merge runs of
/// 2^round elements, each by steps of half the distance of the one before; a barrier follows each
/// step. Threads take pairs in turn. Eight elements, by the distance of the pairs compared:
///
///   round 1   1           runs of 2, every second one downwards
///   round 2   2, 1        runs of 4
///   round 3   4, 2, 1     the whole row
///
/// Where only the first are wanted, runs of so many are sorted, every second one downwards; the
/// smaller elements of two neighbours then are the first of both, in an order that one more merge
/// sorts. So the runs are halved until one is left.
class SortingNetwork {
public:
  SortingNetwork(OpBuilder &b, Location loc, RankedTensorType type, int64_t axis, int64_t threads,
                 Value base)
      : loc(loc), element(type.getElementType()), base(base), thread(getThreadId(b, loc)),
        threads(threads), axisBits(llvm::Log2_64(type.getDimSize(axis))),
        innerBits(llvm::Log2_64(ShapedType::getNumElements(type.getShape().drop_front(axis + 1)))),
        lines(type.getNumElements() / type.getDimSize(axis)) {}

  /// Sorts runs of 2^rounds elements; those with an odd number downwards.
  void sortRuns(OpBuilder &b, unsigned rounds) {
    I32Builder i32{b, loc};
    Value zero = i32(0), one = i32(1);
    loopOver(b, loc, one, i32(rounds + 1), one, [&](OpBuilder &b, Value round) {
      loopOver(b, loc, zero, round, one, [&](OpBuilder &b, Value step) {
        I32Builder i32{b, loc};
        Value distanceBit = i32.sub(i32.sub(round, step), i32(1));
        forEachPlace(b, i32(axisBits - 1),
                     [&](OpBuilder &b, Value place, function_ref<Value(Value)> at) {
                       I32Builder i32{b, loc};
                       Value low = insertZero(b, place, distanceBit);
                       exchange(b, at(low), at(i32.add(low, i32.shl(i32(1), distanceBit))),
                                i32.bitAnd(i32.shr(low, round), i32(1)));
                     });
      });
    });
  }

  /// Of sorted runs of 2^runBits elements, halves the number until the first one holds the smallest
  /// of all.
  ///
  ///   runs       A up, B down    C up, D down         sorted runs of 2^k each, k = runBits
  ///   minimum    M = min(A, B)   N = min(C, D)        bitonic, and holds the smallest 2^k of both
  ///   merged     M up            N down               k steps; then M and N are the next pair
  void pruneRuns(OpBuilder &b, unsigned runBits) {
    I32Builder i32{b, loc};
    Value zero = i32(0), one = i32(1);
    loopOver(b, loc, zero, i32(axisBits - runBits), one, [&](OpBuilder &b, Value level) {
      // Run r stands at r * 2^(runBits + level) before, and at r * 2^(runBits + level + 1) after.
      I32Builder i32{b, loc};
      Value apart = i32.add(level, i32(runBits)), pairBits = i32.sub(i32(axisBits - 1), level);
      forEachPlace(b, pairBits, [&](OpBuilder &b, Value place, function_ref<Value(Value)> at) {
        I32Builder i32{b, loc};
        Value inRun = i32.bitAnd(place, i32((int64_t(1) << runBits) - 1)),
              run = i32.shr(place, i32(runBits));
        Value low = i32.bitOr(i32.shl(run, i32.add(apart, i32(1))), inRun);
        Value lowAt = at(low), highAt = at(i32.add(low, i32.shl(i32(1), apart)));
        Value x = LLVM::LoadOp::create(b, loc, element, lowAt),
              y = LLVM::LoadOp::create(b, loc, element, highAt);
        LLVM::StoreOp::create(b, loc, arith::MinSIOp::create(b, loc, x, y), lowAt);
      });
      if (runBits == 0)
        return;
      loopOver(b, loc, zero, i32(runBits), one, [&](OpBuilder &b, Value step) {
        I32Builder i32{b, loc};
        Value distanceBit = i32.sub(i32(runBits - 1), step);
        forEachPlace(b, i32.sub(pairBits, i32(1)),
                     [&](OpBuilder &b, Value place, function_ref<Value(Value)> at) {
                       I32Builder i32{b, loc};
                       Value inRun = i32.bitAnd(place, i32((int64_t(1) << (runBits - 1)) - 1)),
                             run = i32.shr(place, i32(runBits - 1));
                       Value low = i32.bitOr(i32.shl(run, i32.add(apart, i32(1))),
                                             insertZero(b, inRun, distanceBit));
                       exchange(b, at(low), at(i32.add(low, i32.shl(i32(1), distanceBit))),
                                i32.bitAnd(run, i32(1)));
                     });
      });
    });
  }

private:
  /// For each of 2^placeBits places of every line, in turn by this thread: `body` gets the place,
  /// and what makes a pointer of a position along the axis. A barrier follows.
  /// One number for line and place, so that threads share all lines' work evenly.
  void forEachPlace(OpBuilder &b, Value placeBits,
                    function_ref<void(OpBuilder &, Value, function_ref<Value(Value)>)> body) {
    I32Builder i32{b, loc};
    loopOver(b, loc, thread, i32.shl(i32(lines), placeBits), i32(threads),
             [&](OpBuilder &b, Value number) {
               // [outer dimensions][place][inner dimensions]
               I32Builder i32{b, loc};
               Value inner = i32.bitAnd(number, i32((int64_t(1) << innerBits) - 1)),
                     line = i32.shr(number, i32(innerBits));
               Value place = i32.bitAnd(line, i32.sub(i32.shl(i32(1), placeBits), i32(1))),
                     outer = i32.shr(line, placeBits);
               body(b, place, [&](Value position) -> Value {
                 Value at = i32.bitOr(i32.shl(outer, i32(axisBits)), position);
                 at = i32.bitOr(i32.shl(at, i32(innerBits)), inner);
                 return LLVM::GEPOp::create(b, loc, base.getType(), element, base,
                                            ArrayRef<LLVM::GEPArg>{at});
               });
             });
    // All threads come here the same number of times: it stands behind the loop over their own
    // places.
    BarrierOp::create(b, loc);
  }

  /// `number` with a zero as its bit `bit`, the bits from there on one place higher.
  Value insertZero(OpBuilder &b, Value number, Value bit) {
    I32Builder i32{b, loc};
    Value below = i32.bitAnd(number, i32.sub(i32.shl(i32(1), bit), i32(1)));
    return i32.bitOr(i32.shl(i32.sub(number, below), i32(1)), below);
  }

  /// Puts the smaller element first, or last where `isDown` is 1.
  /// Equal elements may swap where it goes downwards, which changes nothing: equal keys have equal
  /// bits.
  void exchange(OpBuilder &b, Value firstAt, Value secondAt, Value isDown) {
    Value x = LLVM::LoadOp::create(b, loc, element, firstAt),
          y = LLVM::LoadOp::create(b, loc, element, secondAt);
    Value down =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, isDown, constantI32(b, loc, 0));
    Value isAbove = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
    Value swaps = arith::XOrIOp::create(b, loc, down, isAbove);
    LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, swaps, y, x), firstAt);
    LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, swaps, x, y), secondAt);
  }

  Location loc;
  Type element;
  Value base, thread;
  int64_t threads;
  unsigned axisBits, innerBits;
  int64_t lines;
};

struct LowerSort : OpConversionPattern<SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    auto type = cast<RankedTensorType>(op.getSource().getType());
    int64_t extent = type.getDimSize(op.getAxis());
    if (extent == 1)
      return b.replaceOp(op, adaptor.getSource()), success();
    LinearLayout layout = getLayout(type), target = getLayout(cast<RankedTensorType>(op.getType()));
    SharedLayout shared = getTakeScratch(type);
    Value base = getSharedPointer(b, loc, *offset);
    storeTile(b, loc, adaptor.getSource(), layout, shared, base);
    BarrierOp::create(b, loc);
    SortingNetwork network(b, loc, type, op.getAxis(), int64_t(layout.getNumWarps()) * 32, base);
    unsigned runBits = llvm::Log2_64_Ceil(op.getFirst().value_or(extent));
    network.sortRuns(b, runBits);
    network.pruneRuns(b, runBits);
    b.replaceOp(op,
                loadTile(b, loc, type.getElementType(), target, shared, base, /*matrices=*/false));
    return success();
  }
};

/// Counters in shared memory, which threads add their elements to.
struct LowerHistogram : OpConversionPattern<HistogramOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(HistogramOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    auto source = cast<RankedTensorType>(op.getSource().getType()),
         result = cast<RankedTensorType>(op.getType());
    LinearLayout layout = getLayout(source);
    int64_t bins = result.getNumElements(), threads = int64_t(layout.getNumWarps()) * 32;
    Value base = getSharedPointer(b, loc, *offset), one = constantI32(b, loc, 1),
          zero = constantI32(b, loc, 0);
    Value limit = constantI32(b, loc, bins);
    auto at = [&](OpBuilder &b, Value number) -> Value {
      return LLVM::GEPOp::create(b, loc, base.getType(), b.getI32Type(), base,
                                 ArrayRef<LLVM::GEPArg>{number});
    };
    // Bins are a thread's in turn, elements its own: a barrier between.
    loopOver(b, loc, getThreadId(b, loc), limit, constantI32(b, loc, threads),
             [&](OpBuilder &b, Value bin) { LLVM::StoreOp::create(b, loc, zero, at(b, bin)); });
    BarrierOp::create(b, loc);
    // Elements that several threads hold are counted by one of them, those in several registers
    // once.
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
      // In shared memory, at the scope of the block: relaxed is enough, since barriers order all.
      scf::IfOp::create(b, loc, counts, [&](OpBuilder &b, Location loc) {
        LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, at(b, x), one,
                                  LLVM::AtomicOrdering::monotonic, "block");
        scf::YieldOp::create(b, loc);
      });
    }
    BarrierOp::create(b, loc);
    // Counts are read back in the layout of the result.
    b.replaceOp(op, loadTile(b, loc, b.getI32Type(), getLayout(result), getTakeScratch(result),
                             base, /*matrices=*/false));
    return success();
  }
};

} // namespace

void tile::gpu::populateOrderPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerSort, LowerHistogram>(converter, patterns.getContext());
}
