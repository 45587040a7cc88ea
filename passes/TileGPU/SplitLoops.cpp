// tile-gpu-split-loops: shares the trips of a loop among several programs, whose sums the last to
// arrive adds up.
//
// The grid gets one more axis, the fastest: the parts. Each part makes its share of the trips,
// starting from what changes nothing (part 0: from the loop's own start), and leaves its sums in
// scratch memory. The last part of a tile to arrive combines them in the order of the parts and
// does what follows the loop. See docs/Split.md.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/Accumulation.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/Reduction.h"
#include "passes/TileGPU/ProgramGrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

class Splitter {
public:
  Splitter(KernelOp kernel, scf::ForOp loop, int64_t parts, ArrayRef<ReduceKind> kinds)
      : kernel(kernel), loop(loop), parts(parts), kinds(kinds), b(loop), loc(loop.getLoc()) {}

  void run() {
    SmallVector<Value> extents =
        cloneGridExtents(b, kernel, kernel.getBody().front().getArguments());
    Type index = b.getIndexType();
    Value tile = constant(0);
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      Value id = ProgramIdOp::create(b, loc, index, b.getI64IntegerAttr(axis));
      tile = axis ? Value(arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, tile, extent),
                                                id))
                  : id;
    }
    Value part = ProgramIdOp::create(b, loc, index, b.getI64IntegerAttr(extents.size()));
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, constant(0));
    addAxis();
    storeOnce();
    shareTrips(part);
    startFromNothing(isFirst);
    finishInLast(tile, part);
    kernel->setAttr(splitPartsName, b.getI64IntegerAttr(parts));
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  void addAxis() {
    auto yield = cast<YieldOp>(kernel.getGrid().front().getTerminator());
    OpBuilder grid(yield);
    yield.getExtentsMutable().append(
        arith::ConstantIndexOp::create(grid, yield.getLoc(), parts).getResult());
  }

  /// What is stored before the loop is stored by part 0 alone.
  void storeOnce() {
    SmallVector<Operation *> stores; // no atomics: the front end lets none stand before the loop
    auto collect = [&](Operation *op) {
      if (isa<StoreOp, ScatterOp>(op))
        stores.push_back(op);
    };
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
  void shareTrips(Value part) {
    Value lo = loop.getLowerBound(), step = loop.getStep(), n = constant(parts);
    Value trips = arith::CeilDivSIOp::create(
        b, loc, arith::SubIOp::create(b, loc, loop.getUpperBound(), lo), step);
    trips = arith::MaxSIOp::create(b, loc, trips, constant(0));
    auto bound = [&](Value p) -> Value {
      Value trip = arith::DivUIOp::create(b, loc, arith::MulIOp::create(b, loc, p, trips), n);
      return arith::AddIOp::create(b, loc, lo, arith::MulIOp::create(b, loc, trip, step));
    };
    Value begin = bound(part), end = bound(arith::AddIOp::create(b, loc, part, constant(1)));
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
  }

  void startFromNothing(Value isFirst) {
    for (auto [init, kind] : llvm::zip(loop.getInitArgsMutable(), kinds)) {
      Type type = init.get().getType();
      TypedAttr identity = getIdentity(b, kind, getElementTypeOrSelf(type));
      if (isFullOf(init.get(), identity))
        continue;
      Value none = makeConstant(b, loc, type, identity);
      init.set(arith::SelectOp::create(b, loc, isFirst, init.get(), none));
    }
  }

  void finishInLast(Value tile, Value part) {
    b.setInsertionPointAfter(loop);
    SmallVector<Operation *> rest;
    for (Operation *op = loop->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode())
      rest.push_back(op);
    // Scalars travel as tiles of one element.
    SmallVector<Value> partials;
    SmallVector<Type> types;
    for (Value result : loop.getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        result =
            tensor::SplatOp::create(b, loc, RankedTensorType::get({1}, result.getType()), result);
      partials.push_back(result);
      types.push_back(result.getType());
    }
    SmallVector<int32_t> kindNumbers =
        llvm::map_to_vector(kinds, [](ReduceKind kind) { return int32_t(kind); });
    Value isLast = PartArriveOp::create(b, loc, b.getI1Type(), partials, tile, part, parts);
    auto last = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false);
    b.setInsertionPointToStart(last.thenBlock());
    auto totals = PartCombineOp::create(b, loc, types, partials, tile, parts,
                                        b.getDenseI32ArrayAttr(kindNumbers));
    SmallVector<Value> values;
    for (auto [total, result] : llvm::zip(totals.getResults(), loop.getResults()))
      values.push_back(
          total.getType() == result.getType()
              ? Value(total)
              : ReduceOp::create(b, loc, result.getType(), ReduceKind::Max, total, IntegerAttr()));
    for (Operation *op : rest)
      op->moveBefore(last.thenBlock()->getTerminator());
    for (auto [value, result] : llvm::zip(values, loop.getResults()))
      result.replaceUsesWithIf(value, [&](OpOperand &use) {
        return last.getThenRegion().isAncestor(use.getOwner()->getParentRegion()) &&
               use.getOwner() != totals;
      });
  }

  KernelOp kernel;
  scf::ForOp loop;
  int64_t parts;
  ArrayRef<ReduceKind> kinds;
  OpBuilder b;
  Location loc;
};

struct TileGPUSplitLoops : tile::impl::TileGPUSplitLoopsBase<TileGPUSplitLoops> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (loop->hasAttr(splitName))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops) {
        int64_t parts = loop->getAttrOfType<IntegerAttr>(splitName).getInt();
        loop->removeAttr(splitName);
        SmallVector<ReduceKind> kinds;
        for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
          if (std::optional<ReduceKind> kind = getAccumulation(loop, i))
            kinds.push_back(*kind);
        if (parts < 2 || loop.getNumResults() == 0)
          continue;
        // What the front end let through, earlier passes may have changed.
        if (kinds.size() != loop.getNumRegionIterArgs() || !endsTheKernel(loop) ||
            kernel->hasAttr(splitPartsName)) {
          loop.emitWarning("split(")
              << parts
              << ") has no effect: the loop no longer only accumulates into what it carries";
          continue;
        }
        Splitter(kernel, loop, parts, kinds).run();
      }
    }
  }
};

} // namespace
