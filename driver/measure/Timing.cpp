// How long a kernel takes: batches of launches until their times settle.
#include "driver/measure/Timing.h"
#include <algorithm>
#include <vector>

namespace tile {

/// `run(n, time)` launches n times in a row and gives the milliseconds of one. The time kept is the
/// median of batches: single launches vary by what else the device does, and a batch hides the cost
/// of asking for the time.
bool timeKernel(const TimingLimits &limits, llvm::function_ref<bool(unsigned, double &)> run,
                Timing &timing) {
  constexpr double batch = 1; // milliseconds
  std::vector<double> times;
  double sum = 0, time = 0;
  if (!run(1, time)) // the first is slower: it also says how many fill a batch
    return false;
  // Asked twice, since the first run loads code and warms caches.
  timing.slow = limits.giveUp > 0 && time > limits.giveUp && run(1, time) && time > limits.giveUp;
  unsigned count = unsigned(std::clamp(batch / std::max(time, 1e-6), 1.0, 50.0));
  if (timing.slow)
    times.push_back(time);
  while (!timing.slow &&
         (times.size() < limits.fewest || (sum < limits.enough && times.size() < limits.most))) {
    if (!run(count, time))
      return false;
    times.push_back(time);
    sum += time * count;
  }
  std::sort(times.begin(), times.end());
  timing.median = times[times.size() / 2];
  timing.best = times.front();
  timing.batches = times.size();
  return true;
}

} // namespace tile
