// Sorting, in registers and through shared memory between, and counting in shared memory.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/Convert/TileGPUToLLVM/ThreadSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
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
  Value bitAnd(Value x, Value y) const { return arith::AndIOp::create(b, loc, x, y); }
};

/// `for (i = begin; i < end; i += step)` on i32.
/// begin may differ between threads: no barrier stands in the body.
void loopOver(OpBuilder &b, Location loc, Value begin, Value end, Value step,
              function_ref<void(OpBuilder &, Value)> body) {
  scf::ForOp::create(b, loc, begin, end, step, ValueRange(),
                     [&](OpBuilder &b, Location loc, Value at, ValueRange) {
                       body(b, at);
                       scf::YieldOp::create(b, loc);
                     });
}

/// A bitonic network (Batcher, 1968): rounds merge runs of 2^round elements, each by steps of half
/// the distance of the one before. Eight elements, by the distance of the pairs compared:
///
///   round 1   1           runs of 2, every second one downwards
///   round 2   2, 1        runs of 4
///   round 3   4, 2, 1     the whole row
///
/// Where only the first are wanted, runs of so many are sorted, every second one downwards; the
/// smaller elements of two neighbours then are the first of both, in an order that one more merge
/// sorts. So the runs are halved until one is left.
///
///   runs       A up, B down    C up, D down         sorted runs of 2^k each
///   minimum    M = min(A, B)   N = min(C, D)        bitonic, and holds the smallest 2^k of both
///   merged     M up            N down               k steps; then M and N are the next pair
///
/// A step is a bit of the elements' numbers. Threads hold 2^r elements each, all that differ in r
/// neighbouring bits, and do all steps of these without others; then the tile goes through shared
/// memory into the next such distribution. Of 1024 elements, r = 4:
///
///   phase      1         2      3      4      5     ...
///   bits       0 - 3     1 - 4  0 - 3  2 - 5  0 - 3
///   steps      rounds    4 - 1  0      5 - 2  1, 0
///              1 to 4    of round 5    of round 6
///
/// Of a long row the rounds behind phase 1 are a loop with one phase for any r neighbouring bits
/// and one for bits 0 to r - 1, whose first steps are left out where the other has done them, so
/// that the code does not grow with the row.
class SortingNetwork {
public:
  /// Elements lie in memory line by line along the axis, whatever the tile's order is.
  SortingNetwork(Location loc, RankedTensorType type, int64_t axis, int64_t threads, Value base)
      : loc(loc), type(type), element(type.getElementType()), axis(axis), base(base),
        threadBits(llvm::Log2_64(threads)), axisBits(llvm::Log2_64(type.getDimSize(axis))),
        elementBytes(element.getIntOrFloatBitWidth() / 8),
        vectorBits(llvm::Log2_64(16 / elementBytes)) {
    for (unsigned bit = 0, end = llvm::Log2_64(type.getNumElements()); bit < end; ++bit)
      live.push_back(bit);
  }

  void store(OpBuilder &b, Value vector, const LinearLayout &layout) {
    SharedAddresses addresses(b, loc, base, getThreadImages(layout));
    for (unsigned reg : getDistinctRegisters(layout)) {
      Value value = vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{int64_t(reg)});
      LLVM::StoreOp::create(b, loc, value, addresses.get(getImage(layout, reg, 0, 0)),
                            elementBytes);
    }
    BarrierOp::create(b, loc);
  }

  Value load(OpBuilder &b, const LinearLayout &layout) {
    BarrierOp::create(b, loc);
    SharedAddresses addresses(b, loc, base, getThreadImages(layout));
    SmallVector<Value> values;
    for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg)
      values.push_back(LLVM::LoadOp::create(
          b, loc, element, addresses.get(getImage(layout, reg, 0, 0)), elementBytes));
    return vector::FromElementsOp::create(b, loc, VectorType::get(values.size(), element), values);
  }

  /// Sorts the first 2^runBits elements of each line.
  void sort(OpBuilder &b, unsigned runBits) {
    SmallVector<Step> steps;
    unsigned width = getWidth(), phases = 0;
    for (unsigned round = width + 1; round <= runBits; ++round)
      phases += llvm::divideCeil(round, width);
    bool loops = phases > mostPhases;
    for (unsigned round = 1; round <= (loops ? width : runBits); ++round)
      addMerge(steps, round, round < axisBits);
    if (loops) {
      emitPhases(b, steps);
      emitRounds(b, width, runBits);
      steps.clear();
    }
    for (unsigned left = axisBits; left > runBits; --left) {
      steps.push_back({runBits, /*prunes=*/true, std::nullopt});
      addMerge(steps, runBits, runBits + 1 < left);
    }
    if (loops && !steps.empty())
      BarrierOp::create(b, loc);
    emitPhases(b, steps);
  }

private:
  static constexpr unsigned laneBits = 5, mostRegisterBits = 4;
  /// Of the rounds behind the first phase, as straight code.
  static constexpr unsigned mostPhases = 12;

  /// Compares elements whose numbers differ in a bit, counted among those that are left. The
  /// smaller one comes first, or last where the bit `down` is set; with `prunes` it alone stays.
  struct Step {
    unsigned bit;
    bool prunes;
    std::optional<unsigned> down;
  };
  /// The bits of elements' numbers in the numbers of registers and of threads.
  struct Phase {
    unsigned first;
    SmallVector<unsigned> registers, places;
  };

  static void addMerge(SmallVectorImpl<Step> &steps, unsigned bits, bool alternates) {
    for (unsigned bit = bits; bit-- > 0;)
      steps.push_back({bit, false, alternates ? std::optional(bits) : std::nullopt});
  }

  /// All steps, in as few phases as they take, with a barrier between each two.
  void emitPhases(OpBuilder &b, ArrayRef<Step> steps) {
    SmallVector<unsigned> before;
    for (ArrayRef<Step> rest = steps; !rest.empty();) {
      Phase phase = begin(rest.front().bit);
      // Threads of one warp need no barrier where the tile's parts stay with their warps.
      if (rest.size() != steps.size()) {
        if (ArrayRef<unsigned>(phase.places)
                .drop_front(std::min<size_t>(laneBits, phase.places.size())) ==
            ArrayRef<unsigned>(before))
          NVVM::SyncWarpOp::create(b, loc, constantI32(b, loc, -1));
        else
          BarrierOp::create(b, loc);
      }
      emit(b, phase, rest);
      before.assign(phase.places.begin() + std::min<size_t>(laneBits, phase.places.size()),
                    phase.places.end());
    }
  }

  /// As many elements for a thread as leave no lane of a warp without any, up to 16.
  unsigned getWidth() const {
    unsigned count = live.size();
    return std::min(count,
                    std::clamp(count > laneBits ? count - laneBits : 0u, 2u, mostRegisterBits));
  }

  Phase begin(unsigned bit) const {
    unsigned count = live.size(), width = getWidth();
    Phase phase;
    phase.first = bit + 1 > width ? bit + 1 - width : 0;
    for (unsigned i = 0; i < count; ++i)
      (i >= phase.first && i < phase.first + width ? phase.registers : phase.places)
          .push_back(live[i]);
    return phase;
  }

  /// Calls `body` where each thread that has elements takes its share of 2^placeBits of them; more
  /// places than threads are taken in turns, whose number `body` gets.
  void onEachTurn(OpBuilder &b, unsigned placeBits,
                  function_ref<void(OpBuilder &, Value turn)> body) {
    OpBuilder::InsertionGuard guard(b);
    I32Builder i32{b, loc};
    if (placeBits > threadBits)
      return loopOver(b, loc, i32(0), i32(int64_t(1) << (placeBits - threadBits)), i32(1), body);
    if (placeBits < threadBits) {
      Value works = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, getThreadId(b, loc),
                                          i32(int64_t(1) << placeBits));
      b.setInsertionPointToStart(
          scf::IfOp::create(b, loc, works, /*withElseRegion=*/false).thenBlock());
    }
    body(b, Value());
  }

  /// The steps of a phase, which are taken from the front of `steps`.
  void emit(OpBuilder &b, const Phase &phase, ArrayRef<Step> &steps) {
    ArrayRef<Step> rest;
    SmallVector<unsigned> left;
    onEachTurn(b, phase.places.size(), [&](OpBuilder &b, Value turn) {
      rest = steps;
      left = live;
      emitTurn(b, phase, turn, rest, left);
    });
    steps = rest;
    live = left;
  }

  /// Between phases of the same distribution but for `first`: all of a warp's elements stay with it
  /// where it is the only one that works.
  void synchronize(OpBuilder &b, const Phase &phase) {
    if (phase.places.size() <= laneBits)
      NVVM::SyncWarpOp::create(b, loc, constantI32(b, loc, -1));
    else
      BarrierOp::create(b, loc);
  }

  /// Rounds width + 1 to runBits, of elements all of which are left:
  ///
  ///   for round:  for phase:  barrier, the round's next `width` bits below, while more are left
  ///               barrier, bits width - 1 to 0
  void emitRounds(OpBuilder &b, unsigned width, unsigned runBits) {
    I32Builder i32{b, loc};
    Phase last = begin(0);
    SmallVector<Step> lastSteps;
    addMerge(lastSteps, width, /*alternates=*/false);
    loopOver(b, loc, i32(width + 1), i32(runBits + 1), i32(1), [&](OpBuilder &b, Value round) {
      I32Builder i32{b, loc};
      // The runs of the last round are the lines, none of which goes downwards.
      Value downBit = i32.bitAnd(arith::ShLIOp::create(b, loc, i32(1), round),
                                 i32((int64_t(1) << axisBits) - 1));
      auto goesDown = [&](OpBuilder &b, Value number) -> Value {
        I32Builder i32{b, loc};
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, i32.bitAnd(number, downBit),
                                     i32(0));
      };
      Value phases =
          arith::DivUIOp::create(b, loc, arith::SubIOp::create(b, loc, round, i32(1)), i32(width));
      loopOver(b, loc, i32(0), phases, i32(1), [&](OpBuilder &b, Value phase) {
        synchronize(b, last);
        I32Builder i32{b, loc};
        Value first =
            arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, round, i32(width)),
                                  arith::MulIOp::create(b, loc, phase, i32(width)));
        onEachTurn(b, last.places.size(), [&](OpBuilder &b, Value turn) {
          I32Builder i32{b, loc};
          // The place's bits around those of registers: high 0000 low.
          Value place = getPlace(b, turn), high = arith::ShRUIOp::create(b, loc, place, first);
          Value low =
              arith::SubIOp::create(b, loc, place, arith::ShLIOp::create(b, loc, high, first));
          Value upper = arith::AddIOp::create(b, loc, first, i32(width));
          Value number =
              arith::OrIOp::create(b, loc, low, arith::ShLIOp::create(b, loc, high, upper));
          emitShifted(b, number, first, width, goesDown(b, number));
        });
      });
      synchronize(b, last);
      Value undone =
          arith::SubIOp::create(b, loc, round, arith::MulIOp::create(b, loc, phases, i32(width)));
      onEachTurn(b, last.places.size(), [&](OpBuilder &b, Value turn) {
        ArrayRef<Step> steps = lastSteps;
        SmallVector<unsigned> left(live);
        Value number = arith::ShLIOp::create(b, loc, getPlace(b, turn), I32Builder{b, loc}(width));
        emitTurn(b, last, turn, steps, left, goesDown(b, number), undone);
      });
    });
  }

  Value getPlace(OpBuilder &b, Value turn) {
    Value thread = getThreadId(b, loc);
    if (!turn)
      return thread;
    Value before = arith::ShLIOp::create(b, loc, turn, I32Builder{b, loc}(threadBits));
    return arith::OrIOp::create(b, loc, before, thread);
  }

  /// All steps of the `width` bits from `first` on, for the elements that differ from `number`,
  /// where these bits are 0, in nothing else.
  void emitShifted(OpBuilder &b, Value number, Value first, unsigned width, Value goesDown) {
    unsigned count = 1u << width;
    I32Builder i32{b, loc};
    SmallVector<Value> images; // offsets are linear over F2
    for (unsigned bit = 0; bit < width; ++bit)
      images.push_back(getOffset(b, arith::ShLIOp::create(b, loc, i32(int64_t(1) << bit), first)));
    ThreadSort sort(element, count);
    sort.takeFrom(sharedAddress(b, loc, base), getOffset(b, number), images);
    std::string down = sort.take(goesDown);
    bool flips = sort.isNarrow();
    if (flips)
      sort.flipWhere(down);
    for (unsigned distance = count / 2; distance; distance /= 2)
      for (unsigned low = 0; low < count; ++low)
        if (!(low & distance))
          sort.putInOrder(low, low | distance, /*reverses=*/false, flips ? "" : down);
    if (flips)
      sort.flipWhere(down);
    sort.write(b, loc);
  }

  /// With `goesDown`, a condition on the thread and the turn, in place of each step's bit, and only
  /// the steps of the first `undone` bits, which the other threads do, too.
  void emitTurn(OpBuilder &b, const Phase &phase, Value turn, ArrayRef<Step> &steps,
                SmallVectorImpl<unsigned> &left, Value goesDown = {}, Value undone = {}) {
    size_t own = std::min<size_t>(phase.places.size(), threadBits);
    auto images = [&](ArrayRef<unsigned> bits) {
      SmallVector<uint32_t> found;
      for (unsigned bit : bits)
        found.push_back(getOffset(uint32_t(1) << bit));
      return found;
    };
    ArrayRef<unsigned> places = phase.places;
    ExtraOffset extra{turn, images(places.drop_front(own)), 0};
    SharedAddresses addresses(b, loc, base, images(places.take_front(own)), extra);
    unsigned count = 1u << phase.registers.size();
    SmallVector<uint32_t> offsets(count, 0);
    for (auto [i, image] : llvm::enumerate(images(phase.registers)))
      for (unsigned reg = 0; reg < count; ++reg)
        offsets[reg] ^= reg >> i & 1 ? image : 0;
    unsigned vector = 0; // bits of a vector's elements
    while (vector < std::min<size_t>(vectorBits, phase.registers.size()) &&
           phase.registers[vector] == vector)
      ++vector;
    SmallVector<Value> values;
    for (unsigned reg = 0; reg < count; reg += 1u << vector) {
      Value piece = LLVM::LoadOp::create(b, loc, VectorType::get(1 << vector, element),
                                         addresses.get(offsets[reg]), elementBytes << vector);
      for (int64_t i = 0; i < 1 << vector; ++i)
        values.push_back(vector::ExtractOp::create(b, loc, piece, ArrayRef<int64_t>{i}));
    }

    // Where the bit of an element's number is found: in a register's, a thread's or the turn's.
    auto getRegisterBit = [&](unsigned bit) {
      return unsigned(llvm::find(phase.registers, bit) - phase.registers.begin());
    };
    I32Builder i32{b, loc};
    auto isSet = [&](unsigned bit) -> Value {
      size_t place = llvm::find(phase.places, bit) - phase.places.begin();
      Value number = place < own ? getThreadId(b, loc) : turn;
      Value masked = i32.bitAnd(number, i32(int64_t(1) << (place < own ? place : place - own)));
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, i32(0));
    };
    ThreadSort sort(element, count);
    sort.take(b, loc, values);
    std::string turned = goesDown ? sort.take(goesDown) : "",
                many = undone ? sort.take(undone) : "";
    llvm::SmallMapVector<unsigned, std::string, 4> downs; // by the bit that says so
    // Where all steps of a phase go downwards on one condition, elements are turned around, and
    // each pair is a minimum and a maximum: two instructions, not four.
    bool flips = goesDown && sort.isNarrow();
    if (flips)
      sort.flipWhere(turned);
    for (unsigned width = phase.registers.size();
         !steps.empty() && steps.front().bit >= phase.first &&
         steps.front().bit < phase.first + width;
         steps = steps.drop_front()) {
      const Step &step = steps.front();
      unsigned distance = 1u << getRegisterBit(left[step.bit]), downMask = 0;
      std::string down = flips ? "" : turned;
      if (step.down) {
        unsigned at = getRegisterBit(left[*step.down]);
        if (at < phase.registers.size()) {
          downMask = 1u << at;
        } else {
          std::string &known = downs[left[*step.down]];
          down = known.empty() ? known = sort.take(isSet(left[*step.down])) : known;
        }
      }
      bool isConditional = undone && step.bit;
      if (isConditional)
        sort.beginWhereAbove(many, step.bit);
      for (unsigned low = 0; low < count; ++low) {
        if (low & distance || !sort.has(low))
          continue;
        if (step.prunes)
          sort.keepSmaller(low, low | distance);
        else
          sort.putInOrder(low, low | distance, low & downMask, down);
      }
      if (isConditional)
        sort.end();
      if (step.prunes) {
        left.erase(left.begin() + step.bit);
        --width;
      }
    }

    if (flips)
      sort.flipWhere(turned);
    values = sort.write(b, loc);
    for (unsigned reg = 0; reg < count; ++reg) {
      bool whole = !(reg & ((1u << vector) - 1)) &&
                   llvm::all_of(ArrayRef<Value>(values).slice(reg, 1u << vector),
                                [](Value value) { return bool(value); });
      if (whole) {
        Value piece = vector::FromElementsOp::create(
            b, loc, VectorType::get(1 << vector, element),
            ValueRange(ArrayRef<Value>(values).slice(reg, 1u << vector)));
        LLVM::StoreOp::create(b, loc, piece, addresses.get(offsets[reg]), elementBytes << vector);
        reg += (1u << vector) - 1;
      } else if (values[reg]) {
        LLVM::StoreOp::create(b, loc, values[reg], addresses.get(offsets[reg]), elementBytes);
      }
    }
  }

  /// The offset of the element of that number. Linear over F2: granules of 16 bytes are XORed with
  /// bits above, so that all distributions of a warp's elements spread over the banks.
  uint32_t getOffset(uint32_t number) const {
    return (number ^ ((number >> (vectorBits + 3) & 7) << vectorBits)) * elementBytes;
  }

  Value getOffset(OpBuilder &b, Value number) {
    I32Builder i32{b, loc};
    Value above = arith::ShRUIOp::create(b, loc, number, i32(vectorBits + 3));
    Value granule = arith::ShLIOp::create(b, loc, i32.bitAnd(above, i32(7)), i32(vectorBits));
    return arith::MulIOp::create(b, loc, arith::XOrIOp::create(b, loc, number, granule),
                                 i32(elementBytes));
  }

  /// The offset of what a register of a tile's layout holds.
  uint32_t getImage(const LinearLayout &layout, unsigned reg, unsigned lane, unsigned warp) const {
    auto coord = layout.apply(reg, lane, warp);
    uint32_t line = 0;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != axis)
        line = line * type.getDimSize(d) + coord[d];
    return getOffset(line << axisBits | uint32_t(coord[axis]));
  }

  SmallVector<uint32_t> getThreadImages(const LinearLayout &layout) const {
    SmallVector<uint32_t> images;
    for (unsigned bit = 0; bit < threadBits; ++bit)
      images.push_back(bit < laneBits ? getImage(layout, 0, 1u << bit, 0)
                                      : getImage(layout, 0, 0, 1u << (bit - laneBits)));
    return images;
  }

  Location loc;
  RankedTensorType type;
  Type element;
  int64_t axis;
  Value base;
  unsigned threadBits, axisBits, elementBytes, vectorBits;
  SmallVector<unsigned> live; ///< bits of the numbers of elements that are left
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
    SortingNetwork network(loc, type, op.getAxis(), int64_t(layout.getNumWarps()) * 32,
                           getSharedPointer(b, loc, *offset));
    network.store(b, adaptor.getSource(), layout);
    network.sort(b, llvm::Log2_64_Ceil(op.getFirst().value_or(extent)));
    b.replaceOp(op, network.load(b, target));
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
