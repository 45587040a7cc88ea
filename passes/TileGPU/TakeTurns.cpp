// tile-gpu-take-turns: two warpgroups of consumers issue their products one after the other.
//
//   warpgroup 0  | products | arithmetic on results | products | arithmetic ...
//   warpgroup 1             | products | arithmetic on results | products | ...
//
// A turn is all that an iteration leaves in flight, from its first product to its last. Without
// turns both warpgroups would ask for the tensor cores at once and then compute at once. A turn
// with a wait inside would make the other warpgroup wait as well, so such loops take none.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LaunchFit.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUTAKETURNS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Encloses the products that `block` leaves in flight in a turn; false if there are not several
/// that are issued together.
bool enclose(Block &block) {
  SmallVector<WgmmaOp> products;
  for (auto product : block.getOps<WgmmaOp>())
    if (product.getAsync())
      products.push_back(product);
  if (products.size() < 2) {
    declined(block.getParentOp()) << "fewer than two products are in flight at once";
    return false;
  }
  for (Operation *op = products.front(); op != products.back(); op = op->getNextNode())
    if (isa<WgmmaWaitOp>(op)) {
      declined(block.getParentOp()) << "a product is waited for between the others";
      return false;
    }
  OpBuilder builder(products.front());
  TurnWaitOp::create(builder, products.front().getLoc());
  builder.setInsertionPointAfter(products.back());
  TurnPassOp::create(builder, products.back().getLoc());
  return true;
}

struct TileGPUTakeTurns : tile::impl::TileGPUTakeTurnsBase<TileGPUTakeTurns> {
  void runOnOperation() override {
    constexpr int64_t warpsOfTwo = 8;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<int64_t> warps = getNumWarps(kernel);
      if (failed(warps))
        return signalPassFailure();
      if (*warps != warpsOfTwo) {
        declined(kernel) << "it takes kernels whose two warpgroups compute, and here " +
                                std::to_string(*warps) + " warps do";
        continue;
      }
      kernel.getBody().walk([](WarpSpecializeOp split) {
        bool turns = false;
        split.getConsumer().walk([&](scf::ForOp loop) { turns |= enclose(*loop.getBody()); });
        if (!turns)
          return;
        OpBuilder builder = OpBuilder::atBlockBegin(&split.getConsumer().front());
        TurnStartOp::create(builder, split.getLoc());
        builder.setInsertionPointToEnd(&split.getConsumer().front());
        TurnEndOp::create(builder, split.getLoc());
      });
    }
  }
};

} // namespace
