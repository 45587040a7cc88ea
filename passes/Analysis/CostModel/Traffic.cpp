// What all programs move: bytes from memory, bytes through L2, and what neighbours, caches and
// shared memory save of both.
#include "passes/Analysis/CostModel/Estimator.h"
#include "target/KeptInCache.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tile::cost {

// Constants that no data sheet has. Fitted to the times of bench/results/defaults.json;
// docs/CostModel.md names the error that is left.
/// Of the cache's bytes, for rows of 128 bytes that TMA fetches from a line, two sectors, one, or
/// within one on: but for the first they lie in two lines, and at last in five sectors. Of f16
/// products and convolutions on an H100 and an H200.
constexpr double rowStartShares[] = {1, 1.4, 1.4, 2.3};
constexpr double shortRowShare = 1.2; ///< the same for rows of 64 bytes and less: a request each
constexpr double storedEnd = 2; ///< sectors of L2 more for each row of a box that TMA stores from
                                ///< within one on: those at its ends are written in part, twice
                                ///< (7336 x 2632 of f16, H200: boxes of 32 bytes 35 us, 29 of 128)
constexpr double inSquares =
    10.0 / 11; ///< of the multiprocessors, those that clusters of four find room on: 120 of 132

/// The grid's axes along which two blocks share what both fetch, none without clusters of two or
/// four: the rules of getClusterAxes() in ProgramGrid.cpp.
SmallVector<unsigned, 2> Estimator::getPairAxes() const {
  int64_t blocks = schedule.cluster.value_or(1);
  if ((blocks != 2 && blocks != 4) || !resources.bulkCopies || countParts() > 1 ||
      work.grid.empty())
    return {};
  auto axes = unsigned(work.grid.size());
  bool inBands = schedule.grouped.value_or(1) > 1 && axes > 1;
  SmallVector<unsigned, 2> found = {axes - (inBands ? 2 : 1)};
  if (blocks == 4 && axes > 1)
    found.push_back(axes - (inBands ? 1 : 2));
  return found;
}

/// Multiprocessors that have blocks: a square of four lies within a group of 16 or 18.
double Estimator::countProcessors() const {
  return double(target.processors) * (getPairAxes().size() > 1 ? inSquares : 1);
}

/// Bytes of L2 for each of a box whose rows begin anywhere: half of a line lies in one where rows
/// begin at two sectors; of other rows shorter than a line the ends weigh more.
static double getRowStartShare(const AccessWork &access) {
  double share = rowStartShares[size_t(access.rowStart)];
  if (access.rowStart > RowStart::Pair)
    return share * (2 + 1 / access.boxShare) / 3;
  return access.boxShare > 0.5 ? share : shortRowShare;
}

/// The bytes that an access takes of L2, over those that it asks for.
double Estimator::getCacheShare(const AccessWork &access) const {
  constexpr double sectorBytes = 32;
  if (resources.bulkCopies && access.storedWidth && access.rowStart == RowStart::Within)
    return 1 + storedEnd * sectorBytes / double(access.storedWidth);
  if (!access.feedsDot || !resources.bulkCopies)
    return 1;
  // Two blocks fetch half each of what both need. One that has no program fetches its half for the
  // other; of its own rows, which no tensor has, it fetches none.
  double share = 1;
  for (unsigned axis : getPairAxes())
    if (!(access.axes >> axis & 1))
      share = std::min(share, getPadding(axis) / 2);
  return share * (getLoadedBytes(access) / access.tileBytes) * getRowStartShare(access);
}

/// How much of what a loop reads is kept by the threads themselves from an earlier loop: all of a
/// row of one trip, in registers, else what tile-gpu-keep-tiles has room for.
double Estimator::getKept(size_t loop, const AccessWork &access) const {
  if (!resources.keptTrips || findEarlierLoop(work, loop, access) < 0)
    return 0;
  return std::min(1.0, double(resources.keptTrips) / getTrips(loop));
}

/// True if tile-gpu-keep-tiles copies what the loop loads ahead of its trips: all of it is loaded
/// again by a later loop, and kept in all trips, in whole vectors of a thread.
bool Estimator::copiesAhead(size_t loop) const {
  constexpr int64_t vectorBytes = 16;
  constexpr double fewestTrips = 2;
  const LoopWork &first = work.loops[loop];
  if (!target.target || !target.target->has(Feature::AsyncCopy) || first.parent < 0 ||
      getTrips(loop) < fewestTrips || double(resources.keptTrips) < getTrips(loop) ||
      !work.inVectors)
    return false;
  auto isCopied = [&](const AccessWork &load) {
    if (load.paddedBytes < double(vectorBytes * resources.threads))
      return false;
    for (size_t later = loop + 1; later < work.loops.size(); ++later)
      for (const AccessWork &again : work.loops[later].accesses)
        if (again.param == load.param && findEarlierLoop(work, later, again) == int(loop))
          return true;
    return false;
  };
  bool any = false;
  for (const AccessWork &access : first.accesses) {
    if (!access.isStore && !isCopied(access))
      return false;
    any |= !access.isStore;
  }
  return any;
}

/// How much of what a loop reads is still in L2 from an earlier loop of the same programs: all
/// where what the programs that run at once have read since fits. Measured on an H100, whose two
/// halves of L2 both keep what multiprocessors of both sides read, and which writes pass, too.
double Estimator::getReread(size_t loop, const AccessWork &access, double concurrent) const {
  int before = findEarlierLoop(work, loop, access);
  if (before < 0)
    return 0;
  double read = 0;
  for (const AccessWork &each : work.loops[before].accesses)
    read += each.tileBytes * each.useful * each.count;
  constexpr double whole = 0.2, none = 0.8; // of the cache
  double share = read * concurrent / double(target.cacheBytes);
  return std::clamp((none - share) / (none - whole), 0.0, 1.0);
}

/// Bytes from memory and from L2. Returns those that memory brings again for another loop.
double Estimator::addTraffic(CostEstimate &found) const {
  double again = 0;
  double programs = countPrograms(),
         concurrent = std::min(programs, double(target.processors * resources.blocks));
  for (const auto &[number, loop] : llvm::enumerate(work.loops))
    for (const AccessWork &access : loop.accesses) {
      double all = access.tileBytes * access.useful * access.count * programs;
      if (double kept = getKept(number, access)) {
        // Shared memory takes about as long, to write it and to read it, as L2 does to bring it.
        found.l2Bytes += getTrips(number) > 1 ? all * kept : 0;
        all *= 1 - kept;
      }
      double whole = access.param < work.tensorBytes.size() ? work.tensorBytes[access.param] : 0;
      found.l2Bytes += (access.feedsDot ? all / access.useful : all) * getCacheShare(access);
      bool isKept = whole > 0 && whole <= double(getKeptBytes(target.cacheBytes));
      if (access.isStore || whole <= 0 || access.isIndexed) {
        found.dramBytes += isKept && !access.isStore ? std::min(all, whole) : all;
        continue;
      }
      if (all <= 1.01 * whole) {
        double missed = all * (1 - getReread(number, access, concurrent));
        found.dramBytes += missed;
        if (findEarlierLoop(work, number, access) >= 0)
          again += missed;
        continue;
      }
      // A tensor larger than the cache is read once by the programs that run at once.
      double distinct = 1, left = concurrent;
      size_t last = work.grid.size();
      for (size_t axis = last; axis-- > 0;) {
        double extent = double(work.grid[axis]);
        if (schedule.grouped && last >= 2 && axis + 1 == last)
          extent = std::min(
              extent,
              std::ceil(left / double(std::min<int64_t>(*schedule.grouped, work.grid[last - 2]))));
        double here = std::max(1.0, std::min(extent, left));
        if (access.axes >> axis & 1)
          distinct *= here;
        left = std::max(1.0, left / here);
      }
      double waves = std::ceil(programs / concurrent);
      double read = std::clamp(waves * distinct * access.tileBytes * access.useful * access.count,
                               whole, all);
      // More positions than the tensor has room for: several programs read the same, and which, the
      // axes do not say. Between all of them finding it in the cache and none.
      double positions = access.tileBytes * access.useful * access.count;
      for (size_t axis = 0; axis < last; ++axis)
        positions *= access.axes >> axis & 1 ? double(work.grid[axis]) : 1;
      if (positions > 1.5 * whole)
        read = std::min(read, std::sqrt(whole * all));
      found.dramBytes += isKept ? whole : read;
    }
  return again;
}

} // namespace tile::cost
