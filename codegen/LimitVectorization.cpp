// Finds the loops that would grow too large as vectors, and marks them so that they stay as they
// are.
#include "codegen/LimitVectorization.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace tile {

/// Whether the address moves on by one element in each iteration, or not at all: then lanes share
/// one access.
static bool isOfNeighbours(Value *address, uint64_t bytes, Loop &loop, ScalarEvolution &evolution) {
  const SCEV *place = evolution.getSCEV(address);
  if (evolution.isLoopInvariant(place, &loop))
    return true;
  auto *moving = dyn_cast<SCEVAddRecExpr>(place);
  auto *step = moving && moving->getLoop() == &loop
                   ? dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution))
                   : nullptr;
  return step && step->getAPInt().abs() == bytes;
}

/// How many accesses to single elements the loop would have as vectors of 32 bytes.
/// An access that is no neighbour's becomes one for each lane: its code grows with the number of
/// lanes, and LLVM's time with it.
static uint64_t countExpanded(Loop &loop, ScalarEvolution &evolution, const DataLayout &layout) {
  constexpr uint64_t vectorBytes = 32;
  uint64_t scattered = 0, least = vectorBytes;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      Value *address = getLoadStorePointerOperand(&instruction);
      if (!address)
        continue;
      uint64_t bytes =
          std::max<uint64_t>(layout.getTypeStoreSize(getLoadStoreType(&instruction)), 1);
      least = std::min(least, bytes);
      scattered += !isOfNeighbours(address, bytes, loop, evolution);
    }
  return scattered * (vectorBytes / least);
}

PreservedAnalyses LimitVectorizationPass::run(Function &function,
                                              FunctionAnalysisManager &analyses) {
  constexpr uint64_t most = 256;
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && countExpanded(*loop, evolution, function.getDataLayout()) > most)
      addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
  return PreservedAnalyses::all();
}

} // namespace tile
