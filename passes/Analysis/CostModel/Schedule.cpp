// The resources of a multiprocessor that a block takes: threads, registers, shared memory. The
// rules are those of the passes that decide (docs/Hopper.md): SpecializeWarps for stages and shared
// memory, WarpSpecialize.cpp for registers. Blocks of a multiprocessor are the least of
//
//   threads     all threads / (32 a warp that computes, and 128 where there is a producer)
//   registers   all registers / (a thread's, in granules of 8, * threads of a block)
//   bytes       all shared memory / (once + stages * repeated + others + the system's 1024)
//
// `once` are operands outside of loops, `repeated` those of one stage, `others` operands that are
// computed and what stages stores.
#include "passes/Analysis/CostModel/Schedule.h"
#include "dialect/AttributeNames.h"
#include "dialect/RequestLimits.h"
#include "dialect/TileGPU/RotatedMemory.h"
#include "passes/Analysis/CostModel/SharedMemory.h"
#include "passes/TileGPU/SharedPlan.h"
#include "passes/TileGPU/TeamCount.h"
#include "target/LoadLatency.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tile::cost {

static std::optional<int64_t> getInteger(KernelOp kernel, StringRef name) {
  auto attr = kernel->getAttrOfType<IntegerAttr>(name);
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

Schedule Schedule::of(KernelOp kernel) {
  Schedule schedule;
  schedule.warps = getInteger(kernel, requestedWarpsName);
  schedule.stages = getInteger(kernel, stagesName);
  schedule.consumers = getInteger(kernel, consumersName);
  schedule.occupancy = getInteger(kernel, occupancyName);
  schedule.grouped = getInteger(kernel, groupedName);
  schedule.maxRegisters = getInteger(kernel, maxRegistersName);
  if (auto blocks = kernel->getAttrOfType<DenseI64ArrayAttr>(clusterName);
      blocks && !blocks.empty())
    schedule.cluster = blocks[0];
  schedule.persistent = kernel->hasAttr(persistentName);
  return schedule;
}

void Schedule::set(StringRef name, StringRef value) {
  const std::pair<StringRef, std::optional<int64_t> *> integers[] = {
      {"warps", &warps},         {"stages", &stages},   {"consumers", &consumers},
      {"occupancy", &occupancy}, {"grouped", &grouped}, {"maxreg", &maxRegisters},
      {"cluster", &cluster}};
  if (name == "persistent")
    persistent = value == "true";
  int64_t number;
  for (auto [known, place] : integers)
    if (name == known && !value.getAsInteger(10, number))
      *place = number;
}

bool hasClusterOfParts(const KernelWork &work, const Schedule &schedule) {
  return llvm::any_of(work.loops, [&](const LoopWork &loop) {
    return loop.stateBytes > 0 && loop.split == schedule.cluster.value_or(1);
  });
}

//===--- Registers --------------------------------------------------------===//

// The rules of chooseWgmmaWarps() and chooseMmaWarps() in DotSelection.cpp.
int64_t countDistinctWarps(const DotWork &dot, int64_t warps) {
  int64_t m = dot.swapped ? dot.n : dot.m, n = dot.swapped ? dot.m : dot.n;
  int64_t along = std::min<int64_t>(warps, std::max<int64_t>(m / 16, 1)), across = 1;
  while (along * across < warps && n / (2 * across) >= (dot.wgmma ? 64 : 8))
    across *= 2;
  return std::min(warps, along * across);
}

std::pair<int64_t, int64_t> getWarpTile(const DotWork &dot, int64_t warps, bool rowsInWarps) {
  int64_t m = std::max<int64_t>(dot.m, 16), n = std::max<int64_t>(dot.n, 8);
  for (int64_t shared = 1; shared < warps && (m > 16 || n > 8); shared *= 2)
    (m > 16 && (rowsInWarps || n <= 8 || m >= n) ? m : n) /= 2;
  return {m, n};
}

/// Registers of a thread beside those of tiles: addresses, counters, descriptors, and for mma.sync
/// the fragments of operands that are on the way from shared memory. Read off the cubins of the
/// examples.
static int64_t getOtherRegisters(const KernelWork &work, int64_t warps, bool bulkCopies) {
  constexpr int64_t fragments = 16;
  bool loadsFragments = llvm::any_of(work.loops, [&](const LoopWork &loop) {
    return llvm::any_of(loop.dots, [&](const DotWork &dot) {
      return dot.tensorCores && !(dot.wgmma && warps % 4 == 0);
    });
  });
  return (bulkCopies ? 32 : 28) + (loadsFragments ? fragments : 0);
}

/// Registers of a consumer: the rule of setRegisters() in WarpSpecialize.cpp, for a producer that
/// keeps the usual number.
static int64_t getConsumerRegisters(int64_t warps, int64_t blocks, const TargetLimits &target) {
  int64_t consumers = warps / 4;
  if (consumers < 1 || (consumers == 1 && blocks == 1))
    return target.threadRegisters;
  return gpu::getConsumerRegisters(target.target->limits, consumers, blocks,
                                   gpu::usualProducerRegisters);
}

/// The estimate counts what may be alive at once; where that is a little too much, ptxas finds an
/// order of things in which few spill. Less of that where threads copy, too: addresses beside
/// tiles.
static void limitRegisters(Resources &found) {
  found.spilled = std::max<int64_t>(0, found.registers - found.registerLimit);
  if (found.spilled > found.registerLimit / (found.bulkCopies ? 16 : 32) && found.reason.empty())
    found.reason = "a thread needs about " + std::to_string(found.registers) +
                   " registers and gets " + std::to_string(found.registerLimit);
}

/// Where nothing is copied ahead, threads hold the operands of a trip on their way to shared
/// memory.
static void addLoadsByThreads(const KernelWork &work, Resources &found) {
  if (found.bulkCopies || found.stages)
    return;
  constexpr double wordBytes = 4;
  double most = 0;
  for (const LoopWork &loop : work.loops) {
    double bytes = 0;
    for (const AccessWork &access : loop.accesses)
      bytes += access.feedsDot && loop.parent >= 0 ? access.paddedBytes : 0;
    most = std::max(most, bytes);
  }
  found.registers += int64_t(most / wordBytes / double(found.threads));
  limitRegisters(found);
}

static void estimateRegisters(const KernelWork &work, const Schedule &schedule,
                              const TargetLimits &target, Resources &found) {
  size_t size = std::min<size_t>(llvm::Log2_64(uint64_t(std::max<int64_t>(found.warps, 1))),
                                 work.live.size() - 1);
  found.registers = int64_t(work.live[size] + work.uneven[size]) +
                    getOtherRegisters(work, found.warps, found.bulkCopies);
  found.need.warps = found.launched;
  found.need.registers = int64_t(work.live[size]);
  int64_t requested = schedule.occupancy.value_or(1);
  int64_t entry = std::min<int64_t>(target.threadRegisters,
                                    target.registers / (requested * found.threads) / 8 * 8);
  found.registerLimit = schedule.maxRegisters ? *schedule.maxRegisters
                        : found.bulkCopies
                            ? getConsumerRegisters(found.launched * found.teams, requested, target)
                            : entry;
  limitRegisters(found);
  // An instruction of wgmma holds its accumulators at once, and ptxas goes by what a thread has on
  // entry.
  constexpr int64_t besideAccumulators = 30;
  for (const LoopWork &loop : work.loops)
    for (const DotWork &dot : loop.dots) {
      int64_t rows =
          std::max<int64_t>(1, std::min(found.warps, (dot.swapped ? dot.n : dot.m) / 16));
      int64_t sharing = std::max<int64_t>(1, countDistinctWarps(dot, found.warps) / rows);
      int64_t columns = std::min<int64_t>(256, (dot.swapped ? dot.m : dot.n) / sharing);
      if (sharing == 1) // of all columns those that are padding take no registers
        columns = std::min(columns, int64_t(dot.usedColumns * double(dot.swapped ? dot.m : dot.n)));
      if (dot.wgmma && found.warps % 4 == 0)
        found.need.registersOnEntry =
            std::max(found.need.registersOnEntry, columns / 2 + besideAccumulators);
      if (dot.wgmma && found.warps % 4 == 0 && entry < columns / 2 + besideAccumulators &&
          found.reason.empty())
        found.reason = "a thread has " + std::to_string(entry) +
                       " registers on entry, too few for wgmma with " + std::to_string(columns) +
                       " columns";
    }
}

/// What tile-gpu-keep-tiles keeps of what KeptTiles.cpp has found.
static void estimateKept(const KernelWork &work, const Schedule &schedule,
                         const TargetLimits &target, Resources &found) {
  // Of a tile that all threads hold there is little to be saved.
  constexpr int64_t vectorBytes = 16; // of rows that go round, wherever they begin
  auto isShared = [&](const KeptWork::Tile &tile) {
    int64_t vector = work.goesRound ? vectorBytes * tile.elements / std::max<int64_t>(tile.bytes, 1)
                                    : int64_t(work.shared.vector);
    return tile.elements < std::min(vector, tile.neighbours) * int64_t(found.threads);
  };
  if (work.kept.bytes < 4 * found.threads || llvm::any_of(work.kept.tiles, isShared))
    return;
  gpu::KeptNeed need;
  need.threads = found.threads;
  need.registers = std::min(found.registers, found.registerLimit);
  int64_t ends = work.goesRound ? int64_t(work.kept.tiles.size()) * gpu::rotatedEndBytes : 0;
  need.tripBytes = work.kept.bytes + ends;
  need.fixedBytes = found.sharedBytes;
  need.trips = work.kept.trips;
  need.mostTrips = std::max(need.trips, work.kept.mostTrips);
  need.programs = std::max<int64_t>(found.need.programs, 1);
  need.bytesInFlight = getBytesInFlight(getCard(*target.target)); // passes know no other card
  need.asked = schedule.occupancy.value_or(1);
  found.keptTrips = gpu::chooseKeptTrips(need, target.target->limits).trips;
  // What is not copied ahead lies there as threads hold it. Each tile has whole lines.
  constexpr int64_t fewestTrips = 2;
  if (found.keptTrips < need.trips || need.trips < fewestTrips)
    need.tripBytes -= ends;
  int64_t tiles = std::max<int64_t>(int64_t(work.kept.tiles.size()), 1);
  uint64_t ofTile =
      llvm::alignTo(uint64_t(found.keptTrips * need.tripBytes / tiles), gpu::sharedLine);
  // Rows of one block stay in registers, but longer ones may come.
  if (need.mostTrips > 1)
    found.sharedBytes = int64_t(
        llvm::alignTo(uint64_t(found.sharedBytes) + uint64_t(tiles) * ofTile, gpu::sharedLine));
}

//===--- Resources of a block ---------------------------------------------===//

/// Warps without those that have padding of all products alone: passes/TileGPU/IdleWarps.h.
static int64_t countLaunched(const KernelWork &work, const Resources &found) {
  constexpr int64_t warpRows = 16, warpsOfWarpgroup = 4;
  int64_t launched = 0;
  for (const LoopWork &loop : work.loops)
    for (const DotWork &dot : loop.dots) {
      int64_t padded = int64_t(llvm::PowerOf2Ceil(dot.rows));
      // All warps of a part meet where it leaves its sums.
      bool apart =
          found.bulkCopies && dot.wgmma && padded >= warpRows * found.warps && loop.split <= 1;
      int64_t needed = llvm::divideCeil(int64_t(dot.rows) * found.warps, padded);
      launched = std::max<int64_t>(
          launched, apart ? llvm::alignTo(uint64_t(needed), warpsOfWarpgroup) : found.warps);
    }
  return launched ? std::min(launched, found.warps) : found.warps;
}

/// By the rule of tile-gpu-specialize-warps: programs of one launch whose loops are alike.
static int64_t countTeams(const KernelWork &work, const Schedule &schedule,
                          const TargetLimits &target, const Resources &found) {
  constexpr int64_t warpsOfWarpgroup = 4;
  int64_t warpgroups = found.launched % warpsOfWarpgroup ? 0 : found.launched / warpsOfWarpgroup;
  bool alike = work.longest <= 1 && work.busyPrograms == work.programs &&
               work.likelyPrograms >= double(work.programs);
  // Loops in loops are one of `work`, where nothing stands between them.
  for (const SharedTile &tile : work.shared.tiles)
    alike &= !tile.canFetch || tile.loop < 0 || work.shared.loops[size_t(tile.loop)].parent < 0;
  gpu::TeamNeed need;
  for (const LoopWork &loop : work.loops) {
    bool multiplies = !loop.dots.empty();
    alike &= loop.split <= 1 && (!multiplies || (loop.parent == 0 && !loop.inBranch));
    if (multiplies && llvm::all_of(loop.dots, [](const DotWork &dot) { return dot.wgmma; }))
      need.warpgroups = warpgroups;
    double products = 0;
    for (const DotWork &dot : loop.dots)
      products += double(gpu::countTeamRegisters(
          dot.rows, int64_t(dot.usedColumns * double(dot.swapped ? dot.m : dot.n)), warpgroups));
    need.products = std::max(need.products, int64_t(products));
  }
  need.persistent = schedule.persistent && alike;
  need.blocks = schedule.occupancy.value_or(1);
  return gpu::countTeams(need, target.target->limits).teams;
}

Resources estimateResources(const KernelWork &work, const Schedule &schedule,
                            const TargetLimits &target) {
  Resources found;
  found.warps = schedule.consumers && target.hasBulkCopies ? 4 * *schedule.consumers
                                                           : schedule.warps.value_or(work.ownWarps);
  chooseCopies(work, schedule, target, found);
  // A `tune` clause may hold any number: what is reckoned from it must not overflow.
  constexpr int64_t mostWarps = 32;
  if (found.warps > mostWarps)
    found.reason = "a block has " + std::to_string(found.warps) + " warps of at most 32";
  found.warps = std::min(found.warps, mostWarps);
  found.launched = unsigned(countLaunched(work, found));
  if (found.bulkCopies)
    found.teams = countTeams(work, schedule, target, found);
  found.threads = 32 * int64_t(found.launched) * found.teams + (found.bulkCopies ? 128 : 0);
  if (found.threads > 1024 && found.reason.empty())
    found.reason = "a block has " + std::to_string(found.threads) + " threads of at most 1024";
  int64_t parts = 1;
  for (const LoopWork &loop : work.loops)
    parts = std::max(parts, loop.split);
  auto share = [&](int64_t programs) {
    return int64_t(llvm::divideCeil(uint64_t(programs * parts), uint64_t(target.processors)));
  };
  found.need.programs = gpu::ProgramCount{share(work.programs), share(work.busyPrograms)}.getRoom();
  estimateRegisters(work, schedule, target, found);
  estimateShared(work, schedule, target, found);
  addLoadsByThreads(work, found);
  if (target.target && found.reason.empty())
    estimateKept(work, schedule, target, found);
  if (found.bulkCopies && found.isOpen && !schedule.occupancy && !schedule.maxRegisters &&
      !schedule.warps && !schedule.consumers && !schedule.stages)
    if (int64_t blocks = gpu::chooseBlocks(found.need, target.target->limits); blocks > 1) {
      Schedule shared = schedule;
      shared.occupancy = blocks;
      Resources several = estimateResources(work, shared, target);
      if (several.lacksShare) // passes lower what nobody has asked for
        several.reason.clear();
      return several;
    }
  if (target.target)
    found.given = expectRegisters(work, schedule, target, found);
  // With several warpgroups of consumers registers move between them: on entry each thread has its
  // share of a whole block.
  int64_t held =
      found.bulkCopies && (found.warps > 4 || found.teams > 1 || schedule.occupancy.value_or(1) > 1)
          ? target.registers / (schedule.occupancy.value_or(1) * found.threads) / 8 * 8
          : int64_t(llvm::alignTo(uint64_t(std::min(found.registers, found.registerLimit)), 8));
  found.blocks = std::min(target.blocks, target.threads / std::max<int64_t>(found.threads, 1));
  found.blocks =
      std::min(found.blocks, target.registers / std::max<int64_t>(held * found.threads, 1));
  found.blocks = std::min(found.blocks, target.sharedBytes /
                                            (std::max(found.sharedBytes, found.ratedBytes) + 1024));
  found.blocks = std::max<int64_t>(found.blocks, 1);
  return found;
}

} // namespace tile::cost
