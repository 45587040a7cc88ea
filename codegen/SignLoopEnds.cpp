// Turns unsigned comparisons of what a loop counts back into signed ones of the next value.
#include "codegen/SignLoopEnds.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace tile {

/// The s of a phi that goes on as itself + s, a constant; null if it is no such phi.
static const APInt *findStep(Value *value) {
  auto *phi = dyn_cast<PHINode>(value);
  const APInt *step = nullptr;
  for (unsigned i = 0; phi && i < phi->getNumIncomingValues(); ++i)
    if (match(phi->getIncomingValue(i), m_Add(m_Specific(phi), m_APInt(step))))
      return step;
  return nullptr;
}

PreservedAnalyses SignLoopEndsPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    Value *counted;
    const APInt *limit;
    CmpPredicate predicate;
    if (!match(&instruction, m_ICmp(predicate, m_Value(counted), m_APInt(limit))))
      continue;
    const APInt *step = findStep(counted);
    if (!step || !step->isStrictlyPositive() || *limit != APInt::getSignedMaxValue(step->getBitWidth()) - *step)
      continue;
    bool isAbove = CmpInst::Predicate(predicate) == CmpInst::ICMP_UGT;
    if (!isAbove && CmpInst::Predicate(predicate) != CmpInst::ICMP_ULE)
      continue;
    IRBuilder<> builder(&instruction);
    Constant *by = ConstantInt::get(counted->getType(), *step);
    Value *next = builder.CreateAdd(counted, by);
    Value *compared = builder.CreateICmp(isAbove ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGE, next, by);
    instruction.replaceAllUsesWith(compared);
    instruction.eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
