// Comparisons of bf16 in f32, where subnormal numbers are flushed.
#ifndef TILE_CODEGEN_WIDENCOMPARISONS_H
#define TILE_CODEGEN_WIDENCOMPARISONS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// LLVM's NVPTX writes setp.ftz.bf16 for a comparison in a function that flushes subnormal numbers
/// of f32, an instruction that PTX does not have. A comparison of the numbers as f32 has the same
/// answer. Runs last: other passes would narrow it again.
struct WidenComparisonsPass : llvm::PassInfoMixin<WidenComparisonsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
