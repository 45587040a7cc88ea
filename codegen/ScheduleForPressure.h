// Orders long blocks of element-wise work so that few values are alive at once.
#ifndef TILE_CODEGEN_SCHEDULEFORPRESSURE_H
#define TILE_CODEGEN_SCHEDULEFORPRESSURE_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// Tiles are computed operation by operation, so that between two operations each thread holds all
/// of its elements of every tile that is still needed:
///
///   t0 = erf(x0), t1 = erf(x1), ...     64 values of x and 64 of t
///   y0 = x0 * t0, y1 = x1 * t1, ...
///
/// Where a block of code needs more registers than a thread has, what has no effect is moved to its
/// first use, some elements at a time: t0, t1, y0, y1, t2, t3. What later blocks use is made so,
/// too, with what they make of it alone, if that takes fewer registers. ptxas schedules within
/// blocks, but does not find this order for hundreds of values, and spills. Blocks that fit stay as
/// they are, as do loads, stores, barriers and assembly among each other; the new order is taken
/// only if it takes a third of the registers away.
struct ScheduleForPressurePass : llvm::PassInfoMixin<ScheduleForPressurePass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
