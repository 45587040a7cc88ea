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
// is made from and the selection.
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
      Value reach = getSmall(constant((type.getNumElements() - 1) * iota.getStep())).low,
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
      int64_t size = inside.isDropped(d) ? 1 : inside.getSizes()[d];
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

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  OpBuilder &builder;
  Location loc;
  ValueRanges &ranges;
  SmallVector<Value> checks; ///< of the comparison at hand
  unsigned asked = 0;        ///< tiles of positions that it is made from, each time they are used
};

/// The operations that compute `value` for the mask alone: copied to where the mask is.
/// Into the branch, so that positions are not computed where the mask is left out. What others use
/// stays where it is as well.
Value copyMask(OpBuilder &builder, Value value, IRMapping &mapping, Block *home) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || !op || op->getBlock() != home ||
      op->getNumRegions() || !isMemoryEffectFree(op) || op->getNumResults() != 1)
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, copyMask(builder, operand, mapping, home));
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
  Value mask = copyMask(builder, select.getCondition(), mapping, select->getBlock());
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
