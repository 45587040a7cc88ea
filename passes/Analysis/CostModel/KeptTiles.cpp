// What one loop loads and a later one over the same blocks loads again, of tensors that nothing
// writes: tile-gpu-keep-tiles has it wait in shared memory.
#include "passes/Analysis/CostModel/KernelWork.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tile::cost {

/// True if both load the same blocks.
static bool isSame(const AccessWork &a, const AccessWork &b) {
  auto getBytes = [](const AccessWork &each) { return each.tileBytes * each.useful * each.count; };
  return !a.isStore && !a.isIndexed && a.param == b.param && a.axes == b.axes &&
         getBytes(a) == getBytes(b);
}

int findEarlierLoop(const KernelWork &work, size_t number, const AccessWork &access) {
  const LoopWork &loop = work.loops[number];
  if (access.isStore || access.isIndexed || access.feedsDot)
    return -1;
  for (size_t before = number; before-- > 0;) {
    const LoopWork &earlier = work.loops[before];
    if (earlier.parent == loop.parent &&
        llvm::any_of(earlier.accesses,
                     [&](const AccessWork &each) { return isSame(each, access); }))
      return int(before);
  }
  return -1;
}

/// True if an earlier loop has found the elements of `access` that exist, and the same for others.
static bool findsAgain(const KernelWork &work, size_t number, const AccessWork &access) {
  int earlier = findEarlierLoop(work, number, access);
  return earlier >= 0 &&
         llvm::any_of(work.loops[size_t(earlier)].accesses, [&](const AccessWork &each) {
           return isSame(each, access) && each.place == access.place &&
                  (each.padding == access.padding || access.hidesPadding);
         });
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
          llvm::is_contained(seen, access.param) || !findsAgain(work, number, access))
        continue;
      seen.push_back(access.param);
      kept.trips = std::max(kept.trips, int64_t(std::ceil(loop.trips / loop.runs)));
      kept.mostTrips = std::max(kept.mostTrips, loop.mostTrips);
      kept.bytes += int64_t(access.paddedBytes);
      kept.tiles.push_back({int64_t(access.paddedBytes), access.elements, access.neighbours});
    }
  return kept;
}

} // namespace tile::cost
