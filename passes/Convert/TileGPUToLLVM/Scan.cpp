// Scans. Each thread scans its neighbours; then blocks of neighbours along the axis double with
// each bit of lanes, warps and further registers, and of each block only its total goes on. What
// comes before a thread's elements is kept apart, as one carry for each run of neighbours, and
// joins the elements once, at the end.
//
//   elements        a  b      c  d      e  f      g  h       two registers, two lanes, two warps
//   in the thread   a  ab     c  cd     e  ef     g  gh
//   carry: lanes       -         ab        -         ef
//   carry: warps       -         ab       abcd     abcd ef
//   at the end      a  ab    abc abcd  abcde ..              each element takes its carry in front
//
// A function need not have a neutral element: the first block has no carry, and a truth value
// beside each carry says whether there is one.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ScanSteps.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

class PrefixSteps : public ScanSteps {
public:
  PrefixSteps(ScanOp op, ConversionPatternRewriter &b, const LinearLayout &layout,
              ValueRange sources)
      : ScanSteps(op, op.getCombiner().front(), op.getReverse(), b, layout, sources),
        prefixes(sources) {}

  /// The prefixes. Steps go along the axis, the lowest bit first (dialect/TileGPU/ScanPlan.h).
  ///
  ///   axis position      bits 0, 1      bits 2 .. 4     bits 5, 6     bit 7
  ///   held in            registers      lanes           warps         registers
  ///   joined by          joinNeighbours joinLanes       joinWarps     joinRegisters
  FailureOr<State> run(ArrayRef<ScanStep> steps) {
    auto takeRun = [&](InDim dim) {
      ArrayRef<ScanStep> run = steps.take_while([&](const ScanStep &s) { return s.dim == dim; });
      steps = steps.drop_front(run.size());
      return run;
    };
    if (ArrayRef<ScanStep> run = takeRun(InDim::Register); !run.empty())
      joinNeighbours(run);
    owners = kept;
    withinThread = collapsed;
    while (!steps.empty()) {
      const ScanStep &step = steps.front();
      if (step.dim == InDim::Lane) {
        SmallVector<unsigned> bits;
        for (const ScanStep &each : takeRun(InDim::Lane))
          bits.push_back(each.bits[0]);
        State before;
        Value exists;
        std::tie(before, exists) = scanLanes(totals, bits);
        addCarry(take(before, totalOf(owners)), spread(exists));
        if (!steps.empty())
          totals = readLanes(totals, getEnd(getLane(b, loc), bits, /*isLast=*/true));
      } else if (step.isScannedByLanes) {
        if (failed(joinWarpsByLanes(step, steps.drop_front())))
          return failure();
        break; // with all steps behind it
      } else if (step.dim == InDim::Warp) {
        FailureOr<Earlier> earlier = joinWarps(step, /*wantsEarlier=*/true);
        if (failed(earlier))
          return failure();
        Value exists = arith::XOrIOp::create(b, loc, earlier->isFirst, truth(true));
        addCarry(take(earlier->before, totalOf(owners)), spread(exists));
        steps = steps.drop_front();
      } else {
        joinRegisters(step.bits[0]);
        steps = steps.drop_front();
      }
    }
    return addCarries();
  }

private:
  Value truth(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
  /// A truth value for each carry.
  Value spread(Value exists) {
    return vector::BroadcastOp::create(
        b, loc, VectorType::get(int64_t(owners.size()), b.getI1Type()), exists);
  }
  State readLanes(const State &state, Value lane) {
    return State(llvm::map_range(state, [&](Value v) { return readLane(b, loc, v, lane); }));
  }

  /// One after another along the axis: a combination for each register but the first, where joining
  /// bit by bit takes half of all registers for each bit.
  void joinNeighbours(ArrayRef<ScanStep> steps) {
    int64_t mask = 0, length = int64_t(1) << steps.size();
    for (const ScanStep &step : steps)
      mask |= int64_t(1) << step.bits[0];
    auto at = [&](int64_t position) { // the register bits of a position in the order of the scan
      int64_t place = isReverse ? length - 1 - position : position, number = 0;
      for (auto [i, step] : llvm::enumerate(steps))
        number |= ((place >> i) & 1) << step.bits[0];
      return number;
    };
    SmallVector<int64_t> lines; // with all bits of the axis 0
    for (int64_t r : allRegisters())
      if (!(r & mask))
        lines.push_back(r);
    auto along = [&](int64_t position) {
      // `take(totals, ..)` below still are the elements themselves, as nothing has been joined.
      return llvm::map_to_vector(lines, [&](int64_t r) { return r | at(position); });
    };
    State last = take(prefixes, along(0));
    SmallVector<State> all = {last};
    for (int64_t position = 1; position < length; ++position) {
      last = combineAlong(last, take(totals, along(position)));
      all.push_back(last);
    }
    SmallVector<int64_t> order(layout.getNumRegisters());
    // all = [position][line]; register r's prefix is at order[r] there.
    for (int64_t position = 0; position < length; ++position)
      for (auto [i, r] : llvm::enumerate(along(position)))
        order[r] = position * lines.size() + i;
    for (auto [n, prefix] : llvm::enumerate(prefixes)) {
      SmallVector<Value> elements;
      for (const State &state : all)
        for (size_t i = 0; i < lines.size(); ++i)
          elements.push_back(
              vector::ExtractOp::create(b, loc, state[n], ArrayRef<int64_t>{int64_t(i)}));
      SmallVector<Value> placed =
          llvm::map_to_vector(order, [&](int64_t from) { return elements[from]; });
      prefix = vector::FromElementsOp::create(b, loc, prefix.getType(), placed);
    }
    totals = last;
    kept = lines;
    collapsed |= mask;
  }

  /// The number of a lane at an end of its block along `bits`, in the order of the scan.
  Value getEnd(Value lane, ArrayRef<unsigned> bits, bool isLast) {
    unsigned mask = 0;
    for (unsigned bit : bits)
      mask |= 1u << bit;
    if (isLast != isReverse)
      return arith::OrIOp::create(b, loc, lane, constantI32(b, loc, mask));
    return arith::AndIOp::create(b, loc, lane, constantI32(b, loc, ~mask));
  }

  /// Scans `state` along the lanes of `bits`, which are in the order of the axis. On return `state`
  /// holds each lane's prefix; the result is the prefix of the lane before it, and whether there is
  /// one.
  ///
  ///   lane          0    1    2    3
  ///   bit 0         a    ab   c    cd       the second of a pair takes the first
  ///   bit 1         a    ab   abc  abcd     the second pair takes the last of the first pair
  std::pair<State, Value> scanLanes(State &state, ArrayRef<unsigned> bits) {
    Value lane = getLane(b, loc);
    for (auto [i, bit] : llvm::enumerate(bits)) {
      Value own = arith::AndIOp::create(b, loc, lane, constantI32(b, loc, 1u << bit));
      Value isLow = equals(b, loc, own, 0);
      // The lane that ends the half in front, seen from the half behind.
      Value from = getEnd(lane, bits.take_front(i), /*isLast=*/true);
      from = isReverse ? Value(arith::OrIOp::create(b, loc, from, constantI32(b, loc, 1u << bit)))
                       : arith::AndIOp::create(b, loc, from, constantI32(b, loc, ~(1u << bit)));
      State late = combineAlong(readLanes(state, from), state);
      state = isReverse ? select(isLow, late, state) : select(isLow, state, late);
    }
    Value place = gatherBits(b, loc, lane, bits);
    int64_t last = (int64_t(1) << bits.size()) - 1;
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, place,
                                         constantI32(b, loc, isReverse ? last : 0));
    Value before = arith::AddIOp::create(b, loc, place, constantI32(b, loc, isReverse ? 1 : -1));
    before = arith::AndIOp::create(b, loc, before, constantI32(b, loc, last));
    Value from = arith::OrIOp::create(b, loc, spreadBits(b, loc, before, bits),
                                      getEnd(lane, bits, /*isLast=*/isReverse));
    return {readLanes(state, from), exists};
  }

  /// `before` comes before all carries so far, where `exists`: an element for each carry.
  void addCarry(const State &before, Value exists) {
    if (carries.empty()) {
      carries = before;
      hasCarry = exists;
      return;
    }
    State joined = select(hasCarry, combineAlong(before, carries), before);
    carries = select(exists, joined, carries);
    hasCarry = arith::OrIOp::create(b, loc, hasCarry, exists);
  }

  /// Registers that come second along the scan take the total of those that come first.
  void joinRegisters(unsigned bit) {
    int64_t mask = int64_t(1) << bit, behind = isReverse ? 0 : mask;
    SmallVector<int64_t> others;
    SmallVector<bool> isBehind;
    for (int64_t r : owners) {
      others.push_back(r ^ mask);
      isBehind.push_back((r & mask) == behind);
    }
    addCarry(take(totals, totalOf(others)),
             arith::ConstantOp::create(
                 b, loc,
                 DenseElementsAttr::get(VectorType::get(int64_t(owners.size()), b.getI1Type()),
                                        isBehind)));
    joinTotals(bit);
  }

  /// Where all lanes of a warp hold the same totals: the totals of all warps, and of the registers
  /// behind them along the axis, are scanned by the lanes of every warp. Totals lie at
  /// [register][warp], both in the order of the axis, and lane l takes those from l * width on.
  ///
  ///   register 0: | warp 0 | warp 1 | .. |   register 1: | warp 0 | ..
  ///               lane 0   lane 1 ..
  ///
  /// What comes before register r of this warp is the prefix of the total before its own.
  LogicalResult joinWarpsByLanes(const ScanStep &step, ArrayRef<ScanStep> behind) {
    int64_t warps = int64_t(1) << step.bits.size(), registers = int64_t(1) << behind.size(),
            count = warps * registers, width = std::max<int64_t>(1, count / 32);
    SmallVector<unsigned> laneBits =
        llvm::to_vector(llvm::seq<unsigned>(0, llvm::Log2_64(count / width)));
    Value lane = getLane(b, loc), warp = getWarp(b, loc);
    Value place = gatherBits(b, loc, warp, step.bits);
    // Warps that differ in other bits scan for themselves.
    SmallVector<unsigned> groupBits;
    for (unsigned bit = 0; bit < layout.getNumBits(InDim::Warp); ++bit)
      if (!llvm::is_contained(step.bits, bit))
        groupBits.push_back(bit);
    Value group = arith::MulIOp::create(b, loc, gatherBits(b, loc, warp, groupBits),
                                        constantI32(b, loc, count));
    SmallVector<int64_t> positions; // of each total among the registers along the axis
    for (int64_t r : kept) {
      int64_t position = 0;
      for (auto [i, each] : llvm::enumerate(behind))
        position |= ((r >> each.bits[0]) & 1) << i;
      positions.push_back(position);
    }

    SmallVector<Value> bases;
    State stored;
    for (Value total : totals) {
      stored.push_back(toStoredVector(b, loc, total));
      auto base = getScratch(stored.back(), count << groupBits.size());
      if (!base)
        return op->emitError("internal: a scan across warps has no shared memory");
      bases.push_back(*base);
    }
    auto pointerTo = [&](unsigned i, Value index) -> Value {
      Type element = cast<VectorType>(stored[i].getType()).getElementType();
      index = arith::AddIOp::create(b, loc, index, group);
      return LLVM::GEPOp::create(b, loc, bases[i].getType(), element, bases[i],
                                 ArrayRef<LLVM::GEPArg>{index});
    };
    auto owner = scf::IfOp::create(b, loc, equals(b, loc, lane, 0), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(owner.thenBlock());
      for (unsigned i = 0; i < stored.size(); ++i)
        for (auto [n, position] : llvm::enumerate(positions)) {
          Value value = vector::ExtractOp::create(b, loc, stored[i], ArrayRef<int64_t>{int64_t(n)});
          Value index = arith::AddIOp::create(b, loc, place, constantI32(b, loc, position * warps));
          LLVM::StoreOp::create(b, loc, value, pointerTo(i, index));
        }
    }
    BarrierOp::create(b, loc);

    // Each lane's run, one after another along the scan; then the lanes'.
    Value first = arith::AndIOp::create(b, loc, lane, constantI32(b, loc, count / width - 1));
    first = arith::MulIOp::create(b, loc, first, constantI32(b, loc, width));
    SmallVector<State> run;
    for (int64_t n = 0; n < width; ++n) {
      Value index = arith::AddIOp::create(b, loc, first, constantI32(b, loc, n));
      State element;
      for (unsigned i = 0; i < stored.size(); ++i) {
        auto type = VectorType::get(1, cast<VectorType>(stored[i].getType()).getElementType());
        Value loaded = LLVM::LoadOp::create(b, loc, type.getElementType(), pointerTo(i, index));
        loaded = vector::FromElementsOp::create(b, loc, type, loaded);
        element.push_back(fromStoredVector(b, loc, loaded,
                                           cast<VectorType>(totals[i].getType()).getElementType()));
      }
      run.push_back(element);
    }
    if (isReverse)
      std::reverse(run.begin(), run.end());
    for (int64_t n = 1; n < width; ++n)
      run[n] = combineAlong(run[n - 1], run[n]);
    State whole = run.back();
    auto [earlier, hasEarlier] = scanLanes(whole, laneBits);
    run.back() = whole;
    for (int64_t n = 0; n + 1 < width; ++n)
      run[n] = select(hasEarlier, combineAlong(earlier, run[n]), run[n]);
    if (isReverse)
      std::reverse(run.begin(), run.end());

    // The total before this warp's of register 0 is that at `at`; the others lie `warps` further
    // each. Its place in a lane's run is the same for all, since runs are no longer than `warps`.
    Value at = arith::AddIOp::create(b, loc, place, constantI32(b, loc, isReverse ? 1 : -1));
    Value within = arith::AndIOp::create(b, loc, at, constantI32(b, loc, width - 1));
    Value holder = arith::ShRSIOp::create(b, loc, at, constantI32(b, loc, llvm::Log2_64(width)));
    State chosen = run[0];
    for (int64_t n = 1; n < width; ++n)
      chosen = select(equals(b, loc, within, n), run[n], chosen);
    int64_t firstPosition = isReverse ? registers - 1 : 0;
    Value isFirst = equals(b, loc, place, isReverse ? warps - 1 : 0);
    SmallVector<SmallVector<Value>> elements(totals.size());
    SmallVector<Value> exists;
    for (int64_t slot : totalOf(owners)) {
      int64_t position = positions[slot];
      Value from =
          arith::AddIOp::create(b, loc, holder, constantI32(b, loc, position * (warps / width)));
      from = arith::AndIOp::create(b, loc, from, constantI32(b, loc, 31));
      for (auto [n, value] : llvm::enumerate(readLanes(chosen, from)))
        elements[n].push_back(vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0}));
      exists.push_back(position == firstPosition
                           ? Value(arith::XOrIOp::create(b, loc, isFirst, truth(true)))
                           : truth(true));
    }
    State before;
    for (auto [n, values] : llvm::enumerate(elements))
      before.push_back(vector::FromElementsOp::create(
          b, loc, VectorType::get(int64_t(values.size()), values[0].getType()), values));
    addCarry(before, vector::FromElementsOp::create(
                         b, loc, VectorType::get(int64_t(exists.size()), b.getI1Type()), exists));
    return success();
  }

  /// The prefixes with all that comes before them.
  State addCarries() {
    if (carries.empty())
      return prefixes;
    SmallVector<int64_t> slots = llvm::map_to_vector(allRegisters(), [&](int64_t r) {
      return int64_t(llvm::find(owners, r & ~withinThread) - owners.begin());
    });
    State late = combineAlong(take(carries, slots), prefixes);
    return select(takeElements(b, loc, hasCarry, slots), late, prefixes);
  }

  State prefixes;              ///< within each run of neighbours of a thread
  State carries;               ///< what comes before each run; none so far if empty
  Value hasCarry;              ///< for each carry whether there is one
  SmallVector<int64_t> owners; ///< the first register of each run
  int64_t withinThread = 0;    ///< register bits along a run
};

struct LowerScan : OpConversionPattern<ScanOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScanOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(cast<RankedTensorType>(op.getSources()[0].getType()));
    auto steps = planScan(layout, op.getAxis());
    if (!steps)
      return op.emitError("internal: a scan in a layout that it cannot go through");
    FailureOr<State> results = PrefixSteps(op, rewriter, layout, adaptor.getSources()).run(*steps);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void tile::gpu::populateScanPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerScan>(converter, patterns.getContext());
}
