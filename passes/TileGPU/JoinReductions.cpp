// tile-gpu-join-reductions: reductions that do not wait for each other exchange at one barrier.
//
//   m = max(a)                     p = warp's max(a)
//   t = maximum(m, m0)             q = warp's max(b)
//   n = max(b)              ->     m, n = join p, q       one barrier
//   u = maximum(n, n0)             t = maximum(m, m0)
//                                  u = maximum(n, n0)
//
// A reduction across warps costs a store to shared memory, a barrier and a load, for which a block
// waits: of several numbers hardly longer than of one. From the first reduction of a block on all
// is put off but other reductions, and what these are computed from:
//
//   for each operation of a block, in order
//     reduces across warps, and does not wait for another   begins here, its operands before it
//     has effects, or ends the block                        first the exchange, then what was put
//                                                           off, likewise
//     else                                                  put off
//
// Tiles that operations which were put off read live longer: where a thread would hold too many
// registers of them, the block stays as it is.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Report/Declined.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUJOINREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Registers of tiles that a thread may come to hold: with addresses and what is computed beside,
/// as many threads fit as hide each other's waits.
static constexpr int64_t mostRegisters = 64;

/// A reduction whose exchange can be another's, too.
static bool isJoinable(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || getSharedNeed(op).use != SharedUse::ScratchBlock)
    return false;
  std::optional<int64_t> axis = reduce.getAxis();
  if (!axis)
    return true;
  // What moves along the axis moves along no other: the rest has a place of its own.
  LinearLayout layout = getLayout(reduce.getSource().getType());
  for (InDim in : {InDim::Register, InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(in))
      if (basis[*axis] && llvm::count(basis, 0) + 1 != int64_t(basis.size()))
        return false;
  return true;
}

/// True for an operation that may change places with others that have no effects.
static bool isMovable(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return readsConstantMemory(load);
  return isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>();
}

/// True if the block's operations are scheduled by others: products, copies, rings.
static bool isScheduled(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto isOther = [](Type type) {
      return !isa<RankedTensorType, ViewType>(type) && isa<TileGPUDialect>(type.getDialect());
    };
    return isa<DotOp, MmaOp, WgmmaOp, FmaDotOp>(op) ||
           llvm::any_of(op.getOperandTypes(), isOther) ||
           llvm::any_of(op.getResultTypes(), isOther);
  });
}

namespace {

/// A block's operations in another order, and the reductions that exchange together.
class Order {
public:
  /// Reductions with one exchange, which stands behind `last`.
  struct Group {
    SmallVector<ReduceOp> members;
    Operation *last;
  };

  explicit Order(Block &block) {
    SmallVector<Operation *> all;
    for (Operation &op : block.without_terminator())
      all.push_back(&op);
    visit(all);
  }

  /// True if there is something to join.
  bool joins() const {
    return llvm::any_of(groups, [](const Group &group) { return group.members.size() > 1; });
  }

  SmallVector<Operation *> operations;
  SmallVector<Group> groups;

private:
  /// The operations that the operands of `op` come from, and of what stands inside of it.
  static SmallVector<Operation *> getSources(Operation *op) {
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    if (op->getNumRegions())
      getUsedValuesDefinedAbove(op->getRegions(), values);
    SmallVector<Operation *> sources;
    for (Value value : values)
      if (Operation *source = value.getDefiningOp())
        sources.push_back(source);
    return sources;
  }

  void visit(ArrayRef<Operation *> todo) {
    SmallVector<ReduceOp> begun;
    SmallVector<Operation *> putOff;
    DenseSet<Operation *> waiting; // looked up only: reductions begun, and what needs them
    auto exchange = [&] {
      if (begun.empty())
        return;
      groups.push_back({std::move(begun), operations.back()});
      SmallVector<Operation *> next = std::move(putOff);
      begun.clear();
      putOff.clear();
      waiting.clear();
      visit(next);
    };
    for (Operation *op : todo) {
      if (!isMovable(op))
        exchange();
      bool waits =
          llvm::any_of(getSources(op), [&](Operation *each) { return waiting.contains(each); });
      if (!waits && isJoinable(op)) {
        begin(op, putOff);
        begun.push_back(cast<ReduceOp>(op));
      } else if (begun.empty()) {
        operations.push_back(op);
        continue;
      } else {
        putOff.push_back(op);
      }
      if (waits || isJoinable(op))
        waiting.insert(op);
    }
    exchange();
  }

  /// Emits `op`, and before it what it needs of the operations that were put off.
  void begin(Operation *op, SmallVector<Operation *> &putOff) {
    DenseSet<Operation *> needed = {op}; // looked up only
    for (Operation *each : llvm::reverse(putOff))
      if (llvm::any_of(each->getUsers(), [&](Operation *user) {
            return needed.contains(op->getBlock()->findAncestorOpInBlock(*user));
          }))
        needed.insert(each);
    for (Operation *each : putOff)
      if (needed.contains(each))
        operations.push_back(each);
    llvm::erase_if(putOff, [&](Operation *each) { return needed.contains(each); });
    operations.push_back(op);
  }
};

} // namespace

static void arrange(Block &block, ArrayRef<Operation *> operations) {
  for (Operation *op : operations)
    op->moveBefore(block.getTerminator());
}

/// Replaces the group's reductions: each warp's share stands where the reduction was.
static void join(const Order::Group &group) {
  SmallVector<Value> parts;
  SmallVector<int32_t> kinds;
  SmallVector<int64_t> axes;
  SmallVector<Type> types;
  for (ReduceOp reduce : group.members) {
    OpBuilder b(reduce);
    RankedTensorType source = reduce.getSource().getType();
    LinearLayout layout = getWarpReduceLayout(getLayout(source), reduce.getAxis());
    auto type =
        withLayout(RankedTensorType::get(layout.getShape(), source.getElementType()), layout);
    auto part = WarpReduceOp::create(b, reduce.getLoc(), type, reduce.getKind(), reduce.getSource(),
                                     reduce.getAxisAttr());
    part->setDiscardableAttrs(reduce->getDiscardableAttrDictionary());
    parts.push_back(part);
    kinds.push_back(int32_t(reduce.getKind()));
    axes.push_back(reduce.getAxis().value_or(0));
    types.push_back(reduce.getType());
  }
  ReduceOp first = group.members.front();
  OpBuilder b(first);
  if (auto last = dyn_cast<ReduceOp>(group.last); last == group.members.back())
    b.setInsertionPoint(last);
  else
    b.setInsertionPointAfter(group.last);
  auto joined = JoinWarpsOp::create(b, first.getLoc(), types, parts, kinds, axes);
  for (auto [reduce, result] : llvm::zip(group.members, joined.getResults())) {
    ReduceOp(reduce).replaceAllUsesWith(result);
    ReduceOp(reduce).erase();
  }
}

static void visitBlock(Block &block, KernelOp kernel) {
  if (block.empty() || isScheduled(block))
    return;
  Order order(block);
  if (!order.joins())
    return;
  SmallVector<Operation *> before;
  for (Operation &op : block.without_terminator())
    before.push_back(&op);
  int64_t registers = countLiveRegisters(kernel);
  arrange(block, order.operations);
  int64_t needed = countLiveRegisters(kernel);
  if (needed > std::max(registers, mostRegisters)) {
    arrange(block, before);
    declined(block.getParentOp()) << "tiles would take " + std::to_string(needed) +
                                         " registers of a thread while reductions wait for each "
                                         "other, and " +
                                         std::to_string(mostRegisters) + " are the most";
    return;
  }
  for (const Order::Group &group : order.groups)
    if (group.members.size() > 1)
      join(group);
}

namespace {

struct TileGPUJoinReductions : tile::impl::TileGPUJoinReductionsBase<TileGPUJoinReductions> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<Block *> blocks;
      kernel.getBody().walk([&](ReduceOp reduce) {
        if (!llvm::is_contained(blocks, reduce->getBlock()))
          blocks.push_back(reduce->getBlock());
      });
      for (Block *block : blocks)
        visitBlock(*block, kernel);
    }
  }
};

} // namespace
