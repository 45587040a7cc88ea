// A backward slice over structured control flow, cloned.
//
//   consumers                        producer
//   for k = 0 to K:                  for k = 0 to K:      what a fetch stands in, with its bounds
//     a = fetch [i, k]                 acquire a slot; copy [i, k]
//     r = max(of a tile)               r' = receive        a scalar that comes from tiles is sent
//     b = fetch [r, k]                 acquire a slot; copy [r', k]
//     acc = dot(a, b, acc)                                 no copy depends on it
//
// Invariant: both sides take the same branches and make the same trips, so that the n-th acquire of
// a ring is for the n-th slot that the consumers wait for.
#include "passes/TileGPU/ProducerSlice.h"
#include "dialect/AttributeNames.h"
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// What fills the fetch's tile where it brings nothing.
SmallVector<AsyncCopyOp> getFills(TmaFetchOp fetch) {
  SmallVector<AsyncCopyOp> fills;
  for (Operation *user : fetch->getUsers())
    if (auto copy = dyn_cast<AsyncCopyOp>(user); copy && isFill(copy))
      fills.push_back(copy);
  return fills;
}

/// A tile, in registers or shared memory, is the consumers' own; all else one thread can compute.
bool isScalarOrView(Type type) { return !isa<RankedTensorType, MemDescType>(type); }

/// True if each thread has its elements of the result by itself.
bool isLocalToThreads(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() != 1)
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return readsConstantMemory(load);
  return isa<arith::ConstantOp, tensor::SplatOp, ReshapeOp, BroadcastOp>(op) ||
         (OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op));
}

/// The type of a tile whose elements `warps` warps of the producer share out: what others would
/// hold are further registers, but for copies of what these hold.
Type withWarps(Type type, int64_t count) {
  auto tile = cast<RankedTensorType>(type);
  LinearLayout layout = getLayout(tile);
  ArrayRef<Coord> warps = layout.getBases(InDim::Warp);
  size_t kept = std::min<size_t>(warps.size(), llvm::Log2_64(count));
  SmallVector<Coord> registers(layout.getBases(InDim::Register));
  llvm::copy_if(warps.drop_front(kept), std::back_inserter(registers), [](const Coord &basis) {
    return llvm::any_of(basis, [](auto place) { return place != 0; });
  });
  return withLayout(tile, LinearLayout(layout.getShape(), registers, layout.getBases(InDim::Lane),
                                       warps.take_front(kept)));
}

/// The operations and loop variables of the consumers that the fetches depend on.
class Slice {
public:
  explicit Slice(Block &root) : root(root) {}

  /// Marks `op` and the control flow around it.
  /// What the fetch depends on is another matter (require): here only the way to it.
  void requireAt(Operation *op) {
    if (!ops.insert(op).second)
      return;
    for (Operation *parent = op->getParentOp(); parent && root.findAncestorOpInBlock(*parent);
         parent = parent->getParentOp()) {
      if (!ops.insert(parent).second)
        break;
      requireBounds(parent);
    }
  }

  // Marked values are cloned, or received where isCloned says that the producer cannot compute
  // them.
  void require(Value value) {
    if (!values.insert(value).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || !root.findAncestorOpInBlock(*loop))
        return; // a parameter
      requireAt(loop);
      requireBounds(loop);
      if (argument.getArgNumber() > 0)
        requireCarried(loop, argument.getArgNumber() - 1);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!root.findAncestorOpInBlock(*op))
      return; // both sides see it
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      requireAt(loop);
      requireBounds(loop);
      return requireCarried(loop, number);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      requireAt(branch);
      requireBounds(branch);
      require(branch.thenYield().getOperand(number));
      return require(branch.elseYield().getOperand(number));
    }
    requireAt(op);
    if (!isCloned(op)) {
      // Its operands are not followed: the consumers compute it, and hand the number over.
      sent.insert(value);
      return;
    }
    for (Value operand : op->getOperands())
      require(operand);
  }

  bool contains(Operation *op) const { return ops.contains(op); }
  bool contains(Value value) const { return values.contains(value); }
  bool isSent(Value value) const { return sent.contains(value); }

private:
  void requireBounds(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      require(loop.getLowerBound());
      require(loop.getUpperBound());
      require(loop.getStep());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      require(branch.getCondition());
    }
  }

  // The loop's argument and result go with the carried value, which the producer then carries as
  // well.
  void requireCarried(scf::ForOp loop, unsigned number) {
    values.insert(loop.getRegionIterArg(number));
    values.insert(loop.getResult(number));
    require(loop.getInitArgs()[number]);
    require(loop.getYieldedValues()[number]);
  }

  /// True if one thread may compute it again: arithmetic on scalars, and loads of what nothing
  /// writes.
  /// The producer's one thread runs at its own time: it may repeat what gives the same at any time.
  /// Of a tile, which only what threads fill asks for, each computes its elements.
  bool isCloned(Operation *op) {
    if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()))
      return isLocalToThreads(op);
    if (op->getNumRegions() || !llvm::all_of(op->getOperandTypes(), isScalarOrView) ||
        !llvm::all_of(op->getResultTypes(), isScalarOrView))
      return false;
    if (isMemoryEffectFree(op))
      return true;
    auto load = dyn_cast<LoadOp>(op);
    return load && readsConstantMemory(load);
  }

  Block &root;
  DenseSet<Operation *> ops; // looked up only
  DenseSet<Value> values, sent;
};

class Cloner {
public:
  Cloner(const Slice &slice, ArrayRef<RingFetches> rings) : slice(slice) {
    for (const RingFetches &ring : rings)
      for (TmaFetchOp fetch : ring.fetches)
        owners[fetch] = &ring;
  }

  LogicalResult cloneBlock(Block &source, OpBuilder &builder) {
    for (Operation &op : llvm::make_early_inc_range(source)) {
      if (!slice.contains(&op))
        continue;
      // Kept in the text's order, so that both sides agree on the order in which slots are taken.
      if (auto fetch = dyn_cast<TmaFetchOp>(op)) {
        cloneFetch(fetch, builder);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (failed(cloneLoop(loop, builder)))
          return failure();
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        if (failed(cloneBranch(branch, builder)))
          return failure();
      } else if (llvm::any_of(op.getResults(),
                              [&](Value result) { return slice.isSent(result); })) {
        if (failed(receive(op, builder)))
          return failure();
      } else {
        shareOut(builder.clone(op, mapping));
      }
    }
    return success();
  }

private:
  /// Gives a tile that the producer's threads compute to their warps.
  static void shareOut(Operation *op) {
    for (OpResult result : op->getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      auto type = cast<RankedTensorType>(withWarps(result.getType(), wideFillWarps));
      result.setType(type);
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    }
  }

  /// The last fetch of a ring's slot takes the slot and fills it: by then all coordinates are
  /// known.
  /// One slot holds the tiles of several fetches; it is acquired where the last of them stands,
  /// when coordinates of all have been computed.
  void cloneFetch(TmaFetchOp fetch, OpBuilder &builder) {
    const RingFetches &ring = *owners.lookup(fetch);
    if (ring.fetches.back() != fetch)
      return;
    SmallVector<Type> types;
    for (TmaFetchOp one : ring.fetches)
      types.push_back(one.getType());
    Location loc = fetch.getLoc();
    Value whole = getCondition(ring, builder, loc);
    SmallVector<Value> when;
    for (TmaFetchOp one : ring.fetches)
      if (whole)
        when.push_back(
            one.getWhen() ? whole : arith::ConstantIntOp::create(builder, loc, 1, 1).getResult());
    auto slot = RingAcquireOp::create(builder, loc, types, MBarrierType::get(builder.getContext()),
                                      ring.ring, when);
    for (auto [one, tile] : llvm::zip(ring.fetches, slot.getTiles())) {
      SmallVector<Value> coordinates;
      for (Value coordinate : TmaFetchOp(one).getCoordinates())
        coordinates.push_back(mapping.lookupOrDefault(coordinate));
      Value descriptor = mapping.lookupOrDefault(Value(TmaFetchOp(one).getDescriptor()));
      if (isFilledByThreads(one))
        continue;
      Value once = TmaFetchOp(one).getOnce();
      auto copy =
          TmaLoadOp::create(builder, TmaFetchOp(one).getLoc(), descriptor, coordinates, tile,
                            slot.getBarrier(), once ? mapping.lookupOrDefault(once) : Value(),
                            TmaFetchOp(one).getWhen() ? whole : Value(),
                            TmaFetchOp(one).getMulticast(), TmaFetchOp(one).getAcrossAttr());
      if (Attribute cache = TmaFetchOp(one)->getAttr(cacheName))
        copy->setAttr(cacheName, cache);
    }
    if (whole)
      fillSlot(ring, slot, whole, builder);
  }

  /// The condition for a slot's tiles to be fetched, of which each has one of its own or none; null
  /// if all always are. One for the slot: fetches and fills are in few branches.
  Value getCondition(const RingFetches &ring, OpBuilder &builder, Location loc) {
    Value whole;
    for (TmaFetchOp one : ring.fetches) {
      if (!one.getWhen())
        continue;
      Value own = mapping.lookupOrDefault(one.getWhen());
      whole =
          whole && whole != own ? arith::AndIOp::create(builder, loc, whole, own).getResult() : own;
    }
    return whole;
  }

  /// Behind a slot's copies: what threads copy where they are not made.
  void fillSlot(const RingFetches &ring, RingAcquireOp slot, Value whole, OpBuilder &builder) {
    Location loc = slot.getLoc();
    Value missing = arith::XOrIOp::create(builder, loc, whole,
                                          arith::ConstantIntOp::create(builder, loc, 1, 1));
    bool wide = llvm::any_of(ring.fetches, isFilledByThreads);
    auto fill = RingFillOp::create(builder, loc, slot.getBarrier(), missing, wide);
    OpBuilder inside = OpBuilder::atBlockEnd(&fill.getBody().emplaceBlock());
    for (auto [one, tile] : llvm::zip(ring.fetches, slot.getTiles()))
      for (AsyncCopyOp copy : getFills(one)) {
        auto filling = cast<AsyncCopyOp>(inside.clone(*copy, mapping));
        filling.getMemoryMutable().assign(tile);
        int64_t warps = wide ? wideFillWarps : fillWarps;
        filling.setTile(withWarps(filling.getTile(), warps));
        filling.setStored(withWarps(filling.getStored(), warps));
      }
  }

  // Carried values that no copy depends on, accumulators above all, stay behind.
  LogicalResult cloneLoop(scf::ForOp loop, OpBuilder &builder) {
    SmallVector<unsigned> kept;
    SmallVector<Value> inits;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (slice.contains(loop.getRegionIterArg(i))) {
        kept.push_back(i);
        inits.push_back(mapping.lookupOrDefault(loop.getInitArgs()[i]));
      }
    auto copy =
        scf::ForOp::create(builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                           mapping.lookupOrDefault(loop.getUpperBound()),
                           mapping.lookupOrDefault(loop.getStep()), inits);
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [i, old] : llvm::enumerate(kept)) {
      mapping.map(loop.getRegionIterArg(old), copy.getRegionIterArg(i));
      mapping.map(loop.getResult(old), copy.getResult(i));
    }
    // Without loop variables the builder has made the terminator already.
    if (inits.empty())
      copy.getBody()->getTerminator()->erase();
    OpBuilder inner = OpBuilder::atBlockEnd(copy.getBody());
    if (failed(cloneBlock(*loop.getBody(), inner)))
      return failure();
    SmallVector<Value> yields;
    for (unsigned old : kept)
      yields.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[old]));
    scf::YieldOp::create(inner, loop.getLoc(), yields);
    return success();
  }

  LogicalResult cloneBranch(scf::IfOp branch, OpBuilder &builder) {
    SmallVector<unsigned> kept;
    SmallVector<Type> types;
    for (unsigned i = 0; i < branch.getNumResults(); ++i)
      if (slice.contains(branch.getResult(i))) {
        kept.push_back(i);
        types.push_back(branch.getResult(i).getType());
      }
    // Both branches, or neither: an empty one still takes part in the order of trips.
    bool hasElse = !branch.getElseRegion().empty();
    auto copy =
        scf::IfOp::create(builder, branch.getLoc(), types,
                          mapping.lookupOrDefault(branch.getCondition()), /*addThenBlock=*/true,
                          /*addElseBlock=*/hasElse);
    for (auto [i, old] : llvm::enumerate(kept))
      mapping.map(branch.getResult(old), copy.getResult(i));
    auto fill = [&](Region &from, Region &to) {
      Block &block = to.front();
      if (!block.empty())
        block.back().erase();
      OpBuilder inner = OpBuilder::atBlockEnd(&block);
      if (failed(cloneBlock(from.front(), inner)))
        return failure();
      SmallVector<Value> yields;
      for (unsigned old : kept)
        yields.push_back(mapping.lookupOrDefault(from.front().getTerminator()->getOperand(old)));
      scf::YieldOp::create(inner, branch.getLoc(), yields);
      return success();
    };
    if (failed(fill(branch.getThenRegion(), copy.getThenRegion())))
      return failure();
    return hasElse ? fill(branch.getElseRegion(), copy.getElseRegion()) : success();
  }

  /// Values that the consumers compute from tiles: sent after their definition.
  /// A ring of scalars has two slots, so that the consumers may run one ahead.
  LogicalResult receive(Operation &op, OpBuilder &builder) {
    for (Value result : op.getResults()) {
      if (!slice.isSent(result))
        continue;
      Type type = result.getType();
      if (!type.isIntOrIndexOrFloat())
        return op.emitError("internal: expected a copy's coordinates to be scalars, found ")
               << type;
      Operation *split = builder.getInsertionBlock()->getParentOp();
      while (!isa<WarpSpecializeOp>(split))
        split = split->getParentOp();
      OpBuilder before(split);
      Value ring = RingOp::create(before, op.getLoc(), RingType::get(builder.getContext(), 2, {}),
                                  /*per_warp=*/false,
                                  /*clustered=*/false, /*across=*/IntegerAttr());
      OpBuilder sender(op.getContext());
      sender.setInsertionPointAfter(&op);
      ScalarSendOp::create(sender, op.getLoc(), ring, result);
      mapping.map(result, ScalarReceiveOp::create(builder, op.getLoc(), type, ring).getResult());
    }
    return success();
  }

  const Slice &slice;
  IRMapping mapping;
  DenseMap<Operation *, const RingFetches *> owners; // looked up only
};

} // namespace

/// Moves the producer's loads to where their places are known: they read what nothing writes, and
/// their latencies overlap.
static void loadEarly(Block &producer) {
  producer.walk([](LoadOp load) {
    Operation *last = nullptr;
    for (Value operand : load->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == load->getBlock() && (!last || last->isBeforeInBlock(def)))
        last = def;
    if (last)
      load->moveAfter(last);
  });
}

bool tile::gpu::isFill(AsyncCopyOp copy) {
  return copy.getMemory().getDefiningOp<TmaFetchOp>() && copy->getParentOp()->hasAttr(rareName);
}

bool tile::gpu::isFilledByThreads(TmaFetchOp fetch) {
  return fetch.getWhen() && matchPattern(fetch.getWhen(), m_Zero());
}

bool tile::gpu::canProducerCompute(Value value) {
  if (isScalarOrView(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isLocalToThreads(op) && llvm::all_of(op->getOperands(), canProducerCompute);
}

/// On entry `producer` is empty; on return it has all copies and the control flow around them, and
/// the consumers' block still has its fetches.
LogicalResult tile::gpu::buildProducer(Block &consumer, Block &producer,
                                       ArrayRef<RingFetches> rings) {
  Slice slice(consumer);
  for (const RingFetches &ring : rings)
    for (TmaFetchOp fetch : ring.fetches) {
      slice.requireAt(fetch);
      for (Value operand : fetch->getOperands())
        slice.require(operand);
      for (AsyncCopyOp copy : getFills(fetch))
        for (Value operand : copy->getOperands())
          if (operand != copy.getMemory())
            slice.require(operand);
    }
  // Maps by which the consumers store.
  consumer.walk([&](ViewDescriptorOp op) {
    slice.requireAt(op);
    for (Value operand : op->getOperands())
      slice.require(operand);
  });
  OpBuilder builder = OpBuilder::atBlockEnd(&producer);
  if (failed(Cloner(slice, rings).cloneBlock(consumer, builder)))
    return failure();
  loadEarly(producer);
  return success();
}
