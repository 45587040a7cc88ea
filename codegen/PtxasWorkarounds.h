// What ptxas compiles wrong, in a form that it compiles right.
#ifndef TILE_CODEGEN_PTXASWORKAROUNDS_H
#define TILE_CODEGEN_PTXASWORKAROUNDS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// InstCombine turns `i + s < s` (signed) into `i > MAX - s` (unsigned), which is the same though i + s may wrap. Where i is counted
/// up by s in a loop, ptxas (CUDA 13.0) compares i + s with MAX instead, as if i + s could not wrap to 0: a loop from -2 to below 1
/// then ends before its last trip. This turns the comparison back.
struct SignLoopEndsPass : llvm::PassInfoMixin<SignLoopEndsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// Of `add.s16x2 r, r, 65537` whose upper half nobody needs, ptxas (CUDA 13.0) adds 0 to the lower one. This splits sums and
/// extremes of vectors of integers of 16 bits and less into those of their elements; what works on bits stays.
struct SplitShortVectorsPass : llvm::PassInfoMixin<SplitShortVectorsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; } // also without optimisation
};

} // namespace tile

#endif
