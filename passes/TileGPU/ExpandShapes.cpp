// tile-gpu-expand-shapes: slices and concatenations of tiles become takes and selections, which
// have layouts (passes/Convert/ShapeExpansion.cpp).
#include "dialect/Tile/TileDialect.h"
#include "passes/Convert/ShapeExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUEXPANDSHAPES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct TileGPUExpandShapes : tile::impl::TileGPUExpandShapesBase<TileGPUExpandShapes> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(expandShape(op)))
        return signalPassFailure();
  }
};
} // namespace
