// Computes cheap values again behind a loop instead of keeping registers for them across it.
#ifndef TILE_CODEGEN_RECOMPUTEACROSSLOOPS_H
#define TILE_CODEGEN_RECOMPUTEACROSSLOOPS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// The attribute of functions that the pass is for: those whose threads have no register left. Its
/// value is the number of operations that a value is computed again from at most.
inline constexpr llvm::StringLiteral recomputeName = "tile-recompute";

/// Loops of products take nearly all registers of a thread. What else is alive across them, ptxas
/// spills: mostly addresses, coordinates and bounds that an epilogue or the next program needs,
/// which common subexpressions and hoisted code keep from the kernel's beginning on:
///
///   column = (tid & 15) * 8, address = base + row * stride, ...
///   loop { ... }                  column, address and 30 more in memory
///   store(address, ...)
///
/// Such a value, if integer arithmetic on few operations makes it from arguments, thread numbers
/// and what is alive there anyway, is computed again in each block that uses it, before its first
/// use; a loop that uses it gets it from before, unless the loop's body is so long that computing
/// it is nothing beside it. As this makes the code longer, the driver asks for it (`recomputeName`)
/// where ptxas spills, and keeps it where ptxas spills less then.
struct RecomputeAcrossLoopsPass : llvm::PassInfoMixin<RecomputeAcrossLoopsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
