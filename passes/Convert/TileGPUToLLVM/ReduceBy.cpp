// Reductions by a function: totals of blocks of neighbours along the axis double until one is left,
// between registers, by shuffles of lanes, and across warps through shared memory
// (passes/Convert/TileGPUToLLVM/ScanSteps.h).
#include "dialect/SelectionNames.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ScanSteps.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

class TotalSteps : public ScanSteps {
public:
  TotalSteps(ReduceByOp op, ConversionPatternRewriter &b, const LinearLayout &layout,
             ValueRange sources)
      : ScanSteps(op, op.getCombiner().front(), /*isReverse=*/false, b, layout, sources),
        isOrdered(!op->hasAttr(selectsOneName)) {}

  /// The totals with the registers along the axis left out.
  FailureOr<State> run(ArrayRef<ScanStep> steps) {
    for (const ScanStep &step : steps) {
      if (step.dim == InDim::Register)
        joinTotals(step.bits[0]);
      else if (step.dim == InDim::Lane)
        joinLanes(step.bits[0], &step == &steps.back());
      else if (failed(joinWarps(step, /*wantsEarlier=*/false)))
        return failure();
    }
    return totals;
  }

private:
  /// Lanes that differ in one bit hold neighbouring blocks. Both compute the same total, so that
  /// the next step may start from either.
  void joinLanes(unsigned bit, bool isLast) {
    // Where one element is picked, the other lane has it if this one does not: only a further step
    // asks for its flag.
    if (!isOrdered) {
      State other = totals;
      for (Value &each : MutableArrayRef<Value>(other).take_front(isLast ? 1 : other.size()))
        each = shuffleLanes(b, loc, each, 1u << bit);
      totals = combine(totals, other);
      return;
    }
    Value own = arith::AndIOp::create(b, loc, getLane(b, loc), constantI32(b, loc, 1u << bit));
    Value isHigh =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, constantI32(b, loc, 0));
    State other(
        llvm::map_range(totals, [&](Value v) { return shuffleLanes(b, loc, v, 1u << bit); }));
    totals = combine(select(isHigh, other, totals), select(isHigh, totals, other));
  }

  bool isOrdered; ///< the function wants what lies before on its left
};

struct LowerReduceBy : OpConversionPattern<ReduceByOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReduceByOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(cast<RankedTensorType>(op.getSources()[0].getType()));
    auto steps = planScan(layout, op.getAxis());
    if (!steps)
      return op.emitError(
          "internal: a reduction by a function in a layout that it cannot go through");
    FailureOr<State> results = TotalSteps(op, rewriter, layout, adaptor.getSources()).run(*steps);
    if (failed(results))
      return failure();
    SmallVector<Value> values;
    for (auto [total, result] : llvm::zip(*results, op.getResults())) {
      auto wanted = dyn_cast<VectorType>(getTypeConverter()->convertType(result.getType()));
      if (wanted && total.getType() != wanted)
        return op.emitError(
            "internal: a reduction by a function leaves other registers than its result's layout");
      values.push_back(wanted ? total
                              : Value(vector::ExtractOp::create(rewriter, op.getLoc(), total,
                                                                ArrayRef<int64_t>{0})));
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void tile::gpu::populateReduceByPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<LowerReduceBy>(converter, patterns.getContext());
}
