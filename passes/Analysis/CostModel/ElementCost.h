// Costs of operations on the elements of a tile, and tiles that cost nothing.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_ELEMENTCOST_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_ELEMENTCOST_H

#include "dialect/Tile/TileDialect.h"

namespace tile::cost {

/// In elements; see LoopWork.
struct ElementCost {
  double slots = 0, special = 0, reduced = 0, exchanges = 0;
};

/// Of an operation that is no access, no product and has no loop; nothing for what computes
/// scalars.
ElementCost getElementCost(mlir::Operation *op);

/// True if each thread computes its part of the tile wherever it is used: constants, positions,
/// masks of positions, and what only repeats or renames a scalar.
bool isFree(mlir::Value tile);

} // namespace tile::cost

#endif
