// Ranges of single integers; see ValueRanges.h.
#include "passes/Convert/ValueRanges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile {

ConstantIntRanges ValueRanges::find(Value value, unsigned depth) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (!depth)
    return ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(value.getType()));
  ConstantIntRanges range = infer(value, depth - 1);
  known.insert({value, range});
  return range;
}

ConstantIntRanges ValueRanges::infer(Value value, unsigned depth) {
  ConstantIntRanges range =
      ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(value.getType()));
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp())
      return range;
    // In the body the counter has not reached the end.
    APInt low = find(loop.getLowerBound(), depth).smin(),
          high = find(loop.getUpperBound(), depth).smax();
    return ConstantIntRanges::fromSigned(low, llvm::APIntOps::smax(low, high));
  }
  auto inference = dyn_cast_or_null<InferIntRangeInterface>(value.getDefiningOp());
  if (!inference)
    return range;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : inference->getOperands()) {
    if (!ConstantIntRanges::getStorageBitwidth(operand.getType()))
      return range;
    operands.push_back(find(operand, depth));
  }
  inference.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &found) {
    if (result == value)
      range = found;
  });
  return range;
}

} // namespace tile
