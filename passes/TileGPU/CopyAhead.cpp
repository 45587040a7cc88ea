// How a loop's tiles come several trips ahead of their use:
//
//   copies of trips 0 .. d-1, a group each
//   for i: copy of trip i+d into the slot of trip i-1; commit
//          wait until at most d groups are under way
//          tile = the slot of trip i; of a trip that the end cuts a load
//
// Each thread copies what it reads itself, so no thread waits for another, and what is on its way
// takes no registers. Memory is busy when as much is on its way as comes in the time of a load
// (target/LoadLatency.h). Many programs have that with the loads of one trip each. Few programs, as
// those that each add up some columns of a tall matrix, have it by this loop.
//
// Pieces of 16 bytes that are not known to be aligned, but are if the distance of rows is a
// multiple of 16 bytes, are copied in a version of the loop for such rows. The other version is the
// loop as it was.
#include "passes/TileGPU/CopyAhead.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/BusyPrograms.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PrivateCopies.h"
#include "passes/TileGPU/SharedLifetimes.h"
#include "passes/TileGPU/SharedPlan.h"
#include "target/LoadLatency.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A load of the loop that is copied ahead.
struct Copied {
  LoadOp load;
  unsigned dim = 0; ///< of the view, that goes on with the counter
};

/// The loads of a loop that are copied ahead, and how far.
struct Ahead {
  scf::ForOp loop;
  int64_t step = 0;
  SmallVector<Copied> copies;
  int64_t bytes = 0;    ///< of a block in a trip
  int64_t others = 0;   ///< of what a trip loads otherwise
  int64_t distance = 0; ///< in trips
  /// Distances of rows, and extents, that must be multiples, and of how many elements.
  llvm::SmallMapVector<Value, int64_t, 4> multiples;
};

} // namespace

/// Trips that are ahead at most: more places in shared memory hide no more.
static constexpr int64_t mostTrips = 8;

/// A loop makes so many times the trips that are ahead, at least: the first ones are waited for.
static constexpr int64_t leastRounds = 4;

/// Programs for each multiprocessor, a fraction where some have none.
static double countSharedPrograms(KernelOp kernel, const GPUCard &card) {
  cost::Extents extents; // each as its `opt` says
  cost::IndexEvaluation evaluation(extents, {});
  SmallVector<double> grid;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    grid.push_back(std::max(1.0, evaluation.get(extent).value_or(double(manyPrograms))));
  return countBusyPrograms(kernel, grid) / double(card.processors);
}

/// Blocks that run on a multiprocessor at once, of so many that there are.
static int64_t countResident(KernelOp kernel, const GPULimits &limits, double programs) {
  constexpr int64_t otherRegisters = 28; // beside tiles, as the cost model has it
  int64_t threads = getBlockThreads(kernel, limits),
          registers = countLiveRegisters(kernel) + otherRegisters;
  int64_t blocks =
      std::min<int64_t>({limits.blocksPerProcessor, limits.threadsPerProcessor / threads,
                         int64_t(std::ceil(std::min(programs, 1e6)))});
  while (blocks > 1 && limits.registersFor(threads, blocks) < registers)
    --blocks;
  return std::max<int64_t>(blocks, 1);
}

/// How many trips ahead the loads are copied; 0 where that gains nothing, and `problem` says why.
/// Warps of other blocks hide a block's waits: on an H100 a reduction in each trip, by programs of
/// one warp, took 1.67 of its time with copies ahead, the sum of rows 0.99.
static int64_t chooseDistance(const Ahead &ahead, KernelOp kernel, const GPUTarget &target,
                              std::string &problem) {
  const GPUCard &card = getCard(target);
  double programs = countSharedPrograms(kernel, card);
  int64_t blocks = countResident(kernel, target.limits, programs),
          warps = (blocks - 1) * getBlockThreads(kernel, target.limits) / target.limits.warpThreads;
  if (warps > hidingWarps) {
    problem = std::to_string(blocks) + " programs of a multiprocessor hide each other's waits";
    return 0;
  }
  // Twice what comes in the time of a load, since loads come in turns. Where multiprocessors are
  // idle, the others can have up to twice their part of memory.
  constexpr double mostOfShare = 2;
  double busy = 2 * getBytesInFlight(card) * std::clamp(1 / programs, 1.0, mostOfShare);
  int64_t trips = getExpectedTrips(ahead.loop, ahead.step),
          distance = std::min({int64_t(std::ceil(busy / double(blocks * ahead.bytes))), mostTrips,
                               trips / leastRounds});
  if (distance < 2) {
    problem = trips < 2 * leastRounds
                  ? "the loop makes few trips, or nobody says how many"
                  : std::to_string(blocks) +
                        " programs of a multiprocessor keep memory busy, with " +
                        std::to_string(blocks * ahead.bytes) + " bytes on their way";
    return 0;
  }
  int64_t limit = getSharedLimit(target.limits, blocks),
          used = planBytesBesideFetches(kernel).value_or(limit);
  while (distance >= 2 && used + (distance + 1) * ahead.bytes > limit)
    --distance;
  if (distance < 2) {
    problem = "shared memory has no room for copies of two trips ahead";
    return 0;
  }
  return distance;
}

/// Adds the values that must be multiples for the load to be pieces of 16 bytes; false if that does
/// not suffice.
static bool addMultiples(Ahead &ahead, LoadOp load, const DivisibilityAnalysis &divisibility) {
  auto tile = cast<RankedTensorType>(load.getType());
  AccessWidth width = getAccessWidth(load, tile, divisibility);
  int64_t vector = 128 / tile.getElementTypeBitWidth();
  if (width.possible < vector || !width.fastest)
    return false;
  auto view = load.getView().getDefiningOp<ViewOp>();
  auto kernel = load->getParentOfType<KernelOp>();
  constexpr int64_t vectorBytes = 16;
  if (kernel.getParam(cast<BlockArgument>(view.getBase()).getArgNumber()).getAlign() % vectorBytes)
    return false;
  auto divides = [&](Value value) { return divisibility.getDivisor(value) % vector == 0; };
  SmallVector<int64_t> tileDims = load.getTileDims();
  for (unsigned d = 0; d < load.getSizes().size(); ++d) {
    bool isFastest = !load.isDropped(d) && tileDims[d] == int64_t(*width.fastest);
    if (!isFastest) {
      if (!divides(view.getStrides()[d]))
        ahead.multiples.insert({view.getStrides()[d], vector});
      continue;
    }
    Value start = load.getStarts()[d];
    bool moves = start == ahead.loop.getInductionVar();
    if (moves ? !divides(ahead.loop.getLowerBound()) || ahead.step % vector : !divides(start))
      return false;
    if (load.getInBounds()[d] || moves) // what is copied of a trip is whole
      continue;
    if (Value end = load.getEnd(d); end && !divides(end))
      return false;
    if (!divides(view.getExtents()[d]))
      ahead.multiples.insert({view.getExtents()[d], vector});
  }
  // Multiples that are too few elements for another load's pieces.
  return llvm::all_of(ahead.multiples, [&](auto &each) { return each.second >= vector; });
}

namespace {

/// Writes the loop.
class Writer {
public:
  explicit Writer(Ahead &ahead) : ahead(ahead), loc(ahead.loop.getLoc()), b(ahead.loop) {}

  void run() {
    if (!ahead.multiples.empty())
      makeVersion();
    b.setInsertionPoint(ahead.loop);
    for (Copied &each : ahead.copies)
      places.push_back(createPrivateSlots(b, each.load, ahead.distance + 1, /*copied=*/true));
    Value zero = constant(0), one = constant(1), last = constant(ahead.distance);
    auto start = scf::ForOp::create(b, loc, zero, last, one);
    b.setInsertionPointToStart(start.getBody());
    // A product, of which tile-gpu-rotate-rows sees that blocks begin at its multiples.
    Value offset = arith::MulIOp::create(b, loc, start.getInductionVar(), ahead.loop.getStep());
    copy(arith::AddIOp::create(b, loc, ahead.loop.getLowerBound(), offset),
         start.getInductionVar());
    b.setInsertionPoint(ahead.loop);

    IRRewriter rewriter(b);
    auto wider = ahead.loop.replaceWithAdditionalYields(
        rewriter, zero, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &at, Location, ArrayRef<BlockArgument> added) -> SmallVector<Value> {
          Value wraps =
              arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, added.back(), last);
          Value next = arith::AddIOp::create(at, loc, added.back(), one);
          return {arith::SelectOp::create(at, loc, wraps, zero, next)};
        });
    ahead.loop = cast<scf::ForOp>(wider->getOperation()); // the body has moved, not its operations
    Value slot = ahead.loop.getRegionIterArgs().back(), counter = ahead.loop.getInductionVar();
    b.setInsertionPointToStart(ahead.loop.getBody());
    // The slot of the trip before is the one that the latest copies go to.
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot, zero);
    Value before =
        arith::SelectOp::create(b, loc, isFirst, last, arith::SubIOp::create(b, loc, slot, one));
    copy(arith::AddIOp::create(b, loc, counter, constant(ahead.distance * ahead.step)), before);
    AsyncWaitOp::create(b, loc, ahead.distance);
    for (auto &&[each, place] : llvm::zip(ahead.copies, places))
      read(each, place, slot);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// Moves the loop to the other branch of a test, and puts a copy of it where the values are
  /// multiples as they should be, in a way that analyses see.
  void makeVersion() {
    scf::ForOp loop = ahead.loop;
    Value condition;
    for (auto [value, vector] : ahead.multiples) {
      Value rest = arith::RemSIOp::create(b, loc, value, constant(vector));
      Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, constant(0));
      condition = condition ? Value(arith::AndIOp::create(b, loc, condition, fits)) : fits;
    }
    auto branch =
        scf::IfOp::create(b, loc, loop.getResultTypes(), condition, /*withElseRegion=*/true);
    loop.replaceAllUsesWith(branch.getResults());
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping mapping;
    for (auto [value, vector] : ahead.multiples) {
      Value count = arith::DivSIOp::create(b, loc, value, constant(vector));
      mapping.map(value, Value(arith::MulIOp::create(b, loc, count, constant(vector))));
    }
    for (Copied &each : ahead.copies)
      if (Value view = each.load.getView(); !mapping.contains(view))
        b.clone(*view.getDefiningOp(), mapping);
    auto made = cast<scf::ForOp>(b.clone(*loop, mapping));
    for (Copied &each : ahead.copies)
      each.load = cast<LoadOp>(mapping.lookup(each.load.getResult()).getDefiningOp());
    if (!loop.getResults().empty())
      scf::YieldOp::create(b, loc, made.getResults());
    b.setInsertionPointToStart(branch.elseBlock());
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    if (!loop.getResults().empty()) {
      b.setInsertionPointAfter(loop);
      scf::YieldOp::create(b, loc, loop.getResults());
    }
    ahead.loop = made;
  }

  /// Whether the trip that begins at `counter` is one, and nothing of its tile is missing. Of a
  /// trip that is none nothing is on its way behind the loop.
  Value hasTile(Copied &copied, Value counter) {
    Value whole = isWhole(b, copied.load, copied.dim, ahead.step, counter);
    auto require = [&](arith::CmpIPredicate predicate, Value limit) {
      Value test = arith::CmpIOp::create(b, loc, predicate, counter, limit);
      whole = arith::AndIOp::create(b, loc, whole, test);
    };
    Value extent = copied.load.getView().getDefiningOp<ViewOp>().getExtents()[copied.dim];
    if (ahead.loop.getUpperBound() != extent)
      require(arith::CmpIPredicate::slt, ahead.loop.getUpperBound());
    if (APInt low;
        !matchPattern(ahead.loop.getLowerBound(), m_ConstantInt(&low)) || low.isNegative())
      require(arith::CmpIPredicate::sge, constant(0));
    return whole;
  }

  /// Starts the copies of the trip that begins at `counter`, as one group.
  void copy(Value counter, Value slot) {
    for (auto &&[each, place] : llvm::zip(ahead.copies, places)) {
      Value when = hasTile(each, counter);
      copyPrivately(b, each.load, each.dim, counter, SlotOp::create(b, loc, place, slot), when);
    }
    AsyncCommitOp::create(b, loc);
  }

  void read(Copied &copied, Value place, Value slot) {
    LoadOp load = copied.load;
    b.setInsertionPoint(load);
    auto branch =
        scf::IfOp::create(b, load.getLoc(), TypeRange(load.getType()),
                          hasTile(copied, ahead.loop.getInductionVar()), /*withElseRegion=*/true);
    load.getResult().replaceAllUsesWith(branch.getResult(0));
    b.setInsertionPointToStart(branch.thenBlock());
    Value memory = SlotOp::create(b, loc, place, slot);
    Value tile = PrivateLoadOp::create(b, load.getLoc(), load.getType(), memory);
    scf::YieldOp::create(b, loc, tile);
    load->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, load.getResult());
  }

  Ahead &ahead;
  Location loc;
  OpBuilder b;
  SmallVector<Value> places;
};

} // namespace

std::string
tile::gpu::copyAhead(scf::ForOp loop, const GPUTarget &target,
                     llvm::function_ref<const DivisibilityAnalysis &()> getDivisibility) {
  Ahead ahead;
  ahead.loop = loop;
  ahead.step = getPlainStep(loop);
  auto kernel = loop->getParentOfType<KernelOp>();
  for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
    std::optional<unsigned> dim =
        ahead.step && canKeep(load) ? findPace(loop, load, ahead.step) : std::nullopt;
    if (!dim) {
      if (auto tile = dyn_cast<RankedTensorType>(load.getType());
          tile && llvm::any_of(load->getOperands(), [&](Value operand) {
            return !loop.isDefinedOutsideOfLoop(operand);
          }))
        ahead.others += tile.getNumElements() * getSharedElementBytes(tile.getElementType());
      continue;
    }
    ahead.copies.push_back({load, *dim});
    ahead.bytes += getPrivateBytes(cast<RankedTensorType>(load.getType()));
  }
  for (Operation &op : *loop.getBody()) {
    if (auto gather = dyn_cast<GatherOp>(op))
      ahead.others += gather.getType().getNumElements() *
                      getSharedElementBytes(gather.getType().getElementType());
    if (isa<SortOp, HistogramOp>(op))
      return "its trips sort or count, which takes longer than a load";
  }
  if (ahead.copies.empty())
    return "";
  if (ahead.others)
    return "a trip waits for " + std::to_string(ahead.others) +
           " bytes that each thread cannot copy for itself";
  if (!target.has(Feature::AsyncCopy))
    return std::string(target.name) + " has no cp.async";
  std::string problem;
  ahead.distance = chooseDistance(ahead, kernel, target, problem);
  if (!problem.empty())
    return problem;
  const DivisibilityAnalysis &divisibility = getDivisibility();
  for (Copied &each : ahead.copies)
    if (!isWide(each.load, divisibility) &&
        (kernel->hasAttr(rotationName) || !addMultiples(ahead, each.load, divisibility)))
      return "a thread's part of a tile is no pieces of 16 bytes of memory";
  Writer(ahead).run();
  return "";
}
