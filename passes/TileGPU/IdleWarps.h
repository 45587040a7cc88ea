// Warps that hold nothing but padding, and need not run.
#ifndef TILE_PASSES_TILEGPU_IDLEWARPS_H
#define TILE_PASSES_TILEGPU_IDLEWARPS_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// How many of the last warps that compute, in fours, could be left out of a kernel with layouts
/// and fetches: they hold padding alone, or what warps before them hold too, and no operation moves
/// elements between warps.
int64_t countIdleWarps(KernelOp kernel);

} // namespace tile::gpu

#endif
