// How many bytes of tiles are alive at once: MLIR's liveness, with what registers do not hold left out.
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/Analysis/CostModel/KernelWork.h"
#include "passes/TileGPU/DotSelection.h"

#include "mlir/Analysis/Liveness.h"
#include "llvm/ADT/SetVector.h"
#include <functional>
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::cost {

namespace {

class PressureCounter {
public:
  explicit PressureCounter(KernelOp kernel) : liveness(kernel), kernel(kernel) {}

  int64_t run() { return measure(kernel.getBody().front(), 0); }

private:
  /// A value that stands for another's registers: what only renames or repeats it.
  static Value getHolder(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<BroadcastOp, ReshapeOp, PermuteOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Computed element by element for one use in the same block: no more than a few elements exist at a time, but what they
  /// come from has to stay.
  static bool isStreamed(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasTrait<OpTrait::Elementwise>() || !value.hasOneUse() || isFree(value))
      return false;
    Operation *user = *value.user_begin();
    return user->getBlock() == op->getBlock() && (user->hasTrait<OpTrait::Elementwise>() || isa<ReduceOp, StoreOp>(user));
  }

  /// Goes to products straight from memory.
  static bool isFetched(Value value) {
    return value.getDefiningOp<LoadOp>() && llvm::all_of(value.getUsers(), [](Operation *user) {
      if (auto permute = dyn_cast<PermuteOp>(user))
        return llvm::all_of(permute->getUsers(), [](Operation *each) { return isa<DotOp>(each); });
      return isa<DotOp>(user);
    });
  }

  static int64_t getBytes(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || isFree(value) || isFetched(value))
      return 0;
    int64_t elements = 1;
    for (int64_t extent : type.getShape())
      elements *= int64_t(llvm::PowerOf2Ceil(extent));
    unsigned bits = type.getElementType().isIndex() ? 32 : std::max(8u, gpu::getElementBits(type.getElementType()));
    return elements * bits / 8;
  }

  /// The most that is alive between two operations of a block; `through` is alive all the time, beside what the block uses.
  int64_t measure(Block &block, int64_t through) {
    const LivenessBlockInfo *info = liveness.getLiveness(&block);
    llvm::SetVector<Value> live;
    int64_t bytes = through, most = 0;
    std::function<void(Value)> add = [&](Value value) {
      value = getHolder(value);
      if (isStreamed(value)) {
        for (Value operand : value.getDefiningOp()->getOperands())
          add(operand);
        return;
      }
      if (live.insert(value))
        bytes += getBytes(value);
    };
    auto remove = [&](Value value) {
      if (live.remove(value))
        bytes -= getBytes(value);
    };
    if (info)
      for (Value value : info->out())
        add(value);
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        remove(result);
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          // Values that the inner block uses are counted there.
          int64_t others = bytes;
          if (const LivenessBlockInfo *used = liveness.getLiveness(&inner))
            for (Value value : used->in())
              if (Value holder = getHolder(value); live.contains(holder))
                others -= getBytes(holder);
          most = std::max(most, measure(inner, std::max<int64_t>(others, 0)));
          if (const LivenessBlockInfo *used = liveness.getLiveness(&inner))
            for (Value value : used->in())
              add(value);
        }
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          add(operand);
      most = std::max(most, bytes);
    }
    return std::max(most, bytes);
  }

  Liveness liveness;
  KernelOp kernel;
};

} // namespace

int64_t countLiveBytes(KernelOp kernel) { return PressureCounter(kernel).run(); }

} // namespace tile::cost
