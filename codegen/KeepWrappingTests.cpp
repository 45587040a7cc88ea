// See the header.
#include "codegen/KeepWrappingTests.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tile {

/// True for a value that is carried around a loop, or the sum of one and a constant.
/// Through one sum, as InstCombine writes `i - 5 < 10` for a test of two bounds.
static bool isCounter(Value *value) {
  if (auto *sum = dyn_cast<BinaryOperator>(value))
    if ((sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub) &&
        isa<Constant>(sum->getOperand(1)))
      value = sum->getOperand(0);
  return isa<PHINode>(value);
}

PreservedAnalyses KeepWrappingTestsPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : function)
    for (Instruction &instruction : make_early_inc_range(block)) {
      auto *test = dyn_cast<ICmpInst>(&instruction);
      if (!test || !test->isUnsigned() || !test->getType()->isIntegerTy())
        continue;
      auto *bound = dyn_cast<ConstantInt>(test->getOperand(1));
      if (!bound || !isCounter(test->getOperand(0)))
        continue;
      const APInt &value = bound->getValue();
      // Bounds near the sign's boundary alone: other comparisons do not rely on wrapping around.
      APInt quarter = APInt::getOneBitSet(value.getBitWidth(), value.getBitWidth() - 2);
      if (value.getBitWidth() < 32 || value.ult(quarter))
        continue;
      APInt sign = APInt::getSignMask(value.getBitWidth());
      IRBuilder<> builder(test);
      Value *flipped =
          builder.CreateXor(test->getOperand(0), ConstantInt::get(bound->getType(), sign));
      test->replaceAllUsesWith(builder.CreateICmp(
          test->getSignedPredicate(), flipped, ConstantInt::get(bound->getType(), value ^ sign)));
      test->eraseFromParent();
      changed = true;
    }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
