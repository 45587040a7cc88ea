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

/// The same before layouts are known, for blocks of 1, 2, 4, 8, 16 and 32 warps, of a kernel
/// without products.
llvm::SmallVector<int64_t> countPlainRegisters(KernelOp kernel);

/// Registers that a thread of so many warps takes beside these where rows begin anywhere: elements
/// that arrive one by one have a register each until they are used, and the loads their conditions.
/// 0 where a version of the kernel is for aligned rows, or makes no difference.
int64_t countUnevenRegisters(KernelOp kernel, int64_t warps);

} // namespace tile

#endif
