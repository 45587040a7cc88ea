// Sums of short integers in a form that ptxas keeps.
#ifndef TILE_CODEGEN_SPLITSHORTVECTORS_H
#define TILE_CODEGEN_SPLITSHORTVECTORS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Of `add.s16x2 r, r, 65537` whose upper half nobody needs, ptxas (CUDA 13.0) adds 0 to the lower
/// one. This splits sums and extremes of vectors of integers of 16 bits and less into those of
/// their elements; what works on bits stays.
struct SplitShortVectorsPass : llvm::PassInfoMixin<SplitShortVectorsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; } // also without optimisation
};

} // namespace tile

#endif
