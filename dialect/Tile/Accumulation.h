// Which values that a loop carries are only accumulated into, and by what.
#ifndef TILE_DIALECT_TILE_ACCUMULATION_H
#define TILE_DIALECT_TILE_ACCUMULATION_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// How the loop combines its carried value `index` with what each trip brings: by a sum (`dot` into
/// it is one), minimum or maximum, such that trips may be shared among several accumulators. None
/// if anything else happens to it.
std::optional<ReduceKind> getAccumulation(mlir::scf::ForOp loop, unsigned index);

} // namespace tile

#endif
