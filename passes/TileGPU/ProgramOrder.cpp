// Program order of the accesses to one tensor, where different threads of a block make them.
#include "passes/TileGPU/ProgramOrder.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// The view that an access goes through; null if `op` is none.
static Value getView(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getView();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getView();
  if (auto gather = dyn_cast<GatherOp>(op))
    return gather.getView();
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getView();
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return atomic.getView();
  return {};
}

/// The number of the parameter behind a view.
static unsigned getParameter(Value view) {
  while (!isa<ViewOp>(view.getDefiningOp()))
    view = view.getDefiningOp()->getOperand(0);
  return cast<BlockArgument>(view.getDefiningOp<ViewOp>().getBase()).getArgNumber();
}

namespace {

/// How a kernel uses one tensor.
struct Uses {
  SmallVector<Operation *> accesses;
  bool loads = false, writes = false, elementwise = false;

  /// Atomics of one kind alone, of which nobody sees the order.
  bool commute() const {
    auto first = dyn_cast<AtomicOp>(accesses.front());
    return first && llvm::all_of(accesses, [&](Operation *op) {
             auto atomic = dyn_cast<AtomicOp>(op);
             return atomic && atomic.getKind() == first.getKind() && atomic.getResult().use_empty() &&
                    atomic.getKind() != AtomicKind::Exchange && atomic.getKind() != AtomicKind::CompareExchange;
           });
  }

  /// Only one access, once.
  bool isSingle() const { return accesses.size() == 1 && !accesses.front()->getParentOfType<LoopLikeOpInterface>(); }
};

} // namespace

void tile::gpu::orderAccesses(KernelOp kernel) {
  SmallVector<Uses> uses(kernel.getParams().size());
  bool mayAlias = kernel->hasAttr(mayAliasName);
  kernel.getBody().walk([&](Operation *op) {
    Value view = getView(op);
    if (!view)
      return;
    Uses &tensor = uses[mayAlias ? 0 : getParameter(view)]; // any two may be the same memory
    tensor.accesses.push_back(op);
    tensor.loads |= isa<LoadOp, GatherOp>(op);
    tensor.writes |= isa<StoreOp, ScatterOp, AtomicOp>(op);
    tensor.elementwise |= isa<ScatterOp, AtomicOp>(op);
  });
  for (Uses &tensor : uses) {
    bool conflicts = tensor.writes && (tensor.loads || tensor.elementwise || mayAlias);
    if (!conflicts || tensor.isSingle() || tensor.commute())
      continue;
    for (Operation *op : tensor.accesses) {
      OpBuilder builder(op);
      BarrierOp::create(builder, op->getLoc());
    }
  }
}
