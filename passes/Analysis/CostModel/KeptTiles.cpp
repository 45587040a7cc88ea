// What one loop loads and a later one over the same blocks loads again, of tensors that nothing
// writes: tile-gpu-keep-tiles has it wait in shared memory.
#include "passes/Analysis/CostModel/KernelWork.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tile::cost {

int findEarlierLoop(const KernelWork &work, size_t number, const AccessWork &access) {
  auto getBytes = [](const AccessWork &each) { return each.tileBytes * each.useful * each.count; };
  const LoopWork &loop = work.loops[number];
  if (access.isStore || access.isIndexed || access.feedsDot)
    return -1;
  for (size_t before = number; before-- > 0;) {
    const LoopWork &earlier = work.loops[before];
    if (earlier.parent == loop.parent &&
        llvm::any_of(earlier.accesses, [&](const AccessWork &each) {
          return !each.isStore && !each.isIndexed && each.param == access.param &&
                 each.axes == access.axes && getBytes(each) == getBytes(access);
        }))
      return int(before);
  }
  return -1;
}

KeptWork findKept(const KernelWork &work) {
  llvm::SmallVector<unsigned> written, seen;
  for (const LoopWork &loop : work.loops) {
    if (!loop.dots.empty() || loop.split > 1)
      return {};
    for (const AccessWork &access : loop.accesses)
      if (access.isStore)
        written.push_back(access.param);
  }
  KeptWork kept;
  for (const auto &[number, loop] : llvm::enumerate(work.loops))
    for (const AccessWork &access : loop.accesses) {
      if (loop.parent < 0 || loop.runs <= 0 || llvm::is_contained(written, access.param) ||
          llvm::is_contained(seen, access.param) || findEarlierLoop(work, number, access) < 0)
        continue;
      seen.push_back(access.param);
      kept.trips = std::max(kept.trips, int64_t(std::ceil(loop.trips / loop.runs)));
      kept.mostTrips = std::max(kept.mostTrips, loop.mostTrips);
      kept.bytes += int64_t(access.paddedBytes);
    }
  return kept;
}

} // namespace tile::cost
