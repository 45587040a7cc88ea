// Program order of the accesses to one tensor, where different threads of a block make them.
#include "passes/TileGPU/ProgramOrder.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/IndexBounds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// The view that an access goes through; null if `op` is none.
static Value getView(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getView();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getView();
  if (auto gather = dyn_cast<GatherOp>(op))
    return gather.getView();
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getView();
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return atomic.getView();
  return {};
}

/// The number of the parameter behind a view.
static unsigned getParameter(Value view) {
  while (!isa<ViewOp>(view.getDefiningOp()))
    view = view.getDefiningOp()->getOperand(0);
  return cast<BlockArgument>(view.getDefiningOp<ViewOp>().getBase()).getArgNumber();
}

namespace {

/// How a kernel uses one tensor.
/// Gathered in the order of the program, for each parameter; for all together where tensors may
/// overlap.
struct Uses {
  SmallVector<Operation *> accesses;
  bool loads = false, writes = false, elementwise = false;

  /// Atomics of one kind alone, of which nobody sees the order.
  /// Sums, maxima and the like, of which nobody reads a result.
  bool commute() const {
    auto first = dyn_cast<AtomicOp>(accesses.front());
    return first && llvm::all_of(accesses, [&](Operation *op) {
             auto atomic = dyn_cast<AtomicOp>(op);
             return atomic && atomic.getKind() == first.getKind() &&
                    atomic.getResult().use_empty() && atomic.getKind() != AtomicKind::Exchange &&
                    atomic.getKind() != AtomicKind::CompareExchange;
           });
  }

  /// Only one access, once.
  /// Once in a program there is nothing to order it with.
  bool isSingle() const {
    return accesses.size() == 1 && !accesses.front()->getParentOfType<LoopLikeOpInterface>();
  }
};

/// Which plain stores to one tensor must come after others because they may write the same
/// elements, by other threads.
class StoreOrder {
public:
  explicit StoreOrder(KernelOp kernel) : divisibility(kernel), bounds(kernel, divisibility) {}

  /// True if `later` may write what `earlier` has written: in the same iteration of all loops
  /// around both, or in a later one.
  /// Two stores of one thread keep the program's order by themselves; those of different threads
  /// need a barrier.
  bool mustFollow(StoreOp later, StoreOp earlier) {
    if (isScalar(later) && isScalar(earlier)) // one thread makes both
      return false;
    if (later.getOperation() != earlier.getOperation() && comesBefore(earlier, later) &&
        !isApart(earlier, later))
      return true;
    // Also with itself, from one trip to the next.
    for (Operation *loop = later->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      if (loop->isAncestor(earlier) && !isApartBetweenIterations(earlier, later, loop))
        return true;
    return false;
  }

private:
  static bool isScalar(StoreOp store) { return !isa<RankedTensorType>(store.getValue().getType()); }

  /// Whether both may happen in this order in one iteration of what is around both; not so in two
  /// branches.
  /// Of two branches only one runs; a loop's body comes before itself in the next trip.
  static bool comesBefore(StoreOp earlier, StoreOp later) {
    Operation *a = earlier, *b = later;
    while (a->getBlock() != b->getBlock()) {
      Operation *above = a->getParentOp();
      for (; !above->isAncestor(b); above = above->getParentOp())
        a = above;
      Operation *beside = a->getBlock()->findAncestorOpInBlock(*b);
      if (!beside) // in another region: of a branch only one is taken, of a loop both
        return isa<LoopLikeOpInterface>(above);
      b = beside;
    }
    return a->isBeforeInBlock(b);
  }

  /// Whether some dimension keeps the two apart within one iteration of the loops around both.
  /// By linear positions: one starts at or behind the other's end, along any dimension, for all
  /// values of the program.
  bool isApart(StoreOp earlier, StoreOp later) {
    if (earlier.getView() != later.getView())
      return false;
    for (unsigned dim = 0; dim < later.getStarts().size(); ++dim)
      for (const auto &distances :
           {getDistances(earlier, later, dim), getDistances(later, earlier, dim)})
        if (llvm::any_of(distances,
                         [&](const Linear &distance) { return bounds.isNonNegative(distance); }))
          return true;
    return false;
  }

  /// The same where `later` is in a later iteration of `around` than `earlier`, and in the same of
  /// the loops around that.
  /// Apart by at least one step of the loop: with what the position grows in a step.
  bool isApartBetweenIterations(StoreOp earlier, StoreOp later, Operation *around) {
    auto loop = dyn_cast<scf::ForOp>(around);
    if (!loop || earlier.getView() != later.getView() || isInside(around, earlier.getView()))
      return false;
    int64_t step = std::max<int64_t>(getConstantIntValue(loop.getStep()).value_or(1), 1);
    for (unsigned dim = 0; dim < later.getStarts().size(); ++dim) {
      // A position that grows with the loop's variable and nothing else in the loop is a step
      // further in each iteration.
      Linear start = bounds.linear(later.getStarts()[dim]);
      // The only dependence on the loop must be its variable, times a constant.
      auto growth = llvm::find_if(start.terms, [&](const auto &term) {
        return term.first.value == loop.getInductionVar();
      });
      if (growth == start.terms.end())
        continue;
      Linear::Number factor = growth->second;
      bool grows = factor > Linear::Number(0);
      start.terms.erase(growth);
      if (dependsOn(start, around))
        continue;
      for (Linear &distance :
           grows ? getDistances(earlier, later, dim) : getDistances(later, earlier, dim)) {
        distance += Linear(step) * (grows ? factor : factor * Linear::Number(-1));
        if (!dependsOn(distance, around) && bounds.isNonNegative(distance))
          return true;
      }
    }
    return false;
  }

  /// How far `behind` starts behind the last position of `store` along a dimension, and behind its
  /// end: 0 is next to it.
  /// 0 or more where `behind` is clear of `store`.
  SmallVector<Linear, 2> getDistances(StoreOp store, StoreOp behind, unsigned dim) {
    int64_t size = store.getSizes()[dim];
    Linear start = bounds.linear(behind.getStarts()[dim]);
    SmallVector<Linear, 2> result = {start - bounds.linear(store.getStarts()[dim]) -
                                     Linear(size < 0 ? 1 : (size - 1) * store.getSteps()[dim] + 1)};
    if (Value end = store.getEnd(dim))
      result.push_back(start - bounds.linear(end));
    return result;
  }

  static bool dependsOn(const Linear &expression, Operation *around) {
    return llvm::any_of(expression.terms,
                        [&](const auto &term) { return isInside(around, term.first.value); });
  }

  static bool isInside(Operation *around, Value value) {
    return value && around->isAncestor(value.getParentRegion()->getParentOp());
  }

  DivisibilityAnalysis divisibility;
  IndexBounds bounds;
};

} // namespace

/// Of a tensor with nothing but plain stores.
/// Plain stores alone conflict with each other only; a barrier goes before each that may overwrite
/// another's element.
static void orderStores(KernelOp kernel, ArrayRef<Operation *> stores) {
  StoreOrder order(kernel);
  SmallVector<Operation *> behind;
  for (Operation *later : stores)
    if (llvm::any_of(stores, [&](Operation *earlier) {
          return order.mustFollow(cast<StoreOp>(later), cast<StoreOp>(earlier));
        }))
      behind.push_back(later);
  for (Operation *store : behind) {
    OpBuilder builder(store);
    BarrierOp::create(builder, store->getLoc());
  }
}

/// Barriers at the level of the block; between programs the language promises no order.
void tile::gpu::orderAccesses(KernelOp kernel) {
  SmallVector<Uses> uses(kernel.getParams().size());
  bool mayAlias = kernel->hasAttr(mayAliasName);
  kernel.getBody().walk([&](Operation *op) {
    Value view = getView(op);
    if (!view)
      return;
    Uses &tensor = uses[mayAlias ? 0 : getParameter(view)]; // any two may be the same memory
    tensor.accesses.push_back(op);
    tensor.loads |= isa<LoadOp, GatherOp>(op);
    tensor.writes |= isa<StoreOp, ScatterOp, AtomicOp>(op);
    tensor.elementwise |= isa<ScatterOp, AtomicOp>(op);
  });
  for (Uses &tensor : uses) {
    // Loads and writes of one tensor, or writes element by element: order by barriers before each
    // access.
    bool conflicts = tensor.writes && (tensor.loads || tensor.elementwise || mayAlias);
    if (tensor.writes && !conflicts && !tensor.isSingle())
      orderStores(kernel, tensor.accesses);
    if (!conflicts || tensor.isSingle() || tensor.commute())
      continue;
    for (Operation *op : tensor.accesses) {
      OpBuilder builder(op);
      BarrierOp::create(builder, op->getLoc());
    }
  }
}
