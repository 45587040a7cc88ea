// Warps that hold nothing but padding, and need not run.
#ifndef TILE_PASSES_TILEGPU_IDLEWARPS_H
#define TILE_PASSES_TILEGPU_IDLEWARPS_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// The number of last warps that a kernel need not launch, a multiple of 4 (whole warpgroups):
/// these warps hold padding, or copies of what earlier warps hold, and no operation moves elements
/// between warps. `kernel` has layouts and TMA fetches.
int64_t countIdleWarps(KernelOp kernel);

} // namespace tile::gpu

#endif
