// Operations on short integers that ptxas gets wrong, in 32 bits.
#ifndef TILE_CODEGEN_WIDENSHORTS_H
#define TILE_CODEGEN_WIDENSHORTS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// ptxas 13.0 makes one VIMNMX.U16x2 of a 16-bit minimum or maximum and a comparison of it, whose
/// answer it takes from the unused half; and it leaves out the sign extension of a 16-bit negation,
/// as if -32768 had an opposite. Minima, maxima and negations of integers of 16 bits and fewer are
/// done in 32 bits instead. Runs last: other passes would narrow them again.
struct WidenShortsPass : llvm::PassInfoMixin<WidenShortsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
