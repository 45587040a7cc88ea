// tile-gpu-eliminate-redundant-loads: loads of memory that nothing writes take the value of an
// equal load before them.
//
//   a = x[i, pad: 0]; ...; b = x[i, pad: 0]     ->   a = x[i, pad: 0]; ...; b = a
//
// x is an `in` parameter of a kernel without `alias`, so nothing between the two can change what is
// read. With another padding the later load goes only where nobody sees it (hidesPadding).
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUELIMINATEREDUNDANTLOADS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// True if both accesses name the same positions, views apart.
template <typename A, typename B> static bool areAtSamePlace(A a, B b) {
  return a.getStarts() == b.getStarts() && a.getEnds() == b.getEnds() &&
         a.getSizes() == b.getSizes() && a.getSteps() == b.getSteps() &&
         a.getHasEnd() == b.getHasEnd();
}

/// True if nobody can tell what `value`, a function of what `load` loaded, is where the load finds
/// no element: element-wise work on it is stored where the same positions do not exist either.
static bool hidesPadding(LoadOp load, Value value, unsigned depth = 0) {
  if (depth > 32)
    return false;
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<StoreOp>(user)) {
      auto from = load.getView().getDefiningOp<ViewOp>(),
           to = store.getView().getDefiningOp<ViewOp>();
      if (use.get() != store.getValue() || !from || !to || !areAtSamePlace(load, store))
        return false;
      for (unsigned d = 0; d < load.getSizes().size(); ++d)
        if (!load.getInBounds()[d] && from.getExtents()[d] != to.getExtents()[d])
          return false;
      return true;
    }
    return OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 &&
           hidesPadding(load, user->getResult(0), depth + 1);
  });
}

namespace {

struct TileGPUEliminateRedundantLoads
    : tile::impl::TileGPUEliminateRedundantLoadsBase<TileGPUEliminateRedundantLoads> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      kernel.getBody().walk([](Block *block) { visit(*block); });
  }

  static void visit(Block &block) {
    SmallVector<LoadOp> earlier;
    for (LoadOp load : llvm::make_early_inc_range(block.getOps<LoadOp>())) {
      if (load.getMask() || !readsConstantMemory(load))
        continue;
      LoadOp *same = llvm::find_if(earlier, [&](LoadOp other) {
        return other.getView() == load.getView() && other.getType() == load.getType() &&
               areAtSamePlace(other, load) &&
               (other.getPad() == load.getPad() || hidesPadding(load, load.getResult()));
      });
      if (same == earlier.end()) {
        earlier.push_back(load);
        continue;
      }
      load.replaceAllUsesWith(same->getResult());
      load.erase();
    }
  }
};

} // namespace
