// Writes a loop with products of two stages: prologue, steady state, epilogue.
//
// The loop of trips n with s = head(n); p = f(s); acc = staged(p, b(n), g(acc)) becomes
//
//   s = head(0); p = f(s)
//   for n from 1:
//     s = head(n) in flight
//     acc = staged(p, b(n-1), g(acc)) in flight
//     wait for s; f(s) but for what ends in p
//     wait for acc; p
//   acc = staged(p, b(last), g(acc))
//
//   tensor cores  | head(n) | staged(n-1)       | head(n+1) | staged(n)          | ...
//   registers               | f of trip n       | p         | f of trip n+1      | ...
//
// so that f and g, which tensor cores have no part in, run under a product. Without scale_under g
// stands at the trip's end. Source: FlashAttention-3, arXiv 2407.08608.
#include "passes/TileGPU/Schedule/IssueOrder.h"
#include "passes/TileGPU/Schedule/Staging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

class Expander {
public:
  Expander(Staging &staging, LoopSchedule &schedule, int64_t &rings)
      : s(staging), schedule(schedule), under(schedule.words.scaleUnder), loop(staging.loop),
        builder(loop), rings(rings) {
    // Constants serve both stages, and go nowhere from trip to trip.
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
      if (op.hasTrait<OpTrait::ConstantLike>())
        op.moveBefore(loop);
    for (StagedProduct &each : s.staged)
      kept.insert(each.product.getA());
    for (StagedProduct &each : s.staged)
      keepNumbers(each);
    if (under)
      kept.insert(s.factors.begin(), s.factors.end());
  }

  void run() {
    Location loc = loop.getLoc();
    // Copies of a fetch before, in and behind the loop fill one ring.
    loop.getBody()->walk(
        [&](TmaFetchOp fetch) { fetch->setAttr(ringName, builder.getI64IntegerAttr(rings++)); });
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), some,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    scf::YieldOp::create(builder, loc, loop.getInitArgs());
    builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    scf::YieldOp::create(builder, loc, runSome());
    loop.replaceAllUsesWith(branch.getResults());
    loop.erase();
  }

private:
  /// The scalars of the loop that the fetch of a staged product's b uses: its coordinates, whether
  /// it copies, the first row that is cleared, and whether and where it is filled from.
  void keepNumbers(StagedProduct &each) {
    SmallVector<Value> used(each.fetch.getCoordinates());
    for (Operation *op : each.path) {
      if (auto clear = dyn_cast<ClearFromOp>(op))
        used.push_back(clear.getLimit());
      if (auto branch = dyn_cast<scf::IfOp>(op))
        used.push_back(branch.getCondition());
      op->walk([&](AsyncCopyOp copy) {
        llvm::copy_if(copy->getOperands(), std::back_inserter(used),
                      [&](Value operand) { return operand != copy.getMemory(); });
      });
    }
    for (Value condition : {each.fetch.getOnce(), each.fetch.getWhen()})
      if (condition)
        used.push_back(condition);
    for (Value number : used)
      if (!loop.isDefinedOutsideOfLoop(number))
        kept.insert(number);
  }

  bool isScaling(Operation *op) const {
    return s.scaling.contains(op) || (under && s.renaming.contains(op));
  }

  /// True for what is not at its place in the new loop.
  bool isMoved(Operation *op) const {
    return isScaling(op) || s.late.contains(op) ||
           llvm::any_of(s.staged, [&](const StagedProduct &each) {
             return op == each.product || op == each.fetch || llvm::is_contained(each.path, op);
           });
  }

  void cloneIf(function_ref<bool(Operation *)> chosen, IRMapping &mapping) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (chosen(&op))
        builder.clone(op, mapping);
  }
  void cloneScaling(IRMapping &mapping) {
    cloneIf([&](Operation *op) { return isScaling(op); }, mapping);
  }
  void cloneLate(IRMapping &mapping) {
    cloneIf([&](Operation *op) { return s.late.contains(op); }, mapping);
  }

  /// The values that one trip hands to the next: the loop's variables (of a staged product what it
  /// is added to, or will be once that is scaled), and what is kept.
  SmallVector<Value> getState(IRMapping &mapping) {
    SmallVector<Value> state(loop.getYieldedValues());
    for (StagedProduct &each : s.staged)
      state[each.carried] =
          under ? Value(loop.getRegionIterArg(each.carried)) : Value(each.product.getAcc());
    state.append(kept.begin(), kept.end());
    for (Value &value : state)
      value = mapping.lookupOrDefault(value);
    return state;
  }

  /// `value`, one of those that are kept, in the state that the trip before has left.
  Value getKept(ValueRange state, Value value) {
    auto place = size_t(llvm::find(kept, value) - kept.begin());
    return state[loop.getNumRegionIterArgs() + place];
  }

  /// The b of each staged product for the trip that left `state`.
  SmallVector<Value> fetch(ValueRange state) {
    SmallVector<Value> tiles;
    for (StagedProduct &each : s.staged) {
      IRMapping mapping;
      Value descriptor = each.fetch.getDescriptor();
      if (!loop.isDefinedOutsideOfLoop(descriptor))
        builder.clone(*descriptor.getDefiningOp(), mapping);
      for (Value value : kept)
        mapping.map(value, getKept(state, value));
      builder.clone(*each.fetch, mapping);
      for (Operation *op : each.path)
        builder.clone(*op, mapping);
      tiles.push_back(mapping.lookup(each.product.getB()));
    }
    return tiles;
  }

  /// The staged products of the trip that left `state`.
  SmallVector<WgmmaOp> multiply(ValueRange state, ArrayRef<Value> tiles, bool async) {
    IRMapping mapping;
    for (StagedProduct &each : s.staged)
      mapping.map(under ? Value(loop.getRegionIterArg(each.carried)) : each.product.getAcc(),
                  state[each.carried]);
    if (under) {
      for (Value factor : s.factors) {
        // Behind the head, not before the branch that the scaling after the loop shares.
        Value now = getKept(state, factor);
        if (async && isa<RankedTensorType>(now.getType()))
          now = OptimizationBarrierOp::create(builder, s.staged.front().product.getLoc(),
                                              now.getType(), now);
        mapping.map(factor, now);
      }
      cloneScaling(mapping);
    }
    SmallVector<WgmmaOp> products;
    for (auto [each, b] : llvm::zip(s.staged, tiles)) {
      WgmmaOp product = each.product;
      products.push_back(WgmmaOp::create(
          builder, product.getLoc(), product.getType(), getKept(state, product.getA()), b,
          mapping.lookupOrDefault(product.getAcc()), async, product.getUnsignedA(),
          product.getUnsignedB(), product.getValidAttr(), product.getFromAttr(),
          product.getColumnAttr()));
    }
    return products;
  }

  /// All trips, of which there is one at least; gives the loop's results.
  SmallVector<Value> runSome() {
    Location loc = loop.getLoc();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), loop.getLowerBound());
    mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
    cloneIf([&](Operation *op) { return !isMoved(op); }, mapping);
    if (!under)
      cloneScaling(mapping);
    cloneLate(mapping);
    SmallVector<Value> state = getState(mapping);

    Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
    auto turned =
        scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), state);
    turned->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    builder.setInsertionPointToStart(turned.getBody());
    runTrip(turned);
    builder.setInsertionPointAfter(turned);

    SmallVector<Value> results(turned.getResults().take_front(loop.getNumRegionIterArgs()));
    SmallVector<Value> tiles = fetch(turned.getResults());
    SmallVector<WgmmaOp> products = multiply(turned.getResults(), tiles, /*async=*/false);
    for (auto [each, product] : llvm::zip(s.staged, products))
      results[each.carried] = product.getResult();
    return results;
  }

  void runTrip(scf::ForOp turned) {
    ValueRange state = turned.getRegionIterArgs();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), turned.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), state.take_front(loop.getNumRegionIterArgs()));
    // Clearing waits for all consumers, so it may not stand between products that these issue in
    // turns.
    SmallVector<Value> tiles = fetch(state);
    SmallVector<WgmmaOp> staged;
    LoopSchedule made;
    made.words = schedule.words;
    auto keepPlace = [&](WgmmaOp copy, WgmmaOp product) {
      made.products.push_back(copy);
      made.places.push_back(schedule.placeOf(product));
    };
    OpSet reads = findReadsUnder(s.head);
    if (llvm::any_of(reads, [&](Operation *op) { return isMoved(op); }))
      reads.clear();
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isMoved(&op) || reads.contains(&op))
        continue;
      Operation *copy = builder.clone(op, mapping);
      if (auto product = dyn_cast<WgmmaOp>(copy))
        keepPlace(product, cast<WgmmaOp>(op));
      if (&op != s.head)
        continue;
      auto head = cast<WgmmaOp>(copy);
      head.setAsync(true);
      staged = multiply(state, tiles, /*async=*/true);
      for (auto [each, product] : llvm::zip(s.staged, staged))
        keepPlace(product, each.product);
      // What is read beside the product's result is there when that is.
      cloneIf([&](Operation *read) { return reads.contains(read); }, mapping);
      mapping.map(op.getResult(0), wait(head, staged.size()));
    }
    for (auto [i, each] : llvm::enumerate(s.staged))
      mapping.map(loop.getRegionIterArg(each.carried), wait(staged[i], staged.size() - 1 - i));
    if (!under)
      cloneScaling(mapping);
    cloneLate(mapping);
    scf::YieldOp::create(builder, loop.getLoc(), getState(mapping));
    made.setOn(turned);
  }

  Value wait(WgmmaOp product, size_t pending) {
    return WgmmaWaitOp::create(builder, product.getLoc(), product.getType(), product.getResult(),
                               int64_t(pending), product.getValidAttr());
  }

  Staging &s;
  LoopSchedule &schedule;
  bool under; ///< sums are scaled under the head
  scf::ForOp loop;
  OpBuilder builder;
  int64_t &rings;
  llvm::SmallSetVector<Value, 8> kept; ///< of its own trip, for the staged products
};

} // namespace

void tile::gpu::expandStages(Staging &staging, LoopSchedule &schedule, int64_t &rings) {
  Expander(staging, schedule, rings).run();
}
