// Scans: blocks of neighbours along the axis double with each bit, between registers, by shuffles
// of lanes, and across warps through shared memory. Every thread keeps the prefixes of its elements
// and the total of the block around each; a reduction by a function keeps the totals alone.
//
//   elements   a    b     c      d        blocks of 1: each prefix is the element itself
//   bit 0      a    ab    c      cd       totals ab, ab, cd, cd
//   bit 1      a    ab    abc    abcd     totals abcd: the upper half takes the lower half's total
//
// Order matters, since the function need not commute: "lower" and "upper" are along the axis, and
// change places in a reversed scan.
#include "dialect/TileGPU/ScanPlan.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// One vector of registers for each tile that is scanned.
using State = SmallVector<Value>;

namespace {

/// A scan, or a reduction by a function, while it is lowered.
class Scanner {
public:
  Scanner(ScanOp op, ConversionPatternRewriter &b, const LinearLayout &layout, ValueRange sources)
      : Scanner(op, op.getCombiner().front(), op.getReverse(), /*wantsPrefixes=*/true, b, layout,
                sources) {}
  Scanner(ReduceByOp op, ConversionPatternRewriter &b, const LinearLayout &layout,
          ValueRange sources)
      : Scanner(op, op.getCombiner().front(), /*isReverse=*/false, /*wantsPrefixes=*/false, b,
                layout, sources) {}

  /// The prefixes, or the totals with the registers along the axis left out.
  /// Steps along the axis, the lowest bit first (dialect/TileGPU/ScanPlan.h). After the step over
  /// the axis's bit k each thread knows, for each of its elements, the total of the block of 2^(k +
  /// 1) around it.
  ///
  ///   axis position      bits 0, 1      bits 2 .. 4        bits 5, 6
  ///   held in            registers      lanes              warps
  ///   joined by          joinNeighbours joinLanes          joinWarps, all bits at once
  FailureOr<State> run(ArrayRef<ScanStep> steps) {
    size_t inThread = 0; // steps within a thread, before all others
    while (inThread < steps.size() && steps[inThread].dim == InDim::Register)
      ++inThread;
    if (wantsPrefixes && inThread > 1)
      joinNeighbours(steps.take_front(inThread));
    else
      inThread = 0;
    for (const ScanStep &step : steps.drop_front(inThread)) {
      if (step.dim == InDim::Register)
        joinRegisters(step.bits[0]);
      else if (step.dim == InDim::Lane)
        joinLanes(step.bits[0]);
      else if (failed(joinWarps(step)))
        return failure();
    }
    return wantsPrefixes ? prefixes : totals;
  }

private:
  Scanner(Operation *op, Block &body, bool isReverse, bool wantsPrefixes,
          ConversionPatternRewriter &b, const LinearLayout &layout, ValueRange sources)
      : op(op), body(body), isReverse(isReverse), wantsPrefixes(wantsPrefixes), b(b),
        loc(op->getLoc()), layout(layout), prefixes(sources), totals(sources) {
    for (unsigned r = 0; r < layout.getNumRegisters(); ++r)
      kept.push_back(r);
  }

  /// The function of the scan on vectors: `left` and `right` in the order of the axis.
  /// The body is emitted anew for each join, on vectors of as many elements as there are registers
  /// to join. Values from outside are scalars and are spread.
  State combine(const State &left, const State &right) {
    int64_t width = cast<VectorType>(left[0].getType()).getNumElements();
    IRMapping mapping;
    for (auto [i, value] : llvm::enumerate(llvm::concat<const Value>(left, right)))
      mapping.map(body.getArgument(i), value);
    auto vectorOf = [&](Value value) -> Value {
      Value mapped = mapping.lookupOrNull(value);
      if (!mapped) // from outside
        mapped = b.getRemappedValue(value);
      if (!isa<VectorType>(mapped.getType()))
        mapped =
            vector::BroadcastOp::create(b, loc, VectorType::get(width, mapped.getType()), mapped);
      return mapped;
    };
    for (Operation &inner : body.without_terminator()) {
      // Constants stay scalars till an operation wants them, when vectorOf spreads them.
      if (isa<arith::ConstantOp>(inner)) {
        b.clone(inner, mapping);
        continue;
      }
      SmallVector<Value> operands = llvm::map_to_vector(inner.getOperands(), vectorOf);
      OperationState state(inner.getLoc(), inner.getName(), operands,
                           {VectorType::get(width, inner.getResult(0).getType())},
                           inner.getAttrs());
      state.propertiesAttr = inner.getPropertiesAsAttribute();
      mapping.map(inner.getResult(0), b.create(state)->getResult(0));
    }
    return llvm::map_to_vector<2>(body.getTerminator()->getOperands(), vectorOf);
  }

  /// In the order of the axis: `near` comes before `far` unless the scan is reversed.
  State combineAlong(const State &near, const State &far) {
    return isReverse ? combine(far, near) : combine(near, far);
  }

  State take(const State &state, ArrayRef<int64_t> registers) {
    return llvm::map_to_vector<2>(state,
                                  [&](Value v) { return takeElements(b, loc, v, registers); });
  }
  State select(Value condition, const State &yes, const State &no) {
    State result;
    for (auto [x, y] : llvm::zip(yes, no))
      result.push_back(arith::SelectOp::create(b, loc, condition, x, y));
    return result;
  }

  /// Which total stands for each prefix.
  /// A total stands for all prefixes whose registers differ from it in collapsed bits alone.
  SmallVector<int64_t> totalOf(ArrayRef<int64_t> registers) {
    return llvm::map_to_vector(registers, [&](int64_t r) {
      return int64_t(llvm::find(kept, r & ~collapsed) - kept.begin());
    });
  }
  SmallVector<int64_t> allRegisters() {
    return llvm::to_vector(llvm::seq<int64_t>(0, layout.getNumRegisters()));
  }

  /// One after another along the axis: a combination for each register but the first, where joining
  /// bit by bit takes half of all registers for each bit.
  /// Only the first steps may be joined so, when lanes and warps have not been: a prefix is then
  /// the sum of the registers before it, and no more.
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

  void joinRegisters(unsigned bit) {
    int64_t mask = int64_t(1) << bit,
            behind = isReverse ? 0 : mask; // the bit of those that come second
    if (wantsPrefixes) {
      SmallVector<int64_t> second, others;
      for (int64_t r : allRegisters())
        if ((r & mask) == behind) {
          second.push_back(r);
          others.push_back(r ^ mask);
        }
      // The later half takes the earlier half's total in front of its own prefixes; the earlier
      // half's prefixes are final.
      State late = combineAlong(take(totals, totalOf(others)), take(prefixes, second));
      SmallVector<int64_t> merge = allRegisters();
      for (auto [i, r] : llvm::enumerate(second))
        merge[r] = layout.getNumRegisters() + i;
      for (auto [prefix, value] : llvm::zip(prefixes, late))
        prefix = vector::ShuffleOp::create(b, loc, prefix, value, merge);
    }

    // Both halves' totals become one, by the order of the axis, not of the scan: a total is of all
    // its elements.
    SmallVector<int64_t> low, high, left;
    for (auto [i, r] : llvm::enumerate(kept)) {
      ((r & mask) ? high : low).push_back(i);
      if (!(r & mask))
        left.push_back(r);
    }
    totals = combine(take(totals, low), take(totals, high));
    kept = left;
    collapsed |= mask;
  }

  // Lanes that differ in one bit hold neighbouring blocks. Both compute the same total, so that the
  // next step may start from either.
  void joinLanes(unsigned bit) {
    Value own = arith::AndIOp::create(b, loc, getLane(b, loc), constantI32(b, loc, 1u << bit));
    Value isHigh =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, constantI32(b, loc, 0));
    Value isLow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own, constantI32(b, loc, 0));
    State other =
        llvm::map_to_vector<2>(totals, [&](Value v) { return shuffleLanes(b, loc, v, 1u << bit); });
    if (wantsPrefixes) {
      State late = combineAlong(take(other, totalOf(allRegisters())), prefixes);
      prefixes = select(isReverse ? isLow : isHigh, late, prefixes);
    }
    // In a reversed scan `combine` still wants the lower block on the left: the function need not
    // commute.
    totals = combine(select(isHigh, other, totals), select(isHigh, totals, other));
  }

  /// Each warp leaves its totals for each lane at [warp][register][lane]; then all read those of
  /// the warps that differ from theirs along the axis, in the axis's order.
  ///
  ///   scratch of a tile   | warp 0: register 0 of lanes 0 .. 31 | register 1 .. | warp 1 .. |
  ///   then                the same of the next tile
  ///
  /// A warp's 32 lanes are neighbours, so that stores and loads meet no bank twice. The barrier
  /// ahead of these stores is tile-gpu-insert-barriers' work.
  LogicalResult joinWarps(const ScanStep &step) {
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op->emitError("internal: a scan across warps has no shared memory");
    Value lane = getLane(b, loc), warp = getWarp(b, loc);
    int64_t registers = step.registers;
    SmallVector<Value> bases;
    SmallVector<Type> types;
    State stored;
    for (Value total : totals) {
      stored.push_back(toStoredVector(b, loc, total));
      types.push_back(cast<VectorType>(stored.back().getType()).getElementType());
      bases.push_back(getSharedPointer(b, loc, *offset + used));
      used +=
          int64_t(layout.getNumWarps()) * registers * 32 * types.back().getIntOrFloatBitWidth() / 8;
    }
    auto pointerTo = [&](unsigned i, Value ofWarp, int64_t reg) -> Value {
      Value row = arith::MulIOp::create(b, loc, ofWarp, constantI32(b, loc, registers));
      row = arith::AddIOp::create(b, loc, row, constantI32(b, loc, reg));
      Value slot = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, row, constantI32(b, loc, 32)), lane);
      return LLVM::GEPOp::create(b, loc, bases[i].getType(), types[i], bases[i],
                                 ArrayRef<LLVM::GEPArg>{slot});
    };
    for (unsigned i = 0; i < stored.size(); ++i)
      for (int64_t r = 0; r < registers; ++r)
        LLVM::StoreOp::create(b, loc,
                              vector::ExtractOp::create(b, loc, stored[i], ArrayRef<int64_t>{r}),
                              pointerTo(i, warp, r));
    BarrierOp::create(b, loc);

    // This warp's place along the axis, and the numbers of the others.
    Value place = constantI32(b, loc, 0);
    // Bits of the warp's number along the axis become bits of `place`, in the order of the axis;
    // `others` keeps the rest, which names a group of warps that scan together.
    unsigned mask = 0;
    for (auto [i, bit] : llvm::enumerate(step.bits)) {
      mask |= 1u << bit;
      Value here = arith::ShRUIOp::create(b, loc, warp, constantI32(b, loc, bit));
      here = arith::AndIOp::create(b, loc, here, constantI32(b, loc, 1));
      place = arith::OrIOp::create(b, loc, place,
                                   arith::ShLIOp::create(b, loc, here, constantI32(b, loc, i)));
    }
    Value others = arith::AndIOp::create(b, loc, warp, constantI32(b, loc, ~mask));
    unsigned count = 1u << step.bits.size();
    State total, before; // of all warps so far, and of those that come first
    // n goes along the scan. Warp n's own totals are not in `before`, which holds all those with a
    // smaller n.
    for (unsigned n = 0; n < count; ++n) {
      unsigned at = isReverse ? count - 1 - n : n, spread = 0;
      for (auto [i, bit] : llvm::enumerate(step.bits))
        spread |= ((at >> i) & 1) << bit;
      if (n && wantsPrefixes) {
        Value mine =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, place, constantI32(b, loc, at));
        before = n == 1 ? total : select(mine, total, before);
      }
      Value from = arith::OrIOp::create(b, loc, others, constantI32(b, loc, spread));
      State part;
      for (unsigned i = 0; i < totals.size(); ++i) {
        auto type = cast<VectorType>(totals[i].getType());
        SmallVector<Value> loaded;
        for (int64_t r = 0; r < registers; ++r)
          loaded.push_back(LLVM::LoadOp::create(b, loc, types[i], pointerTo(i, from, r)));
        Value vector = vector::FromElementsOp::create(b, loc, type.clone(types[i]), loaded);
        part.push_back(fromStoredVector(b, loc, vector, type.getElementType()));
      }
      total = n ? combineAlong(total, part) : part;
    }
    totals = total;
    if (!wantsPrefixes)
      return success();
    // Nothing comes before the first warp, and `before` means nothing there.
    Value first = constantI32(b, loc, isReverse ? count - 1 : 0);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, place, first);
    State late = combineAlong(take(before, totalOf(allRegisters())), prefixes);
    prefixes = select(isFirst, prefixes, late);
    return success();
  }

  Operation *op;
  Block &body;
  bool isReverse, wantsPrefixes;
  ConversionPatternRewriter &b;
  Location loc;
  const LinearLayout &layout;
  State prefixes, totals;
  SmallVector<int64_t> kept; // the register that each total stands for: bits already joined are 0
  int64_t collapsed = 0;     // register bits already joined
  int64_t used = 0;          // bytes of scratch
};

struct LowerScan : OpConversionPattern<ScanOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScanOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(cast<RankedTensorType>(op.getSources()[0].getType()));
    auto steps = planScan(layout, op.getAxis());
    if (!steps)
      return op.emitError("internal: a scan in a layout that it cannot go through");
    FailureOr<State> results = Scanner(op, rewriter, layout, adaptor.getSources()).run(*steps);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

struct LowerReduceBy : OpConversionPattern<ReduceByOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReduceByOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(cast<RankedTensorType>(op.getSources()[0].getType()));
    auto steps = planScan(layout, op.getAxis());
    if (!steps)
      return op.emitError(
          "internal: a reduction by a function in a layout that it cannot go through");
    FailureOr<State> results = Scanner(op, rewriter, layout, adaptor.getSources()).run(*steps);
    if (failed(results))
      return failure();
    SmallVector<Value> values;
    for (auto [total, result] : llvm::zip(*results, op.getResults())) {
      auto wanted = dyn_cast<VectorType>(getTypeConverter()->convertType(result.getType()));
      if (wanted && total.getType() != wanted)
        return op.emitError(
            "internal: a reduction by a function leaves other registers than its result's layout");
      values.push_back(wanted ? total
                              : Value(vector::ExtractOp::create(rewriter, op.getLoc(), total,
                                                                ArrayRef<int64_t>{0})));
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// Stores the tile that is taken from; of a position known at compile time, the registers alone
/// that may hold it.
/// Known position: of the register bits that run along the axis alone, those that do not fit the
/// position are left out, and with them registers. Lanes and warps still hold other positions,
/// which are stored too.
void storeTaken(OpBuilder &b, TakeOp op, Value tile, const SharedLayout &shared, Value base) {
  RankedTensorType type = op.getSource().getType();
  LinearLayout layout = getLayout(type);
  unsigned axis = op.getAxis();
  APInt constant;
  if (!matchPattern(op.getPosition(), m_ConstantInt(&constant)))
    return storeTile(b, op.getLoc(), tile, layout, shared, base);
  int64_t position = std::clamp<int64_t>(constant.getSExtValue(), 0, type.getDimSize(axis) - 1);
  SmallVector<Coord> kept;
  SmallVector<int64_t> registers = {0};
  Coord corner(type.getRank(), 0); // of the registers that are kept
  for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Register))) {
    bool isAlong = basis[axis] && llvm::count_if(basis, [](int64_t x) { return x != 0; }) == 1;
    int64_t number = int64_t(1) << bit;
    if (!isAlong) {
      kept.push_back(basis);
      for (size_t i = 0, size = registers.size(); i < size; ++i)
        registers.push_back(registers[i] | number);
    } else if (position & basis[axis]) {
      corner[axis] |= basis[axis];
      for (int64_t &one : registers)
        one |= number;
    }
  }
  // Registers that are kept lie from `corner` on: the base moves there.
  base = LLVM::GEPOp::create(b, op.getLoc(), base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(shared.getOffset(corner))});
  storeTile(b, op.getLoc(), takeElements(b, op.getLoc(), tile, registers),
            LinearLayout(type.getShape(), kept, layout.getBases(InDim::Lane),
                         layout.getBases(InDim::Warp)),
            shared, base);
}

/// The element at a position that all threads agree on, of a tile that one warp holds: the register
/// is chosen first, then the lane.
/// Bits of the position choose the lane and the register: `steps` has one for each bit of the axis,
/// lowest first, as for a scan.
Value takeByShuffle(OpBuilder &b, Location loc, ArrayRef<ScanStep> steps, int64_t extent,
                    Value tile, Value position) {
  Type integer = position.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value));
  };
  position = arith::MaxSIOp::create(b, loc, position, constant(0));
  position = arith::MinSIOp::create(b, loc, position, constant(extent - 1));
  if (integer.isIndex())
    position = arith::IndexCastOp::create(b, loc, b.getI32Type(), position);
  else if (integer.getIntOrFloatBitWidth() < 32)
    position = arith::ExtUIOp::create(b, loc, b.getI32Type(), position);
  else if (integer.getIntOrFloatBitWidth() > 32)
    position = arith::TruncIOp::create(b, loc, b.getI32Type(), position);
  Value lane = constantI32(b, loc, 0);
  for (const auto &[i, step] : llvm::enumerate(steps)) {
    Value bit = arith::ShRUIOp::create(b, loc, position, constantI32(b, loc, i));
    bit = arith::AndIOp::create(b, loc, bit, constantI32(b, loc, 1));
    if (step.dim == InDim::Lane) {
      bit = arith::ShLIOp::create(b, loc, bit, constantI32(b, loc, step.bits[0]));
      lane = arith::OrIOp::create(b, loc, lane, bit);
    }
  }
  // From the highest bit of the register's number: halves of what is left.
  SmallVector<std::pair<unsigned, unsigned>> registers; // bit of the register, bit of the position
  for (const auto &[i, step] : llvm::enumerate(steps))
    if (step.dim == InDim::Register)
      registers.push_back({step.bits[0], unsigned(i)});
  llvm::sort(registers, std::greater<>());
  // From the top bit down: each selection halves the vector, n - 1 selections in all for n
  // registers.
  for (auto [number, at] : registers) {
    Value bit = arith::ShRUIOp::create(b, loc, position, constantI32(b, loc, at));
    bit = arith::TruncIOp::create(b, loc, b.getI1Type(), bit);
    int64_t half = int64_t(1) << number;
    auto part = [&](int64_t from) {
      return takeElements(b, loc, tile, llvm::to_vector(llvm::seq(from, from + half)));
    };
    tile = arith::SelectOp::create(b, loc, bit, part(half), part(0));
  }
  return vector::ExtractOp::create(b, loc, readLane(b, loc, tile, lane), ArrayRef<int64_t>{0});
}

/// The tile goes to shared memory row by row; each thread reads what its positions name.
struct LowerTake : OpConversionPattern<TakeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TakeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (auto steps = planTake(op); steps && !offset) {
      b.replaceOp(op, takeByShuffle(b, loc, *steps, op.getSource().getType().getDimSize(0),
                                    adaptor.getSource(), adaptor.getPosition()));
      return success();
    }
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    RankedTensorType source = op.getSource().getType();
    SharedLayout shared = getTakeScratch(source);
    Value base = getSharedPointer(b, loc, *offset);
    // tile-gpu-insert-barriers has put a barrier ahead of these stores where the memory was in use;
    // the one behind them lets all threads read.
    storeTaken(b, op, adaptor.getSource(), shared, base);
    BarrierOp::create(b, loc);

    auto result = dyn_cast<RankedTensorType>(op.getType());
    int64_t axis = op.getAxis(), added = result ? result.getRank() - (source.getRank() - 1) : 0;
    unsigned count = result ? getLayout(result).getNumRegisters() : 1;
    auto lanes = VectorType::get(count, b.getI32Type());
    auto splat = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(lanes, b.getI32IntegerAttr(value)));
    };
    // The position, clamped in its own width, as one number for each register.
    Value at = adaptor.getPosition();
    if (!isa<VectorType>(at.getType()))
      at = vector::BroadcastOp::create(b, loc, VectorType::get(count, at.getType()), at);
    auto limit = [&](int64_t value) -> Value {
      auto type = cast<VectorType>(at.getType());
      return arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(type.getElementType(), value))));
    };
    at = arith::MaxSIOp::create(b, loc, at, limit(0));
    at = arith::MinSIOp::create(b, loc, at, limit(source.getDimSize(axis) - 1));
    if (getElementTypeOrSelf(at.getType()).isIndex())
      at = arith::IndexCastOp::create(b, loc, lanes, at);
    std::optional<ThreadCoordinates> thread;
    if (result)
      thread.emplace(b, loc, getLayout(result));
    Value element; // row-major number of the element
    // Coordinates of the result that are not along the axis are the source's; `added` dimensions of
    // the position take the axis's place.
    for (int64_t d = 0; d < source.getRank(); ++d) {
      Value coordinate = d == axis ? at : thread->getVector(b, loc, d < axis ? d : d - 1 + added);
      if (element) {
        element = arith::MulIOp::create(b, loc, element, splat(source.getDimSize(d)));
        element = arith::AddIOp::create(b, loc, element, coordinate);
      } else {
        element = coordinate;
      }
    }
    Type wanted = result ? result.getElementType() : op.getType();
    auto none = cast<VectorType>(toStoredVector(b, loc, adaptor.getSource()).getType());
    Type stored = none.getElementType();
    SmallVector<Value> loaded;
    for (int64_t r = 0; r < count; ++r) {
      Value number = vector::ExtractOp::create(b, loc, element, ArrayRef<int64_t>{r});
      Value pointer =
          LLVM::GEPOp::create(b, loc, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{number});
      loaded.push_back(LLVM::LoadOp::create(b, loc, stored, pointer));
    }
    Value all = vector::FromElementsOp::create(b, loc, VectorType::get(count, stored), loaded);
    all = fromStoredVector(b, loc, all, wanted);
    b.replaceOp(op,
                result ? all : Value(vector::ExtractOp::create(b, loc, all, ArrayRef<int64_t>{0})));
    return success();
  }
};

} // namespace

void tile::gpu::populateScanPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerScan, LowerReduceBy, LowerTake>(converter, patterns.getContext());
}
