// Which loads give the same at any time of a launch.
#ifndef TILE_PASSES_ANALYSIS_CONSTANTMEMORY_H
#define TILE_PASSES_ANALYSIS_CONSTANTMEMORY_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// The parameter that `view` is part of; null if it is not seen to be part of one.
ViewOp getRootView(mlir::Value view);

/// True if no store of this launch can change what the load reads: of an `in` tensor, in a kernel
/// whose parameters may not overlap.
bool readsConstantMemory(LoadOp load);
bool readsConstantMemory(GatherOp gather);

} // namespace tile

#endif
