// tile-gpu-eliminate-redundant-loads: loads of memory that nothing writes take the value of an
// equal load before them.
//
//   a = x[i, pad: 0]; ...; b = x[i, pad: 0]     ->   a = x[i, pad: 0]; ...; b = a
//
// x is an `in` parameter of a kernel without `alias`, so nothing between the two can change what is
// read. With another padding the later load goes only where nobody sees it (hidesPadding).
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/EqualLoads.h"

#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUELIMINATEREDUNDANTLOADS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

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
               areAtSamePlace(other, load) && hasPaddingOf(other, load);
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
