// Which loads give the same at any time of a launch.
#include "passes/Analysis/ConstantMemory.h"

#include "dialect/AttributeNames.h"

using namespace mlir;
using namespace tile;

/// Subviews and permutations keep the tensor; a view of anything else has no root.
ViewOp tile::getRootView(Value view) {
  while (Operation *def = view.getDefiningOp()) {
    if (auto whole = dyn_cast<ViewOp>(def))
      return whole;
    if (!isa<SubviewOp, PermuteViewOp>(def))
      return nullptr;
    view = def->getOperand(0);
  }
  return nullptr;
}

/// `in`, and no overlap that the launcher allows: then no store of the kernel reaches the memory.
static bool readsConstantMemory(Operation *op, Value view) {
  ViewOp root = getRootView(view);
  auto kernel = op->getParentOfType<KernelOp>();
  if (!root || !kernel || kernel->hasAttr(mayAliasName))
    return false;
  auto base = dyn_cast<BlockArgument>(root.getBase());
  return base && kernel.getParam(base.getArgNumber()).getAccess() == Access::In;
}

bool tile::readsConstantMemory(LoadOp load) { return ::readsConstantMemory(load, load.getView()); }

bool tile::readsConstantMemory(GatherOp gather) {
  return ::readsConstantMemory(gather, gather.getView());
}
