// See the header.
#include "codegen/WidenBF16.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace tile {

/// The vector that element `i` of `value` comes from, and its place there.
static std::pair<Value *, int> getSource(Value *value, int i) {
  while (auto *shuffle = dyn_cast<ShuffleVectorInst>(value)) {
    int first = cast<FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements(),
        at = shuffle->getMaskValue(i);
    if (at < 0)
      break;
    value = shuffle->getOperand(at >= first);
    i = at < first ? at : at - first;
  }
  return {value, i};
}

/// True for what stands in registers of two each, as words of memory do.
static bool isWords(Value *value) {
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!type || type->getNumElements() % 2)
    return false;
  if (auto *cast = dyn_cast<BitCastInst>(value))
    return cast->getSrcTy()->getScalarSizeInBits() == 32;
  return isa<LoadInst, PHINode>(value);
}

/// The 16 bits of an element that stands alone, as one that is loaded by itself; null for others.
static Value *getBits(Value *value) {
  auto *cast = dyn_cast<BitCastInst>(value);
  return cast && cast->getSrcTy()->isIntegerTy(16) ? cast->getOperand(0) : nullptr;
}

/// Elements `i` of `value` as f32.
static Value *widen(IRBuilder<> &builder, Value *value, int i) {
  auto [source, at] = getSource(value, i);
  if (Value *bits = getBits(source))
    return builder.CreateBitCast(
        builder.CreateShl(builder.CreateZExt(bits, builder.getInt32Ty()), 16),
        builder.getFloatTy());
  if (!isWords(source))
    return builder.CreateFPExt(builder.CreateExtractElement(value, i), builder.getFloatTy());
  unsigned words = cast<FixedVectorType>(source->getType())->getNumElements() / 2;
  Type *i32 = builder.getInt32Ty();
  Value *word = words == 1
                    ? builder.CreateBitCast(source, i32)
                    : builder.CreateExtractElement(
                          builder.CreateBitCast(source, FixedVectorType::get(i32, words)), at / 2);
  Value *bits = at % 2 ? builder.CreateAnd(word, 0xFFFF0000u) : builder.CreateShl(word, 16);
  return builder.CreateBitCast(bits, builder.getFloatTy());
}

/// True if any element stands in a word, or alone.
static bool hasWords(Value *vector, int size) {
  for (int i = 0; i < size; ++i)
    if (Value *source = getSource(vector, i).first; isWords(source) || getBits(source))
      return true;
  return false;
}

PreservedAnalyses WidenBF16Pass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *widening = dyn_cast<FPExtInst>(&instruction);
    if (!widening || !widening->getType()->getScalarType()->isFloatTy() ||
        !widening->getSrcTy()->getScalarType()->isBFloatTy())
      continue;
    IRBuilder<> builder(widening);
    Value *operand = widening->getOperand(0), *result = nullptr;
    if (auto *type = dyn_cast<FixedVectorType>(widening->getType())) {
      int size = type->getNumElements();
      if (!hasWords(operand, size))
        continue;
      result = PoisonValue::get(type);
      for (int i = 0; i < size; ++i)
        result = builder.CreateInsertElement(result, widen(builder, operand, i), i);
    } else if (auto *half = dyn_cast<ExtractElementInst>(operand)) {
      auto *place = dyn_cast<ConstantInt>(half->getIndexOperand());
      if (!place || !isWords(getSource(half->getVectorOperand(), place->getZExtValue()).first))
        continue;
      result = widen(builder, half->getVectorOperand(), place->getZExtValue());
    } else {
      continue;
    }
    widening->replaceAllUsesWith(result);
    widening->eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
