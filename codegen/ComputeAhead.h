// Computes elementary functions ahead of a test whose outcome is known nearly always.
#ifndef TILE_CODEGEN_COMPUTEAHEAD_H
#define TILE_CODEGEN_COMPUTEAHEAD_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Where a warp skips work that its lanes do not need as a rule, what stands behind the skip waits
/// for the test, even if it only needs what is there when the work is skipped:
///
///   m = max of 64 scores                         m = max of 64 scores;  e = exp(x - t)
///   if (!all(m < t + 8)): u = ...                if (!all(m < t + 8)): u = ...; e = exp(x - u)
///   u = phi(t, u);  e = exp(x - u)         ->    u = phi(t, u);  e = phi(e, e)
///
/// The unit for elementary functions is idle while maxima are found and tested, and nothing else is
/// done while it has 64 exponentials to compute. So some of them move ahead of the test: as many as
/// that unit computes meanwhile. Their arguments live as long as the test, a register each, so this
/// is for kernels whose producer hands registers on. ptxas orders instructions within blocks, but
/// moves nothing over a branch.
struct ComputeAheadPass : llvm::PassInfoMixin<ComputeAheadPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
