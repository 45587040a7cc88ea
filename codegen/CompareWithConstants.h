// Masks of positions as comparisons with constants.
#ifndef TILE_CODEGEN_COMPAREWITHCONSTANTS_H
#define TILE_CODEGEN_COMPAREWITHCONSTANTS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// The positions that a thread holds differ by constants: m + lane + 8 < n + row is (m + lane) - (n
/// + row) < -8. A comparison of two vectors becomes one of a few differences with constants, which
/// an instruction holds, where ranges prove that no sum wraps around: no register for each
/// position, neither of the mask nor, where loops have moved them out, throughout the loop.
struct CompareWithConstantsPass : llvm::PassInfoMixin<CompareWithConstantsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
