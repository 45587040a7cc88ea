// The resources of a multiprocessor that a kernel's block takes.
#include "passes/TileGPU/LaunchFit.h"
#include "dialect/AttributeNames.h"
#include "passes/Analysis/BusyPrograms.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/TileGPU/IdleWarps.h"
#include "passes/TileGPU/SharedPlan.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::gpu {

/// A producer's warpgroup, and the widest wgmma.
static constexpr int64_t producerWarps = 4, widest = 256;
/// Registers of a thread for addresses, counters and descriptors.
static constexpr int64_t others = 32;

/// Columns of a product that one warpgroup has, at most those of an instruction, without padding.
/// Warps along N share the columns.
static int64_t getColumns(WgmmaOp product) {
  constexpr int64_t step = 16;
  LinearLayout layout = getLayout(product.getType());
  int64_t columns = product.getType().getShape().back();
  for (const Coord &basis : layout.getBases(InDim::Warp))
    if (basis.back())
      columns /= 2;
  if (auto valid = product.getValid())
    columns = std::min(columns, int64_t(llvm::alignTo(uint64_t((*valid)[1]), step)));
  return std::min(columns, widest);
}

RegisterNeed getRegisterNeed(KernelOp kernel) {
  // Beside the accumulator; what ptxas of CUDA 13.0 says of 8, 64, 128 and 256 columns. An operand
  // in registers takes 16 bytes of each thread.
  // Registers of a thread: 64 rows by `columns` elements are spread over 128 threads; operand words
  // are those of 64 x 32 bytes.
  constexpr int64_t others = 26, operand = 4, wordBits = 32, rows = 64, threads = 128;
  RegisterNeed need;
  kernel.getBody().walk([&](WgmmaOp product) {
    int64_t columns = getColumns(product);
    int64_t bits = rows * columns / threads * product.getType().getElementTypeBitWidth();
    int64_t registers =
        bits / wordBits + others + (isa<RankedTensorType>(product.getA().getType()) ? operand : 0);
    if (registers > need.registers)
      need = {registers, rows, columns, product};
  });
  return need;
}

/// Set before any pass that asks; its absence is an error of a pipeline put together by hand.
FailureOr<int64_t> getNumWarps(KernelOp kernel) {
  if (auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName))
    return warps.getInt();
  return kernel.emitOpError() << "needs '" << numWarpsName
                              << "', which tile-gpu-assign-layouts sets";
}

FailureOr<int64_t> getLaunchedWarps(KernelOp kernel) {
  FailureOr<int64_t> warps = getNumWarps(kernel);
  auto idle = kernel->getAttrOfType<IntegerAttr>(idleWarpsName);
  return failed(warps) || !idle ? warps : FailureOr<int64_t>(*warps - idle.getInt());
}

int64_t getBlockThreads(KernelOp kernel, const GPULimits &limits) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
  // A kernel with fetches will have a producer, and no warps that hold padding alone
  // (tile-gpu-specialize-warps).
  bool fetches =
      kernel.getBody().walk([](TmaFetchOp) { return WalkResult::interrupt(); }).wasInterrupted();
  int64_t joining = fetches ? producerWarps - countIdleWarps(kernel) : 0;
  return (warps.getInt() + joining) * limits.warpThreads;
}

/// A power of two, since layouts have a bit for each doubling of warps.
int64_t getWarpsBesideProducer(const GPULimits &limits) {
  return int64_t(
      llvm::bit_floor(uint64_t(limits.threadsPerBlock / limits.warpThreads - producerWarps)));
}

/// The driver keeps `sharedReserved` bytes for each block, and hands shared memory out in such
/// units.
int64_t getSharedLimit(const GPULimits &limits, int64_t blocks) {
  int64_t system = limits.sharedReserved;
  return limits.sharedPerProcessor / blocks / system * system - system;
}

int64_t countProductRegisters(Block &body) {
  int64_t words = 0;
  for (auto product : body.getOps<WgmmaOp>())
    words += getLayout(product.getType()).getNumRegisters() *
             product.getType().getElementTypeBitWidth() / 32;
  return words;
}

/// All warps enter with `entry` registers; the producer keeps `producer` of its own, and the
/// consumers share out the rest, in eights.
int64_t getConsumerRegisters(const GPULimits &limits, int64_t warpgroups, int64_t blocks,
                             int64_t producer) {
  constexpr int64_t granule = 8, most = 240, threads = 128;
  int64_t entry = limits.registersFor((warpgroups + 1) * threads, blocks);
  // Nothing to hand over, or nobody to take it.
  if (entry <= producer || warpgroups < 1)
    return 0;
  return std::min(most, ((warpgroups + 1) * entry - producer) / warpgroups / granule * granule);
}

/// Registers are handed over in eights for each of the consumers; a producer may keep the rest.
int64_t getProducerRegisters(const GPULimits &limits, int64_t warpgroups, int64_t blocks,
                             int64_t least) {
  constexpr int64_t granule = 8, threads = 128;
  int64_t entry = limits.registersFor((warpgroups + 1) * threads, blocks);
  int64_t share = getConsumerRegisters(limits, warpgroups, blocks, least);
  return share ? ((warpgroups + 1) * entry - warpgroups * share) / granule * granule : least;
}

/// Registers beside tiles, of a thread that waits for slots that others fill.
static constexpr int64_t besideTiles = 38;

/// One warpgroup that has a multiprocessor for itself takes what it needs.
bool mayProducerFill(const RegisterShare &share, const GPULimits &limits) {
  constexpr int64_t producer = 56;
  return (share.warpgroups <= 1 && share.blocks <= 1) ||
         share.tiles + besideTiles <=
             getConsumerRegisters(limits, share.warpgroups, share.blocks, producer);
}

int64_t chooseProducerRegisters(const RegisterShare &share, const GPULimits &limits) {
  // What it keeps where it computes places and shapes of views, writes their maps and copies what
  // they cannot: the first that leaves consumers `besideTiles` beside their tiles, or the last.
  constexpr int64_t mapRegisters[] = {104, 88, 56};
  // Two warpgroups have registers enough beside a producer that keeps its usual share.
  constexpr int64_t manyWarpgroups = 3;
  auto leaves = [&](int64_t producer, int64_t beside) {
    return share.tiles + beside <=
           getConsumerRegisters(limits, share.warpgroups, share.blocks, producer);
  };
  bool lacks = share.products > manyProductRegisters || share.isFew ||
               (share.warpgroups >= manyWarpgroups && !leaves(usualProducerRegisters, others));
  if (share.isWide || (share.writesMaps && !lacks)) {
    for (int64_t registers : mapRegisters)
      if (leaves(registers, besideTiles))
        return registers;
    return *std::prev(std::end(mapRegisters));
  }
  return lacks ? fewestProducerRegisters : usualProducerRegisters;
}

ProgramCount countPrograms(KernelOp kernel, ArrayRef<double> grid, const GPUCard &card) {
  auto share = [&](double programs) {
    return int64_t(std::min(double(manyPrograms), std::ceil(programs / double(card.processors))));
  };
  double all = 1.0;
  for (double extent : grid)
    all *= extent;
  return {share(all), share(countBusyPrograms(kernel, grid))};
}

ProgramCount countPrograms(KernelOp kernel, const GPUCard &card) {
  cost::Extents extents;
  cost::IndexEvaluation evaluation(extents, {});
  SmallVector<double> grid;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    grid.push_back(std::max(1.0, evaluation.get(extent).value_or(double(manyPrograms))));
  return countPrograms(kernel, grid, card);
}

/// More warpgroups that compute than this hide nothing more of each other's waits.
static constexpr int64_t mostWarpgroups = 4, warpsOfOne = 4;
/// Several small blocks hide each other's prologue and epilogue. Large blocks, of two warpgroups or
/// more, have a multiprocessor for themselves.
int64_t chooseBlocks(const BlockNeed &need, const GPULimits &limits) {
  // With fewer stages than `usefulStages` loads are late, unless several rings take turns: each is
  // filled while the others' tiles are used.
  constexpr int64_t most = mostWarpgroups, manyRings = 3;
  if (need.warps != warpsOfOne || need.stageBytes == 0)
    return 1;
  int64_t threads = (warpsOfOne + producerWarps) * limits.warpThreads;
  for (int64_t blocks = std::min(most, need.programs); blocks > 1; --blocks) {
    int64_t registers = getConsumerRegisters(limits, 1, blocks, usualProducerRegisters);
    if (limits.registersFor(threads, blocks) < need.registersOnEntry ||
        registers < need.registers + others)
      continue;
    // Three stages or more for three and four blocks; of two blocks, each hides the other's waits.
    // Several rings that take turns need a stage less.
    int64_t least = (blocks > 2 ? usefulStages : 2) - (need.rings >= manyRings);
    if (need.fixedBytes + least * need.stageBytes <= getSharedLimit(limits, blocks))
      return blocks;
  }
  return 1;
}

int64_t chooseBlocksOfCopies(const BlockNeed &need, const GPULimits &limits) {
  int64_t threads = need.warps * limits.warpThreads;
  int64_t most = std::min(mostWarpgroups * warpsOfOne / need.warps, need.programs);
  for (int64_t blocks = most; blocks > 1; --blocks)
    if (limits.registersFor(threads, blocks) >=
            std::max(need.registersOnEntry, need.registers + others) &&
        need.fixedBytes <= getSharedLimit(limits, blocks))
      return blocks;
  return 1;
}

int64_t getOpenShare(int64_t least, int64_t warps, const GPULimits &limits) {
  int64_t having = limits.sharedPerProcessor /
                   (int64_t(llvm::alignTo(uint64_t(least), sharedLine)) + limits.sharedReserved);
  int64_t blocks =
      std::min({limits.blocksPerProcessor, mostWarpgroups * warpsOfOne / warps, having});
  return blocks > 1 ? getSharedLimit(limits, blocks) : limits.sharedPerBlock();
}

int64_t countUsefulCopyStages(int64_t bits) {
  constexpr int64_t copyLatency = 1000;      // clocks, about: L2 misses of a busy machine
  constexpr int64_t bitsOfClock = 16 * 1024; // of a multiprocessor: products of 16-bit elements
  return std::min(mostCopyStages, 2 + int64_t(llvm::divideCeil(
                                          copyLatency, std::max<int64_t>(bits / bitsOfClock, 1))));
}

int64_t countMostTrips(Value low, Value high, int64_t step) {
  APInt first, last;
  int64_t most = int64_t(1) << 40;
  if (!matchPattern(low, m_ConstantInt(&first)) || first.isNegative())
    return most;
  if (auto dim = high.getDefiningOp<DimOp>())
    most = std::min<int64_t>(most, dim.getDim().getMax());
  else if (matchPattern(high, m_ConstantInt(&last)))
    most = last.getSExtValue();
  return llvm::divideCeil(std::max<int64_t>(most - first.getSExtValue(), 1), step);
}

/// Registers of a thread beside those of tiles, as the cost model has it.
static constexpr int64_t otherRegisters = 28;

KeptTrips chooseKeptTrips(const KeptNeed &need, const GPULimits &limits) {
  constexpr int64_t enoughWarps = 16;
  // What is left of a multiprocessor's memory is its first-level cache, where programs find what
  // they share, as the weights of a norm.
  constexpr int64_t firstLevelBytes = 64 * 1024;
  int64_t having = std::min(limits.threadsPerProcessor / need.threads, limits.blocksPerProcessor),
          most = std::min(having, need.programs), least = std::min(need.asked, having);
  int64_t registers = std::min(need.registers, limits.registersPerThread);
  // Rows of one block, which registers hold: what loops over longer ones would keep must not cost
  // them a block, however few registers ptxas finds for them.
  if (need.trips == 1 && need.mostTrips > 1)
    registers = std::max<int64_t>(1, registers - otherRegisters);
  int64_t blocks = 1;
  while (blocks < most && limits.registersFor(need.threads, blocks + 1) >= registers)
    ++blocks;
  blocks = std::max(blocks, least);
  auto getRoom = [&](int64_t blocks, int64_t besides) {
    int64_t bytes = getSharedLimit(limits, blocks) - need.fixedBytes - besides / blocks;
    return std::clamp<int64_t>(bytes / need.tripBytes, 0, need.mostTrips);
  };
  auto isEnough = [&](int64_t blocks) {
    return blocks * need.threads >= enoughWarps * limits.warpThreads &&
           double(blocks * need.tripBytes) >= need.bytesInFlight;
  };
  int64_t trips = std::min(need.trips, need.mostTrips), fewer = blocks;
  while (fewer > std::max<int64_t>(least, 1) && getRoom(fewer, 0) < trips && isEnough(fewer - 1))
    --fewer;
  if (getRoom(fewer, 0) >= trips)
    return {fewer, std::max(trips, getRoom(fewer, firstLevelBytes))};
  return {blocks, getRoom(blocks, 0)};
}

} // namespace tile::gpu
