// See the header.
#include "codegen/ResolveShuffles.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace tile {
namespace {

/// An element of a vector; of one that was inserted, the scalar alone. No value: poison.
struct Element {
  Value *value;
  int index; ///< negative: `value` is the element
};

/// What makes the element; `path`, if given, gets each vector on the way that holds it, and where.
Element findElement(Value *value, int index, SmallVectorImpl<Element> *path = nullptr) {
  while (true) {
    if (path)
      path->push_back({value, index});
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value)) {
      auto *type = dyn_cast<FixedVectorType>(shuffle->getOperand(0)->getType());
      if (!type)
        return {value, index};
      int from = shuffle->getMaskValue(unsigned(index)), extent = int(type->getNumElements());
      if (from < 0)
        return {nullptr, 0};
      value = shuffle->getOperand(from < extent ? 0 : 1);
      index = from < extent ? from : from - extent;
    } else if (auto *insert = dyn_cast<InsertElementInst>(value)) {
      auto *at = dyn_cast<ConstantInt>(insert->getOperand(2));
      if (!at)
        return {value, index};
      if (at->equalsInt(uint64_t(index)))
        return {insert->getOperand(1), -1};
      value = insert->getOperand(0);
    } else {
      return {value, index};
    }
  }
}

/// The piece as one shuffle of at most two vectors, or as one of them; null where it needs more.
Value *shuffleOf(ArrayRef<Element> elements, FixedVectorType *type, IRBuilderBase &builder) {
  Value *sources[2] = {};
  SmallVector<int> mask;
  for (const Element &element : elements) {
    if (!element.value) {
      mask.push_back(PoisonMaskElem);
      continue;
    }
    if (element.index < 0)
      return nullptr;
    unsigned which = sources[0] && sources[0] != element.value ? 1 : 0;
    if ((sources[which] && sources[which] != element.value) ||
        (sources[0] && sources[0]->getType() != element.value->getType()))
      return nullptr;
    sources[which] = element.value;
    auto *from = cast<FixedVectorType>(element.value->getType());
    mask.push_back(element.index + int(which * from->getNumElements()));
  }
  if (!sources[0])
    return PoisonValue::get(type);
  if (!sources[1] && sources[0]->getType() == type &&
      ShuffleVectorInst::isIdentityMask(mask, int(mask.size())))
    return sources[0];
  return sources[1] ? builder.CreateShuffleVector(sources[0], sources[1], mask)
                    : builder.CreateShuffleVector(sources[0], mask);
}

Value *insertAll(ArrayRef<Element> elements, FixedVectorType *type, IRBuilderBase &builder) {
  Value *piece = PoisonValue::get(type);
  for (auto [at, element] : enumerate(elements)) {
    if (!element.value)
      continue;
    Value *scalar = element.index < 0
                        ? element.value
                        : builder.CreateExtractElement(element.value, uint64_t(element.index));
    piece = builder.CreateInsertElement(piece, scalar, uint64_t(at));
  }
  return piece;
}

/// The first vector of this type on the way of all elements that holds them in their order.
Value *findWhole(ShuffleVectorInst &shuffle, unsigned count) {
  SmallVector<Element> paths[2];
  findElement(&shuffle, 0, &paths[0]);
  erase_if(paths[0], [&](const Element &element) {
    return element.index != 0 || element.value->getType() != shuffle.getType() ||
           element.value == &shuffle;
  });
  for (unsigned i = 1; i < count && !paths[0].empty(); ++i) {
    paths[1].clear();
    findElement(&shuffle, int(i), &paths[1]);
    erase_if(paths[0], [&](const Element &first) {
      return none_of(paths[1], [&](const Element &element) {
        return element.value == first.value && element.index == int(i);
      });
    });
  }
  return paths[0].empty() ? nullptr : paths[0].front().value;
}

/// A piece that is narrower than what it is taken from.
Value *resolve(ShuffleVectorInst &shuffle) {
  auto *type = dyn_cast<FixedVectorType>(shuffle.getType());
  auto *from = dyn_cast<FixedVectorType>(shuffle.getOperand(0)->getType());
  if (!type || !from || type->getNumElements() >= from->getNumElements())
    return nullptr;
  if (Value *whole = findWhole(shuffle, type->getNumElements()))
    return whole;
  SmallVector<Element> elements;
  for (unsigned i = 0; i < type->getNumElements(); ++i)
    elements.push_back(findElement(&shuffle, int(i)));
  auto isOfOperand = [&](const Element &element) {
    return element.value == shuffle.getOperand(0) || element.value == shuffle.getOperand(1);
  };
  if (any_of(elements, isOfOperand))
    return nullptr;
  IRBuilder<> builder(&shuffle);
  return shuffleOf(elements, type, builder);
}

/// The same type of `count` elements, which is a scalar for one.
Type *withElements(Type *type, unsigned count) {
  return count == 1 ? type->getScalarType() : FixedVectorType::get(type->getScalarType(), count);
}

/// Elements `begin`, `begin` + 1, ... of a vector, `count` of them.
Value *takePiece(Value *vector, unsigned begin, unsigned count, IRBuilderBase &builder) {
  SmallVector<Element> elements;
  for (unsigned i = 0; i < count; ++i)
    elements.push_back(findElement(vector, int(begin + i)));
  if (count == 1) {
    auto [value, index] = elements[0];
    return !value      ? PoisonValue::get(vector->getType()->getScalarType())
           : index < 0 ? value
                       : builder.CreateExtractElement(value, uint64_t(index));
  }
  auto *type = cast<FixedVectorType>(withElements(vector->getType(), count));
  Value *piece = shuffleOf(elements, type, builder);
  return piece ? piece : insertAll(elements, type, builder);
}

/// An element of a vector whose elements join several of another one, as a register joins two
/// halves: these, taken from where they are computed.
Value *resolveJoined(ExtractElementInst &extract, unsigned index) {
  auto *bits = dyn_cast<BitCastInst>(extract.getVectorOperand());
  auto *from = bits ? dyn_cast<FixedVectorType>(bits->getSrcTy()) : nullptr;
  if (!from)
    return nullptr;
  const unsigned extent = cast<FixedVectorType>(bits->getType())->getNumElements();
  const unsigned count = from->getNumElements() / extent;
  if (count < 2 || from->getNumElements() % extent)
    return nullptr;
  for (unsigned i = 0; i < count; ++i)
    if (findElement(bits->getOperand(0), int(index * count + i)).value == bits->getOperand(0))
      return nullptr;
  IRBuilder<> builder(&extract);
  return builder.CreateBitCast(takePiece(bits->getOperand(0), index * count, count, builder),
                               extract.getType());
}

Value *resolve(ExtractElementInst &extract) {
  auto *at = dyn_cast<ConstantInt>(extract.getIndexOperand());
  auto *type = dyn_cast<FixedVectorType>(extract.getVectorOperandType());
  if (!at || !type || at->getValue().uge(type->getNumElements()))
    return nullptr;
  if (Value *joined = resolveJoined(extract, unsigned(at->getZExtValue())))
    return joined;
  Element found = findElement(extract.getVectorOperand(), int(at->getZExtValue()));
  if (!found.value || found.value == extract.getVectorOperand())
    return nullptr;
  if (found.index < 0)
    return found.value;
  return IRBuilder<>(&extract).CreateExtractElement(found.value, uint64_t(found.index));
}

/// Casts, comparisons and selections between elements of different sizes, which the scalarizer
/// leaves whole: in pieces that fill a register of 32 bits, as cvt.rn.f16x2.f32 makes. Masks follow
/// what they are of.
Value *splitIntoPieces(Instruction &instruction) {
  if (!isa<CastInst, CmpInst, SelectInst>(instruction))
    return nullptr;
  auto *type = dyn_cast<FixedVectorType>(instruction.getType());
  if (!type)
    return nullptr;
  constexpr unsigned bitsOfARegister = 32;
  const unsigned count = type->getNumElements();
  unsigned narrowest = 0;
  bool unlike = false;
  auto add = [&](Type *one) {
    auto *vector = dyn_cast<FixedVectorType>(one);
    if (!vector || vector->getNumElements() != count)
      return false;
    unsigned bits = vector->getElementType()->isPointerTy() ? 64 : vector->getScalarSizeInBits();
    unlike |= bits != type->getScalarSizeInBits();
    if (bits >= 8)
      narrowest = narrowest ? std::min(narrowest, bits) : bits;
    return true;
  };
  if (!add(type) || !all_of(instruction.operands(), [&](Use &use) { return add(use->getType()); }))
    return nullptr;
  const unsigned piece = narrowest ? std::max(bitsOfARegister / narrowest, 1u) : 0;
  if (!unlike || !piece || count <= piece || count % piece)
    return nullptr;
  IRBuilder<> builder(&instruction);
  Value *whole = PoisonValue::get(type);
  for (unsigned begin = 0; begin < count; begin += piece) {
    Instruction *part = instruction.clone();
    for (Use &operand : part->operands())
      operand.set(takePiece(operand.get(), begin, piece, builder));
    part->mutateType(withElements(type, piece));
    builder.Insert(part);
    if (piece == 1) {
      whole = builder.CreateInsertElement(whole, part, uint64_t(begin));
      continue;
    }
    // As wide as the whole, then laid over the pieces before.
    SmallVector<int> widened(count, PoisonMaskElem), laid(count);
    for (unsigned i = 0; i < piece; ++i)
      widened[begin + i] = int(i);
    for (unsigned i = 0; i < count; ++i)
      laid[i] = int(i >= begin && i < begin + piece ? count + i : i);
    whole = builder.CreateShuffleVector(whole, builder.CreateShuffleVector(part, widened), laid);
  }
  return whole;
}

} // namespace

/// Those of bf16 are shifts of whole registers (WidenBF16.h).
static bool isExtensionOfHalf(const Instruction &instruction) {
  return isa<FPExtInst>(instruction) &&
         instruction.getOperand(0)->getType()->getScalarType()->isHalfTy();
}

PreservedAnalyses ResolveShufflesPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    Value *piece = nullptr;
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
      piece = resolve(*shuffle);
    else if (auto *extract = dyn_cast<ExtractElementInst>(&instruction))
      piece = resolve(*extract);
    else if (cuts == Cuts::All || isExtensionOfHalf(instruction))
      piece = splitIntoPieces(instruction);
    if (!piece)
      continue;
    instruction.replaceAllUsesWith(piece);
    instruction.eraseFromParent();
    changed = true;
  }
  if (!changed)
    return PreservedAnalyses::all();
  for (BasicBlock &block : llvm::reverse(function)) // joins that nobody needs any more
    for (Instruction &instruction : make_early_inc_range(llvm::reverse(block)))
      if (isInstructionTriviallyDead(&instruction))
        instruction.eraseFromParent();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tile
