// The attributes of a kernel that its operations need.
#ifndef TILE_PASSES_TILEGPU_LAUNCHSTATE_H
#define TILE_PASSES_TILEGPU_LAUNCHSTATE_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Checks that a kernel still has every attribute which one of its operations stands for: a kernel
/// that lost one would be launched with too few threads or bytes, and go wrong silently. An error
/// names the operation, the attribute and the pass that sets it.
mlir::LogicalResult verifyLaunchState(KernelOp kernel);

} // namespace tile::gpu

#endif
