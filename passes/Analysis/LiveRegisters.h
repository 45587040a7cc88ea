// How many registers the tiles of a kernel with layouts take at once. Counted by the cost model's
// rules, in CostModel/RegisterPressure.cpp, but asked for by passes, which know nothing of the
// model.
#ifndef TILE_PASSES_ANALYSIS_LIVEREGISTERS_H
#define TILE_PASSES_ANALYSIS_LIVEREGISTERS_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// Registers of the tiles that a thread holds at the worst point of the kernel, whose layouts say
/// who holds them.
int64_t countLiveRegisters(KernelOp kernel);

} // namespace tile

#endif
