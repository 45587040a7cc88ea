// Writes a loop whose loads are made a trip ahead.
//
//   for i: x = load(i); use(x)   ->   x = load(0); for i: x' = load(i + 1); use(x); x = x'
#include "passes/TileGPU/PrefetchedLoop.h"
#include "dialect/ProgramNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/DotSelection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Clones what the plan needs, for the trip `counter`; the values loaded.
static SmallVector<Value> load(const PrefetchPlan &plan, OpBuilder &b, Value counter) {
  IRMapping mapping;
  scf::ForOp loop = plan.loop;
  mapping.map(loop.getInductionVar(), counter);
  for (Operation *op : plan.needed) {
    Operation *copy = b.clone(*op, mapping);
    if (isa<LoadOp>(copy))
      copy->setAttr(aheadName, b.getUnitAttr());
  }
  return llvm::map_to_vector(plan.loads, [&](LoadOp op) { return mapping.lookup(op.getResult()); });
}

static bool hasTrips(scf::ForOp loop) {
  APInt low, high;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)))
    return false;
  if (auto dim = loop.getUpperBound().getDefiningOp<DimOp>())
    return dim.getDim().getMin() > low.getSExtValue();
  return matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) && low.slt(high);
}

/// The loads of the first trip; padding where there is none.
static SmallVector<Value> loadFirst(const PrefetchPlan &plan, OpBuilder &b) {
  scf::ForOp loop = plan.loop;
  Location loc = loop.getLoc();
  if (!plan.clamps || hasTrips(loop))
    return load(plan, b, loop.getLowerBound());
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                       loop.getUpperBound());
  SmallVector<Type> types = llvm::map_to_vector(plan.loads, [](LoadOp op) { return op.getType(); });
  auto branch = scf::IfOp::create(b, loc, types, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, load(plan, b, loop.getLowerBound()));
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> nothing;
  for (Type type : types) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr zero = b.getZeroAttr(element);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      zero = DenseElementsAttr::get(tile, Attribute(zero));
    nothing.push_back(arith::ConstantOp::create(b, loc, zero));
  }
  scf::YieldOp::create(b, loc, nothing);
  return SmallVector<Value>(branch.getResults());
}

/// True for what costs no instruction: threads have the registers already.
static bool isFree(Operation *op) {
  return isa<ReshapeOp, BroadcastOp, PermuteOp, tensor::SplatOp>(op);
}

/// Adds the operations of the body that `op` hangs on, and `op`, to `found`; false if that is more
/// than arithmetic, what the loop carries, and what the plan loads.
static bool collectSlice(const PrefetchPlan &plan, Operation *op,
                         llvm::SetVector<Operation *> &found) {
  scf::ForOp loop = plan.loop;
  if (found.contains(op) || llvm::is_contained(plan.loads, op))
    return true;
  if (op->getBlock() != loop.getBody() || op->getNumRegions() || !isPure(op) ||
      isa<TileGPUDialect>(op->getDialect()))
    return false;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && !loop.isDefinedOutsideOfLoop(operand) && !collectSlice(plan, source, found))
      return false;
  found.insert(op);
  return true;
}

namespace {

/// What is computed first from the values that a plan loads.
struct FirstUses {
  SmallVector<Operation *> uses;       // empty: not known, or not worth it
  llvm::SetVector<Operation *> needed; // these, and what they hang on, each behind its operands
};

} // namespace

/// The first uses of all that the plan loads, if they are few registers, as the product of two
/// scales is, and hang on nothing else that the trip brings. What stands behind a product that is
/// in flight has its time already.
static FirstUses findFirstUses(const PrefetchPlan &plan) {
  scf::ForOp loop = plan.loop;
  FirstUses found;
  llvm::SetVector<Operation *> uses;
  SmallVector<Operation *> pending(plan.loads.begin(), plan.loads.end());
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val()->getUsers()) {
      if (user->getBlock() != loop.getBody() || user->getNumResults() != 1)
        return {};
      bool isTile = isa<RankedTensorType>(user->getResult(0).getType());
      if (isFree(user) || (!isTile && isPure(user)))
        pending.push_back(user);
      else
        uses.insert(user);
    }
  WgmmaOp product; // the first one that is in flight
  for (WgmmaOp each : loop.getBody()->getOps<WgmmaOp>())
    if (!product && each.getAsync())
      product = each;
  int64_t registers = 0;
  for (Operation *use : uses) {
    auto tile = dyn_cast<RankedTensorType>(use->getResult(0).getType());
    constexpr int64_t word = 32;
    if (!tile || getElementBits(tile.getElementType()) != word ||
        (product && product->isBeforeInBlock(use)) || !collectSlice(plan, use, found.needed))
      return {};
    registers += countRegisters(tile);
  }
  if (registers <= mostPrefetchedRegisters)
    found.uses = uses.takeVector();
  return found;
}

/// The loads of the trip behind the one that runs, at its beginning. In a loop with fetches behind
/// what fences, which would wait for them: operands that it stores for wgmma, and reads of fetched
/// tiles before the first product, whose slots go back. And behind the first uses of this trip's
/// values, so that the next ones take the same registers: ptxas would copy them from others as soon
/// as these are free, before the product, and a copy waits for its load.
static SmallVector<Value> loadNext(const PrefetchPlan &plan, RewriterBase &b) {
  scf::ForOp loop = plan.loop;
  Location loc = loop.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  if (plan.fetches) {
    bool multiplied = false;
    for (Operation &op : *loop.getBody()) {
      multiplied |= isa<WgmmaOp>(op);
      auto read = dyn_cast<LocalLoadOp>(op);
      if (isa<LocalAllocOp>(op) ||
          (read && !multiplied && read.getSource().getDefiningOp<TmaFetchOp>()))
        b.setInsertionPointAfter(&op);
    }
    FirstUses first = findFirstUses(plan);
    Operation *place = &*b.getInsertionPoint();
    for (Operation *op : first.needed)
      if (op == place)
        place = op->getNextNode();
      else if (!first.uses.empty() && place->isBeforeInBlock(op))
        op->moveBefore(place);
    b.setInsertionPoint(place);
    for (Operation *use : first.uses) {
      Value now = OptimizationBarrierOp::create(b, use->getLoc(), use->getResult(0).getType(),
                                                use->getResult(0));
      b.replaceUsesWithIf(use->getResult(0), now, [&](OpOperand &operand) {
        Operation *user = loop.getBody()->findAncestorOpInBlock(*operand.getOwner());
        return now.getDefiningOp()->isBeforeInBlock(user);
      });
    }
  }
  Value counter = loop.getInductionVar(),
        next = arith::AddIOp::create(b, loc, counter, loop.getStep());
  if (plan.clamps) { // the last trip loads its own once more
    Value exists =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
    next = arith::SelectOp::create(b, loc, exists, next, counter);
  }
  return load(plan, b, next);
}

bool tile::gpu::hasFirstUses(const PrefetchPlan &plan) { return !findFirstUses(plan).uses.empty(); }

void tile::gpu::prefetch(const PrefetchPlan &plan) {
  scf::ForOp loop = plan.loop;
  IRRewriter rewriter(loop);
  // Stores before the loop are made by other threads than those that load now.
  if (plan.written)
    BarrierOp::create(rewriter, loop.getLoc());
  SmallVector<Value> first = loadFirst(plan, rewriter), next = loadNext(plan, rewriter);
  unsigned carried = loop.getNumRegionIterArgs();
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return next; }));
  for (auto [i, old] : llvm::enumerate(plan.loads))
    rewriter.replaceOp(old, made.getRegionIterArg(carried + i));
}
