// Loads of a loop that memory bounds, some trips ahead by cp.async.
#ifndef TILE_PASSES_TILEGPU_COPYAHEAD_H
#define TILE_PASSES_TILEGPU_COPYAHEAD_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"
#include "target/Target.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tile::gpu {

/// Warps of other blocks that hide a block's waits: four of each of the four schedulers.
inline constexpr int64_t hidingWarps = 16;

/// Copies the tiles that the trips of an innermost loop without products load to shared memory,
/// several trips ahead, where few programs leave memory idle. Says why it does not; empty where it
/// does, or where the loop loads nothing that could be copied. `getDivisibility` is asked last.
std::string copyAhead(mlir::scf::ForOp loop, const GPUTarget &target,
                      llvm::function_ref<const DivisibilityAnalysis &()> getDivisibility);

} // namespace tile::gpu

#endif
