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
    while (!steps.empty()) {
      const ScanStep &step = steps.front();
      if (step.dim == InDim::Lane) {
        auto lanes = steps.take_while([](const ScanStep &s) { return s.dim == InDim::Lane; });
        steps = steps.drop_front(lanes.size());
        if (isOrdered)
          joinLanes(lanes);
        else
          pickLanes(lanes, /*isLast=*/steps.empty());
        continue;
      }
      if (step.dim == InDim::Register)
        joinTotals(step.bits[0]);
      else if (failed(joinWarps(step, /*wantsEarlier=*/false)))
        return failure();
      steps = steps.drop_front();
    }
    return totals;
  }

private:
  State shuffle(const State &state, unsigned bit) {
    return State(
        llvm::map_range(state, [&](Value v) { return shuffleLanes(b, loc, v, 1u << bit); }));
  }

  /// Lanes that differ in one bit hold neighbouring blocks; the lower one joins both in their
  /// order. What the others compute is nobody's, and the lowest lane tells all in the end: one
  /// exchange more instead of two selections in each step.
  void joinLanes(ArrayRef<ScanStep> steps) {
    unsigned mask = 0;
    for (const ScanStep &step : steps) {
      mask |= 1u << step.bits[0];
      totals = combine(totals, shuffle(totals, step.bits[0]));
    }
    constexpr unsigned lanes = 32;
    Value others = constantI32(b, loc, (lanes - 1) & ~mask);
    Value lowest = arith::AndIOp::create(b, loc, getLane(b, loc), others);
    for (Value &total : totals)
      total = readLane(b, loc, total, lowest);
  }

  /// Where one element is picked, the other lane has it if this one does not: only a further step
  /// asks for its flag.
  void pickLanes(ArrayRef<ScanStep> steps, bool isLast) {
    for (const ScanStep &step : steps) {
      State other = totals;
      bool last = isLast && &step == &steps.back();
      for (Value &each : MutableArrayRef<Value>(other).take_front(last ? 1 : other.size()))
        each = shuffleLanes(b, loc, each, 1u << step.bits[0]);
      totals = combine(totals, other);
    }
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
