// All operations of the tile dialect, by family.
#ifndef TILE_OPS
#define TILE_OPS

include "dialect/Tile/TileKernelOps.td"
include "dialect/Tile/TileDebugOps.td"
include "dialect/Tile/TileMemoryOps.td"
include "dialect/Tile/TileIndexedOps.td"
include "dialect/Tile/TileComputeOps.td"
include "dialect/Tile/TileElementOps.td"

#endif
