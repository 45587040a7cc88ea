// tile-gpu-prefetch-loads: software pipelining of loads into registers. What the next trip of a
// loop loads is asked for at the beginning of this one.
//
// Threads that wait for each other in every trip, in a reduction or a scan, wait for memory in
// every trip too: no warp of the block runs ahead. The same holds where a trip computes with what
// the one before has left, and where it stores: ptxas moves no load before the store. And where a
// producer fetches operands of products: warps that compute are few then, and all of them meet at
// each load. Many programs hide each other's waits, so registers are spent on loads ahead of few
// programs, or where nobody says how many there are and enough warps fit even so.
//
// Where the loads of one trip leave memory idle even so, they are copied to shared memory some
// trips ahead (CopyAhead.cpp), which takes no registers.
//
// What a loop with fetches loads may be what it stores: y[m, n] += … of tiles that no other trip
// touches. Then the next trip's tile is as good now as later.
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/CopyAhead.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PrefetchedLoop.h"
#include "target/LoadLatency.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUPREFETCHLOADS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Registers of a thread beside those of tiles, as the cost model has it, and as many again as
/// ptxas takes for the loads' places.
static constexpr int64_t otherRegisters = 28 + 12;
/// Trips of which all but the first gain where that takes registers of other blocks.
static constexpr double fewTrips = 4;
/// Warps that a multiprocessor still has room for where the number of programs is a guess.
static constexpr int64_t roomyWarps = 24;

//===--- Loops that wait --------------------------------------------------===//

/// True if lanes or warps hold different parts of a tile along `axis`; all axes where it is null.
static bool isShared(Value tile, IntegerAttr axis) {
  LinearLayout layout = getLayout(cast<RankedTensorType>(tile.getType()));
  for (InDim in : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(in))
      for (unsigned d = 0; d < basis.size(); ++d)
        if (basis[d] && (!axis || axis.getInt() == int64_t(d)))
          return true;
  return false;
}

/// True if threads exchange what they hold.
static bool exchanges(Operation *op) {
  if (isa<ReduceOp, ArgReduceOp, ReduceByOp, ScanOp>(op))
    return isShared(op->getOperand(0), op->getAttrOfType<IntegerAttr>("axis"));
  return getSharedNeed(op).use != SharedUse::None;
}

/// True if a trip stores.
static bool stores(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<StoreOp>(op); });
}

/// True if the loop carries a tile: each trip computes with what the one before has left. The
/// additions wait for nothing but each other, but loads that branch do not pass them.
static bool accumulates(scf::ForOp loop) {
  return llvm::any_of(loop.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

/// True if a producer will fetch for some loop of the kernel.
static bool hasProducer(KernelOp kernel) {
  return kernel.getBody().walk([](TmaFetchOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// True for a loop without others in it whose operations all work on registers, or on what each
/// thread keeps for itself.
static bool isPlain(scf::ForOp loop) {
  if (loop->getParentOfType<WarpSpecializeOp>())
    return false;
  WalkResult result = loop.getBody()->walk([](Operation *op) {
    if (isa<SlotOp, PrivateStoreOp, PrivateLoadOp>(op) || op->hasAttr(privateName))
      return WalkResult::advance();
    auto isMemory = [](Type type) { return isa<MemDescType>(type); };
    bool bad = isa<LoopLikeOpInterface>(op) || llvm::any_of(op->getOperandTypes(), isMemory) ||
               llvm::any_of(op->getResultTypes(), isMemory);
    return bad ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static bool waitsEachTrip(scf::ForOp loop) {
  bool found = stores(loop) || accumulates(loop);
  loop.getBody()->walk([&](Operation *op) { found |= exchanges(op); });
  return found;
}

/// True for an innermost loop, of a kernel that is still in one piece, for which a producer will
/// fetch.
static bool hasFetches(scf::ForOp loop) {
  return !loop.getBody()->getOps<TmaFetchOp>().empty() &&
         !loop.getBody()
              ->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

//===--- What is loaded ---------------------------------------------------===//

/// True if the store writes what the load reads, position by position.
static bool isSameTile(LoadOp load, StoreOp store) {
  return load.getView() == store.getView() && load.getStarts() == store.getStarts() &&
         load.getEnds() == store.getEnds() && load.getSizes() == store.getSizes() &&
         load.getSteps() == store.getSteps() && load.getHasEnd() == store.getHasEnd();
}

/// True if the load's tile in one trip has no position in common with that in another: along one
/// dimension it begins at the counter, and is no longer than the counter's step.
static bool movesOn(scf::ForOp loop, LoadOp load) {
  APInt step;
  if (!loop.isDefinedOutsideOfLoop(load.getView()) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return false;
  for (auto [d, start] : llvm::enumerate(load.getStarts())) {
    int64_t size = load.isDropped(d) ? 1 : load.getSizes()[d];
    if (start == loop.getInductionVar() && size >= 1 && load.getSteps()[d] >= 1 &&
        step.sge((size - 1) * load.getSteps()[d] + 1))
      return true;
  }
  return false;
}

/// True if nothing in the loop writes what the load will read in the next trip: all writes to its
/// tensor are stores of the tile that the same trip has loaded. Where threads wait for other
/// programs, in atomics, nothing is known.
static bool readsOwnTile(scf::ForOp loop, LoadOp load) {
  ViewOp root = getRootView(load.getView());
  auto kernel = load->getParentOfType<KernelOp>();
  if (!root || kernel->hasAttr(mayAliasName) || load.getMask() || !movesOn(loop, load))
    return false;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    if (isa<LoopLikeOpInterface, AtomicOp>(op))
      return WalkResult::interrupt();
    if (isa<LoadOp, GatherOp>(op))
      return WalkResult::advance();
    for (Value operand : op->getOperands()) {
      if (!isa<ViewType>(operand.getType()) || isMemoryEffectFree(op))
        continue;
      ViewOp written = getRootView(operand);
      auto store = dyn_cast<StoreOp>(op);
      if (!written || (written.getBase() == root.getBase() &&
                       !(store && store->getBlock() == loop.getBody() &&
                         load->isBeforeInBlock(store) && isSameTile(load, store))))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// Adds what `value` hangs on to `found`; false if that is more than the counter and what stands
/// before the loop.
static bool collect(scf::ForOp loop, Value value, llvm::SetVector<Operation *> &found) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() || !isPure(op))
    return false;
  if (found.contains(op))
    return true;
  if (!llvm::all_of(op->getOperands(),
                    [&](Value operand) { return collect(loop, operand, found); }))
    return false;
  found.insert(op);
  return true;
}

static bool changes(scf::ForOp loop, Value value) { return !loop.isDefinedOutsideOfLoop(value); }

/// True if the load would leave the tensor in a trip that there is not.
static bool needsTrip(scf::ForOp loop, LoadOp load) {
  if (changes(loop, load.getView()))
    return true;
  for (auto [d, start] : llvm::enumerate(load.getStarts()))
    if (load.getInBounds()[d] && changes(loop, start))
      return true;
  return false;
}

/// Bytes of the elements that a block holds once.
static int64_t countBytes(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return llvm::divideCeil(
      (tile ? tile.getNumElements() : 1) * getElementBits(getElementTypeOrSelf(type)), 8);
}

/// What the places of fetches hang on: the producer loads these for itself.
static DenseSet<Operation *> findSources(scf::ForOp loop) {
  DenseSet<Operation *> sources; // looked up only
  SmallVector<Value> pending;
  for (Operation &op : *loop.getBody())
    if (isa<TmaFetchOp, ClearFromOp>(op))
      llvm::append_range(pending, op.getOperands());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && sources.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return sources;
}

static std::optional<PrefetchPlan> makePlan(scf::ForOp loop, bool numbers) {
  PrefetchPlan plan;
  plan.loop = loop;
  plan.fetches = hasFetches(loop);
  if (!plan.fetches && (!isPlain(loop) || !waitsEachTrip(loop)))
    return std::nullopt;
  DenseSet<Operation *> sources = plan.fetches ? findSources(loop) : DenseSet<Operation *>();
  for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
    llvm::SetVector<Operation *> found = plan.needed;
    bool isConstant = readsConstantMemory(load);
    if (plan.fetches &&
        (sources.contains(load) || !(numbers || isa<RankedTensorType>(load.getType()))))
      continue;
    if (!(isConstant || (plan.fetches && readsOwnTile(loop, load))) ||
        !llvm::all_of(load->getOperands(),
                      [&](Value operand) { return collect(loop, operand, found); }) ||
        !llvm::any_of(load->getOperands(), [&](Value operand) { return changes(loop, operand); }))
      continue;
    found.insert(load);
    plan.needed = std::move(found);
    plan.loads.push_back(load);
    plan.written |= !isConstant;
    plan.clamps |= needsTrip(loop, load);
    plan.registers += countRegisters(load.getType());
    plan.bytes += countBytes(load.getType());
  }
  if (plan.loads.empty())
    return std::nullopt;
  return plan;
}

//===--- What is gained ---------------------------------------------------===//

/// The same where a producer fetches for the kernel. Its warps are those of few blocks, which
/// registers decide on anew (docs/Hopper.md, Occupancy): they must suffice for those that the
/// source asks for.
static std::string getObstacleOfConsumers(const PrefetchPlan &plan, KernelOp kernel,
                                          const GPULimits &limits) {
  auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName);
  auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
  constexpr int64_t warpsOfWarpgroup = 4, mostOfThread = 255;
  int64_t warpgroups = std::max<int64_t>(1, warps.getInt() / warpsOfWarpgroup),
          blocks = occupancy ? occupancy.getInt() : 1;
  int64_t given = warpgroups == 1 && blocks == 1
                      ? mostOfThread
                      : getConsumerRegisters(limits, warpgroups, blocks, usualProducerRegisters);
  int64_t registers = countLiveRegisters(kernel) + otherRegisters + plan.registers;
  return registers <= given
             ? ""
             : "a thread that computes has " + std::to_string(given) + " registers, and " +
                   std::to_string(registers) + " would be needed";
}

/// True if the number of programs hangs on an extent of which the source says no `opt`.
static bool isGuess(KernelOp kernel) {
  auto guessed = kernel->getAttrOfType<ArrayAttr>(guessedName);
  bool found = false;
  if (guessed)
    kernel.getGrid().walk([&](DimOp dim) {
      found |= !dim->use_empty() &&
               llvm::is_contained(guessed.getAsValueRange<StringAttr>(), dim.getDim().getName());
    });
  return found;
}

/// Trips at the extents that the contract expects; none where that is not known.
static double countTrips(scf::ForOp loop) {
  cost::Extents expected; // each as its `opt` says
  cost::IndexEvaluation values(expected, {});
  auto low = values.get(loop.getLowerBound()), high = values.get(loop.getUpperBound()),
       step = values.get(loop.getStep());
  return low && high && step && *step > 0 ? (*high - *low) / *step : 0;
}

/// Why the loop is better left as it is; empty where it is not. Registers cost nothing where all
/// programs of a launch run at once even so, and loads ahead gain where those programs neither keep
/// memory busy nor have warps that hide each other's waits.
static std::string getObstacle(const PrefetchPlan &plan, KernelOp kernel, const GPUTarget &target) {
  // All or none: a trip that waits for one load might as well wait for all.
  if (plan.registers > mostPrefetchedRegisters)
    return "a thread would hold " + std::to_string(plan.registers) +
           " registers of the next trip's loads, and " + std::to_string(mostPrefetchedRegisters) +
           " are the most";
  scf::ForOp loop = plan.loop;
  if (llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<SortOp, HistogramOp>(op); }))
    return "its trips sort or count, which takes longer than a load";
  if (plan.fetches)
    return getObstacleOfConsumers(plan, kernel, target.limits);
  const GPUCard &card = getCard(target);
  int64_t threads = getBlockThreads(kernel, target.limits),
          blocks = countPrograms(kernel, card).busy;
  int64_t registers = countLiveRegisters(kernel) + otherRegisters + plan.registers;
  if (isGuess(kernel) && !hasProducer(kernel)) {
    blocks = llvm::divideCeil(roomyWarps * target.limits.warpThreads, threads);
    if (blocks <= target.limits.blocksPerProcessor &&
        target.limits.registersFor(threads, blocks) >= registers)
      return "";
    return "nobody says how many programs there are, and with " + std::to_string(registers) +
           " registers a thread fewer than " + std::to_string(roomyWarps) +
           " warps would run on a multiprocessor";
  }
  std::string many = std::to_string(blocks) + " programs for each multiprocessor ";
  // Little's law: as much has to be on its way as comes in the time of one load; twice as much, as
  // programs that wait in every trip have nothing on its way for about half of it.
  double busy = 2 * getBytesInFlight(card);
  int64_t warps = (blocks - 1) * threads / target.limits.warpThreads;
  if (warps > hidingWarps) {
    // Of blocks of one warp no more run at once than a multiprocessor has places: a few less, each
    // with twice as much on its way, are more.
    int64_t places = std::min<int64_t>(blocks, target.limits.blocksPerProcessor);
    auto hasRoom = [&](int64_t count, int64_t held) {
      return count * threads <= target.limits.threadsPerProcessor &&
             target.limits.registersFor(threads, count) >= held;
    };
    bool gains = countTrips(loop) >= fewTrips && hasRoom(places, registers - plan.registers) &&
                 hasRoom(places - places / 8, registers) && double(places * plan.bytes) < busy;
    return gains ? "" : many + "hide each other's waits";
  }
  if (hasProducer(kernel))
    if (std::string obstacle = getObstacleOfConsumers(plan, kernel, target.limits);
        !obstacle.empty())
      return obstacle;
  if (blocks > target.limits.blocksPerProcessor ||
      target.limits.registersFor(threads, blocks) < registers)
    return many + "would not run at once with " + std::to_string(registers) + " registers a thread";
  if (double(blocks * plan.bytes) >= busy)
    return many + "keep memory busy, with " + std::to_string(blocks * plan.bytes) +
           " bytes on their way";
  return "";
}

/// Numbers that a loop with fetches loads come ahead where their first uses are known: elsewhere
/// the first-level cache has them as soon.
static std::optional<PrefetchPlan> choosePlan(scf::ForOp loop) {
  std::optional<PrefetchPlan> plan = makePlan(loop, /*numbers=*/true);
  auto isNumber = [](LoadOp load) { return !isa<RankedTensorType>(load.getType()); };
  if (plan && plan->fetches && llvm::any_of(plan->loads, isNumber) && !hasFirstUses(*plan))
    return makePlan(loop, /*numbers=*/false);
  return plan;
}

namespace {

struct TileGPUPrefetchLoads : tile::impl::TileGPUPrefetchLoadsBase<TileGPUPrefetchLoads> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      DenseMap<Operation *, std::string> whyNoCopies = copyLoops(kernel, *target); // looked up only
      SmallVector<PrefetchPlan> plans;
      SmallVector<scf::ForOp> others;
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (auto plan = choosePlan(loop))
          plans.push_back(std::move(*plan));
        else
          others.push_back(loop);
      });
      auto explain = [&](scf::ForOp loop, std::string obstacle) {
        if (std::string copies = whyNoCopies.lookup(loop); !copies.empty())
          obstacle += (obstacle.empty() ? "" : "; for copies ahead, ") + copies;
        if (!obstacle.empty())
          declined(loop) << obstacle;
      };
      for (scf::ForOp loop : others)
        explain(loop, "");
      for (const PrefetchPlan &plan : plans) {
        std::string obstacle = getObstacle(plan, kernel, *target);
        explain(plan.loop, obstacle);
        if (obstacle.empty())
          prefetch(plan);
      }
    }
  }

private:
  /// Copies ahead what loops load where that is of more use than loads of the next trip; why the
  /// others are not.
  DenseMap<Operation *, std::string> copyLoops(KernelOp kernel, const GPUTarget &target) {
    DenseMap<Operation *, std::string> obstacles;
    auto multiplies = [](Operation *op) {
      return isa<MmaOp, WgmmaOp, FmaDotOp, TmaFetchOp>(op) ? WalkResult::interrupt()
                                                           : WalkResult::advance();
    };
    if (kernel.getBody().walk(multiplies).wasInterrupted())
      return obstacles;
    SmallVector<scf::ForOp> loops;
    kernel.getBody().walk([&](scf::ForOp loop) {
      if (isPlain(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      std::string obstacle = copyAhead(loop, target, [&]() -> const DivisibilityAnalysis & {
        return getAnalysis<DivisibilityAnalysis>();
      });
      if (!obstacle.empty())
        obstacles[loop] = obstacle;
    }
    return obstacles;
  }
};

} // namespace
