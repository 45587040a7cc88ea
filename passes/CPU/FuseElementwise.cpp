// tile-cpu-fuse-elementwise: element-wise operations on tiles become linalg.generic, and chains of
// them one loop nest.
//
//   a = x + y; b = exp(a); c = b * z     ->     for each element: c = exp(x + y) * z
//
// A value with several users stays a tile of its own, unless it costs no more to compute again than
// to read: a constant, a position, a broadcast.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CPUFUSEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace tile

/// True for a producer that costs no more to compute again than to read back: a constant, a
/// position, a broadcast.
/// Counted in operations of the body; a division or a function takes about as long as tens of them.
static bool isCheap(linalg::GenericOp producer) {
  unsigned cost = 0;
  for (Operation &op : producer.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(op.getDialect()) ||
        isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp>(op))
      return false;
    ++cost;
  }
  return cost == 0 || (producer.getNumDpsInputs() == 0 && cost <= 4);
}

/// Fuse where nothing is computed twice that is worth keeping, and never into a loop that would
/// repeat it.
/// Same block: a producer ahead of a loop would be computed anew in each trip.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer)
    return false;
  // A producer without inputs reads nothing, so that a loop may repeat it.
  if (isCheap(producer) &&
      (producer.getNumDpsInputs() == 0 || producer->getBlock() == operand->getOwner()->getBlock()))
    return true;
  return producer->hasOneUse() && producer->getBlock() == operand->getOwner()->getBlock();
}

/// Lets an element-wise operation write over an operand of its own shape, a loop-carried one by
/// preference. Bufferization falls back to fresh scratch where the operand is read again.
/// linalg writes its result into a destination; an empty one would be a new buffer in each trip,
/// where the carried tile's own memory is free if nothing reads it afterwards.
static void reuseOperand(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op.getNumDpsInits() != 1)
    return;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get().getType() != init->get().getType() ||
        !op.getMatchingIndexingMap(input).isIdentity())
      continue;
    auto carried = dyn_cast<BlockArgument>(input->get());
    if (carried && carried.getOwner() == op->getBlock()) {
      init->set(carried);
      return;
    }
  }
}

namespace {
/// Tiles whose elements are all one constant become generated ones: as constants they would fill
/// the binary.
struct SplatConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!splat || !type)
      return failure();
    Location loc = op.getLoc();
    Value scalar =
        arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, scalar, empty);
    return success();
  }
};

struct CPUFuseElementwise : tile::impl::CPUFuseElementwiseBase<CPUFuseElementwise> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet elementwise(context);
    linalg::populateElementwiseToLinalgConversionPatterns(elementwise);
    if (failed(applyPatternsGreedily(getOperation(), std::move(elementwise))))
      return signalPassFailure();

    RewritePatternSet fusion(context);
    linalg::populateElementwiseOpsFusionPatterns(fusion, shouldFuse);
    // Reshapes that only split or merge dimensions must not keep chains apart.
    linalg::populateFoldReshapeOpsByCollapsingPatterns(fusion, [](OpOperand *) { return false; });
    linalg::GenericOp::getCanonicalizationPatterns(fusion, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(fusion, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(fusion, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(fusion))))
      return signalPassFailure();

    // After fusion: as a constant the splat folds into bodies as a scalar.
    RewritePatternSet constants(context);
    constants.add<SplatConstant>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(constants))))
      return signalPassFailure();
    getOperation()->walk(reuseOperand);
  }
};
} // namespace
