// A product whose first operand threads compute, in parts along K: one is computed while the one
// before it multiplies.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_PRODUCTPARTS_H
#define TILE_PASSES_TILEGPU_SCHEDULE_PRODUCTPARTS_H

#include "passes/TileGPU/Schedule/LoopSchedule.h"

namespace tile::gpu {

/// Into how many parts the only product of a loop's trips is best taken; without a result `reason`
/// says why it stays in one piece.
std::optional<int64_t> findPartCount(mlir::scf::ForOp loop, std::string &reason);

/// Takes the product of `schedule` apart, each part in flight until the next one is issued and the
/// last until the trip ends. An error at the loop if the product cannot be taken apart so.
mlir::LogicalResult applyParts(mlir::scf::ForOp loop, LoopSchedule &schedule);

} // namespace tile::gpu

#endif
