// LLVM's scalarizer for tiles: vectors of many elements that are put together one by one.
#include "codegen/ScalarizeTiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

using namespace llvm;

namespace {

/// Shorter chains cost nothing.
constexpr unsigned leastElements = 4;

/// The elements of a vector that insertions make, of each the last; empty if one is not known.
SmallVector<Value *> findElements(InsertElementInst *last) {
  auto *type = dyn_cast<FixedVectorType>(last->getType());
  if (!type || type->getNumElements() < leastElements)
    return {};
  SmallVector<Value *> elements(type->getNumElements());
  Value *vector = last;
  while (auto *insertion = dyn_cast<InsertElementInst>(vector)) {
    auto *at = dyn_cast<ConstantInt>(insertion->getOperand(2));
    if (!at || at->getZExtValue() >= elements.size())
      return {};
    Value *&element = elements[at->getZExtValue()];
    element = element ? element : insertion->getOperand(1);
    vector = insertion->getOperand(0);
  }
  auto *rest = dyn_cast<Constant>(vector);
  for (auto [i, element] : enumerate(elements))
    if (!element && !(element = rest ? rest->getAggregateElement(i) : nullptr))
      return {};
  return elements;
}

bool isInserted(const Use &use) {
  return isa<InsertElementInst>(use.getUser()) && use.getOperandNo() == 0;
}

/// Calls in place of the vectors that something else than an insertion uses.
SmallVector<CallInst *> hideInsertions(Function &function) {
  SmallVector<InsertElementInst *> insertions, last;
  for (Instruction &instruction : instructions(function))
    if (auto *insertion = dyn_cast<InsertElementInst>(&instruction)) {
      insertions.push_back(insertion);
      if (!insertion->use_empty() && !all_of(insertion->uses(), isInserted))
        last.push_back(insertion);
    }
  SmallVector<CallInst *> calls;
  for (InsertElementInst *insertion : last) {
    SmallVector<Value *> elements = findElements(insertion);
    if (elements.empty())
      continue;
    // A function for each call: it goes with the call.
    auto *type = FunctionType::get(insertion->getType(), /*isVarArg=*/true);
    auto *callee =
        Function::Create(type, GlobalValue::ExternalLinkage, "tile.elements", function.getParent());
    IRBuilder<> builder(insertion);
    calls.push_back(builder.CreateCall(callee, elements));
    insertion->replaceAllUsesWith(calls.back());
  }
  for (InsertElementInst *insertion : reverse(insertions))
    if (insertion->use_empty())
      insertion->eraseFromParent();
  return calls;
}

/// The elements from `first` on as a vector of `type`.
Value *insertElements(IRBuilder<> &builder, const CallInst &call, FixedVectorType *type,
                      unsigned first) {
  Value *vector = PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i)
    vector = builder.CreateInsertElement(vector, call.getArgOperand(first + i), i);
  return vector;
}

/// The first element of a piece of consecutive ones that `user` takes out.
std::optional<unsigned> getFirstOfPiece(const ShuffleVectorInst &user, const CallInst &call) {
  int first = user.getMaskValue(0), count = call.arg_size();
  if (user.getOperand(0) != &call || first < 0)
    return std::nullopt;
  for (auto [i, at] : enumerate(user.getShuffleMask()))
    if (at != first + int(i) || at >= count)
      return std::nullopt;
  return first;
}

/// What asks for elements gets them.
void showElements(CallInst *call) {
  // Each once: a shuffle may use it twice.
  SmallSetVector<Instruction *, 16> users;
  for (User *user : call->users())
    users.insert(cast<Instruction>(user));
  for (Instruction *user : users) {
    Value *found = nullptr;
    if (auto *extraction = dyn_cast<ExtractElementInst>(user)) {
      auto *at = dyn_cast<ConstantInt>(extraction->getIndexOperand());
      if (at && at->getZExtValue() < call->arg_size())
        found = call->getArgOperand(at->getZExtValue());
    } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(user)) {
      IRBuilder<> builder(shuffle);
      auto *type = cast<FixedVectorType>(shuffle->getType());
      if (std::optional<unsigned> first = getFirstOfPiece(*shuffle, *call))
        found = insertElements(builder, *call, type, *first);
    }
    if (found) {
      user->replaceAllUsesWith(found);
      user->eraseFromParent();
    }
  }
  if (!call->use_empty()) {
    IRBuilder<> builder(call);
    call->replaceAllUsesWith(
        insertElements(builder, *call, cast<FixedVectorType>(call->getType()), 0));
  }
  Function *callee = call->getCalledFunction();
  call->eraseFromParent();
  callee->eraseFromParent();
}

} // namespace

PreservedAnalyses tile::ScalarizeTilesPass::run(Function &function,
                                                FunctionAnalysisManager &analyses) {
  SmallVector<CallInst *> calls = hideInsertions(function);
  ScalarizerPassOptions options;
  options.ScalarizeMinBits = leastBits;
  PreservedAnalyses preserved = ScalarizerPass(options).run(function, analyses);
  for (CallInst *call : calls)
    showElements(call);
  return calls.empty() ? preserved : PreservedAnalyses::none();
}
