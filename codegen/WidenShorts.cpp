// See the header.
#include "codegen/WidenShorts.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace tile {

/// A negation in 32 bits. Instruction selection would narrow one in LLVM's terms.
/// A piece of PTX, as LLVM would narrow an operation in 32 bits again.
static Value *negate(IRBuilder<> &builder, Value *value) {
  Type *i32 = builder.getInt32Ty();
  auto *code = InlineAsm::get(FunctionType::get(i32, {i32}, false), "neg.s32 $0, $1;", "=r,r",
                              /*hasSideEffects=*/false);
  auto one = [&](Value *element) -> Value * {
    Value *result = builder.CreateCall(code, {builder.CreateSExt(element, i32)});
    return builder.CreateTrunc(result, element->getType());
  };
  auto *vector = dyn_cast<FixedVectorType>(value->getType());
  if (!vector)
    return one(value);
  Value *result = PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = builder.CreateInsertElement(result, one(builder.CreateExtractElement(value, i)), i);
  return result;
}

PreservedAnalyses WidenShortsPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    Type *type = instruction.getType();
    if (!type->isIntOrIntVectorTy() || type->getScalarSizeInBits() > 16 ||
        type->getScalarSizeInBits() == 1)
      continue;
    IRBuilder<> builder(&instruction);
    Value *result = nullptr, *operand = nullptr;
    if (auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction)) {
      Type *wide = type->getWithNewBitWidth(32);
      auto widen = [&](Value *value) {
        return builder.CreateIntCast(value, wide, extreme->isSigned());
      };
      result = builder.CreateTrunc(builder.CreateBinaryIntrinsic(extreme->getIntrinsicID(),
                                                                 widen(extreme->getLHS()),
                                                                 widen(extreme->getRHS())),
                                   type);
    } else if (PatternMatch::match(&instruction,
                                   PatternMatch::m_Neg(PatternMatch::m_Value(operand)))) {
      result = negate(builder, operand);
    }
    if (!result)
      continue;
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
