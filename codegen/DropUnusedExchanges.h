// Exchanges between lanes whose result nobody needs.
#ifndef TILE_CODEGEN_DROPUNUSEDEXCHANGES_H
#define TILE_CODEGEN_DROPUNUSEDEXCHANGES_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Removes what nothing needs, as LLVM's ADCE does, and exchanges between lanes too, which LLVM
/// takes for effects. ptxas removes such exchanges late, and by then it has joined `and.pred` and
/// `or.pred` of the same two predicates into one instruction with two results: where the exchange
/// was all that needed the `and`, it writes the `and` where the `or` is read.
struct DropUnusedExchangesPass : llvm::PassInfoMixin<DropUnusedExchangesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
