// What follows a split loop (see the header): states travel through scratch memory or, in a
// cluster, through shared memory.
#include "passes/TileGPU/SplitMerge.h"
#include "dialect/AttributeNames.h"
#include "dialect/ProductNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/Reduction.h"
#include "passes/TileGPU/PartCount.h"
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

class PartMerger {
public:
  PartMerger(KernelOp kernel, SplitLoop &split, const SplitPart &place, OpBuilder &b)
      : kernel(kernel), split(split), loop(split.loop), parts(split.parts), part(place.number),
        count(place.count), busy(place.busy), tile(place.tile), b(b), loc(loop.getLoc()) {}

  void run(bool isStatic) {
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
  Value part, count, busy, tile;
  Value first; // the tile's first record in scratch memory
  OpBuilder &b;
  Location loc;
};

} // namespace

void tile::gpu::finishSplit(KernelOp kernel, SplitLoop &split, const SplitPart &part, bool isStatic,
                            OpBuilder &b) {
  PartMerger(kernel, split, part, b).run(isStatic);
}
