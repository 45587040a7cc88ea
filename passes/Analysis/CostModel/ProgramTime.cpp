// How long a program takes alone: loops whose trips wait for tiles, for products and for each
// other.
#include "passes/Analysis/CostModel/Estimator.h"
#include "target/LoadLatency.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tile::cost {

// Constants that no data sheet has. Fitted to the times of bench/results/defaults.json;
// docs/CostModel.md names the error that is left.
constexpr double fillLatency = 1.0;       ///< microseconds from asking for a tile to having it
constexpr double handOver = 0.10;         ///< of a stage from producer to consumers and back
constexpr double handOverInFlight = 0.03; ///< the same under a product that is still in flight
constexpr double turnTime = 0.05;         ///< of a program from one team of consumers to the next
constexpr double handOverByTurns = 0.006; ///< the same where others multiply meanwhile
constexpr double varying =
    0.03; ///< of the latency of a stage, that is waited for although others are on their way
constexpr double placeTime = 0.05;    ///< of a producer's thread for each trip
constexpr double boxTime = 0.045;     ///< and for each box that it asks for
constexpr double storeTime = 0.06;    ///< of a warpgroup's thread for each box that it stores
constexpr double exchangeTime = 0.15; ///< of a reduction over a block of 4 warps
constexpr double startTime = 0.7;     ///< of a block before its first load arrives
constexpr double reducing =
    0.25; ///< of a trip whose products wait for what is reduced from others, as in attention
constexpr double computingHeld =
    1.6; ///< of the time that its instructions take to issue, for two warpgroups that compute an
         ///< operand in registers: each waits for its own results
constexpr double computingHeldAlone = 2.4; ///< the same for one warpgroup
constexpr double keptTime = 0.15;   ///< of a trip that reads what an earlier loop has kept, or what
                                    ///< was copied ahead, beside one whose tiles have stayed in
                                    ///< registers
constexpr double groupWait = 0.05;  ///< of a stage that the computing warps have copied themselves
constexpr double copyLatency = 0.7; ///< of such a copy: code for sm_80, timed on an H200
constexpr double loneWarps = 0.75; ///< of mma.sync's rate, by one warp for each scheduler: it loads
                                   ///< its operands and waits at barriers, too
constexpr double syncStart =
    0.3; ///< of a program of mma.sync whose operands TMA brings: warps fill
         ///< their registers before the first product, and store alone
constexpr double syncTrip = 0.03;        ///< of a trip, whose first operands no product hides
constexpr double portBytesPerClock = 64; ///< of a multiprocessor, from L2
constexpr double keptSlots = 1024;       ///< of a thread's code that a multiprocessor keeps, 24 KB
constexpr double fetchClocks = 6; ///< to fetch one more: GELU of 128 x 128 sums behind a product
                                  ///< takes a team of four warps 12 us, eight warps 5 (H200)

/// True for so few columns that the product takes no time beside what computes its operand.
static bool isNarrow(const DotWork &dot) { return countColumns(dot) < 64; }

/// What a multiprocessor takes to fetch the code of a long end of a program, which runs once and
/// stands behind a loop: of so much code nothing is left when the next program ends.
double Estimator::getFetchTime(const LoopWork &loop) const {
  bool follows =
      loop.parent < 0 && schedule.persistent &&
      llvm::any_of(work.loops, [](const LoopWork &other) { return !other.dots.empty(); });
  if (!follows)
    return 0;
  constexpr double warpThreads = 32;
  double slots = (loop.slots + loop.special) / (warpThreads * double(resources.warps));
  return std::max(0.0, slots - keptSlots) * fetchClocks / target.clock * 1e-3;
}

ProgramTime Estimator::getProgramTime() const {
  ProgramTime time;
  time.chain = resources.bulkCopies && schedule.persistent ? 0 : startTime;
  time.start = resources.bulkCopies ? time.chain : 0;
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
    bool inLoop = loop.parent >= 0;
    double trips = inLoop ? loop.trips : 1;
    // Warps that copy and meet at a barrier in each trip compute all at the same time.
    bool alternates = overlapping > 1 && resources.bulkCopies && !hasComputedOperand(loop);
    // Alone, fewer warps than a multiprocessor has schedulers leave some of these idle.
    double alone = arithmetic * double(schedulers) /
                   double(std::clamp<int64_t>(resources.warps, 1, schedulers));
    if (loop.dots.empty())
      alone *= getWaitForResults(schedulers);
    double fetch = getFetchTime(loop);
    time.fetch += fetch;
    alone = std::max(alone, fetch);
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
    double chain, turn = 0;
    if (resources.bulkCopies && inLoop) {
      // One warpgroup asks for the next trip's tiles while its product is in flight, or while it
      // computes with the last one's result.
      bool flies = resources.warps == 4 && !loop.dots.empty() && !hasComputedOperand(loop) &&
                   llvm::all_of(loop.dots, [](const DotWork &dot) { return dot.wgmma; });
      // Where one team's last product ends, the other one's first is in flight already.
      bool takesTurns = flies && resources.teams > 1;
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
                     : takesTurns ? handOverByTurns
                     : flies      ? handOverInFlight
                                  : handOver) +
                    (loop.reduced > 0 ? reducing : 0);
      if (llvm::any_of(loop.dots,
                       [](const DotWork &dot) { return dot.tensorCores && !dot.wgmma; })) {
        trip += syncTrip;
        time.chain += loop.runs * syncStart;
      }
      double latency = fillLatency + (filled + loaded) / trips / cacheShare;
      if (!loop.dots.empty())
        time.fill = std::max(time.fill, filled / trips / cacheShare);
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
      if (resources.teams > 1)
        chain += loop.runs * turnTime;
      turn = chain;
      // A producer that has issued a loop's copies goes on to the next time that the loop runs.
      if (!schedule.persistent) {
        chain += std::min(loop.runs, 1.0) * latency;
        time.start += std::min(loop.runs, 1.0) * latency;
      }
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
      bool isAhead = inLoop && copiesAhead(number);
      double waits = isAhead ? std::max(loop.runs, 1.0) : trips;
      chain = getNorm({waits * (loaded + filled > 0 ? loadLatency : 0), computing}, overlap) +
              trips * (isAhead ? 1 : mostKept) * keptTime;
    }
    bool ahead =
        (resources.bulkCopies || (resources.asyncCopies && resources.stages > 1)) && inLoop;
    // What comes while the trips before compute is waited for where it takes longer than these.
    if (!ahead)
      chain +=
          (inLoop && copiesAhead(number) ? std::max(0.0, (loaded + filled) / cacheShare - computing)
                                         : (loaded + filled) / cacheShare) +
          (work.loops.size() > 1 && resources.bulkCopies ? 0 : exchange * (loop.exchanges));
    chain += stored / (resources.bulkCopies ? memoryShare : cacheShare);
    if (resources.bulkCopies)
      chain += storedBoxes / warpgroups * storeTime;
    time.chain += chain;
    time.turns += turn;
  }
  return time;
}

} // namespace tile::cost
