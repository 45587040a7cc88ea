// tile-gpu-guard-masks: skips masks of positions where all of a tile passes them.
//
//           j                        mask i >= j of a tile of positions, as a causal product has it
//     +-----------+  +-----------+
//   i | 1 1 1 1 1 |  | 1 0 0 0 0 |   left: the least i >= the greatest j, the mask is left out
//     | 1 1 1 1 1 |  | 1 1 0 0 0 |   right: the diagonal goes through, each element is compared
//     +-----------+  +-----------+
//
// A comparison of positions is true for the whole tile if it holds for the extremes of both sides,
// which are scalars. Where that is so at run time, the branch leaves out the mask, the positions it
// is made from and the selection. Elsewhere positions are compared in 32 bits, by their distances,
// as far as no sum of them wraps around:
//
//   start + i >= other + j            i + clamp(start - other) >= j
//   two comparisons of 32 bits        one, and a sum for each row
#include "dialect/PaddingNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/ValueRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUGUARDMASKS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Fewer registers a thread are masked as fast as the branch is taken.
constexpr unsigned minRegisters = 16;
/// Sums of so many positions do not wrap where each is smaller than that: they stay below 2^63.
constexpr unsigned mostPositions = 64;
constexpr int64_t mostPosition = int64_t(1) << 56;

/// The smallest and the largest element of a tile of index.
/// Scalars, computed before the branch.
struct Range {
  Value low, high;
};

/// Builds scalars that bound tiles; null where nothing is known.
/// Null means: cannot tell. The mask is then kept as it is.
class Bounds {
public:
  Bounds(OpBuilder &builder, Location loc, ValueRanges &ranges)
      : builder(builder), loc(loc), ranges(ranges) {}

  /// True at run time only if every element of the mask is true.
  /// Sound, not complete: false at run time may be wrong, true never.
  Value getAllTrue(Value mask) {
    Operation *op = mask.getDefiningOp();
    if (!op)
      return {};
    if (isa<BroadcastOp, ReshapeOp, PermuteOp, ConvertLayoutOp>(op))
      return getAllTrue(op->getOperand(0));
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return splat.getInput();
    if (matchPattern(op, m_One()))
      return arith::ConstantIntOp::create(builder, loc, 1, 1);
    if (auto both = dyn_cast<arith::AndIOp>(op)) {
      // Both must be known; of an `or` either one is enough.
      Value a = getAllTrue(both.getLhs()), b = a ? getAllTrue(both.getRhs()) : Value();
      return b ? arith::AndIOp::create(builder, loc, a, b).getResult() : Value();
    }
    if (auto either = dyn_cast<arith::OrIOp>(op)) {
      Value a = getAllTrue(either.getLhs()), b = getAllTrue(either.getRhs());
      return a && b ? arith::OrIOp::create(builder, loc, a, b).getResult() : a ? a : b;
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return compareExtremes(compare);
    if (auto inside = dyn_cast<InsideOp>(op))
      return isInside(inside);
    return {};
  }

private:
  // a < b for all elements if max(a) < min(b).
  Value compareExtremes(arith::CmpIOp compare) {
    arith::CmpIPredicate predicate = compare.getPredicate();
    bool less = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
    bool greater = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
    if (!less && !greater)
      return {};
    checks.clear();
    asked = 0;
    auto a = getRange(compare.getLhs());
    auto b = a ? getRange(compare.getRhs()) : std::nullopt;
    if (!b)
      return {};
    Value all = less ? arith::CmpIOp::create(builder, loc, predicate, a->high, b->low).getResult()
                     : arith::CmpIOp::create(builder, loc, predicate, a->low, b->high).getResult();
    for (Value check : checks)
      all = arith::AndIOp::create(builder, loc, all, check);
    return all;
  }

  /// A scalar that positions are sums of, as a range; checked at run time where nothing says that
  /// it is small, since sums of large ones wrap around, each element for itself.
  Range getSmall(Value value) {
    ConstantIntRanges range = ranges.find(value);
    if (range.smin().slt(-mostPosition) || range.smax().sgt(mostPosition)) {
      Value moved = arith::AddIOp::create(builder, loc, value, constant(mostPosition));
      checks.push_back(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, moved,
                                             constant(2 * mostPosition)));
    }
    return {value, value};
  }

  /// The extremes of a tile of positions, where the checks hold.
  /// Sums of ranges: each bound is a sum of bounds.
  std::optional<Range> getRange(Value tile) {
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    Operation *op = tile.getDefiningOp();
    if (!op || !type || !type.getElementType().isIndex() || ++asked > mostPositions)
      return std::nullopt;
    if (isa<BroadcastOp, ReshapeOp, PermuteOp, ConvertLayoutOp>(op))
      return getRange(op->getOperand(0));
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return getSmall(splat.getInput());
    if (DenseElementsAttr elements; matchPattern(op, m_Constant(&elements)) && elements.isSplat()) {
      return getSmall(constant(elements.getSplatValue<APInt>().getSExtValue()));
    }
    if (auto iota = dyn_cast<IotaOp>(op)) {
      getSmall(iota.getStart());
      Value reach =
                getSmall(constant((getReal(iota, type.getShape())[0] - 1) * iota.getStep())).low,
            last = arith::AddIOp::create(builder, loc, iota.getStart(), reach);
      return iota.getStep() >= 0 ? Range{iota.getStart(), last} : Range{last, iota.getStart()};
    }
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    auto a = getRange(op->getOperand(0));
    auto b = a ? getRange(op->getOperand(1)) : std::nullopt;
    if (!b)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return Range{arith::AddIOp::create(builder, loc, a->low, b->low),
                   arith::AddIOp::create(builder, loc, a->high, b->high)};
    // Differences cross over.
    return Range{arith::SubIOp::create(builder, loc, a->low, b->high),
                 arith::SubIOp::create(builder, loc, a->high, b->low)};
  }

  /// Every position of every dimension exists.
  /// As the prover would ask, but at run time.
  Value isInside(InsideOp inside) {
    Value all = arith::ConstantIntOp::create(builder, loc, 1, 1);
    auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      all = arith::AndIOp::create(builder, loc, all,
                                  arith::CmpIOp::create(builder, loc, predicate, a, b));
    };
    for (unsigned d = 0; d < inside.getSizes().size(); ++d) {
      if (inside.getInBounds()[d])
        continue;
      int64_t size = inside.isDropped(d) ? 1 : getReal(inside, inside.getSizes())[d];
      int64_t reach = (size - 1) * inside.getSteps()[d];
      // A negative step would turn first and last round.
      if (reach < 0)
        return {};
      Value start = inside.getStarts()[d],
            last = arith::AddIOp::create(builder, loc, start, constant(reach));
      Value extent = ExtentOp::create(builder, loc, builder.getIndexType(), inside.getView(), d);
      require(arith::CmpIPredicate::sge, start, constant(0));
      require(arith::CmpIPredicate::slt, last, extent);
      if (reach > 0) // `last` may have wrapped around
        require(arith::CmpIPredicate::slt, start, extent);
      if (Value end = inside.getEnd(d))
        require(arith::CmpIPredicate::slt, last, end);
    }
    return all;
  }

  /// Extents without padding, behind which nothing is asked for.
  static ArrayRef<int64_t> getReal(Operation *op, ArrayRef<int64_t> padded) {
    auto real = op->getAttrOfType<DenseI64ArrayAttr>(realExtentsName);
    return real ? real.asArrayRef() : padded;
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  OpBuilder &builder;
  Location loc;
  ValueRanges &ranges;
  SmallVector<Value> checks; ///< of the comparison at hand
  unsigned asked = 0;        ///< tiles of positions that it is made from, each time they are used
};

/// A tile of positions as a sum of numbers that all elements share and of counts from 0.
class PositionSum {
public:
  explicit PositionSum(ValueRanges &ranges) : ranges(ranges) {}

  /// Adds `tile`, or takes it away; false if it is no such sum, or one that may wrap around.
  bool add(Value tile, bool isNegative) {
    SmallVector<Operation *> around;
    return add(tile, isNegative, around);
  }

  /// False if it is one number for all elements.
  bool hasCounts() const { return !counts.empty(); }

  /// Compares the sum with 0 by elements of 32 bits; `type` is that of the positions.
  Value compare(OpBuilder &builder, Location loc, arith::CmpIPredicate predicate,
                RankedTensorType type) {
    // All counts together reach less far than this distance, at which it stays as large as it is.
    Value far = arith::ConstantIndexOp::create(builder, loc, farthest),
          sum = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [number, isNegative] : numbers)
      sum = isNegative ? arith::SubIOp::create(builder, loc, sum, number).getResult()
                       : arith::AddIOp::create(builder, loc, sum, number).getResult();
    Value least = arith::ConstantIndexOp::create(builder, loc, -farthest);
    sum =
        arith::MinSIOp::create(builder, loc, far, arith::MaxSIOp::create(builder, loc, sum, least));
    // It goes to the counts that a thread has most of: the others alone may be kept from one trip
    // to the next, in few registers.
    Count *most = nullptr;
    for (Count &count : counts)
      if (!most || count.getRegisters() > most->getRegisters())
        most = &count;
    if (most && most->isNegative)
      sum =
          arith::SubIOp::create(builder, loc, arith::ConstantIndexOp::create(builder, loc, 0), sum);
    Value distance = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), sum);
    RankedTensorType narrow = narrowType(type);
    Value sides[2]; // what is added, what is taken away
    for (Count &count : counts) {
      Value tile = build(builder, loc, count, &count == most ? distance : Value());
      Value &side = sides[count.isNegative];
      side = side ? arith::AddIOp::create(builder, loc, side, tile).getResult() : tile;
    }
    if (!sides[0])
      sides[0] = zero(builder, loc, narrow);
    if (!sides[1])
      sides[1] = zero(builder, loc, narrow);
    return arith::CmpIOp::create(builder, loc, predicate, sides[0], sides[1]);
  }

private:
  static constexpr int64_t farthest = int64_t(1) << 30;

  /// iota(0), with what repeats or moves its elements, the outermost first.
  struct Count {
    IotaOp iota;
    SmallVector<Operation *> around;
    bool isNegative;

    unsigned getRegisters() { return getLayout(iota.getType()).getNumRegisters(); }
  };

  static Value zero(OpBuilder &builder, Location loc, RankedTensorType type) {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, builder.getI32IntegerAttr(0)));
  }

  static RankedTensorType narrowType(RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), IntegerType::get(type.getContext(), 32),
                                 type.getEncoding());
  }

  bool addNumber(Value number, bool isNegative) {
    ConstantIntRanges range = ranges.find(number);
    numbers.push_back({number, isNegative});
    return range.smin().sge(-mostPosition) && range.smax().sle(mostPosition);
  }

  bool add(Value tile, bool isNegative, SmallVector<Operation *> &around) {
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    Operation *op = tile.getDefiningOp();
    if (!op || !type || !type.getElementType().isIndex() || ++asked > mostPositions)
      return false;
    if (isa<BroadcastOp, ReshapeOp, PermuteOp, ConvertLayoutOp>(op)) {
      around.push_back(op);
      bool found = add(op->getOperand(0), isNegative, around);
      around.pop_back();
      return found;
    }
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return addNumber(splat.getInput(), isNegative);
    if (DenseElementsAttr elements; matchPattern(op, m_Constant(&elements)) && elements.isSplat()) {
      int64_t number = elements.getSplatValue<APInt>().getSExtValue();
      OpBuilder builder(op);
      return addNumber(arith::ConstantIndexOp::create(builder, op->getLoc(), number), isNegative);
    }
    if (auto iota = dyn_cast<IotaOp>(op)) {
      int64_t step = iota.getStep();
      if (step <= -farthest || step >= farthest)
        return false;
      reach += (type.getNumElements() - 1) * std::abs(step);
      counts.push_back({iota, around, isNegative});
      return reach < farthest / 2 && addNumber(iota.getStart(), isNegative);
    }
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return false;
    return add(op->getOperand(0), isNegative, around) &&
           add(op->getOperand(1), isNegative != isa<arith::SubIOp>(op), around);
  }

  /// The count's tile of i32, `more` added to it where it has fewest elements.
  Value build(OpBuilder &builder, Location loc, Count &count, Value more) {
    RankedTensorType type = count.iota.getType();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          tile = IotaOp::create(builder, loc, type, zero, count.iota.getStepAttr());
    tile = arith::IndexCastOp::create(builder, loc, narrowType(type), tile);
    if (more)
      tile = arith::AddIOp::create(builder, loc, tile,
                                   tensor::SplatOp::create(builder, loc, tile.getType(), more));
    for (Operation *op : llvm::reverse(count.around)) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), tile);
      tile = builder.clone(*op, mapping)->getResult(0);
      tile.setType(narrowType(cast<RankedTensorType>(tile.getType())));
    }
    return tile;
  }

  ValueRanges &ranges;
  SmallVector<std::pair<Value, bool>> numbers; ///< and whether they are taken away
  SmallVector<Count> counts;
  int64_t reach = 0;
  unsigned asked = 0;
};

/// A comparison of positions by elements of 32 bits; null if it is another one.
Value narrow(OpBuilder &builder, arith::CmpIOp compare, ValueRanges &ranges) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (!llvm::is_contained({Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge},
                          predicate))
    return {};
  PositionSum difference(ranges);
  auto type = dyn_cast<RankedTensorType>(compare.getLhs().getType());
  if (!type || !hasLayout(type) || !difference.add(compare.getLhs(), /*isNegative=*/false) ||
      !difference.add(compare.getRhs(), /*isNegative=*/true) || !difference.hasCounts())
    return {};
  return difference.compare(builder, compare.getLoc(), predicate, type);
}

/// The operations that compute `value` for the mask alone: copied to where the mask is.
/// Into the branch, so that positions are not computed where the mask is left out. What others use
/// stays where it is as well.
Value copyMask(OpBuilder &builder, Value value, IRMapping &mapping, Block *home,
               ValueRanges &ranges) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    if (Value narrowed = narrow(builder, compare, ranges)) {
      mapping.map(value, narrowed);
      return narrowed;
    }
  if (!isa<RankedTensorType>(value.getType()) || !op || op->getBlock() != home ||
      op->getNumRegions() || !isMemoryEffectFree(op) || op->getNumResults() != 1)
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, copyMask(builder, operand, mapping, home, ranges));
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void guard(arith::SelectOp select, ValueRanges &ranges) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || !hasLayout(type) || getLayout(type).getNumRegisters() < minRegisters ||
      !isa<RankedTensorType>(select.getCondition().getType()))
    return;
  OpBuilder builder(select);
  Location loc = select.getLoc();
  Value all = Bounds(builder, loc, ranges).getAllTrue(select.getCondition());
  // Known at compile time: the canonicaliser has it.
  if (!all || matchPattern(all, m_Constant()))
    return;
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, all, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  builder.setInsertionPointToEnd(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, select.getTrueValue());
  builder.setInsertionPointToEnd(&branch.getElseRegion().front());
  IRMapping mapping;
  Value mask = copyMask(builder, select.getCondition(), mapping, select->getBlock(), ranges);
  Value masked =
      arith::SelectOp::create(builder, loc, mask, select.getTrueValue(), select.getFalseValue());
  scf::YieldOp::create(builder, loc, masked);
  select.replaceAllUsesWith(branch.getResult(0));
  select.erase();
}

struct TileGPUGuardMasks : tile::impl::TileGPUGuardMasksBase<TileGPUGuardMasks> {
  // Collected first: guarding makes new selections.
  void runOnOperation() override {
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp select) {
      if (select->getParentOfType<KernelOp>())
        selects.push_back(select);
    });
    ValueRanges ranges;
    for (arith::SelectOp select : selects)
      guard(select, ranges);
  }
};

} // namespace
