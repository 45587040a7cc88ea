// What meets in a kernel without products:
//
//   x[t - 1] + x[t] + x[t + 1]   a thread holds neighbours along t (shiftInRegisters())
//   dy[t] * that                 dy as memory has it: one of the two goes between threads
//
//   xs = reshape(x[k], [K, P])   as memory has it, for a sum over its parts
//   w[n, K, P] * xs              wants xs as it has w
//
//   x[r[:, None], c]             wants r, which others want as memory has it, as rows
//
//   atomic_add(o[c], sum(x[t, c], axis: 0))    has neighbours in one thread, adds them by others
#include "passes/Analysis/CostModel/SharedMeetings.h"
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/PartLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tile::cost {

namespace {

RankedTensorType getTile(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Extents beyond one.
int64_t countAxes(RankedTensorType type) {
  return llvm::count_if(type.getShape(), [](int64_t extent) { return extent > 1; });
}

int64_t getBits(Value tile) {
  Type element = getTile(tile).getElementType();
  return element.isIndex() ? 64 : gpu::getElementBits(element);
}

/// True if another operation computes the same: they will be one.
bool isRepeated(Operation *op) {
  return llvm::any_of(op->getOperand(0).getUsers(), [&](Operation *other) {
    return other != op &&
           OperationEquivalence::isEquivalentTo(op, other, OperationEquivalence::IgnoreLocations);
  });
}

/// What is widened for one user goes between threads as it was.
Value getMoved(Value value) {
  while (Operation *op = getTile(value) && value.hasOneUse() ? value.getDefiningOp() : nullptr) {
    if (!isa<CastOpInterface>(op) || isRepeated(op) || !getTile(op->getOperand(0)) ||
        getBits(op->getOperand(0)) >= getBits(value))
      break;
    value = op->getOperand(0);
  }
  return value;
}

class Finder {
public:
  std::vector<Meeting> run(KernelOp kernel) {
    // Loops' variables have what the trip before has left.
    for (bool again : {false, true}) {
      last = again;
      kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    }
    return std::move(found);
  }

private:
  Held getHeld(Value value) const {
    auto known = held.find(value);
    return known == held.end() ? Held::Anyhow : known->second;
  }

  void meet(Operation *op, Value tile, bool isVector, bool isShifted = false) {
    if (last)
      found.push_back({op, tile, isVector, /*isAtomic=*/false, getHeld(tile), isShifted});
  }

  /// Columns go around loops, and behind them.
  void visitLoop(scf::ForOp loop) {
    for (auto [argument, yielded, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
      if (getHeld(yielded) == Held::Columns)
        held[argument] = held[result] = Held::Columns;
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop);
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      RankedTensorType source = getTile(reduce.getSource()), type = getTile(reduce.getResult());
      if (source && type && countAxes(type) > 0 && reduce.getAxis() &&
          int64_t(*reduce.getAxis()) != source.getRank() - 1)
        held[reduce.getResult()] = Held::Columns;
      return;
    }
    if (auto histogram = dyn_cast<HistogramOp>(op)) {
      held[histogram.getResult()] = Held::AsLoaded;
      return;
    }
    if (isa<AtomicOp>(op)) {
      for (Value operand : op->getOperands())
        if (Value tile = getMoved(operand); getTile(tile) && getHeld(tile) != Held::Anyhow && last)
          found.push_back({op, tile, /*isVector=*/true, /*isAtomic=*/true, getHeld(tile)});
      return;
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (RankedTensorType type = getTile(load.getResult()); type && !gpu::isRematerializable(op))
        held[load.getResult()] =
            type.getRank() > 1 && gpu::getShiftedDim(load, gpu::getAccessOrder(load)[0])
                ? Held::Shifted
                : Held::AsLoaded;
      return;
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      RankedTensorType type = getTile(broadcast.getSource());
      Held source = getHeld(broadcast.getSource());
      if (type && countAxes(type) > 0 && source != Held::Anyhow && source != Held::Columns)
        meet(op, broadcast.getSource(), countAxes(type) == 1);
      return;
    }
    if (op->getNumResults() != 1 || !getTile(op->getResult(0)))
      return;
    if (isa<ReshapeOp>(op))
      held[op->getResult(0)] = getHeld(op->getOperand(0));
    if (!op->hasTrait<OpTrait::Elementwise>())
      return;
    Held first = Held::Anyhow;
    for (Value operand : op->getOperands()) {
      Held other = getHeld(operand);
      if (first == Held::Anyhow)
        first = other;
      else if (other != Held::Anyhow && other != first && other != Held::Columns &&
               first != Held::Columns)
        meet(op, operand, /*isVector=*/false, /*isShifted=*/true);
    }
    held[op->getResult(0)] = first;
  }

  bool last = false;                // round: what meets is noted
  llvm::DenseMap<Value, Held> held; // looked up only
  std::vector<Meeting> found;
};

} // namespace

std::vector<Meeting> findMeetings(KernelOp kernel) { return Finder().run(kernel); }

} // namespace tile::cost
