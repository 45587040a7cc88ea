// Halves of a 32-bit word as f32.
#ifndef TILE_CODEGEN_WIDENBF16_H
#define TILE_CODEGEN_WIDENBF16_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// ptxas moves the upper bf16 of a register to the lower half before it widens it: two instructions
/// where a mask is one, as the lower one's shift is. The pass writes both out. It runs last:
/// before, other passes know more of a widening than of its bits.
struct WidenBF16Pass : llvm::PassInfoMixin<WidenBF16Pass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
