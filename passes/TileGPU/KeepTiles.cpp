// tile-gpu-keep-tiles: what one loop loads and a later one loads again waits in shared memory.
//
//   for n: t = x[row, n]; max …            for n: t = x[row, n]; slot[trip] = t; max …
//   for n: y[row, n] = f(x[row, n])   ->   for n: y[row, n] = f(slot[trip])
//
// A second load of a row comes from L2 at best: where the programs that run at once have read more
// meanwhile than L2 keeps, it comes from memory. Each thread reads what it has stored itself, in
// the layout that both loads have, so there is nothing to wait for. Trips beyond the slots load
// again.
//
// Where a thread's part is pieces of 16 bytes, the first loop finds its tiles there, too: copied by
// cp.async some trips ahead, each thread for itself. Bytes on their way take no registers then, and
// few threads keep memory busy.
#include "dialect/AttributeNames.h"
#include "dialect/RowNames.h"
#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/VersionNames.h"
#include "passes/Analysis/EqualLoads.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PrivateCopies.h"
#include "passes/TileGPU/SharedLifetimes.h"
#include "passes/TileGPU/SharedPlan.h"
#include "target/LoadLatency.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include <cmath>

namespace tile {
#define GEN_PASS_DEF_TILEGPUKEEPTILES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

//===--- What is loaded again ---------------------------------------------===//

namespace {

/// A load of a loop, and those of later loops that find the same.
struct Kept {
  LoadOp first;
  SmallVector<LoadOp> again;
  int64_t bytes = 0; // of all threads, a trip
};

/// Loops of a block that make the same trips, the first of which loads what others load again.
struct RowLoops {
  SmallVector<scf::ForOp> loops;
  int64_t step = 0;
  SmallVector<Kept> tiles;
};

} // namespace

/// True if `a` is in a trip of one loop what `b` is in the same trip of the other.
static bool isSame(scf::ForOp first, Value a, scf::ForOp second, Value b, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  if (a == b)
    return first.isDefinedOutsideOfLoop(a);
  if (a == first.getInductionVar() || b == second.getInductionVar())
    return a == first.getInductionVar() && b == second.getInductionVar();
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!left || !right || depth > deepest || left->getNumRegions() || !isPure(left) ||
      left->getName() != right->getName() ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getResultTypes() != right->getResultTypes() ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber() ||
      left->getNumOperands() != right->getNumOperands())
    return false;
  return llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSame(first, std::get<0>(pair), second, std::get<1>(pair), depth + 1);
  });
}

/// True if the later load finds what the earlier one did, in the same registers.
static bool loadsAgain(LoadOp earlier, LoadOp later) {
  auto first = cast<scf::ForOp>(earlier->getParentOp()),
       second = cast<scf::ForOp>(later->getParentOp());
  auto same = [&](Value a, Value b) { return isSame(first, a, second, b); };
  return earlier.getType() == later.getType() && earlier.getInBounds() == later.getInBounds() &&
         same(earlier.getView(), later.getView()) && areAtSamePlace(earlier, later, same) &&
         hasPaddingOf(earlier, later);
}

static SmallVector<RowLoops> findRows(Block &block) {
  SmallVector<RowLoops> all;
  for (auto loop : block.getOps<scf::ForOp>()) {
    int64_t step = getPlainStep(loop);
    if (!step)
      continue;
    RowLoops *rows = llvm::find_if(all, [&](RowLoops &each) {
      scf::ForOp other = each.loops.front();
      return other.getLowerBound() == loop.getLowerBound() &&
             other.getUpperBound() == loop.getUpperBound() && each.step == step;
    });
    if (rows == all.end()) {
      all.push_back({{}, step, {}});
      rows = &all.back();
    }
    for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
      if (!canKeep(load))
        continue;
      Kept *kept = llvm::find_if(rows->tiles, [&](Kept &each) {
        return each.first->getBlock() != load->getBlock() && loadsAgain(each.first, load);
      });
      if (kept != rows->tiles.end())
        kept->again.push_back(load);
      else
        rows->tiles.push_back({load, {}, getPrivateBytes(cast<RankedTensorType>(load.getType()))});
    }
    rows->loops.push_back(loop);
  }
  for (RowLoops &rows : all)
    llvm::erase_if(rows.tiles, [](Kept &each) { return each.again.empty(); });
  llvm::erase_if(all, [](RowLoops &rows) { return rows.tiles.empty(); });
  return all;
}

//===--- How many ---------------------------------------------------------===//

static int64_t getMostTrips(const RowLoops &rows) {
  scf::ForOp loop = rows.loops.front();
  return countMostTrips(loop.getLowerBound(), loop.getUpperBound(), rows.step);
}

/// Registers that the tiles of a thread take: of the kernel before its loops had versions, which
/// is what the cost model knows.
static int64_t getTileRegisters(KernelOp kernel, int64_t warps) {
  auto plain = kernel->getAttrOfType<DenseI64ArrayAttr>(plainRegistersName);
  if (!plain || plain.empty())
    return countLiveRegisters(kernel);
  return plain[std::min<int64_t>(llvm::Log2_64(uint64_t(warps)), plain.size() - 1)];
}

/// Trips whose tiles are kept.
static KeptTrips chooseSlots(KernelOp kernel, const RowLoops &rows, const GPUTarget &target) {
  constexpr int64_t otherRegisters = 28; // beside tiles, as the cost model has it
  const GPUCard &card = getCard(target);
  KeptNeed need;
  need.threads = getBlockThreads(kernel, target.limits);
  int64_t warps = need.threads / target.limits.warpThreads;
  need.registers =
      getTileRegisters(kernel, warps) + countUnevenRegisters(kernel, warps) + otherRegisters;
  for (const Kept &each : rows.tiles)
    need.tripBytes += each.bytes + (kernel->hasAttr(rotationName) ? rotatedEndBytes : 0);
  need.fixedBytes =
      int64_t(llvm::alignTo(std::max(planBytesBesideFetches(kernel).value_or(0),
                                     reservesWords(kernel) ? reservedBytes : int64_t(0)),
                            sharedLine));
  need.trips = getExpectedTrips(rows.loops.front(), rows.step);
  need.mostTrips = getMostTrips(rows);
  need.programs = countPrograms(kernel, card).all;
  need.bytesInFlight = getBytesInFlight(card);
  if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
    need.asked = occupancy.getInt();
  return chooseKeptTrips(need, target.limits);
}

//===--- Shorter rows -----------------------------------------------------===//

/// The extent up to which a version of the loops, which stands in the other branch, goes over the
/// rows; 0 if there is none, or if it asks for more than a row's length.
static int64_t getOtherVersion(scf::ForOp loop, Value extent) {
  auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
  if (!branch || loop->getBlock() == branch.thenBlock())
    return 0;
  int64_t longest = 0;
  SmallVector<Value> conditions{branch.getCondition()};
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      conditions.append({both.getLhs(), both.getRhs()});
      continue;
    }
    auto test = condition.getDefiningOp<arith::CmpIOp>();
    APInt bound;
    if (!test || test.getLhs() != extent || !matchPattern(test.getRhs(), m_ConstantInt(&bound)))
      return 0;
    if (test.getPredicate() == arith::CmpIPredicate::sle && !longest)
      longest = bound.getSExtValue();
    else if (test.getPredicate() != arith::CmpIPredicate::sgt || !bound.isZero()) // rows of nothing
      return 0;
  }
  return std::max<int64_t>(longest, 0);
}

/// Says of slots how many trips a launch makes: one of shorter rows needs fewer.
static void noteTrips(KernelOp kernel, const RowLoops &rows, ArrayRef<Value> slots) {
  scf::ForOp loop = rows.loops.front();
  auto dim = loop.getUpperBound().getDefiningOp<DimOp>();
  if (!dim || !matchPattern(loop.getLowerBound(), m_Zero()))
    return;
  for (auto [number, each] : llvm::enumerate(kernel.getDims()))
    if (cast<DimAttr>(each).getName() == dim.getDim().getName())
      for (Value place : slots)
        place.getDefiningOp()->setAttr(
            rowTripsName,
            DenseI64ArrayAttr::get(kernel.getContext(), {int64_t(number), rows.step,
                                                         getOtherVersion(loop, dim.getResult())}));
}

//===--- Copies ahead -----------------------------------------------------===//

/// How many trips ahead the first loop's tiles are copied: as many as keep memory busy, where all
/// trips that are expected are kept; 0 to load them when they are needed. Of longer rows the trips
/// beyond the slots load as ever, and a group norm of 65536 pixels was 9% slower on an H200.
static int64_t chooseDistance(KernelOp kernel, RowLoops &rows, const KeptTrips &kept,
                              const GPUTarget &target, const DivisibilityAnalysis &divisibility) {
  scf::ForOp loop = rows.loops.front();
  int64_t bytes = 0, trips = getExpectedTrips(loop, rows.step);
  for (Kept &each : rows.tiles) {
    if (each.first->getParentOp() != loop)
      continue;
    if (!findPace(loop, each.first, rows.step) || !isWide(each.first, divisibility))
      return 0;
    bytes += each.bytes;
  }
  constexpr int64_t most = 4, fewestTrips = 2;
  if (!bytes || trips < fewestTrips || kept.trips < trips || !target.has(Feature::AsyncCopy))
    return 0;
  double busy = 2 * getBytesInFlight(getCard(target));
  int64_t distance = int64_t(std::ceil(busy / double(kept.blocks * bytes)));
  return std::clamp<int64_t>(distance, 1, std::min({most, kept.trips, trips}));
}

//===--- Keeping ----------------------------------------------------------===//

namespace {

/// Writes what is kept of some loops.
class Keeper {
public:
  /// `distance`: trips by which the first loop's tiles are copied ahead; 0 to load them.
  Keeper(RowLoops &rows, int64_t slots, bool all, int64_t distance)
      : rows(rows), slots(slots), all(all), distance(distance), b(rows.loops.front()) {}

  void run() {
    for (Kept &each : rows.tiles)
      places.push_back(createPrivateSlots(
          b, each.first, slots, distance && each.first->getParentOp() == rows.loops.front()));
    for (scf::ForOp loop : rows.loops) {
      if (distance && loop == rows.loops.front())
        copyAll(loop);
      else
        storeAll(loop);
      readAll(loop);
    }
  }

  ArrayRef<Value> getPlaces() const { return places; }

private:
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// The trip's number, and whether it has a slot; null where all have one.
  std::pair<Value, Value> getTrip(scf::ForOp loop) {
    Location loc = loop.getLoc();
    Value from = loop.getInductionVar();
    if (!matchPattern(loop.getLowerBound(), m_Zero()))
      from = arith::SubIOp::create(b, loc, from, loop.getLowerBound());
    Value trip = arith::DivUIOp::create(b, loc, from, constant(loc, rows.step)), has;
    if (!all)
      has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, trip, constant(loc, slots));
    return {trip, has};
  }

  /// What a loop is the first to load, behind its last load: a store waits for its tile, and no
  /// load passes the branch.
  void storeAll(scf::ForOp loop) {
    bool any = false;
    LoadOp last;
    for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
      last = load;
      any |= llvm::any_of(rows.tiles, [&](Kept &each) { return each.first == load; });
    }
    if (!any)
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(last);
    auto [trip, has] = getTrip(loop);
    if (has)
      b.setInsertionPointToStart(
          scf::IfOp::create(b, last.getLoc(), has, /*withElseRegion=*/false).thenBlock());
    for (auto &&[each, place] : llvm::zip(rows.tiles, places))
      if (each.first->getParentOp() == loop)
        PrivateStoreOp::create(b, each.first.getLoc(), each.first.getResult(),
                               SlotOp::create(b, each.first.getLoc(), place, trip));
  }

  /// Whether the trip that begins at `counter` has a slot and a tile of which nothing is missing,
  /// nor of the vectors that it lies in.
  Value isWhole(Kept &kept, Value counter, Value hasSlot) {
    unsigned dim = *findPace(rows.loops.front(), kept.first, rows.step);
    Value whole = tile::gpu::isWhole(b, kept.first, dim, rows.step, counter);
    return hasSlot ? Value(arith::AndIOp::create(b, kept.first.getLoc(), whole, hasSlot)) : whole;
  }

  /// Starts the copies of the trip that begins at `counter`, as one group.
  void copy(scf::ForOp loop, Value counter, Value trip) {
    Location loc = loop.getLoc();
    Value has;
    if (!all)
      has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, trip, constant(loc, slots));
    for (auto &&[each, place] : llvm::zip(rows.tiles, places)) {
      LoadOp load = each.first;
      if (load->getParentOp() != loop)
        continue;
      Value when = isWhole(each, counter, has);
      copyPrivately(b, load, *findPace(loop, load, rows.step), counter,
                    SlotOp::create(b, load.getLoc(), place, trip), when);
    }
    AsyncCommitOp::create(b, loc);
  }

  /// What the first loop loads, copied `distance` trips ahead by the threads that read it:
  ///
  ///   copies of trips 0 .. d-1, a group each
  ///   for i: copy of trip i+d; commit; wait until at most d groups are under way
  ///          tile = the slot of trip i; of a trip that the row's end cuts a load, kept as ever
  void copyAll(scf::ForOp loop) {
    OpBuilder::InsertionGuard guard(b);
    Location loc = loop.getLoc();
    b.setInsertionPoint(loop);
    for (int64_t i = 0; i < distance; ++i) {
      Value counter =
          arith::AddIOp::create(b, loc, loop.getLowerBound(), constant(loc, i * rows.step));
      copy(loop, counter, constant(loc, i));
    }
    b.setInsertionPointToStart(loop.getBody());
    auto [trip, has] = getTrip(loop);
    copy(loop,
         arith::AddIOp::create(b, loc, loop.getInductionVar(), constant(loc, distance * rows.step)),
         arith::AddIOp::create(b, loc, trip, constant(loc, distance)));
    AsyncWaitOp::create(b, loc, distance);
    for (auto &&[each, place] : llvm::zip(rows.tiles, places)) {
      LoadOp load = each.first;
      if (load->getParentOp() != loop)
        continue;
      b.setInsertionPoint(load);
      Value whole = isWhole(each, loop.getInductionVar(), has);
      auto branch = scf::IfOp::create(b, loc, TypeRange(load.getType()), whole,
                                      /*withElseRegion=*/true);
      load.getResult().replaceAllUsesWith(branch.getResult(0));
      b.setInsertionPointToStart(branch.thenBlock());
      Value slot = SlotOp::create(b, loc, place, trip);
      Value kept = PrivateLoadOp::create(b, load.getLoc(), load.getType(), slot);
      scf::YieldOp::create(b, loc, kept);
      b.setInsertionPointToStart(branch.elseBlock());
      load->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
      b.setInsertionPointAfter(load);
      if (has)
        b.setInsertionPointToStart(
            scf::IfOp::create(b, loc, has, /*withElseRegion=*/false).thenBlock());
      PrivateStoreOp::create(b, loc, load.getResult(), SlotOp::create(b, loc, place, trip));
      b.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(b, loc, load.getResult());
    }
  }

  /// What a loop loads again, all of it at the first of these loads where their places are known
  /// there.
  void readAll(scf::ForOp loop) {
    SmallVector<std::pair<LoadOp, Value>> left; // with its slots
    for (LoadOp load : loop.getBody()->getOps<LoadOp>())
      for (auto &&[each, place] : llvm::zip(rows.tiles, places))
        if (llvm::is_contained(each.again, load))
          left.push_back({load, place});
    while (!left.empty()) {
      LoadOp first = left.front().first;
      auto isKnown = [&](Value value) {
        Operation *op = value.getDefiningOp();
        return !op || op->getBlock() != loop.getBody() || op->isBeforeInBlock(first);
      };
      SmallVector<std::pair<LoadOp, Value>> together, others;
      for (auto &each : left)
        (llvm::all_of(each.first->getOperands(), isKnown) ? together : others).push_back(each);
      read(loop, together);
      left = others;
    }
  }

  void read(scf::ForOp loop, ArrayRef<std::pair<LoadOp, Value>> loads) {
    LoadOp first = loads.front().first;
    Location loc = first.getLoc();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first);
    auto [trip, has] = getTrip(loop);
    SmallVector<Type> types;
    for (auto [load, place] : loads)
      types.push_back(load.getType());
    scf::IfOp branch;
    if (has) {
      branch = scf::IfOp::create(b, loc, types, has, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    SmallVector<Value> kept, loaded;
    for (auto [load, place] : loads) {
      Value slot = SlotOp::create(b, loc, place, trip);
      kept.push_back(PrivateLoadOp::create(b, load.getLoc(), load.getType(), slot));
    }
    if (branch) {
      scf::YieldOp::create(b, loc, kept);
      b.setInsertionPointToStart(branch.elseBlock());
    }
    for (auto [number, each] : llvm::enumerate(loads)) {
      LoadOp load = each.first;
      load.replaceAllUsesWith(branch ? branch.getResult(unsigned(number)) : kept[number]);
      if (!branch) {
        load.erase();
        continue;
      }
      load->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
      loaded.push_back(load.getResult());
    }
    if (branch) {
      b.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(b, loc, loaded);
    }
  }

  RowLoops &rows;
  int64_t slots;
  bool all;
  int64_t distance;
  SmallVector<Value> places;
  OpBuilder b;
};

} // namespace

namespace {

struct TileGPUKeepTiles : tile::impl::TileGPUKeepTilesBase<TileGPUKeepTiles> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      // Operands of products take shared memory by rules of their own.
      bool multiplies = kernel.getBody()
                            .walk([](Operation *op) {
                              return isa<DotOp, MmaOp, WgmmaOp, FmaDotOp>(op)
                                         ? WalkResult::interrupt()
                                         : WalkResult::advance();
                            })
                            .wasInterrupted();
      if (multiplies || (kernel->hasAttr(splitPartsName) && !kernel->hasAttr(splitClusterName)))
        continue;
      SmallVector<Block *> blocks;
      kernel.getBody().walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        for (RowLoops &rows : findRows(*block)) {
          KeptTrips kept = chooseSlots(kernel, rows, *target);
          bool all = kept.trips >= getMostTrips(rows);
          if (kept.trips <= 0)
            continue;
          Keeper keeper(rows, kept.trips, all,
                        chooseDistance(kernel, rows, kept, *target, divisibility));
          keeper.run();
          noteTrips(kernel, rows, keeper.getPlaces());
        }
    }
  }
};

} // namespace
