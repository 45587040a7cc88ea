// See the header. All lanes of a warp reach an exchange together, so all of them leave it out.
#include "codegen/DropUnusedExchanges.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Scalar/ADCE.h"

using namespace llvm;

namespace tile {

/// Not barriers that reduce: those wait for other warps, whoever needs their result.
static bool isExchange(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  StringRef name = call->getCalledFunction()->getName();
  return name.starts_with("llvm.nvvm.shfl.sync.") || name.starts_with("llvm.nvvm.redux.sync.");
}

PreservedAnalyses DropUnusedExchangesPass::run(Function &function,
                                               FunctionAnalysisManager &analyses) {
  // ADCE keeps what has effects; while it runs, exchanges have none. Instruction selection asks for
  // the attributes that they have had.
  SmallVector<std::pair<WeakVH, AttributeList>> exchanges;
  for (Instruction &instruction : instructions(function))
    if (isExchange(instruction)) {
      auto &call = cast<CallInst>(instruction);
      exchanges.emplace_back(&call, call.getAttributes());
      call.setDoesNotAccessMemory();
      call.setDoesNotThrow();
      call.addFnAttr(Attribute::WillReturn);
    }
  PreservedAnalyses preserved = ADCEPass().run(function, analyses);
  for (auto &[exchange, attributes] : exchanges)
    if (Value *kept = exchange)
      cast<CallInst>(kept)->setAttributes(attributes);
  return preserved;
}

} // namespace tile
