// How long a kernel takes: batches of launches until their times settle.
#ifndef TILE_DRIVER_MEASURE_TIMING_H
#define TILE_DRIVER_MEASURE_TIMING_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>

namespace tile {

/// How much to time. Batches last at least a millisecond.
struct TimingLimits {
  size_t fewest = 5, most = 100; ///< batches
  double enough = 300;           ///< milliseconds after which no batch is begun
  double giveUp = 0; ///< milliseconds from which a launch is too slow to be timed further; 0: none
};

struct Timing {
  double median = 0, best = 0; ///< milliseconds
  size_t batches = 0;
  bool slow = false; ///< given up
};

/// Calls `run(count, milliseconds)`, which runs the kernel `count` times and says how long one
/// took. False as soon as it is.
bool timeKernel(const TimingLimits &limits,
                llvm::function_ref<bool(unsigned count, double &milliseconds)> run, Timing &timing);

} // namespace tile

#endif
