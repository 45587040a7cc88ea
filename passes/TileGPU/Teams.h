// Teams of consumers: each computes programs of its own, from one ring.
#ifndef TILE_PASSES_TILEGPU_TEAMS_H
#define TILE_PASSES_TILEGPU_TEAMS_H

#include "passes/TileGPU/RingGroups.h"
#include "passes/TileGPU/TeamCount.h"

namespace tile::gpu {

/// Teams that the consumers of a kernel become.
TeamCount chooseTeams(KernelOp kernel, llvm::ArrayRef<RingGroup> groups, const GPULimits &limits);

/// Deals the programs of the consumers' side among `teams`, in turns.
void dealPrograms(mlir::Block &consumer, int64_t teams);

} // namespace tile::gpu

#endif
