// The registers that a thread which computes will have: those that setmaxnreg hands it, by the plan
// that tile-gpu-specialize-warps follows, else what ptxas is expected to take. Not what limits a
// choice: a thread may need fewer than it gets, and ptxas takes more where there are more.
#include "passes/Analysis/CostModel/SharedMemory.h"
#include "passes/TileGPU/LaunchFit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tile::cost {

/// Registers of a thread that the results of a loop's products by wgmma take, the most of all
/// loops.
static int64_t countProducts(const KernelWork &work, int64_t warps) {
  constexpr int64_t warpThreads = 32;
  int64_t most = 0;
  for (const LoopWork &loop : work.loops) {
    int64_t registers = 0;
    for (const DotWork &dot : loop.dots)
      if (dot.wgmma)
        registers += dot.m * dot.n / (warpThreads * countDistinctWarps(dot, warps));
    most = std::max(most, registers);
  }
  return most;
}

/// Registers of the fragments that a thread loads for one step of products by mma.sync: of the
/// largest product, and of all of a loop's.
struct Fragments {
  double most = 0, all = 0;
};
static Fragments countFragments(const KernelWork &work, int64_t warps) {
  constexpr double stepBytes = 32, threadBytes = 128; // of a row or column; of a register in a warp
  Fragments found;
  for (const LoopWork &loop : work.loops) {
    double all = 0;
    for (const DotWork &dot : loop.dots) {
      auto [rows, columns] = getWarpTile(dot, warps, work.shared.rowsInWarps);
      double own = double((dot.computedA ? 0 : rows) + columns) * stepBytes / threadBytes;
      found.most = std::max(found.most, own);
      all += own;
    }
    found.all = std::max(found.all, all);
  }
  return found;
}

/// Of tiles that live at once at the widest point, and of rows that begin anywhere.
static std::pair<double, double> getLive(const KernelWork &work, const Resources &found) {
  size_t size = std::min<size_t>(llvm::Log2_64(uint64_t(std::max<int64_t>(found.warps, 1))),
                                 work.live.size() - 1);
  return {work.live[size], work.uneven[size]};
}

// What ptxas takes, fitted to the registers of the examples for sm_80 and sm_90a (bench/plans.py
// --registers has the rest of the error).

/// Beside tiles, a step's fragments and half of the next one's, and addresses of copies, of shared
/// memory and of the result: as many as there are pieces of operands, up to what stays in
/// registers.
static double countMultiplying(const KernelWork &work, const Resources &found) {
  constexpr double steps = 1.5, mostAddresses = 64, ofFragment = 4;
  auto [live, uneven] = getLive(work, found);
  Fragments fragments = countFragments(work, found.warps);
  return live + uneven + steps * fragments.most +
         std::min(mostAddresses, ofFragment * fragments.all);
}

/// Without products ptxas finds an order in which part of a tile's elements are there at once;
/// results wait for their stores beside these, and each loop has its own addresses and bounds.
static double countStreamed(const KernelWork &work, const Resources &found) {
  constexpr double others = 18, atOnce = 0.62, ofUneven = 0.32, ofStores = 0.6, ofLoop = 7,
                   ofReduction = 3, wordBytes = 4;
  auto [live, uneven] = getLive(work, found);
  double stores = 0, reduced = 0, threads = double(found.threads);
  for (const LoopWork &loop : work.loops) {
    double bytes = 0;
    for (const AccessWork &access : loop.accesses)
      bytes += access.isStore ? access.paddedBytes : 0;
    stores = std::max(stores, bytes / wordBytes / threads);
    reduced += loop.reduced / std::max(loop.trips, 1.0) / threads;
  }
  return others + atOnce * live + ofUneven * uneven + ofStores * stores +
         ofLoop * double(work.loops.size() - 1) + ofReduction * reduced / std::max(live, 1.0);
}

int64_t expectRegisters(const KernelWork &work, const Schedule &schedule,
                        const TargetLimits &target, const Resources &found) {
  constexpr int64_t warpsOfWarpgroup = 4;
  gpu::RegisterShare share;
  share.warpgroups = int64_t(found.launched) / warpsOfWarpgroup;
  share.blocks = schedule.occupancy.value_or(1);
  if (found.bulkCopies && !schedule.maxRegisters && share.warpgroups &&
      (share.warpgroups > 1 || share.blocks > 1)) {
    const GPULimits &limits = target.target->limits;
    share.tiles = found.need.registers;
    share.products = countProducts(work, found.warps);
    share.writesMaps = work.shared.writesMaps;
    share.isWide = found.fillsByThreads;
    return gpu::getConsumerRegisters(limits, share.warpgroups, share.blocks,
                                     gpu::chooseProducerRegisters(share, limits));
  }
  bool multiplies =
      llvm::any_of(work.loops, [](const LoopWork &loop) { return !loop.dots.empty(); });
  double expected = double(found.registers);
  if (!multiplies)
    expected = countStreamed(work, found);
  else if (!found.bulkCopies)
    expected = countMultiplying(work, found);
  return std::min(found.registerLimit, int64_t(expected));
}

} // namespace tile::cost
