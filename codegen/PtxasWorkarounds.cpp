// Rewrites LLVM IR where ptxas would compile its PTX to something else.
#include "codegen/PtxasWorkarounds.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
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

static bool isShortVector(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy() && vector->getScalarSizeInBits() <= 16 && vector->getScalarSizeInBits() > 1;
}

PreservedAnalyses SplitShortVectorsPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *binary = dyn_cast<BinaryOperator>(&instruction);
    auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction);
    bool isSum = binary && (binary->getOpcode() == Instruction::Add || binary->getOpcode() == Instruction::Sub);
    if ((!isSum && !extreme) || !isShortVector(instruction.getType()))
      continue;
    IRBuilder<> builder(&instruction);
    Value *result = PoisonValue::get(instruction.getType());
    for (unsigned i = 0; i < cast<FixedVectorType>(instruction.getType())->getNumElements(); ++i) {
      Value *left = builder.CreateExtractElement(instruction.getOperand(0), i);
      Value *right = builder.CreateExtractElement(instruction.getOperand(1), i);
      Value *element = binary ? builder.CreateBinOp(binary->getOpcode(), left, right)
                              : builder.CreateBinaryIntrinsic(extreme->getIntrinsicID(), left, right);
      result = builder.CreateInsertElement(result, element, i);
    }
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
