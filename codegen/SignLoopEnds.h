// Comparisons that end loops, in a form that ptxas compiles right.
#ifndef TILE_CODEGEN_SIGNLOOPENDS_H
#define TILE_CODEGEN_SIGNLOOPENDS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// InstCombine turns `i + s < s` (signed) into `i > MAX - s` (unsigned), which is the same though i + s may wrap. Where i is counted
/// up by s in a loop, ptxas (CUDA 13.0) compares i + s with MAX instead, as if i + s could not wrap to 0: a loop from -2 to below 1
/// then ends before its last trip. This turns the comparison back.
struct SignLoopEndsPass : llvm::PassInfoMixin<SignLoopEndsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
