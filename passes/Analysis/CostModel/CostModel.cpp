// The estimate: what each part of the machine has to do for all programs, how long one program
// takes alone, and what of that overlaps. docs/CostModel.md has the terms. In microseconds:
//
//   memory       bytes from memory / the card's rate                     of all programs
//   L2           bytes through L2 / the cache's rate                     of all programs
//   tensor       programs of the fullest multiprocessor * time of a program's products
//   arithmetic   programs of the fullest multiprocessor * time of its other operations
//   chain        rounds of programs * time of a program alone: loads, waits, exchanges
//
//   time = (norm of power 2 or 3.5 of memory, L2 and the largest of the others) + launch
#include "passes/Analysis/CostModel/CostModel.h"
#include "passes/Analysis/CostModel/Estimator.h"
#include "passes/TileGPU/PartCount.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace tile::cost {

// Constants that no data sheet has. Fitted to the times of bench/results/defaults.json;
// docs/CostModel.md names the error that is left.
constexpr double sharingTime = 1.4;  ///< of a program that shares a split loop, beside the bytes of
                                     ///< all their sums, which leave at L2's rate
constexpr double roundTime = 0.3;    ///< of each time that the last one waits for some of them
constexpr double meetingTime = 3.5;  ///< of a program that shares it as a block of a cluster
constexpr double meetingRate = 25e3; ///< bytes of its state a microsecond, there and back
constexpr double spillTime = 0.008;  ///< of a program's time, for each register that is missing
constexpr double idlePrice = 0.01;   ///< of the time, where no multiprocessor has a program: of two
                                     ///< choices as good, the one that keeps more of them busy
constexpr double lengthPrice = 2.5e-5; ///< of the time, for each slot of a thread's code: of two
                                       ///< choices as good, the shorter one
constexpr double fetchTime = 1e-4;     ///< of a launch, for each slot of a thread's code, which
                                       ///< multiprocessors have to fetch before they issue it
constexpr double rereadPrice = 2.5; ///< of a byte that memory brings again for another loop: H100s
                                    ///< take 1079 us for 2.5 GB of softmax, and 829 to copy them;
                                    ///< 521 for 1.14 GB of RMS norm, and 380; 842 for 1.59, and 530
constexpr double overlapPower =
    3.5; ///< of the norm by which memory, L2 and what multiprocessors do overlap
constexpr double copyingPower = 2; ///< the same of products by tensor cores and what a producer
                                   ///< copies for them: they share power and shared memory (times
                                   ///< of 1200 shapes on an H100)
constexpr double paddingPrice = 0.06;  ///< of the time, for each product of padding beside one that
                                       ///< is not: it takes power, too
constexpr double pairLaunch = 0.4;     ///< microseconds more of a launch in clusters
constexpr double pairRound = 0.1;      ///< of each program, whose slots several blocks release
constexpr double pairWait = 1.03;      ///< of a program's chain: each block waits for the others
constexpr double pairWaitForL2 = 0.05; ///< the same where L2 takes as long, else in proportion
constexpr double squareRound = 1.7;    ///< of each program but the first: a block starts for it
constexpr double roomySquares = 23.0 / 132; ///< for each multiprocessor: so many clusters of four
                                            ///< leave room in all groups of multiprocessors, seven
                                            ///< of which take four on an H100, one two
constexpr double roomyShare = 0.8;  ///< of L2's time for them: a full group waits for its way there
constexpr double squareWait = 1.05; ///< of the time of these: blocks wait for each other, too
constexpr double squareRounds = 1.06; ///< of the time of several rounds of squares, whose blocks
                                      ///< end apart (times of 300 products on two H200)
constexpr double manySquareRounds = 0.05; ///< more time at most of more rounds: of five and more

double getNorm(std::initializer_list<double> values, double p) {
  double sum = 0;
  for (double value : values)
    sum += std::pow(value, p);
  return std::pow(sum, 1 / p);
}

/// Programs that share a split loop's trips.
int64_t Estimator::countParts() const {
  int64_t parts = 1;
  for (const LoopWork &loop : work.loops)
    parts = std::max(parts, loop.split);
  return parts;
}

/// Bytes of the sums that a program shares: those of loops inside of the split one, too.
double Estimator::getSumBytes() const {
  auto isShared = [&](const LoopWork &loop) {
    const LoopWork *around = &loop;
    while (around->split <= 1 && around->parent >= 0)
      around = &work.loops[size_t(around->parent)];
    return around->split > 1;
  };
  double bytes = 0;
  for (const LoopWork &loop : work.loops)
    for (const DotWork &dot : loop.dots)
      bytes += isShared(loop) ? 4.0 * double(dot.m * dot.n) : 0;
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
  double written = double(work.programs) * parts * getSumBytes() / (target.cache * 1e3);
  return written + perProcessor * merging;
}

/// Elements of the most padded operand of products over those that exist.
double Estimator::getOperandPadding() const {
  double least = 1;
  for (const LoopWork &loop : work.loops)
    for (const AccessWork &access : loop.accesses)
      if (access.feedsDot && access.useful > 0)
        least = std::min(least, access.useful);
  return 1 / least;
}

void Estimator::addRoofline(CostEstimate &found) const {
  double products = 0, tensor = 0, arithmetic = 0, elements = 0;
  for (const LoopWork &loop : work.loops) {
    for (const DotWork &dot : loop.dots) {
      products += dot.getOperations() * countPrograms();
      tensor += dot.getOperations() * countPrograms() / getProductRate(dot, target);
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
    programs *= getPadding(axis);
  // Of programs of unlike lengths whoever is done takes the next, the longest first: shares are
  // even, unless a program alone takes longer than a share.
  auto share = [&](double places) {
    return work.longest > 1 ? getNorm({programs / places, work.longest}, 4)
                            : std::ceil(programs / places);
  };
  double perProcessor = share(std::floor(countProcessors())), rounds = share(slots);
  // A block alone does one after the other what its chain says; several fill each other's gaps, but
  // not all of them.
  double tensor = perProcessor * program.tensor,
         arithmetic = perProcessor * std::max(program.arithmetic, program.fetch),
         chain = rounds * program.chain - program.start; // that of the first is the launch's
  // While one team multiplies, the other one ends its program and begins the next.
  if (resources.teams > 1)
    chain = std::max(rounds * program.turns + program.chain - program.turns,
                     chain / double(resources.teams));
  if (!llvm::any_of(work.loops, [](const LoopWork &loop) { return !loop.dots.empty(); }))
    arithmetic *= getWaitForResults(1);
  if (resources.blocks > 1)
    chain = getNorm({tensor, arithmetic, chain}, 2.5);
  if (llvm::any_of(work.loops, hasComputedOperand)) // what brings the operand there keeps other
                                                    // blocks from the tensor cores too
    chain = std::max(chain, tensor + arithmetic);
  double cache = found.l2Bytes / target.cache * 1e-3;
  constexpr double blocksOfSquare = 4;
  bool roomy =
      pairs.size() > 1 && programs <= blocksOfSquare * roomySquares * double(target.processors);
  if (roomy)
    cache *= roomyShare;
  else if (!pairs.empty())
    chain *= pairWait + pairWaitForL2 * std::min(1.0, cache / std::max(chain, tensor));
  bool onTensorCores = llvm::any_of(work.loops, [](const LoopWork &loop) {
    return llvm::any_of(loop.dots, [](const DotWork &dot) { return dot.tensorCores; });
  });
  const std::pair<const char *, double> parts[] = {
      {"memory", (found.dramBytes + slowBytes) / target.memory * 1e-3},
      {"L2", cache},
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
  // Products that wait for what is reduced meanwhile, as attention's, leave power to others.
  bool copies =
      resources.bulkCopies && onTensorCores && llvm::none_of(work.loops, [](const LoopWork &loop) {
        return !loop.dots.empty() && loop.reduced > 0;
      });
  double microseconds =
      tail + getNorm({memory, cache, rest}, copies ? copyingPower : overlapPower) + target.launch;
  if (copies)
    microseconds *= 1 + paddingPrice * std::min(1.0, getOperandPadding() - 1);
  if (!pairs.empty() && !roomy)
    microseconds += pairLaunch + pairRound * rounds;
  if (roomy)
    microseconds *= squareWait;
  if (pairs.size() > 1 && rounds > 1) {
    constexpr double few = 2, many = 5;
    double apart = std::clamp((rounds - few) / (many - few), 0.0, 1.0);
    microseconds =
        (squareRounds + manySquareRounds * apart) * microseconds + squareRound * (rounds - 1);
  }
  if (countParts() > 1) // once memory and products are done with
    microseconds += getSharingTime(perProcessor);
  microseconds += program.fill;
  microseconds *= 1 + idlePrice * std::max(0.0, 1 - programs / double(target.processors));
  microseconds += fetchTime * getCodeLength();
  microseconds *= 1 + lengthPrice * getCodeLength();
  found.milliseconds = found.valid ? microseconds * 1e-3 : std::numeric_limits<double>::infinity();
  return found;
}

CostEstimate estimateCost(const KernelWork &work, const Schedule &schedule,
                          const TargetLimits &target) {
  return Estimator(work, schedule, target).run();
}

CostEstimate estimateCost(KernelOp kernel, const Extents &extents, const TargetLimits &target) {
  return estimateCost(analyzeWork(kernel, extents, target), Schedule::of(kernel), target);
}

} // namespace tile::cost
