// See the header.
#include "codegen/WidenComparisons.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tile {

PreservedAnalyses WidenComparisonsPass::run(Function &function, FunctionAnalysisManager &) {
  if (function.getDenormalMode(APFloat::IEEEsingle()).Output != DenormalMode::PreserveSign)
    return PreservedAnalyses::all();
  bool changed = false;
  for (Instruction &instruction : instructions(function)) {
    auto *comparison = dyn_cast<FCmpInst>(&instruction);
    if (!comparison || !comparison->getOperand(0)->getType()->getScalarType()->isBFloatTy())
      continue;
    IRBuilder<> builder(comparison);
    Type *wide = comparison->getOperand(0)->getType()->getWithNewType(builder.getFloatTy());
    for (Use &operand : comparison->operands())
      operand.set(builder.CreateFPExt(operand, wide));
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
