// LLVM's scalarizer for tiles: vectors of many elements that are put together one by one.
#include "codegen/ScalarizeTiles.h"
#include "codegen/ResolveShuffles.h"
#include "llvm/ADT/STLExtras.h"
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
/// Of elements that are pieces of their own: for pairs of short ones the instructions that are
/// selected hang on what makes the pair.
SmallVector<Value *> findElements(InsertElementInst *last, unsigned leastBits) {
  auto *type = dyn_cast<FixedVectorType>(last->getType());
  if (!type || type->getNumElements() < leastElements || type->getScalarSizeInBits() < leastBits)
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
SmallVector<CallInst *> hideInsertions(Function &function, unsigned leastBits) {
  SmallVector<InsertElementInst *> insertions, last;
  for (Instruction &instruction : instructions(function))
    if (auto *insertion = dyn_cast<InsertElementInst>(&instruction)) {
      insertions.push_back(insertion);
      if (!insertion->use_empty() && !all_of(insertion->uses(), isInserted))
        last.push_back(insertion);
    }
  SmallVector<CallInst *> calls;
  for (InsertElementInst *insertion : last) {
    SmallVector<Value *> elements = findElements(insertion, leastBits);
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

/// What asks for elements gets them.
void showElements(CallInst *call) {
  for (User *user : make_early_inc_range(call->users())) {
    auto *extraction = dyn_cast<ExtractElementInst>(user);
    auto *at = extraction ? dyn_cast<ConstantInt>(extraction->getIndexOperand()) : nullptr;
    if (!at || at->getZExtValue() >= call->arg_size())
      continue;
    extraction->replaceAllUsesWith(call->getArgOperand(at->getZExtValue()));
    extraction->eraseFromParent();
  }
  if (!call->use_empty()) {
    IRBuilder<> builder(call);
    Value *vector = PoisonValue::get(call->getType());
    for (auto [i, element] : enumerate(call->args()))
      vector = builder.CreateInsertElement(vector, element, i);
    call->replaceAllUsesWith(vector);
  }
  Function *callee = call->getCalledFunction();
  call->eraseFromParent();
  callee->eraseFromParent();
}

} // namespace

PreservedAnalyses tile::ScalarizeTilesPass::run(Function &function,
                                                FunctionAnalysisManager &analyses) {
  SmallVector<CallInst *> calls = hideInsertions(function, leastBits);
  ScalarizerPassOptions options;
  options.ScalarizeMinBits = leastBits;
  PreservedAnalyses preserved = ScalarizerPass(options).run(function, analyses);
  for (CallInst *call : calls)
    showElements(call);
  if (!calls.empty())
    preserved = PreservedAnalyses::none();
  preserved.intersect(
      ResolveShufflesPass(ResolveShufflesPass::Cuts::ExtensionsOfHalf).run(function, analyses));
  return preserved;
}
