// test-print-divisibility: what DivisibilityAnalysis found, as remarks, for tests and for looking
// inside.
#include "passes/Analysis/Divisibility.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_PRINTDIVISIBILITY
#include "passes/Passes.h.inc"

namespace {
struct PrintDivisibility : impl::PrintDivisibilityBase<PrintDivisibility> {
  using PrintDivisibilityBase::PrintDivisibilityBase;

  void runOnOperation() override {
    DivisibilityAnalysis divisibility(getOperation());
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (argument.getType().isIntOrIndex())
            op->emitRemark() << "argument " << argument.getArgNumber() << ": divisor "
                             << divisibility.getDivisor(argument);
      for (Value result : op->getResults())
        if (result.getType().isIntOrIndex())
          op->emitRemark() << "divisor " << divisibility.getDivisor(result);
    });
  }
};
} // namespace

} // namespace tile
