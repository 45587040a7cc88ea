// LLVM's scalarizer for tiles: vectors of many elements that are put together one by one.
#ifndef TILE_CODEGEN_SCALARIZETILES_H
#define TILE_CODEGEN_SCALARIZETILES_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// What a thread holds of a tile is one vector up to here, of up to some hundred elements. GPUs
/// have no vector registers: LLVM's scalarizer takes vectors apart into elements, or pieces of
/// `leastBits`. It knows each insertion into a vector as a vector of its own, puts all of them
/// together again, and then removes them: n² insertions for n elements, a tenth of the time of
/// compiling. So a vector that insertions make is one call meanwhile, which it asks for elements:
///
///   before     %a = insertelement poison, %x, 0        meanwhile  %b = call @tile.elements(%x, %y)
///              %b = insertelement %a, %y, 1                       extractelement %b, 0: is %x
///
/// Whoever needs the whole vector after all gets the insertions back. Pieces of a register that the
/// scalarizer has joined and taken apart again are taken from where they are computed
/// (ResolveShuffles): InstCombine does the same, in time that grows with the square of the tile.
class ScalarizeTilesPass : public llvm::PassInfoMixin<ScalarizeTilesPass> {
public:
  explicit ScalarizeTilesPass(unsigned leastBits) : leastBits(leastBits) {}

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  unsigned leastBits;
};

} // namespace tile

#endif
