// A maximum across lanes that only decides a selection is left out where each lane's own part of it
// decides alike.
//
//   m = max of the row                        part = max of what the lane holds of the row
//   high = max(top, m)                        if all lanes of the warp: P(max(top, part))
//   t = P(high) ? top : high            ->      t = top, r = 1
//   r = P(high) ? 1 : f(high)                 else
//                                               m = max of part across lanes; t, r as before
//
// The maximum is one of the lanes' parts, so P holds for it where it holds for all of them,
// whatever P is. The exchanges between lanes, each some thirty clocks that depend on the one
// before, and all that is computed from the maximum stand in the branch. A minimum likewise; a sum
// is none of its parts.
#include "passes/TileGPU/LazyReductions.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/LaneAxis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// What is computed from a reduction of one number a row, up to the selections that it decides.
struct Decision {
  llvm::SetVector<Operation *> computed; ///< of the reduction, in program order, without it
  SmallVector<arith::SelectOp> outcomes; ///< selections by `condition`, one arm of which is there
  Value condition;
  bool holds = true; ///< what the condition is where the reduction is not needed
};

/// True for an element-wise operation from tiles of one number a row to such a tile.
bool isOfRows(Operation *op, ArrayRef<int64_t> shape) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || !isMemoryEffectFree(op) ||
      op->getNumResults() != 1 || op->getNumRegions())
    return false;
  auto isRow = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && tile.getShape() == shape;
  };
  return isRow(op->getResult(0).getType()) && llvm::all_of(op->getOperandTypes(), isRow);
}

/// Follows the reduction to where its numbers are used; none if they reach anything but selections
/// by one condition, each with an arm that needs no reduction.
std::optional<Decision> findDecision(ReduceOp reduce) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(reduce.getType()).getShape();
  Block *block = reduce->getBlock();
  Decision found;
  DenseSet<Value> known{reduce.getResult()}; // looked up only
  for (Operation *op = reduce->getNextNode(); op; op = op->getNextNode()) {
    bool uses = false;
    op->walk([&](Operation *inner) {
      uses |= llvm::any_of(inner->getOperands(), [&](Value v) { return known.contains(v); });
    });
    if (!uses)
      continue;
    if (!isOfRows(op, shape))
      return std::nullopt;
    auto select = dyn_cast<arith::SelectOp>(op);
    if (select && known.contains(select.getCondition())) {
      bool first = !known.contains(select.getTrueValue()),
           second = !known.contains(select.getFalseValue());
      if (!first && !second)
        return std::nullopt;
      // Both arms are there: the condition alone is computed from the reduction.
      bool holds = first && second ? found.holds : first;
      if (found.condition && (found.condition != select.getCondition() || found.holds != holds))
        return std::nullopt;
      found.condition = select.getCondition();
      found.holds = holds;
      found.outcomes.push_back(select);
      continue;
    }
    found.computed.insert(op);
    known.insert(op->getResult(0));
  }
  if (!found.condition || found.condition.getParentBlock() != block)
    return std::nullopt;
  // What the branch takes from outside of it has to stand ahead of it.
  Operation *place = found.outcomes.front();
  auto stands = [&](Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return known.contains(operand) || !def || def->getBlock() != block ||
             def->isBeforeInBlock(place);
    });
  };
  if (!llvm::all_of(found.computed, stands) || !llvm::all_of(found.outcomes, stands))
    return std::nullopt;
  return found;
}

/// The condition for what each lane holds: `partial` in place of the reduction.
Value decideInLanes(OpBuilder &builder, ReduceOp reduce, const Decision &decision,
                    const LaneAxis &lanes, Value partial) {
  llvm::SmallPtrSet<Operation *, 8> needed;
  SmallVector<Value> wanted{decision.condition};
  while (!wanted.empty())
    if (Operation *op = wanted.pop_back_val().getDefiningOp();
        op && decision.computed.contains(op) && needed.insert(op).second)
      llvm::append_range(wanted, op->getOperands());
  IRMapping mapping;
  mapping.map(reduce.getResult(), partial);
  LinearLayout layout = lanes.getPartial();
  for (Operation *op : decision.computed) {
    if (!needed.contains(op))
      continue;
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, lanes.spreadOverLanes(builder, op->getLoc(), operand));
    Operation *clone = builder.clone(*op, mapping);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    clone->getResult(0).setType(
        withLayout(RankedTensorType::get(layout.getShape(), type.getElementType()), layout));
  }
  Value result = mapping.lookup(decision.condition);
  if (decision.holds)
    return result;
  auto type = cast<RankedTensorType>(result.getType());
  Value yes = arith::ConstantOp::create(builder, reduce.getLoc(),
                                        DenseElementsAttr::get(type, builder.getBoolAttr(true)));
  return arith::XOrIOp::create(builder, reduce.getLoc(), result, yes);
}

} // namespace

bool tile::gpu::reduceLazily(ReduceOp reduce) {
  switch (reduce.getKind()) {
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::MaxUnsigned:
  case ReduceKind::MinUnsigned:
    break;
  default:
    return false;
  }
  if (!isa<RankedTensorType>(reduce.getType()))
    return false; // a scalar decides branches, not selections of tiles
  std::optional<LaneAxis> lanes = LaneAxis::of(reduce);
  if (!lanes)
    return false;
  std::optional<Decision> decision = findDecision(reduce);
  if (!decision)
    return false;
  OpBuilder builder(decision->outcomes.front());
  Location loc = reduce.getLoc();
  Value partial = lanes->reduceInLanes(builder, reduce);
  Value decided = decideInLanes(builder, reduce, *decision, *lanes, partial);
  Value all = WarpAllOp::create(builder, loc, builder.getI1Type(), decided);
  SmallVector<Type> types;
  for (arith::SelectOp outcome : decision->outcomes)
    types.push_back(outcome.getType());
  auto branch = scf::IfOp::create(builder, loc, types, all, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  SmallVector<Value> without, with;
  for (auto [outcome, result] : llvm::zip(decision->outcomes, branch.getResults())) {
    without.push_back(decision->holds ? outcome.getTrueValue() : outcome.getFalseValue());
    outcome.getResult().replaceAllUsesWith(result);
    with.push_back(outcome.getResult());
  }
  builder.setInsertionPointToEnd(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, without);
  Block *other = &branch.getElseRegion().front();
  builder.setInsertionPointToEnd(other);
  Value whole = lanes->reduceAcrossLanes(builder, loc, reduce.getKind(), partial);
  auto yield = scf::YieldOp::create(builder, loc, with);
  reduce.getResult().replaceAllUsesWith(whole);
  reduce.erase();
  for (Operation *op : decision->computed)
    op->moveBefore(yield);
  for (arith::SelectOp outcome : decision->outcomes)
    outcome->moveBefore(yield);
  return true;
}
