// See the header.
#include "codegen/SplitShortVectors.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace tile {

/// Integers of up to 16 bits; vectors of bits are masks, which stay.
static bool isShortVector(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy() && vector->getScalarSizeInBits() <= 16 &&
         vector->getScalarSizeInBits() > 1;
}

PreservedAnalyses SplitShortVectorsPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *binary = dyn_cast<BinaryOperator>(&instruction);
    auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction);
    bool isSum = binary && (binary->getOpcode() == Instruction::Add ||
                            binary->getOpcode() == Instruction::Sub);
    if ((!isSum && !extreme) || !isShortVector(instruction.getType()))
      continue;
    IRBuilder<> builder(&instruction);
    Value *result = PoisonValue::get(instruction.getType());
    for (unsigned i = 0; i < cast<FixedVectorType>(instruction.getType())->getNumElements(); ++i) {
      Value *left = builder.CreateExtractElement(instruction.getOperand(0), i);
      Value *right = builder.CreateExtractElement(instruction.getOperand(1), i);
      Value *element = binary
                           ? builder.CreateBinOp(binary->getOpcode(), left, right)
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
