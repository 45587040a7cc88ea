// tile-gpu-split-loops: shares the trips of a loop among several programs, whose states the last to
// arrive merges.
//
// The grid gets one more axis, the fastest: the parts. Each part makes its share of the trips,
// starting from a state that changes nothing, and leaves its state in scratch memory. The last part
// of a tile to arrive merges the states in the order of the parts and does what follows the loop.
// See docs/Split.md.
//
//   s = s0                               s = part is the first ? s0 : nothing
//   for k in 0 .. n: s = f(s, k)    ->   for k in this part's share: s = f(s, k)
//   y = g(s)                             if arrived last: s = merge of all parts' s; y = g(s)
//
// Where the source asks for clusters of as many blocks, 2, 4 or 8, the parts of a tile are one.
// They read each other's states from shared memory, each merges a slice of them and does what
// follows the loop for that slice (SplitSlices.h): no scratch memory, no waiting for the last one.
//
//   y[m, n] = g(s)                  ->   s' = merge of all parts' s[slice]; y[slice] = g(s')
//
// "Nothing" is what changes nothing in the merge: 0 of a sum, the lowest of a maximum. Records of a
// tile follow each other in scratch memory: record = tile * parts + part. The order of the merge
// does not depend on the order of arrival, so results have the same bits each time.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/Accumulation.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/Reduction.h"
#include "passes/TileGPU/PartCount.h"
#include "passes/TileGPU/ProgramGrid.h"
#include "passes/TileGPU/SplitMerge.h"
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSPLITLOOPS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True if nothing of the kernel runs after the block that the loop stands in.
/// Only an `if` of a guard may lie around the loop, with nothing behind it: the rest of the program
/// is what the last part alone does.
static bool endsTheKernel(scf::ForOp loop) {
  Operation *op = loop->getParentOp();
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    if (!isa<scf::IfOp>(op) || op->getNumResults() ||
        !op->getNextNode()->hasTrait<OpTrait::IsTerminator>())
      return false;
  return true;
}

/// A constant of `type`, tile or scalar, full of `value`.
static Value makeConstant(OpBuilder &b, Location loc, Type type, TypedAttr value) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tile, Attribute(value)));
  return arith::ConstantOp::create(b, loc, value);
}

/// Is `value` a constant full of `element`?
static bool isFullOf(Value value, Attribute element) {
  Attribute found;
  if (!matchPattern(value, m_Constant(&found)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(found))
    found = splat.getSplatValue<Attribute>();
  return found == element;
}

namespace {

/// Arithmetic of countParts() on indices that are not negative.
struct IndexMath {
  using Value = mlir::Value;
  OpBuilder &b;
  Location loc;

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinUIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxUIOp::create(b, loc, x, y); }
};

/// Steps in order: number of the tile, the new axis, stores before the loop, bounds, initial
/// values, then what follows the loop.
class Splitter {
public:
  Splitter(KernelOp kernel, SplitLoop &split)
      : kernel(kernel), split(split), loop(split.loop), parts(split.parts), b(loop),
        loc(loop.getLoc()) {}

  void run() {
    SmallVector<Value> extents =
        cloneGridExtents(b, kernel, kernel.getBody().front().getArguments());
    Type index = b.getIndexType();
    // Row-major over the old axes: the number of the tile's record.
    Value tile = constant(0);
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      Value id = ProgramIdOp::create(b, loc, index, b.getI64IntegerAttr(axis));
      tile = axis ? Value(arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, tile, extent),
                                                id))
                  : id;
    }
    part = ProgramIdOp::create(b, loc, index, b.getI64IntegerAttr(extents.size()));
    count = countParts(b, extents);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, constant(0));
    addAxis();
    storeOnce();
    bool isStatic = !split.merge && !split.wanted;
    // With a known number of parts and known kinds trips are shared evenly: every part is merged.
    // Else in chunks, which may leave parts idle.
    isStatic ? shareEvenly() : shareInChunks();
    startFromNothing(isFirst);
    b.setInsertionPointAfter(split.merge ? split.merge.getOperation() : loop.getOperation());
    kernel->setAttr(splitPartsName, b.getI64IntegerAttr(parts));
    finishSplit(kernel, split, {tile, part, count, busy}, isStatic, b);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// The number of parts, on a grid of these extents. The manifest has the same expression for the
  /// launcher.
  /// Extents are bounded by `wanted` before they are multiplied, so that the product does not wrap
  /// around.
  Value countParts(OpBuilder &b, ValueRange extents) {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    if (!split.wanted)
      return constant(parts);
    Value one = constant(1), wanted = constant(split.wanted), programs = one;
    for (Value extent : extents) {
      Value bounded =
          arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, extent, wanted), one);
      programs = arith::MulIOp::create(b, loc, programs, bounded);
    }
    return tile::gpu::countParts(IndexMath{b, loc}, programs, split.wanted, parts, split.ahead);
  }

  // The parts' axis is the last, hence the fastest: parts of a tile run at about the same time.
  void addAxis() {
    auto yield = cast<YieldOp>(kernel.getGrid().front().getTerminator());
    OpBuilder grid(yield);
    SmallVector<Value> extents(yield.getExtents());
    yield.getExtentsMutable().append(countParts(grid, extents));
  }

  /// Part 0 alone makes the stores that stand before the loop.
  /// All parts of a tile would store the same.
  void storeOnce() {
    SmallVector<Operation *> stores; // no atomics: the front end lets none stand before the loop
    auto collect = [&](Operation *op) {
      if (isa<StoreOp, ScatterOp>(op))
        stores.push_back(op);
    };
    // From the loop up to the kernel: what stands ahead of it in each block, and the other branch
    // of a guard.
    for (Operation *op = loop; !isa<KernelOp>(op); op = op->getParentOp()) {
      for (Operation &before : llvm::make_range(op->getBlock()->begin(), op->getIterator()))
        before.walk(collect);
      if (auto branch =
              dyn_cast<scf::IfOp>(op->getParentOp())) // the branch of a guard that ends the program
        for (Region &region : branch->getRegions())
          if (&region != op->getParentRegion())
            region.walk(collect);
    }
    for (Operation *store : stores) {
      OpBuilder at(store);
      Value part = ProgramIdOp::create(at, loc, at.getIndexType(),
                                       at.getI64IntegerAttr(kernel.getNumAxes() - 1));
      Value zero = arith::ConstantIndexOp::create(at, loc, 0);
      Value first = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, part, zero);
      auto only = scf::IfOp::create(at, store->getLoc(), first, /*withElseRegion=*/false);
      store->moveBefore(only.thenBlock()->getTerminator());
    }
  }

  /// Part p of n makes the trips p * trips / n to (p + 1) * trips / n.
  /// Shares differ by one trip at most, and none is empty if there are as many trips as parts.
  void shareEvenly() {
    Value lo = loop.getLowerBound(), step = loop.getStep(), n = constant(parts);
    Value trips = countTrips();
    auto bound = [&](Value p) -> Value {
      Value trip = arith::DivUIOp::create(b, loc, arith::MulIOp::create(b, loc, p, trips), n);
      return arith::AddIOp::create(b, loc, lo, arith::MulIOp::create(b, loc, trip, step));
    };
    Value begin = bound(part), end = bound(arith::AddIOp::create(b, loc, part, constant(1)));
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
  }

  Value countTrips() {
    Value span = arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
    Value trips = arith::CeilDivSIOp::create(b, loc, span, loop.getStep());
    return arith::MaxSIOp::create(b, loc, trips, constant(0));
  }

  /// All parts but the last busy one make `chunk` trips, so that parts without a trip come last and
  /// need not be merged.
  ///
  ///   trips 10, parts 4    chunk 3, busy 4    0-2  3-5  6-8  9
  ///   trips 4, parts 4     chunk 1, busy 4    0    1    2    3
  ///   trips 5, parts 4     chunk 2, busy 3    0-1  2-3  4    (none)
  void shareInChunks() {
    Value lo = loop.getLowerBound(), step = loop.getStep(), trips = countTrips();
    Value one = constant(1);
    // At least 1, also of a loop without trips: one part then is busy with none.
    Value chunk =
        arith::MaxUIOp::create(b, loc, arith::CeilDivUIOp::create(b, loc, trips, count), one);
    busy = arith::MaxUIOp::create(b, loc, arith::CeilDivUIOp::create(b, loc, trips, chunk), one);
    auto bound = [&](Value p) -> Value {
      Value trip = arith::MinUIOp::create(b, loc, arith::MulIOp::create(b, loc, p, chunk), trips);
      return arith::AddIOp::create(b, loc, lo, arith::MulIOp::create(b, loc, trip, step));
    };
    Value begin = bound(part), end = bound(arith::AddIOp::create(b, loc, part, one));
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
  }

  // Only part 0 may start from the program's value, or it would be merged once for each part.
  void startFromNothing(Value isFirst) {
    if (split.merge) // its rule: the loop's start changes nothing
      return;
    // A start that changes nothing is the same for all; of sums +0.0 too, which they all contain.
    for (auto [init, kind] : llvm::zip(loop.getInitArgsMutable(), split.kinds)) {
      Type type = init.get().getType();
      TypedAttr identity = getIdentity(b, kind, getElementTypeOrSelf(type));
      if (isFullOf(init.get(), identity) ||
          (kind == ReduceKind::Sum && matchPattern(init.get(), m_PosZeroFloat())))
        continue;
      Value none = makeConstant(b, loc, type, identity);
      init.set(arith::SelectOp::create(b, loc, isFirst, init.get(), none));
    }
  }

  KernelOp kernel;
  SplitLoop &split;
  scf::ForOp loop;
  int64_t parts;
  Value part, count; // this program's number among the parts, and their number
  Value busy;        // parts that have trips, at least 1; null: all of them
  OpBuilder b;
  Location loc;
};

/// Loops with split(n). After the pass no MergePartsOp is left, whether its loop was split or not.
struct TileGPUSplitLoops : tile::impl::TileGPUSplitLoopsBase<TileGPUSplitLoops> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (loop->hasAttr(splitName))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        splitLoop(kernel, loop);
      kernel.getBody().walk([](MergePartsOp merge) { // of loops that are not split
        merge->replaceAllUsesWith(merge.getStates());
        merge.erase();
      });
    }
  }

  void splitLoop(KernelOp kernel, scf::ForOp loop) {
    SplitLoop split{loop, getMerge(loop), {}, 0};
    split.parts = loop->getAttrOfType<IntegerAttr>(splitName).getInt();
    if (loop->hasAttr(splitAutomaticName)) {
      split.wanted = getLaunchPrograms(loop);
      if (!split.wanted)
        return signalPassFailure();
      split.ahead = getProgramsPerProcessor(loop, getCard(*getTarget(kernel))) == 1;
    }
    loop->removeAttr(splitName);
    loop->removeAttr(splitAutomaticName);
    // Each carried value must accumulate by one kind; a value that does not leaves `kinds` short,
    // which is reported below.
    for (unsigned i = 0; !split.merge && i < loop.getNumRegionIterArgs(); ++i)
      if (std::optional<ReduceKind> kind = getAccumulation(loop, i))
        split.kinds.push_back(*kind);
    if (split.parts < 2 || loop.getNumResults() == 0)
      return;
    // Earlier passes may have changed a loop that the front end let through.
    bool merges = split.merge || split.kinds.size() == loop.getNumRegionIterArgs();
    // One split loop in a kernel: a second would need records of its own.
    if (!merges || !endsTheKernel(loop) || kernel->hasAttr(splitPartsName)) {
      loop.emitWarning("split(")
          << split.parts
          << ") has no effect: the loop no longer only accumulates into what it carries";
      return;
    }
    Splitter(kernel, split).run();
  }
};

} // namespace
