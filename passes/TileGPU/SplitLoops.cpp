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
#include "dialect/ProductNames.h"
#include "dialect/Tile/Accumulation.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/Reduction.h"
#include "passes/TileGPU/PartCount.h"
#include "passes/TileGPU/ProgramGrid.h"
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
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

/// The loop, and how the states of its parts become one.
struct SplitLoop {
  scf::ForOp loop;
  MergePartsOp merge;            // null: each value by its kind
  SmallVector<ReduceKind> kinds; // empty with `merge`
  int64_t parts;                 // at most, if wanted
  int64_t wanted = 0;            // programs that the launch should have; 0: `parts` parts
  bool ahead = false;            // copies run ahead of the loop's products
};

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
    if (std::optional<SplitSlices> slices = planSlices())
      return finishInSlices(*slices, isStatic);
    // Records of a tile follow each other from here.
    first = arith::MulIOp::create(b, loc, tile, count);
    finishInLast(isStatic);
    // The launcher allocates scratch memory by these.
    if (split.wanted)
      kernel->setAttr(splitProgramsName, b.getI64IntegerAttr(split.wanted));
    if (split.ahead)
      kernel->setAttr(splitAheadName, b.getUnitAttr());
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
    // A start that changes nothing is the same for all.
    for (auto [init, kind] : llvm::zip(loop.getInitArgsMutable(), split.kinds)) {
      Type type = init.get().getType();
      TypedAttr identity = getIdentity(b, kind, getElementTypeOrSelf(type));
      if (isFullOf(init.get(), identity))
        continue;
      Value none = makeConstant(b, loc, type, identity);
      init.set(arith::SelectOp::create(b, loc, isFirst, init.get(), none));
    }
  }

  /// What stands behind the builder's place, to the block's end.
  SmallVector<Operation *> getRest() {
    SmallVector<Operation *> rest;
    for (auto op = b.getInsertionPoint(); !op->hasTrait<OpTrait::IsTerminator>(); ++op)
      rest.push_back(&*op);
    return rest;
  }

  /// The states as tiles: scalars travel as tiles of one element.
  SmallVector<Value> makePartials() {
    SmallVector<Value> partials;
    for (Value result : loop.getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        result =
            tensor::SplatOp::create(b, loc, RankedTensorType::get({1}, result.getType()), result);
      partials.push_back(result);
    }
    return partials;
  }

  /// How the parts share the merge as blocks of a cluster; none if they do not: the source asks for
  /// a cluster of as many blocks.
  std::optional<SplitSlices> planSlices() {
    auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(clusterName);
    if (split.wanted || !cluster || !kernel->getParentOp()->hasAttr(TargetAttr::name) ||
        llvm::product_of(cluster.asArrayRef()) != parts)
      return std::nullopt;
    return SplitSlices::planCluster(loop, split.merge, parts, getTarget(kernel));
  }

  /// Each part merges its slice of all states and does what follows for that slice.
  void finishInSlices(SplitSlices &slices, bool isStatic) {
    SmallVector<Operation *> rest = getRest();
    SmallVector<Value> partials = makePartials();
    Value place = PartShareOp::create(b, loc, b.getI32Type(), partials);
    SmallVector<int64_t> dims;
    SmallVector<Type> types;
    for (auto [result, partial] : llvm::zip(loop.getResults(), partials)) {
      dims.push_back(slices.getDim(result));
      types.push_back(isa<RankedTensorType>(result.getType()) ? slices.getType(result)
                                                              : partial.getType());
    }
    // All reads before the first merge, so that their latencies overlap.
    SmallVector<SmallVector<Value>> states;
    for (int64_t number = 0; number < parts; ++number) {
      auto read = PartReadOp::create(b, loc, types, place, number, parts, part, dims);
      SmallVector<Value> &state = states.emplace_back();
      for (auto [value, result] : llvm::zip(read.getResults(), loop.getResults()))
        state.push_back(isa<RankedTensorType>(result.getType())
                            ? Value(value)
                            : fromTile(value, result.getType()));
      if (split.merge)
        state = toOperands(state);
    }
    PartReleaseOp::create(b, loc);
    SmallVector<Value> merged = states[0];
    for (int64_t number = 1; number < parts; ++number) {
      SmallVector<Value> next = mergeTwo(merged, states[number], &slices);
      if (isStatic) {
        merged = next;
        continue;
      }
      Value isBusy =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, constant(number), busy);
      for (auto [old, value] : llvm::zip(merged, next))
        old = arith::SelectOp::create(b, loc, isBusy, value, old);
    }
    IRMapping values;
    ResultRange results = split.merge ? split.merge->getResults() : loop.getResults();
    values.map(results, merged);
    for (Operation *op : rest)
      slices.clone(b, op, part, values);
    for (Operation *op : llvm::reverse(rest))
      op->erase();
    if (split.merge)
      split.merge.erase();
    // A block is one part of one tile: its memory is the others' until they have read it.
    kernel->removeAttr(persistentName);
    kernel->removeAttr(clusterName);
    kernel->setAttr(splitClusterName, b.getUnitAttr());
  }

  /// Continues where `condition` is true; returns the end of that branch.
  Operation *enter(Value condition) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    return branch.thenBlock()->getTerminator();
  }

  /// Many parts are merged in groups first, each by its last part to arrive; the last of these
  /// merges what the groups have left. Then the last part of all reads fewer states, and nobody
  /// waits for anybody, as before. Returns the merged sums, where the program is the last.
  SmallVector<Value> mergeGroups(ArrayRef<Value> partials, int64_t groups) {
    int64_t each = parts / groups;
    Value group = arith::DivUIOp::create(b, loc, part, constant(each)),
          member = arith::RemUIOp::create(b, loc, part, constant(each));
    Value begin =
        arith::AddIOp::create(b, loc, first, arith::MulIOp::create(b, loc, group, constant(each)));
    enter(PartArriveOp::create(b, loc, b.getI1Type(), partials, begin, member, constant(each)));
    SmallVector<Value> sums = combine(partials, begin, each);
    auto arrive = PartArriveOp::create(b, loc, b.getI1Type(), sums, first, group, constant(groups));
    arrive->setAttr(everyName, b.getI64IntegerAttr(each));
    enter(arrive);
    return toResults(combine(sums, first, groups, each));
  }

  /// Registers of a thread that the states of a part take.
  int64_t countWords(ArrayRef<Value> partials) {
    int64_t elements = 0;
    for (Value partial : partials)
      elements += cast<RankedTensorType>(partial.getType()).getNumElements();
    return llvm::divideCeil(elements, 32 * countWarps());
  }

  int64_t countWarps() {
    auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName);
    return requested ? requested.getInt() : 4;
  }

  // All that follows moves into the branch of the last part. States go through scratch memory by
  // PartArriveOp, which also counts.
  void finishInLast(bool isStatic) {
    SmallVector<Operation *> rest = getRest();
    SmallVector<Value> partials = makePartials(); // scratch memory has tiles, by registers
    SmallVector<Value> values;
    int64_t groups = isStatic ? countPartGroups(countWords(partials), parts) : 1;
    if (groups > 1) {
      values = mergeGroups(partials, groups);
    } else {
      enter(arrive(partials));
      values = isStatic ? toResults(combine(partials, first, parts)) : mergeShared(partials);
    }
    Operation *end = b.getInsertionBlock()->getTerminator();
    for (Operation *op : rest)
      op->moveBefore(end);
    ResultRange results = split.merge ? split.merge->getResults() : loop.getResults();
    // Uses in what follows alone: PartArriveOp keeps the loop's own results.
    for (auto [value, result] : llvm::zip(values, results))
      result.replaceUsesWithIf(value, [&](OpOperand &use) {
        return llvm::any_of(rest, [&](Operation *op) { return op->isAncestor(use.getOwner()); });
      });
    if (split.merge)
      split.merge.erase();
  }

  Value areSeveral() {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, count, constant(1));
  }

  /// Is this part the last? Where the launch may choose a single part, that part need not ask.
  Value arrive(ArrayRef<Value> partials) {
    if (!split.wanted)
      return PartArriveOp::create(b, loc, b.getI1Type(), partials, first, part, count);
    auto several = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), areSeveral(),
                                     /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(several.thenBlock());
    Value last = PartArriveOp::create(b, loc, b.getI1Type(), partials, first, part, count);
    scf::YieldOp::create(b, loc, last);
    b.setInsertionPointToStart(several.elseBlock());
    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
    scf::YieldOp::create(b, loc, yes);
    return several.getResult(0);
  }

  /// The merged state of all parts, or the own one of a single part.
  /// A single part has not stored anything: its own state is the result.
  SmallVector<Value> mergeShared(ArrayRef<Value> partials) {
    if (!split.wanted)
      return mergeAll(partials);
    SmallVector<Value> own(loop.getResults());
    if (split.merge)
      own = toOperands(own);
    auto several = scf::IfOp::create(b, loc, TypeRange(ValueRange(own)), areSeveral(),
                                     /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(several.thenBlock());
    scf::YieldOp::create(b, loc, mergeAll(partials));
    b.setInsertionPointToStart(several.elseBlock());
    scf::YieldOp::create(b, loc, own);
    return SmallVector<Value>(several.getResults());
  }

  /// A value of the kernel's type from a tile of one element.
  /// Of one element every reduction is that element.
  Value fromTile(Value tile, Type type) {
    if (tile.getType() == type)
      return tile;
    return ReduceOp::create(b, loc, type, ReduceKind::Max, tile, IntegerAttr());
  }

  /// The sums of `number` parts whose first record is `begin`, each `every` records apart.
  SmallVector<Value> combine(ArrayRef<Value> partials, Value begin, int64_t number,
                             int64_t every = 1) {
    SmallVector<int32_t> kinds =
        llvm::map_to_vector(split.kinds, [](ReduceKind kind) { return int32_t(kind); });
    auto totals = PartCombineOp::create(b, loc, TypeRange(ValueRange(partials)), partials, begin,
                                        number, b.getDenseI32ArrayAttr(kinds));
    if (every > 1)
      totals->setAttr(everyName, b.getI64IntegerAttr(every));
    return SmallVector<Value>(totals.getResults());
  }

  /// Tiles as the results of the loop.
  SmallVector<Value> toResults(ArrayRef<Value> tiles) {
    SmallVector<Value> values;
    for (auto [tile, result] : llvm::zip(tiles, loop.getResults()))
      values.push_back(fromTile(tile, result.getType()));
    return values;
  }

  /// The state of part `number`, as the results of the loop.
  SmallVector<Value> loadState(ArrayRef<Value> partials, Value number) {
    Value record = arith::AddIOp::create(b, loc, first, number);
    auto load = PartLoadOp::create(b, loc, TypeRange(ValueRange(partials)), partials, record);
    SmallVector<Value> state;
    for (auto [value, result] : llvm::zip(load.getResults(), loop.getResults()))
      state.push_back(fromTile(value, result.getType()));
    return state;
  }

  /// The values that `merge` takes, of a state as the results of the loop. An earlier pass may have
  /// found that a variable is the same in all parts; then it is no result.
  /// Values that the merge takes from elsewhere are the same for every part.
  SmallVector<Value> toOperands(ArrayRef<Value> state) {
    SmallVector<Value> operands;
    for (Value operand : split.merge.getStates()) {
      auto result = dyn_cast<OpResult>(operand);
      bool isCarried = result && result.getOwner() == loop;
      operands.push_back(isCarried ? state[result.getResultNumber()] : operand);
    }
    return operands;
  }

  // The order is that of trips: earlier parts on the left.
  SmallVector<Value> mergeTwo(ArrayRef<Value> earlier, ArrayRef<Value> later,
                              SplitSlices *slices = nullptr) {
    SmallVector<Value> merged;
    if (!split.merge) {
      for (auto [x, y, kind] : llvm::zip(earlier, later, split.kinds))
        merged.push_back(tile::combine(b, loc, kind, x, y));
      return merged;
    }
    IRMapping mapping;
    Block &block = split.merge.getMerge().front();
    SmallVector<Value> operands(earlier);
    operands.append(later.begin(), later.end());
    mapping.map(block.getArguments(), operands);
    for (Operation &op : block.without_terminator())
      if (slices)
        slices->clone(b, &op, part, mapping);
      else
        b.clone(op, mapping);
    for (Value value : block.getTerminator()->getOperands())
      merged.push_back(mapping.lookupOrDefault(value));
    return merged;
  }

  /// States are read several at a time, so that their latencies overlap, as far as registers allow.
  /// 64 registers of a thread for states under way, 16 states at most.
  int64_t countLoadsAhead(ArrayRef<Value> partials) {
    int64_t elements = 0;
    for (Value partial : partials)
      elements += cast<RankedTensorType>(partial.getType()).getNumElements();
    constexpr int64_t registers = 64;
    return std::clamp<int64_t>(registers * 32 * countWarps() / elements, 1, 16);
  }

  /// The states of all busy parts, merged in their order.
  /// From part 1 to the last busy one, several at a time; numbers past the end read the last state
  /// again and are not merged.
  SmallVector<Value> mergeAll(ArrayRef<Value> partials) {
    SmallVector<Value> start = loadState(partials, constant(0));
    if (split.merge)
      start = toOperands(start);
    int64_t ahead = countLoadsAhead(partials);
    Value one = constant(1), step = constant(ahead);
    Value end = arith::SubIOp::create(b, loc, busy, one);
    auto merging = scf::ForOp::create(b, loc, one, busy, step, start);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(merging.getBody());
    SmallVector<SmallVector<Value>> loaded;
    for (int64_t i = 0; i < ahead; ++i) {
      Value number = arith::AddIOp::create(b, loc, merging.getInductionVar(), constant(i));
      loaded.push_back(loadState(partials, arith::MinUIOp::create(b, loc, number, end)));
    }
    SmallVector<Value> state(merging.getRegionIterArgs());
    for (int64_t i = 0; i < ahead; ++i) {
      SmallVector<Value> merged = mergeTwo(state, split.merge ? toOperands(loaded[i]) : loaded[i]);
      Value number = arith::AddIOp::create(b, loc, merging.getInductionVar(), constant(i));
      Value isBusy = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, busy);
      // The first of each group exists, as the loop runs below `busy`.
      for (auto [old, value] : llvm::zip(state, merged))
        old = i ? Value(arith::SelectOp::create(b, loc, isBusy, value, old)) : value;
    }
    scf::YieldOp::create(b, loc, state);
    return SmallVector<Value>(merging.getResults());
  }

  KernelOp kernel;
  SplitLoop &split;
  scf::ForOp loop;
  int64_t parts;
  Value part, count; // this program's number among the parts, and their number
  Value busy;        // parts that have trips, at least 1
  Value first;       // the tile's first record in scratch memory
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
