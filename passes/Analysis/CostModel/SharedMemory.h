// The shared memory of a block, by the plans that the passes follow.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDMEMORY_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDMEMORY_H

#include "passes/Analysis/CostModel/Schedule.h"

namespace tile::cost {

/// Sets how operands come to shared memory.
void chooseCopies(const KernelWork &work, const Schedule &schedule, const TargetLimits &target,
                  Resources &found);

/// Sets stages, bytes, and what a further block would need. Warps, threads and registers are there.
void estimateShared(const KernelWork &work, const Schedule &schedule, const TargetLimits &target,
                    Resources &found);

/// Registers that a thread which computes gets.
int64_t expectRegisters(const KernelWork &work, const Schedule &schedule,
                        const TargetLimits &target, const Resources &found);

} // namespace tile::cost

#endif
