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
#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/VersionNames.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/EqualLoads.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/RotatedRows.h"
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

/// True for a tile that a thread can keep; of a scalar, or one that all threads hold, there is
/// little to be saved.
static bool canKeep(LoadOp load) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!tile || load.getMask() || !readsConstantMemory(load) ||
      !tile.getElementType().isIntOrFloat() || tile.getElementTypeBitWidth() < 8)
    return false;
  int64_t bytes = getPrivateBytes(tile);
  return bytes && bytes == tile.getNumElements() * getSharedElementBytes(tile.getElementType());
}

static SmallVector<RowLoops> findRows(Block &block) {
  SmallVector<RowLoops> all;
  for (auto loop : block.getOps<scf::ForOp>()) {
    APInt step;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive() ||
        !loop.getInductionVar().getType().isIndex())
      continue;
    RowLoops *rows = llvm::find_if(all, [&](RowLoops &each) {
      scf::ForOp other = each.loops.front();
      return other.getLowerBound() == loop.getLowerBound() &&
             other.getUpperBound() == loop.getUpperBound() && each.step == step.getSExtValue();
    });
    if (rows == all.end()) {
      all.push_back({{}, step.getSExtValue(), {}});
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

/// Trips at the extents that the contract expects; none where that is not known.
static int64_t getExpectedTrips(scf::ForOp loop, int64_t step) {
  cost::Extents expected; // each as its `opt` says
  cost::IndexEvaluation values(expected, {});
  auto low = values.get(loop.getLowerBound()), high = values.get(loop.getUpperBound());
  return low && high && *high > *low ? int64_t(std::ceil((*high - *low) / double(step))) : 0;
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
  return chooseKeptTrips(need, target.limits);
}

//===--- Copies ahead -----------------------------------------------------===//

/// The dimension of the view that goes on with the loop's counter, a block a trip; none if a later
/// trip's tile is not found so.
static std::optional<unsigned> findPace(scf::ForOp loop, LoadOp load, int64_t step) {
  std::optional<unsigned> found;
  auto isFixed = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
  // What does not exist becomes 0.
  bool zero =
      matchPattern(load.getPad(), m_Zero()) || matchPattern(load.getPad(), m_PosZeroFloat());
  if (!isFixed(load.getView()) || !llvm::all_of(load.getEnds(), isFixed) ||
      !load.getView().getDefiningOp<ViewOp>())
    return std::nullopt;
  for (auto [d, start] : llvm::enumerate(load.getStarts())) {
    if (start == loop.getInductionVar()) {
      if (found || load.getSizes()[d] != step || load.getSteps()[d] != 1)
        return std::nullopt;
      found = d;
    } else if (!isFixed(start) || !(load.getInBounds()[d] || zero)) {
      return std::nullopt;
    }
  }
  return found;
}

/// True if a thread's part of the load is whole pieces of 16 bytes of memory.
static bool isWide(LoadOp load, const DivisibilityAnalysis &divisibility) {
  auto tile = cast<RankedTensorType>(load.getType());
  constexpr int64_t pieceBits = 128;
  int64_t bits = tile.getElementTypeBitWidth();
  AccessWidth width = getAccessWidth(load, tile, divisibility);
  auto kernel = load->getParentOfType<KernelOp>();
  return getPrivatePiece(tile) * 8 == pieceBits &&
         (width.proven * bits == pieceBits ||
          (width.possible * bits == pieceBits && kernel->hasAttr(rotationName) &&
           isAlignedByRotation(load)));
}

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
      places.push_back(makeSlots(each));
    for (scf::ForOp loop : rows.loops) {
      if (distance && loop == rows.loops.front())
        copyAll(loop);
      else
        storeAll(loop);
      readAll(loop);
    }
  }

private:
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value makeSlots(Kept &kept) {
    auto tile = cast<RankedTensorType>(kept.first.getType());
    SmallVector<int64_t> order;
    for (int64_t d = tile.getRank(); d-- > 0;)
      order.push_back(d);
    auto memory = MemDescType::get(b.getContext(), tile.getShape(), tile.getElementType(),
                                   SharedAttr::get(b.getContext(), order, 0));
    bool isCopied = distance && kept.first->getParentOp() == rows.loops.front();
    if (!isCopied || isRotated(kept.first)) {
      constexpr int64_t wordBytes = 4;
      SmallVector<int64_t> words{kept.bytes / wordBytes}, used;
      if (isCopied) {
        used = {words.front() + rotatedEndBytes / wordBytes};
        words.front() *= 2; // the next power of two
      }
      memory = MemDescType::get(b.getContext(), words, b.getI32Type(),
                                SharedAttr::get(b.getContext(), {0}, 0, used));
    }
    return LocalSlotsOp::create(b, kept.first.getLoc(),
                                SlotsType::get(b.getContext(), slots, memory));
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

  /// True for a tile that goes round: the vector with its end holds elements behind it.
  static bool isRotated(LoadOp load) {
    return load->getParentOfType<KernelOp>()->hasAttr(rotationName) && isAlignedByRotation(load);
  }

  /// Whether the trip that begins at `counter` has a slot and a tile of which nothing is missing,
  /// nor of the vectors that it lies in.
  Value isWhole(Location loc, Kept &kept, Value counter, Value hasSlot) {
    LoadOp load = kept.first;
    unsigned dim = *findPace(rows.loops.front(), load, rows.step);
    Value limit = load.getView().getDefiningOp<ViewOp>().getExtents()[dim];
    if (Value end = load.getEnd(dim))
      limit = arith::MinSIOp::create(b, loc, limit, end);
    int64_t needed = rows.step;
    if (isRotated(load))
      needed +=
          rotatedVectorBytes * 8 / getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() - 1;
    Value behind = arith::AddIOp::create(b, loc, counter, constant(loc, needed));
    Value whole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, behind, limit);
    return hasSlot ? Value(arith::AndIOp::create(b, loc, whole, hasSlot)) : whole;
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
      unsigned dim = *findPace(loop, load, rows.step);
      Value when = isWhole(loc, each, counter, has);
      SmallVector<Value> starts(load.getStarts());
      starts[dim] = counter;
      SmallVector<bool> inBounds(load.getInBounds());
      inBounds[dim] = true;
      auto copy = AsyncCopyOp::create(
          b, load.getLoc(), load.getView(), starts, load.getEnds(), ValueRange(), Value(),
          SlotOp::create(b, load.getLoc(), place, trip), when, load.getSizesAttr(),
          load.getStepsAttr(), load.getHasEndAttr(), b.getDenseBoolArrayAttr(inBounds),
          TypeAttr::get(load.getType()), TypeAttr::get(load.getType()), load.getCacheAttr());
      copy->setAttr(privateName, b.getUnitAttr());
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
      Value whole = isWhole(loc, each, loop.getInductionVar(), has);
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
      if (multiplies || kernel->hasAttr(splitPartsName))
        continue;
      SmallVector<Block *> blocks;
      kernel.getBody().walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        for (RowLoops &rows : findRows(*block)) {
          KeptTrips kept = chooseSlots(kernel, rows, *target);
          bool all = kept.trips >= getMostTrips(rows);
          if (kept.trips > 0)
            Keeper(rows, kept.trips, all, chooseDistance(kernel, rows, kept, *target, divisibility))
                .run();
        }
    }
  }
};

} // namespace
