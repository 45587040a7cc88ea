// A bound on what LLVM's loop vectorizer may make of one loop.
#ifndef TILE_CODEGEN_LIMITVECTORIZATION_H
#define TILE_CODEGEN_LIMITVECTORIZATION_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Keeps the vectorizer from innermost loops of which it would make hundreds of accesses to single
/// elements: an access that is not of neighbours is repeated for each lane, of bytes for 32 of
/// them. A transposition of a tile of bools whose inner loop is unrolled would become a thousand
/// stores, over which the passes behind it, which look at all pairs, take seconds.
struct LimitVectorizationPass : llvm::PassInfoMixin<LimitVectorizationPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
