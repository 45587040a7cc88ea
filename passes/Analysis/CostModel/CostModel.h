// Estimates how long a kernel takes, from its IR, the extents that it is to run with, and the
// target's limits: the kernel is elaborated, no pass runs on it and no GPU is asked.
// docs/CostModel.md says what is counted and how well it fits.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_COSTMODEL_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_COSTMODEL_H

#include "passes/Analysis/CostModel/KernelWork.h"
#include "passes/Analysis/CostModel/Schedule.h"
#include "passes/Analysis/CostModel/TargetLimits.h"

#include <cstdint>
#include <string>

namespace tile::cost {

/// The model's estimate for one kernel in one configuration at one shape.
struct CostEstimate {
  bool valid =
      true; ///< false: it cannot be compiled, would spill, or the shape is not one of the kernel's
  std::string reason; ///< why it is not valid
  double milliseconds =
      0; ///< of a launch, infinite where it is not valid; good for comparing, not for promising

  int64_t warps = 0;          ///< that compute
  int64_t threads = 0;        ///< of a block, with those that only load
  int64_t stages = 0;         ///< of the loads that run ahead; 0: none do
  int64_t registers = 0;      ///< of a thread that computes, estimated
  int64_t registerLimit = 0;  ///< what such a thread may have
  int64_t givenRegisters = 0; ///< that it gets: by setmaxnreg, else what ptxas is expected to take
  int64_t sharedBytes = 0;    ///< of a block, estimated
  int64_t blocks = 0;         ///< of a multiprocessor at once
  int64_t programs = 0;       ///< of the grid, parts of a split loop included
  double waves = 0;           ///< programs over those that the machine runs at once
  double idle = 0;            ///< part of the machine that the last wave leaves idle, 0 to 1

  double dramBytes = 0, l2Bytes = 0; ///< moved in all
  double operations = 0;             ///< of products; of elements where there are none
  double rooflineMilliseconds = 0;   ///< the bytes and operations alone at the target's rates
  std::string bound; ///< what takes longest: memory, L2, tensor cores, arithmetic, latency
};

/// Estimates a kernel whose work has been counted, under any schedule. Cheap: meant for every
/// candidate.
CostEstimate estimateCost(const KernelWork &work, const Schedule &schedule,
                          const TargetLimits &target);

/// The same for a kernel of the tile dialect as it stands, its attributes included. Dimensions that
/// `extents` leaves out have the `opt` of their contract.
CostEstimate estimateCost(KernelOp kernel, const Extents &extents, const TargetLimits &target);

} // namespace tile::cost

#endif
