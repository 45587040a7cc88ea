// Takes pieces of a tile from where they are computed, not from the tile that they were joined to.
#ifndef TILE_CODEGEN_RESOLVESHUFFLES_H
#define TILE_CODEGEN_RESOLVESHUFFLES_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// The scalarizer cuts a tile into pieces of a register, joins them where a use takes the tile as a
/// whole, and that use takes pieces again:
///
///   t = shufflevector(shufflevector(p0, p1), shufflevector(p2, p3))      8 halves of 4 pieces
///   store shufflevector(t, [2, 3])                                      becomes: store p1
///
/// Without the joins each use depends on its own pieces alone, which ScheduleForPressure needs.
/// `cuts` says of what the scalarizer has left whole what becomes pieces, too: extensions of f16,
/// which the elements of one register make; or all casts, comparisons and selections. Joins that
/// nobody needs any more go.
struct ResolveShufflesPass : llvm::PassInfoMixin<ResolveShufflesPass> {
  enum class Cuts { ExtensionsOfHalf, All };
  explicit ResolveShufflesPass(Cuts cuts = Cuts::All) : cuts(cuts) {}

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  Cuts cuts;
};

} // namespace tile

#endif
