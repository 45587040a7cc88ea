// What meets in a kernel without products:
//
//   x[t - 1] + x[t] + x[t + 1]   a thread holds neighbours along t (shiftInRegisters())
//   dy[t] * that                 dy as memory has it: one of the two goes between threads
//
//   xs = reshape(x[k], [K, P])   as memory has it, for a sum over its parts
//   w[n, K, P] * xs              wants xs as it has w
//
//   x[r[:, None], c]             wants r, which others want as memory has it, as rows
#include "passes/Analysis/CostModel/SharedMeetings.h"
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/PartLayouts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tile::cost {

namespace {

/// How threads hold a tile.
enum class Held : uint8_t { Anyhow, AsLoaded, Shifted };

RankedTensorType getTile(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Extents beyond one.
int64_t countAxes(RankedTensorType type) {
  return llvm::count_if(type.getShape(), [](int64_t extent) { return extent > 1; });
}

class Finder {
public:
  std::vector<Meeting> run(KernelOp kernel) {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    return std::move(found);
  }

private:
  Held getHeld(Value value) const {
    auto known = held.find(value);
    return known == held.end() ? Held::Anyhow : known->second;
  }

  void visit(Operation *op) {
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
      if (type && countAxes(type) > 0 && getHeld(broadcast.getSource()) != Held::Anyhow)
        found.push_back({op, broadcast.getSource(), countAxes(type) == 1});
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
      else if (other != Held::Anyhow && other != first)
        found.push_back({op, operand, /*isVector=*/false, /*isShifted=*/true});
    }
    held[op->getResult(0)] = first;
  }

  llvm::DenseMap<Value, Held> held; // looked up only
  std::vector<Meeting> found;
};

} // namespace

std::vector<Meeting> findMeetings(KernelOp kernel) { return Finder().run(kernel); }

} // namespace tile::cost
