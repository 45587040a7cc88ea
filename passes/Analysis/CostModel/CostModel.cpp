// The estimate: what each part of the machine has to do for all programs, how long one program
// takes alone, and what of that overlaps. docs/CostModel.md has the terms. In microseconds:
//
//   memory       bytes from memory / the card's rate                     of all programs
//   L2           bytes through L2 / the cache's rate                     of all programs
//   tensor       programs of the fullest multiprocessor * time of a program's products
//   arithmetic   programs of the fullest multiprocessor * time of its other operations
//   chain        rounds of programs * time of a program alone: loads, waits, exchanges
//
//   time = (norm of power 4 of memory, L2 and the largest of the others) + launch
#include "passes/Analysis/CostModel/CostModel.h"
#include "passes/TileGPU/PartCount.h"
#include "target/LoadLatency.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace tile::cost {

namespace {

// Constants that no data sheet has. Fitted to the times of bench/results/defaults.json;
// docs/CostModel.md names the error that is left.
constexpr double sustained = 0.73;       ///< of the tensor cores' rate, under the power limit
constexpr double sustainedVector = 0.68; ///< of the rate of f32 outside of tensor cores
constexpr double crowding =
    0.05; ///< more time where instructions of wgmma have 128 columns, not 256
constexpr double sharedLimit =
    1.25; ///< times of the tensor cores' at their full rate that shared memory may take: they are
          ///< slower than that, and it reaches nine tenths of its own
constexpr double loneSharedLoad =
    1.27; ///< more time at most of one warpgroup, whose own waits count in a trip (conv2d, H200)
constexpr unsigned warpsOfGroup = 4;
constexpr double usualSums =
    128; ///< registers of a thread that a product's sums may take; with more
constexpr double manySums =
    1.05; ///< it takes this much longer: rings have three stages, and a trip's end waits longer
constexpr double fillLatency = 1.0;       ///< microseconds from asking for a tile to having it
constexpr double handOver = 0.10;         ///< of a stage from producer to consumers and back
constexpr double handOverInFlight = 0.03; ///< the same under a product that is still in flight
constexpr double handOverByTurns = 0.006; ///< the same where others multiply meanwhile
constexpr double varying =
    0.03; ///< of the latency of a stage, that is waited for although others are on their way
constexpr double placeTime = 0.05;    ///< of a producer's thread for each trip
constexpr double boxTime = 0.06;      ///< and for each box that it asks for
constexpr double storeTime = 0.06;    ///< of a warpgroup's thread for each box that it stores
constexpr double exchangeTime = 0.15; ///< of a reduction over a block of 4 warps
constexpr double exchangeSlots = 8;   ///< issue slots of each thread for it
constexpr double startTime = 0.7;     ///< of a block before its first load arrives
constexpr double sharingTime =
    1.7; ///< of a program that shares a split loop, beside the bytes of all their sums
constexpr double sharingRate = 4.0e6; ///< bytes of sums a microsecond that all leave together
constexpr double roundTime = 0.6;     ///< of each time that the last one waits for some of them
constexpr double meetingTime = 3.5;   ///< of a program that shares it as a block of a cluster
constexpr double meetingRate = 25e3;  ///< bytes of its state a microsecond, there and back
constexpr double reducing =
    0.25; ///< of a trip whose products wait for what is reduced from others, as in attention
constexpr double spillTime = 0.005; ///< of a program's time, for each register that is missing
constexpr double idlePrice = 0.01;  ///< of the time, where no multiprocessor has a program: of two
                                    ///< choices as good, the one that keeps more of them busy
constexpr double lengthPrice = 2.5e-5; ///< of the time, for each slot of a thread's code: of two
                                       ///< choices as good, the shorter one
constexpr double fetchTime = 1e-4;     ///< of a launch, for each slot of a thread's code, which
                                       ///< multiprocessors have to fetch before they issue it
constexpr double operandSlots =
    9; ///< issue slots to bring an element of a computed operand to where products read it

constexpr double conflicting =
    1.6; ///< of the time that mma.sync's operands take to read, beyond half of the products' time
constexpr double computingHeld =
    1.6; ///< of the time that its instructions take to issue, for two warpgroups that compute an
         ///< operand in registers: each waits for its own results
constexpr double computingHeldAlone = 2.4; ///< the same for one warpgroup
constexpr double keptTime = 0.15; ///< of a trip that reads what an earlier loop has kept, beside
                                  ///< one whose tiles have stayed in registers
constexpr double rereadPrice =
    1.4;                           ///< of a byte that memory brings again for another loop: an H100
                                   ///< takes 1079 us for 2.5 GB of softmax, and 829 to copy them
constexpr double busyWarps = 12;   ///< of a multiprocessor, with which it issues at its rate
constexpr double groupWait = 0.05; ///< of a stage that the computing warps have copied themselves
constexpr double copyLatency = 0.7; ///< of such a copy: code for sm_80, timed on an H200
constexpr double loneWarps = 0.75; ///< of mma.sync's rate, by one warp for each scheduler: it loads
                                   ///< its operands and waits at barriers, too

/// Of the cache's bytes, for rows that TMA fetches from two sectors, one, or within one on: lines
/// of 128 bytes lie in two then, and in five sectors; of shorter rows more. Of f16 products on an
/// H100 and an H200.
constexpr double rowStartShares[] = {1, 1.4, 2.3};
constexpr double pairLaunch = 0.4;     ///< microseconds more of a launch in clusters
constexpr double pairRound = 0.3;      ///< of each program, whose slots several blocks release
constexpr double pairWait = 1.10;      ///< of a program's chain: each block waits for the others
constexpr double pairWaitForL2 = 1.02; ///< the same where all wait for rows that split sectors
constexpr double squareRound = 1.7;    ///< of each program but the first: a block starts for it

constexpr double inSquares =
    10.0 / 11; ///< of the multiprocessors, those that clusters of four find room on: 120 of 132

constexpr double portBytesPerClock = 64; ///< of a multiprocessor, from L2

constexpr unsigned measuredBits = 16; ///< of operands, of which times show what is said of them

constexpr int64_t schedulers = 4; ///< of a multiprocessor; each issues for one warp at a time

/// Microseconds that a program takes of each part of its multiprocessor, and alone on it.
struct ProgramTime {
  double tensor = 0, arithmetic = 0, fill = 0;
  double chain = 0;
};

/// The p-norm: the largest where one is, a little more where several are close.
double getNorm(std::initializer_list<double> values, double p) {
  double sum = 0;
  for (double value : values)
    sum += std::pow(value, p);
  return std::pow(sum, 1 / p);
}

class Estimator {
public:
  Estimator(const KernelWork &work, Schedule asked, const TargetLimits &target)
      : work(work), clustered(hasClusterOfParts(work, asked)), schedule(settle(asked)),
        target(target), resources(estimateResources(work, schedule, target)) {}

  CostEstimate run();

private:
  /// Blocks of a cluster of parts take one program each, whatever is asked for.
  Schedule settle(Schedule asked) const {
    asked.persistent &= !clustered;
    return asked;
  }
  double getSharingTime(double perProcessor) const;
  double getDotTime(const DotWork &dot, const LoopWork &loop) const;
  double getArithmeticTime(const LoopWork &loop) const;
  double getRepetition(const LoopWork &loop) const;
  ProgramTime getProgramTime() const;
  int64_t countParts() const;
  /// That have something to do.
  double countPrograms() const { return work.likelyPrograms * double(countParts()); }
  double getSumBytes() const;
  double getCodeLength() const;
  SmallVector<unsigned, 2> getPairAxes() const;
  double countProcessors() const;
  double getLoadedBytes(const AccessWork &access) const {
    return access.feedsDot && resources.bulkCopies ? access.fetchedBytes : access.tileBytes;
  }
  double getCacheShare(const AccessWork &access) const;
  double getKept(size_t loop, const AccessWork &access) const;
  double getTrips(size_t loop) const {
    return std::max(work.loops[loop].trips / std::max(work.loops[loop].runs, 1.0), 1.0);
  }
  double getOwnColumns(const DotWork &dot) const;
  double getWaitForResults(double least) const;
  double getReread(size_t loop, const AccessWork &access, double concurrent) const;
  double addTraffic(CostEstimate &found) const;
  void addRoofline(CostEstimate &found) const;

  const KernelWork &work;
  const bool clustered; ///< the parts of the split loop are a cluster
  const Schedule schedule;
  const TargetLimits &target;
  const Resources resources;
};

/// Programs that share a split loop's trips.
int64_t Estimator::countParts() const {
  int64_t parts = 1;
  for (const LoopWork &loop : work.loops)
    parts = std::max(parts, loop.split);
  return parts;
}

/// Bytes of the sums that a program shares.
double Estimator::getSumBytes() const {
  double bytes = 0;
  for (const LoopWork &loop : work.loops)
    for (const DotWork &dot : loop.dots)
      bytes += loop.split > 1 ? 4.0 * double(dot.m * dot.n) : 0;
  return bytes;
}

/// Microseconds that programs wait for each other's parts of a split loop, and merge them: in
/// scratch memory, where the last one reads all; or as blocks of a cluster, which read each other's
/// shared memory, a slice each.
double Estimator::getSharingTime(double perProcessor) const {
  double parts = double(countParts());
  if (clustered) {
    double bytes = 0;
    for (const LoopWork &loop : work.loops)
      bytes += double(loop.stateBytes);
    return perProcessor * (meetingTime + bytes / meetingRate);
  }
  // As many parts at once as Part.cpp reads, by one multiprocessor; many of them in groups first.
  constexpr double wordBytes = 4, warpThreads = 32;
  double rate = target.cache / double(target.processors) * 1e3;
  auto words = int64_t(getSumBytes() / (wordBytes * warpThreads * double(resources.warps)));
  auto merge = [&](int64_t states) {
    return sharingTime + double(states) * getSumBytes() / rate +
           double(gpu::countMergeRounds(words, states) - 1) * roundTime;
  };
  int64_t groups = gpu::countPartGroups(words, countParts());
  double merging = groups > 1 ? merge(countParts() / groups) + merge(groups) : merge(countParts());
  double written = double(work.programs) * parts * getSumBytes() / sharingRate;
  return written + perProcessor * merging;
}

/// Time of element-wise operations over that of a multiprocessor with many warps: results of one
/// are not there when its next instruction wants them, and others have to fill the gap. Fewer than
/// `least` warps are rated elsewhere.
double Estimator::getWaitForResults(double least) const {
  double there = std::ceil(countPrograms() / countProcessors());
  double resident = std::min(double(resources.blocks), there) * double(resources.launched);
  return std::sqrt(busyWarps / std::clamp(resident, least, busyWarps));
}

/// Columns of a product by wgmma that a warpgroup computes of its rows.
double Estimator::getOwnColumns(const DotWork &dot) const {
  constexpr int64_t warpRows = 16;
  int64_t rows = dot.swapped ? dot.n : dot.m, columns = dot.swapped ? dot.m : dot.n;
  double distinct = double(countDistinctWarps(dot, resources.warps));
  return double(columns) * std::min(1.0, double(rows / warpRows) / distinct);
}

/// The clocks in which shared memory moves what wgmma reads of it and what copies bring, 128 bytes
/// each, over those in which tensor cores multiply it. Each instruction of 64 rows reads these and
/// its `own` columns, of `columns` in all.
static double getSharedLoad(const DotWork &dot, double columns, double own) {
  constexpr double blockRows = 64;
  double rows = double(llvm::alignTo(dot.rows, uint64_t(blockRows)));
  double used = own < columns ? 1 : dot.usedColumns; // who shares columns has padding, too
  double blocks = rows / blockRows * columns / own, read = blocks * (blockRows + used * own);
  return (read + rows + dot.usedColumns * columns) / (2 * blocks * used * own);
}

/// Microseconds of one multiprocessor's tensor cores, or of its other units where they do not
/// multiply the types.
double Estimator::getDotTime(const DotWork &dot, const LoopWork &loop) const {
  double operations = dot.getOperations(), share = 1e3 * double(target.processors);
  if (!dot.tensorCores) {
    // A thread reads two sides of its part of the result for each step of K.
    double part = double(dot.m * dot.n) / (32 * double(resources.warps));
    double efficiency = sustainedVector / (1 + 1 / std::sqrt(std::max(part, 1.0)));
    return operations / (target.vector32 * efficiency) * share * 1e-6;
  }
  double rate = dot.isTF32                        ? target.tensorTF32
                : dot.bits <= 8 && target.tensor8 ? target.tensor8
                                                  : target.tensor16;
  bool wgmma = dot.wgmma && resources.warps % 4 == 0;
  double efficiency = sustained * (wgmma || !target.hasBulkCopies ? 1 : mmaSyncShare);
  // A product of 64 rows reads both operands from shared memory, 128 bytes a clock: narrow ones
  // wait for that.
  constexpr double fewColumns = 64;
  double columns = double(dot.swapped ? dot.m : dot.n);
  if (wgmma && columns < fewColumns)
    efficiency *= 2 * columns / (fewColumns + columns);
  // A warp reads its operands from shared memory for itself: each row and column once a step of K,
  // at 128 bytes a clock, beside 1024 products.
  if (!wgmma && !target.hasBulkCopies) {
    auto [rows, columns] = getWarpTile(dot, resources.warps, /*rowsInWarps=*/loop.reduced > 0);
    int64_t read = (dot.computedA ? 0 : rows) + columns; // threads hold what is computed
    double reads = 1024.0 * 2 * double(read) / (128 * double(rows * columns));
    efficiency /= 1 + conflicting * std::max(0.0, reads - 0.5);
  }
  // Warpgroups that share columns have as many each: none of the padding is left out.
  constexpr int64_t warpRows = 16;
  int64_t rows = dot.swapped ? dot.n : dot.m;
  int64_t distinct = countDistinctWarps(dot, resources.warps);
  if (wgmma && distinct > std::max<int64_t>(rows / warpRows, 1))
    operations /= dot.usedColumns;
  // Instructions of 256 columns read 80 bytes of shared memory a clock, those of 128 columns 96, of
  // 128 that it moves, those that copies bring included. Times show it of operands of 16 bits; i8
  // was faster by 128 columns.
  constexpr double widest = 256, narrow = 128;
  if (wgmma && dot.bits == measuredBits && loop.dots.size() == 1 && loop.reduced <= 0 &&
      !dot.computedA && !dot.computedB) {
    double own = getOwnColumns(dot);
    efficiency /= 1 + crowding * (widest / std::clamp(own, narrow, widest) - 1);
    if (columns >= fewColumns) {
      double load = std::max(1.0, getSharedLoad(dot, columns, own) / sharedLimit);
      efficiency /= resources.warps > warpsOfGroup ? load : std::min(load, loneSharedLoad);
    }
    if (double(dot.m * dot.n) * dot.usedColumns > 32 * double(resources.warps) * usualSums)
      efficiency /= manySums;
  }
  double repetition = double(resources.warps) / double(distinct);
  return operations / (rate * efficiency) * share * repetition * 1e-6;
}

/// True if the product's second operand is computed and cannot stay in registers.
bool storesB(const DotWork &dot) { return dot.computedB && !(dot.swapped && dot.heldB); }

/// True if a product reads an operand that is computed and cannot stay in registers.
bool hasComputedOperand(const LoopWork &loop) {
  return llvm::any_of(
      loop.dots, [](const DotWork &dot) { return storesB(dot) || (dot.swapped && dot.computedA); });
}

/// The columns of a product by wgmma, whose rows are those of the operand in registers.
int64_t countColumns(const DotWork &dot) { return dot.swapped ? dot.m : dot.n; }
/// True for so few that the product takes no time beside what computes its operand.
bool isNarrow(const DotWork &dot) { return countColumns(dot) < 64; }

/// The only product of a loop, if it is by wgmma and an operand of it is computed in registers;
/// else null, as for products of fewer columns than an instruction of 16 has.
const DotWork *findHeldProduct(const LoopWork &loop, const Resources &resources) {
  constexpr int64_t leastColumns = 16;
  if (loop.dots.size() != 1 || loop.parent < 0 || !resources.bulkCopies || resources.warps % 4)
    return nullptr;
  const DotWork &dot = loop.dots.front();
  bool held = dot.wgmma && (dot.swapped ? dot.heldB : dot.computedA);
  return held && countColumns(dot) >= leastColumns ? &dot : nullptr;
}

/// Into how many parts such a product goes: the rule of ProductParts.cpp, by the clocks that the
/// tensor cores take for a trip.
int64_t countPartsAlongK(const DotWork &dot, const Resources &resources) {
  constexpr int64_t leastClocks = 128, warpThreads = 32, bitsOfStep = 256, most = 4;
  int64_t sums = dot.m * dot.n / (warpThreads * std::max<int64_t>(resources.warps, 1)),
          steps = dot.k * int64_t(dot.bits) / bitsOfStep;
  int64_t parts = std::min({most, std::max<int64_t>(steps / 2, 2), sums * steps / leastClocks});
  return parts < 2 ? 1 : int64_t(llvm::bit_floor(uint64_t(parts)));
}

/// Warps over those whose work is not the same once more.
double Estimator::getRepetition(const LoopWork &loop) const {
  double most = 1;
  for (const DotWork &dot : loop.dots)
    most =
        std::max(most, double(resources.warps) / double(countDistinctWarps(dot, resources.warps)));
  return most;
}

double Estimator::getArithmeticTime(const LoopWork &loop) const {
  double slotRate = target.vector32 / 2 / double(target.processors); // results a nanosecond
  double specialRate = target.special / double(target.processors);
  // Elements of padded tiles are dealt to all warps of a layout.
  double share = double(resources.launched) / double(std::max<int64_t>(resources.warps, 1));
  double slots = loop.slots * share;
  for (const DotWork &dot : loop.dots)
    slots += operandSlots * dot.count *
             ((storesB(dot) ? double(dot.n * dot.k) : 0) +
              (dot.swapped && dot.computedA ? double(dot.m * dot.k) : 0));
  slots += exchangeSlots * loop.exchanges * 32 * double(resources.launched);
  double first = slots / slotRate, second = loop.special * share / specialRate;
  return (std::max(first, second) + 0.3 * std::min(first, second)) * getRepetition(loop) * 1e-3;
}

ProgramTime Estimator::getProgramTime() const {
  ProgramTime time;
  time.chain = resources.bulkCopies && schedule.persistent ? 0 : startTime;
  double cacheShare = target.cache / double(target.processors) * 1e3; // bytes a microsecond
  double memoryShare = target.memory / double(target.processors) * 1e3;
  double portRate = portBytesPerClock * target.clock * 1e3;
  // Warpgroups, or blocks beside each other, take turns: one multiplies while the other computes.
  double warpgroups = double(std::max<int64_t>(resources.launched / 4, 1));
  double exchange = exchangeTime * std::sqrt(double(resources.warps) / 4.0);
  for (const auto &[number, loop] : llvm::enumerate(work.loops)) {
    if (loop.trips <= 0 || loop.runs <= 0)
      continue;
    double tensor = 0, filled = 0, received = 0, loaded = 0, stored = 0, mostKept = 0;
    double boxes = 0, storedBoxes = 0;
    for (const DotWork &dot : loop.dots)
      tensor += getDotTime(dot, loop);
    for (const AccessWork &access : loop.accesses) {
      boxes += access.feedsDot ? access.count * access.boxes : 0;
      storedBoxes += access.count * access.storedBoxes;
      if (access.feedsDot)
        received += access.count * getLoadedBytes(access) / access.boxShare;
      double kept = getKept(number, access);
      mostKept = std::max(mostKept, kept);
      double bytes = access.count * getLoadedBytes(access) * (1 - kept);
      (access.isStore    ? stored
       : access.feedsDot ? filled
                         : loaded) += access.feedsDot ? bytes : bytes * access.useful;
    }
    // Those that all compute the same wait for the same.
    double overlapping = warpgroups / std::min(getRepetition(loop), warpgroups);
    double arithmetic = getArithmeticTime(loop);
    const DotWork *held = findHeldProduct(loop, resources);
    time.tensor += tensor;
    // Of three blocks and more two compute while one waits, as two warpgroups do.
    bool others = overlapping > 1 || resources.blocks > 2;
    time.arithmetic += arithmetic * (!held ? 1 : others ? computingHeld : computingHeldAlone);
    time.fill += (filled + loaded) / cacheShare;
    bool inLoop = loop.parent >= 0;
    double trips = inLoop ? loop.trips : 1;
    // Warps that copy and meet at a barrier in each trip compute all at the same time.
    bool alternates = overlapping > 1 && resources.bulkCopies && !hasComputedOperand(loop);
    // Alone, fewer warps than a multiprocessor has schedulers leave some of these idle.
    double alone = arithmetic * double(schedulers) /
                   double(std::clamp<int64_t>(resources.warps, 1, schedulers));
    if (loop.dots.empty())
      alone *= getWaitForResults(schedulers);
    double computing =
        alternates ? std::max(tensor, alone) + 0.1 * std::min(tensor, alone) : tensor + alone;
    // A warpgroup computes its operand, part by part, and waits for its last product; for that of
    // few columns not worth a word.
    if (held) {
      double share = std::max(overlapping, double(countPartsAlongK(*held, resources)));
      computing = getNorm({tensor, alone * (overlapping > 1 ? computingHeld : computingHeldAlone) +
                                       tensor / share + (isNarrow(*held) ? 0 : trips * handOver)},
                          3);
    }
    double chain;
    if (resources.bulkCopies && inLoop) {
      // One warpgroup leaves its product in flight while it gets the next trip's tiles.
      bool flies =
          !loop.dots.empty() && !hasComputedOperand(loop) &&
          llvm::all_of(loop.dots, [](const DotWork &dot) { return dot.wgmma && !dot.computedA; }) &&
          loop.reduced <= 0 && resources.warps == 4 && arithmetic < 0.02 * tensor;
      // While one warpgroup hands over, the other multiplies: not where its part is small, and
      // instructions of 64 columns take all that shared memory moves.
      constexpr double mostColumns = 64;
      double uncovered = handOverByTurns;
      if (llvm::any_of(loop.dots, [&](const DotWork &dot) {
            return dot.bits == measuredBits && getOwnColumns(dot) <= mostColumns;
          })) {
        double turn = std::max(tensor / trips / overlapping, handOver);
        uncovered = handOver * std::pow(handOver / turn, 2);
      }
      double trip = computing / trips +
                    (held         ? 0
                     : alternates ? uncovered
                     : flies      ? handOverInFlight
                                  : handOver) +
                    (loop.reduced > 0 ? reducing : 0);
      double latency = fillLatency + (filled + loaded) / trips / cacheShare;
      // However few programs there are, a multiprocessor takes no more from L2 than its port does,
      // and a row of 64 bytes keeps that as busy as one of 128.
      double receiving = received / trips / portRate;
      // Operands of different products have rings of their own: one fills while another is read.
      double rings = 0;
      for (const DotWork &dot : loop.dots)
        rings += dot.computedA && dot.computedB ? 0 : 1;
      // Latencies vary: the more loads are in flight, the less of them is waited for.
      double ahead = double(std::max<int64_t>(resources.stages, 1));
      double producing = placeTime + boxTime * boxes / trips;
      chain =
          trips *
          (std::max({trip, producing, receiving, (latency + trip / std::max(rings, 1.0)) / ahead}) +
           varying * latency / ahead);
      // A producer that has issued a loop's copies goes on to the next time that the loop runs.
      if (!schedule.persistent)
        chain += std::min(loop.runs, 1.0) * latency;
    } else if (resources.asyncCopies && inLoop && resources.stages > 1) {
      double share = loop.reduced > 0
                         ? 1
                         : std::min(1.0, loneWarps * double(resources.warps) / double(schedulers));
      double trip = (computing + tensor * (1 / share - 1)) / trips + groupWait +
                    (loop.reduced > 0 ? reducing : 0);
      double latency = copyLatency + filled / trips / cacheShare;
      chain = trips * (std::max(trip, latency / double(resources.stages - 1)) +
                       (loaded > 0 ? loadLatency : 0)) +
              loop.runs * latency;
    } else {
      // Of several warps of a scheduler one computes while another waits for what it has loaded.
      double perScheduler = double(resources.warps) / double(schedulers),
             overlap = loop.dots.empty() && inLoop
                           ? 1 + 0.25 * std::log2(std::max(perScheduler, 1.0))
                           : 1;
      chain = getNorm({trips * (loaded + filled > 0 ? loadLatency : 0), computing}, overlap) +
              trips * mostKept * keptTime;
    }
    bool ahead =
        (resources.bulkCopies || (resources.asyncCopies && resources.stages > 1)) && inLoop;
    if (!ahead)
      chain += (loaded + filled) / cacheShare +
               (work.loops.size() > 1 && resources.bulkCopies ? 0 : exchange * (loop.exchanges));
    chain += stored / (resources.bulkCopies ? memoryShare : cacheShare);
    if (resources.bulkCopies)
      chain += storedBoxes / warpgroups * storeTime;
    time.chain += chain;
  }
  return time;
}

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

/// The bytes that an access takes of L2, over those that it asks for.
double Estimator::getCacheShare(const AccessWork &access) const {
  if (!access.feedsDot || !resources.bulkCopies)
    return 1;
  double share =
      llvm::any_of(getPairAxes(), [&](unsigned axis) { return !(access.axes >> axis & 1); }) ? 0.5
                                                                                             : 1;
  return share * (getLoadedBytes(access) / access.tileBytes) *
         rowStartShares[size_t(access.rowStart)] *
         (access.rowStart == RowStart::Pair ? 1 : (2 + 1 / access.boxShare) / 3);
}

/// How much of what a loop reads is kept by the threads themselves from an earlier loop: all of a
/// row of one trip, in registers, else what tile-gpu-keep-tiles has room for.
double Estimator::getKept(size_t loop, const AccessWork &access) const {
  if (!resources.keptTrips || findEarlierLoop(work, loop, access) < 0)
    return 0;
  return std::min(1.0, double(resources.keptTrips) / getTrips(loop));
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
      bool isKept = whole > 0 && whole < 0.6 * double(target.cacheBytes);
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

void Estimator::addRoofline(CostEstimate &found) const {
  double products = 0, tensor = 0, arithmetic = 0, elements = 0;
  for (const LoopWork &loop : work.loops) {
    for (const DotWork &dot : loop.dots) {
      products += dot.getOperations() * countPrograms();
      double rate = !dot.tensorCores                  ? target.vector32
                    : dot.isTF32                      ? target.tensorTF32
                    : dot.bits <= 8 && target.tensor8 ? target.tensor8
                                                      : target.tensor16;
      tensor += dot.getOperations() * countPrograms() / rate;
    }
    elements += (loop.slots + loop.special) * countPrograms();
    arithmetic += getArithmeticTime(loop) * countPrograms() / double(target.processors) * 1e3;
  }
  found.operations = products > 0 ? products : elements;
  found.rooflineMilliseconds =
      std::max({found.dramBytes / target.memory, tensor, arithmetic}) * 1e-6;
}

/// Issue slots of the code for one thread, each loop's body once. Products are few instructions
/// whatever their size.
double Estimator::getCodeLength() const {
  double length = 0;
  for (const LoopWork &loop : work.loops)
    if (loop.dots.empty() && loop.trips > 0)
      length +=
          (loop.slots + loop.special) / (std::max(loop.trips, 1.0) * 32 * double(resources.warps));
  return length;
}

CostEstimate Estimator::run() {
  CostEstimate found;
  found.warps = resources.launched;
  found.threads = resources.threads;
  found.stages = resources.stages;
  found.registers = resources.registers;
  found.registerLimit = resources.registerLimit;
  found.givenRegisters = resources.given;
  found.sharedBytes = resources.sharedBytes;
  found.blocks = resources.blocks;
  found.reason = work.valid ? resources.reason : work.reason;
  found.valid = found.reason.empty();
  found.programs = work.programs * countParts();
  double slots = std::floor(countProcessors()) * double(resources.blocks);
  found.waves = double(found.programs) / slots;
  found.idle = found.programs ? 1 - found.waves / std::ceil(found.waves) : 0;
  double slowBytes = addTraffic(found) * (rereadPrice - 1);
  addRoofline(found);

  ProgramTime program = getProgramTime();
  program.chain *= 1 + spillTime * double(resources.spilled);
  double programs = countPrograms();
  SmallVector<unsigned, 2> pairs = getPairAxes();
  for (unsigned axis : pairs)
    programs *= double(llvm::alignTo(work.grid[axis], 2)) / double(work.grid[axis]);
  // Of programs of unlike lengths whoever is done takes the next, the longest first: shares are
  // even, unless a program alone takes longer than a share.
  auto share = [&](double places) {
    return work.longest > 1 ? getNorm({programs / places, work.longest}, 4)
                            : std::ceil(programs / places);
  };
  double perProcessor = share(std::floor(countProcessors())), rounds = share(slots);
  // A block alone does one after the other what its chain says; several fill each other's gaps, but
  // not all of them.
  double tensor = perProcessor * program.tensor, arithmetic = perProcessor * program.arithmetic,
         chain = rounds * program.chain;
  if (!llvm::any_of(work.loops, [](const LoopWork &loop) { return !loop.dots.empty(); }))
    arithmetic *= getWaitForResults(1);
  if (resources.blocks > 1)
    chain = getNorm({tensor, arithmetic, chain}, 2.5);
  if (llvm::any_of(work.loops, hasComputedOperand)) // what brings the operand there keeps other
                                                    // blocks from the tensor cores too
    chain = std::max(chain, tensor + arithmetic);
  if (!pairs.empty())
    chain *= llvm::any_of(work.loops,
                          [](const LoopWork &loop) {
                            return llvm::any_of(loop.accesses, [](const AccessWork &access) {
                              return access.feedsDot && access.rowStart != RowStart::Pair;
                            });
                          })
                 ? pairWaitForL2
                 : pairWait;
  bool onTensorCores = llvm::any_of(work.loops, [](const LoopWork &loop) {
    return llvm::any_of(loop.dots, [](const DotWork &dot) { return dot.tensorCores; });
  });
  const std::pair<const char *, double> parts[] = {
      {"memory", (found.dramBytes + slowBytes) / target.memory * 1e-3},
      {"L2", found.l2Bytes / target.cache * 1e-3},
      {onTensorCores ? "tensor cores" : "products", tensor},
      {"arithmetic", arithmetic},
      {"latency", chain}};
  double most = 0;
  for (const auto &[name, microseconds] : parts)
    if (microseconds >=
        1.1 * most) { // what hides the others is named only where it is clearly longer
      most = microseconds;
      found.bound = name;
    }
  // What memory has brought to the last programs they still have to go through, beside each other
  // or, where the last round has few of them, nearly alone.
  double memory = parts[0].second, rest = std::max({tensor, arithmetic, chain}),
         waves = programs / slots;
  double tail = waves > 1 && memory > 0 ? (1 - waves / std::ceil(waves)) * program.chain /
                                              (1 + std::pow(rest / memory, 4))
                                        : 0;
  double microseconds =
      tail + getNorm({parts[0].second, parts[1].second, std::max({tensor, arithmetic, chain})}, 4) +
      target.launch;
  if (!pairs.empty())
    microseconds += pairLaunch + pairRound * rounds;
  if (pairs.size() > 1)
    microseconds += squareRound * (rounds - 1);
  if (countParts() > 1) // once memory and products are done with
    microseconds += getSharingTime(perProcessor);
  microseconds *= 1 + idlePrice * std::max(0.0, 1 - programs / double(target.processors));
  microseconds += fetchTime * getCodeLength();
  microseconds *= 1 + lengthPrice * getCodeLength();
  found.milliseconds = found.valid ? microseconds * 1e-3 : std::numeric_limits<double>::infinity();
  return found;
}

} // namespace

CostEstimate estimateCost(const KernelWork &work, const Schedule &schedule,
                          const TargetLimits &target) {
  return Estimator(work, schedule, target).run();
}

CostEstimate estimateCost(KernelOp kernel, const Extents &extents, const TargetLimits &target) {
  return estimateCost(analyzeWork(kernel, extents, target), Schedule::of(kernel), target);
}

} // namespace tile::cost
