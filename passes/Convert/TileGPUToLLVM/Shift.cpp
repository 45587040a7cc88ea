// tile_gpu.shift: a tile moved by one position, in the registers that hold it.
//
//   registers   the neighbour's register, where the thread holds it
//   lanes       else that of the lane beside, if blocks go on there: one shuffle for each such
//   edge        else the edge's; of a block of lanes the first lane's or the last one's
#include "dialect/TileGPU/ShiftPlan.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/Reduce.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

struct LowerShift : OpConversionPattern<ShiftOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ShiftOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    LinearLayout layout = getLayout(op.getSource().getType());
    int64_t dim = op.getDim(), offset = op.getOffset();
    // The verifier has seen to it that there is one.
    ShiftPlan plan = *ShiftPlan::get(
        layout, dim, layout.getShape()[dim] / op.getEdge().getType().getDimSize(dim));
    int64_t count = layout.getNumRegisters(), neighbours = int64_t(1) << plan.registers.size();
    // Registers of the result: of the source, or, from `count` on, of what comes from elsewhere.
    SmallVector<int64_t> taken, edges, beside;
    for (int64_t reg = 0; reg < count; ++reg) {
      int64_t position = int64_t(plan.getPosition(reg)) + offset;
      if (position >= 0 && position < neighbours) {
        taken.push_back(plan.withPosition(reg, position));
        continue;
      }
      taken.push_back(count + int64_t(edges.size()));
      edges.push_back(plan.getEdgeRegister(reg));
      beside.push_back(plan.withPosition(reg, (position + neighbours) % neighbours));
    }
    Value source = adaptor.getSource(), others = selectRegisters(b, loc, adaptor.getEdge(), edges);
    if (plan.lanes) {
      // Lanes that the sum leads to beyond the warp, or into another block, have the edge's.
      Value lane = getLane(b, loc),
            next = arith::AddIOp::create(b, loc, lane,
                                         constantI32(b, loc, offset * (1 << plan.firstLane)));
      Value shuffled = readLane(b, loc, selectRegisters(b, loc, source, beside), next);
      int64_t mask = ((int64_t(1) << plan.lanes) - 1) << plan.firstLane;
      Value isEdge = equals(b, loc, arith::AndIOp::create(b, loc, lane, constantI32(b, loc, mask)),
                            offset < 0 ? 0 : mask);
      others = arith::SelectOp::create(b, loc, isEdge, others, shuffled);
    }
    b.replaceOpWithNewOp<vector::ShuffleOp>(op, source, others, taken);
    return success();
  }
};

} // namespace

void tile::gpu::populateShiftPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerShift>(converter, patterns.getContext());
}
