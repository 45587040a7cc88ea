// tile-gpu-assign-layouts: gives every tile of a kernel a layout, and makes dots work on fragments.
//
// Before:  %c = arith.addf %a, %b : tensor<128x64xf32>
// After:   %c = arith.addf %a, %b : tensor<128x64xf32, #layout>
//
// Invariant from here on: the layout is part of the type, and no pass changes the layout of a
// value. Nor does a later pass insert tile_gpu.convert_layout: UseTma drops those before the stores
// that become copies, DeferRowSums and PipelineFragments make new tiles with layouts of their own.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Passes.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/CarryTransposed.h"
#include "passes/TileGPU/DotRewriter.h"
#include "passes/TileGPU/LayoutCopies.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/PartLayouts.h"
#include "passes/TileGPU/ProgramOrder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Refuses what this path cannot do, before anything is changed.
static LogicalResult checkSupported(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      for (int64_t extent : type.getShape())
        if (!llvm::isPowerOf2_64(extent)) {
          op->emitError() << "tile extent " << extent
                          << " is not a power of two; found a tile of shape [" << type.getShape()
                          << "]";
          return WalkResult::interrupt();
        }
    }
    if (isa<tensor::ExtractOp, tensor::ExtractSliceOp>(op)) {
      op->emitError("slicing a tile is not supported on GPU targets so far");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

/// Rewrites one kernel in place once layouts are known.
class Assigner {
public:
  Assigner(KernelOp kernel, const LayoutInference &inference)
      : kernel(kernel), inference(inference), builder(kernel), copies(kernel, inference) {}

  void run() {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    SmallVector<DotOp> dots;
    for (Operation *op : ops)
      if (auto dot = dyn_cast<DotOp>(op))
        dots.push_back(dot);
    // While operands are as they were: what they are computed from is rewritten first.
    DotRewriter rewriter(kernel, inference, copies, dots);
    // Layouts are asked for by what must have one; everything else is repeated on demand.
    for (Operation *op : ops)
      setResultTypes(op);
    for (Operation *&op : ops)
      if (auto dot = dyn_cast<DotOp>(op)) {
        replace(dot, rewriter.rewrite(dot));
        op = nullptr; // another stands in its place
      } else if (!copies.isFree(op)) {
        rewrite(op);
      }
    for (Operation *op : llvm::reverse(ops))
      if (op && op->use_empty() && copies.isFree(op) && isRematerializable(op))
        op->erase();
    for (Operation *op : replaced)
      op->destroy();
  }

private:
  static bool isTile(Value value) { return LayoutCopies::isTile(value); }
  static LinearLayout layoutOf(Value value) { return LayoutCopies::getLayoutOf(value); }

  void setResultTypes(Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        copies.setLayout(argument);
    for (Value result : op->getResults())
      copies.setLayout(result);
  }

  void convertOperand(OpOperand &operand, const LinearLayout &layout) {
    if (isTile(operand.get()))
      operand.set(copies.get(operand.get(), layout));
  }

  /// Puts operand values of a terminator into the layouts of what they become.
  void convertYield(Operation *terminator, ValueRange targets, unsigned first = 0) {
    for (auto [i, target] : llvm::enumerate(targets))
      if (isTile(target))
        convertOperand(terminator->getOpOperand(first + i), layoutOf(target));
  }

  /// Bytes that a loop loads go through shared memory where TMA can fetch them ahead.
  void rewriteUnpack(UnpackOp unpack, const LinearLayout &layout) {
    OpOperand &source = unpack->getOpOperand(0);
    auto load = source.get().getDefiningOp<LoadOp>();
    if (!inference.getShape().hasWgmma() || !load || !load->hasOneUse() ||
        !load->getParentOfType<scf::ForOp>())
      return convertOperand(source, layout);
    Value memory = copies.stage(source.get());
    builder.setInsertionPoint(unpack);
    source.set(LocalLoadOp::create(builder, unpack.getLoc(),
                                   withLayout(cast<RankedTensorType>(load.getType()), layout),
                                   memory));
  }

  /// The operands get the layout in which the reduction runs. Without the reduced dimension that
  /// layout may differ from the one that inference gave the results, so results are converted.
  void rewriteReduceBy(ReduceByOp reduce) {
    LinearLayout layout = inference.getReduceByLayout(reduce);
    for (OpOperand &operand : reduce->getOpOperands())
      convertOperand(operand, layout);
    LinearLayout left = layout.dropDim(reduce.getAxis());
    for (Value result : reduce.getResults()) {
      auto promised = dyn_cast<RankedTensorType>(result.getType());
      if (!promised || layoutOf(result) == left)
        continue;
      result.setType(withLayout(promised, left));
      builder.setInsertionPointAfter(reduce);
      auto converted = ConvertLayoutOp::create(builder, reduce.getLoc(), promised, result);
      result.replaceAllUsesExcept(converted, converted);
    }
  }

  void replace(DotOp dot, Value result) {
    dot.getResult().replaceAllUsesWith(result);
    copies.keep(result);
    // Destroyed in the end: a new operation at the same address would be taken for this one.
    dot->remove();
    dot->dropAllReferences();
    replaced.push_back(dot);
  }

  template <typename Op> void rewriteStore(Op store) {
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    if (!type)
      return;
    LinearLayout layout =
        inference.getStoreLayout(store, type,
                                 hasLayout(type) ? std::optional(layoutOf(store.getValue()))
                                                 : getNaturalLayout(store.getValue()));
    for (OpOperand &operand : store->getOpOperands()) // value, mask, positions
      convertOperand(operand, layout);
  }

  void rewrite(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument] : llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
        if (isTile(argument))
          convertOperand(init, layoutOf(argument));
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, argument] : llvm::zip(loop.getInitsMutable(), loop.getBeforeArguments()))
        if (isTile(argument))
          convertOperand(init, layoutOf(argument));
      return;
    }
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      return convertYield(op, cast<scf::WhileOp>(op->getParentOp()).getAfterArguments(), 1);
    if (isa<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
        return convertYield(op, loop.getRegionIterArgs());
      if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()))
        return convertYield(op, loop.getBeforeArguments());
      return convertYield(op, op->getParentOp()->getResults());
    }
    if (auto store = dyn_cast<StoreOp>(op))
      return rewriteStore(store);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return rewriteStore(scatter);
    if (isa<ReduceOp, ArgReduceOp>(op)) {
      Value source = op->getOperand(0);
      auto type = cast<RankedTensorType>(source.getType());
      return convertOperand(op->getOpOperand(0),
                            hasLayout(type) ? layoutOf(source) : inference.getDefault(type));
    }
    if (auto print = dyn_cast<PrintOp>(op)) { // its tiles in one layout
      std::optional<LinearLayout> layout;
      for (Value value : print.getValues())
        if (auto type = dyn_cast<RankedTensorType>(value.getType());
            type && hasLayout(type) && !layout)
          layout = layoutOf(value);
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          convertOperand(operand, layout ? *layout : inference.getDefault(type));
      return;
    }
    if (isa<PartArriveOp, PartCombineOp, PartLoadOp, PartShareOp>(op)) { // as the sums are held
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          convertOperand(operand,
                         hasLayout(type) ? layoutOf(operand.get()) : inference.getDefault(type));
      return;
    }
    if (isa<ScanOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        convertOperand(operand, layoutOf(op->getResult(0)));
      return;
    }
    if (auto reduce = dyn_cast<ReduceByOp>(op))
      return rewriteReduceBy(reduce);
    if (isa<HistogramOp>(op)) {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      return convertOperand(op->getOpOperand(0), hasLayout(type) ? layoutOf(op->getOperand(0))
                                                                 : inference.getDefault(type));
    }
    if (auto take = dyn_cast<TakeOp>(op)) {
      RankedTensorType type = take.getSource().getType();
      convertOperand(take.getSourceMutable(),
                     hasLayout(type) ? layoutOf(take.getSource()) : inference.getDefault(type));
      if (isTile(take.getResult()))
        convertOperand(take.getPositionMutable(), layoutOf(take.getResult()));
      return;
    }
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
      return;
    LinearLayout layout = layoutOf(op->getResult(0));
    if (auto unpack = dyn_cast<UnpackOp>(op))
      return rewriteUnpack(unpack, layout.joinElements());
    if (isa<ReshapeOp>(op))
      layout = layout.reshape(cast<RankedTensorType>(op->getOperand(0).getType()).getShape());
    else if (auto permute = dyn_cast<PermuteOp>(op)) {
      SmallVector<int64_t> inverse(permute.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
        inverse[d] = i;
      layout = layout.permute(inverse);
    }
    for (OpOperand &operand : op->getOpOperands())
      convertOperand(operand, layout);
  }

  KernelOp kernel;
  const LayoutInference &inference;
  OpBuilder builder;
  LayoutCopies copies;
  SmallVector<Operation *> ops;
  SmallVector<Operation *> replaced; // outside their blocks
};

struct TileGPUAssignLayouts : tile::impl::TileGPUAssignLayoutsBase<TileGPUAssignLayouts> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (failed(checkSupported(kernel)))
        return signalPassFailure();
      KernelShape shape = chooseShape(kernel, target);
      warnOfWarps(kernel, shape);
      if (remarks)
        remarkSlowDots(kernel, shape);
      LayoutInference inference(kernel, shape);
      Assigner(kernel, inference).run();
      carryTransposed(kernel);
      kernel->setAttr(numWarpsName, Builder(kernel).getI64IntegerAttr(shape.numWarps));
      orderAccesses(kernel);
    }
  }

  /// Says where a block has no room for the warps that the source asks for.
  static void warnOfWarps(KernelOp kernel, const KernelShape &shape) {
    auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName);
    auto consumers = kernel->getAttrOfType<IntegerAttr>(consumersName);
    int64_t warps = requested                       ? requested.getInt()
                    : consumers && shape.hasWgmma() ? 4 * consumers.getInt()
                                                    : 0;
    if (warps > shape.numWarps)
      kernel.emitWarning() << (requested ? "warps(" : "consumers(")
                           << (requested ? requested : consumers).getInt() << ") is lowered to "
                           << (requested ? shape.numWarps : shape.numWarps / 4)
                           << ": beside the warpgroup that fetches operands of wgmma, the "
                           << shape.target->limits.threadsPerBlock
                           << " threads of a block have room for no more [W0607]";
  }

  static void remarkSlowDots(KernelOp kernel, const KernelShape &shape) {
    kernel.getBody().walk([&](DotOp dot) {
      if (std::string reason = explainNoWgmma(dot, shape); !reason.empty())
        remarkOn(dot) << "dot by mma.sync or scalar code instead of wgmma: " << reason
                      << " [R0401]";
    });
  }
};

} // namespace
