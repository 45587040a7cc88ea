// Vectors of a kernel that go between threads, as tiles want them along other axes than that along
// which they are held.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDVECTORS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDVECTORS_H

#include "dialect/Tile/TileDialect.h"

#include <vector>

namespace tile::cost {

struct TurnedVector {
  mlir::Operation *op = nullptr; ///< the first that wants it so
  mlir::Value vector;
  bool isInWarps = false; ///< each warp has all of it, if it is short
};

/// True of a tile that is used by broadcasts alone, each of which repeats its neighbours one by
/// one: a thread then holds few of them, or one.
bool repeatsElements(mlir::Value tile);

/// One for each vector and axis, in the order of the text.
std::vector<TurnedVector> findTurnedVectors(KernelOp kernel);

} // namespace tile::cost

#endif
