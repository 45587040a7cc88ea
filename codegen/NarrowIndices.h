// Positions and extents in 32 bits, where what is known of a kernel's dimensions proves that they
// fit.
#ifndef TILE_CODEGEN_NARROWINDICES_H
#define TILE_CODEGEN_NARROWINDICES_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// An index is 64 bits wide in the language, two registers and two or three instructions of a GPU.
/// What lies between -2^31 and 2^31 (by the ranges of arguments, of loops and of the block's
/// number) is computed in 32 bits instead and extended where an address needs it. Comparisons of
/// two such values are of 32 bits.
struct NarrowIndicesPass : llvm::PassInfoMixin<NarrowIndicesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
