// tile-gpu-prefetch-coordinates: consumers send the producer the coordinates of the next program's
// copies before they work on this program, so that the copies run under that work.
//
//   before   consumers  | send p | work p        | send q | work q
//            producer            | copies of p            | copies of q
//   after    consumers  | send p, q | work p     | send r | work q
//            producer            | copies of p | copies of q  ...
//
// Coordinates that are computed on the producer's side need nothing of this. What a send depends on
// is computed twice as long ahead, so it must be repeatable: it reads memory that nothing writes.
//
// Small tiles that the next program loads at places known by then, as the numbers of the rows that
// it gathers, are loaded with them: the work on this program hides how long that takes.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUPREFETCHCOORDINATES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The slice of one iteration of the loop over programs that its sends depend on: operations that
/// are cloned as they are, and branches around sends, of which the slice holds such operations
/// only.
class SendSlice {
public:
  explicit SendSlice(scf::ForOp loop) : loop(loop) {}

  /// False if the sends depend on what cannot be computed a trip earlier.
  /// Carried values of the loop over programs would make a program depend on the one before.
  bool collect() {
    if (loop.getNumRegionIterArgs())
      return false;
    loop.getBody()->walk([&](ScalarSendOp send) { sends.push_back(send); });
    for (ScalarSendOp send : sends) {
      // Branches are taken again for the next program; their conditions must be known ahead as
      // well.
      for (Operation *parent = send->getParentOp(); parent != loop;
           parent = parent->getParentOp()) {
        auto branch = dyn_cast<scf::IfOp>(parent);
        if (!branch)
          return false; // a loop in a program: the producer has others to fetch for meanwhile
        if (branches.insert(branch).second && !require(branch.getCondition()))
          return false;
      }
      if (!require(send.getValue()))
        return false;
    }
    return !sends.empty();
  }

  /// Copies the slice to `builder` for the program of `mapping`. Returns the values sent, zeros
  /// where a branch is not taken.
  /// One yield for each send: the structure of branches stays, values come out of them.
  SmallVector<Value> clone(OpBuilder &builder, IRMapping &mapping) {
    DenseMap<Operation *, Value> sent; // looked up only
    cloneBlock(*loop.getBody(), builder, mapping, sent);
    SmallVector<Value> values;
    for (ScalarSendOp send : sends)
      values.push_back(sent.lookup(send));
    return values;
  }

  ArrayRef<ScalarSendOp> getSends() const { return sends; }

  /// Loads of a program, in no loop of it, that can be made as early as the sends.
  SmallVector<LoadOp> findLoads() {
    SmallVector<LoadOp> loads;
    int64_t registers = 0;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<LoopLikeOpInterface>(op))
        return WalkResult::skip();
      auto load = dyn_cast<LoadOp>(op);
      if (!load || whole.contains(load) || !canCompute(load))
        return WalkResult::advance();
      auto type = dyn_cast<RankedTensorType>(load.getType());
      int64_t more = type ? getLayout(type).getNumRegisters() : 1;
      if (registers + more <= mostRegisters) {
        registers += more;
        loads.push_back(load);
      }
      return WalkResult::advance();
    });
    return loads;
  }

  /// Copies what `value` is computed from, as far as `mapping` does not have it.
  Value cloneFor(Value value, OpBuilder &builder, IRMapping &mapping) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value) || !op || !loop->isProperAncestor(op))
      return mapping.lookupOrDefault(value);
    for (Value operand : op->getOperands())
      cloneFor(operand, builder, mapping);
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

private:
  // Collects operations to clone, operands first by recursion. `whole` are cloned with their
  // regions.
  bool require(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) { // an argument: of the loop over programs, or of what encloses it
      Operation *owner = value.getParentBlock()->getParentOp();
      return owner == loop || !loop->isAncestor(owner);
    }
    if (!loop->isProperAncestor(op) || !whole.insert(op).second)
      return true;
    // A branch that holds sends is cloned by its parts, so that nothing may depend on it as a
    // whole.
    if (branches.contains(op) || !isRematerializable(op))
      return false;
    bool possible = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *owner = operand.getParentBlock()->getParentOp(); !op->isAncestor(owner))
          possible &= require(operand);
    });
    return possible;
  }

  // True if what is in no branch, or may be computed without being needed, gives the operation. Its
  // bounds are checked wherever the access is made.
  bool canCompute(Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if (load ? !readsConstantMemory(load) || llvm::is_contained(load.getInBounds(), true)
             : !isMemoryEffectFree(op) || op->getNumRegions() ||
                   (op->getBlock() != loop.getBody() && !isSpeculatable(op)))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (!def)
        return operand == loop.getInductionVar() ||
               !loop->isAncestor(operand.getParentBlock()->getParentOp());
      return !loop->isProperAncestor(def) || canCompute(def);
    });
  }

  // A trip early: memory that this kernel writes could be read before it is written.
  static bool isRematerializable(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return readsConstantMemory(load);
    return isMemoryEffectFree(op);
  }

  void cloneBlock(Block &source, OpBuilder &builder, IRMapping &mapping,
                  DenseMap<Operation *, Value> &sent) {
    for (Operation &op : source.without_terminator()) {
      if (branches.contains(&op)) {
        cloneBranch(cast<scf::IfOp>(op), builder, mapping, sent);
      } else if (auto send = dyn_cast<ScalarSendOp>(op)) {
        // The copy sends; the value is noted for the loop to carry.
        builder.clone(op, mapping);
        sent[send] = mapping.lookupOrDefault(send.getValue());
      } else if (whole.contains(&op)) {
        builder.clone(op, mapping);
      }
    }
  }

  void cloneBranch(scf::IfOp branch, OpBuilder &builder, IRMapping &mapping,
                   DenseMap<Operation *, Value> &sent) {
    SmallVector<ScalarSendOp> inside;
    branch.walk([&](ScalarSendOp send) { inside.push_back(send); });
    SmallVector<Type> types;
    for (ScalarSendOp send : inside)
      types.push_back(send.getValue().getType());
    auto copy = scf::IfOp::create(builder, branch.getLoc(), types,
                                  mapping.lookupOrDefault(branch.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
    // Both regions, as each must yield; a region without the send yields zeros, which nobody
    // receives.
    for (auto [from, to] : {std::pair(&branch.getThenRegion(), copy.thenBlock()),
                            {&branch.getElseRegion(), copy.elseBlock()}}) {
      if (!to->empty())
        to->clear();
      OpBuilder inner = OpBuilder::atBlockEnd(to);
      DenseMap<Operation *, Value> sentHere;
      if (!from->empty())
        cloneBlock(from->front(), inner, mapping, sentHere);
      SmallVector<Value> yields;
      for (auto [send, type] : llvm::zip(inside, types)) {
        Value value = sentHere.lookup(send);
        yields.push_back(
            value ? value
                  : arith::ConstantOp::create(inner, branch.getLoc(), inner.getZeroAttr(type)));
      }
      scf::YieldOp::create(inner, branch.getLoc(), yields);
    }
    for (auto [send, result] : llvm::zip(inside, copy.getResults()))
      sent[send] = result;
  }

  /// Registers of a thread that such loads may take from one program to the next.
  static constexpr int64_t mostRegisters = 8;

  scf::ForOp loop;
  SmallVector<ScalarSendOp> sends;
  DenseSet<Operation *> branches, whole; // looked up only
};

/// `slice` for program `program`, if there is such a one; the values sent and loaded, or zeros.
/// The next program may not exist: then nothing is sent, and the producer, which counts the same
/// programs, waits for nothing.
SmallVector<Value> cloneIfInside(SendSlice &slice, ArrayRef<LoadOp> loads, scf::ForOp loop,
                                 Value program, OpBuilder &builder) {
  Location loc = loop.getLoc();
  SmallVector<Type> types;
  for (ScalarSendOp send : slice.getSends())
    types.push_back(send.getValue().getType());
  for (LoadOp load : loads)
    types.push_back(load.getType());
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, program, loop.getUpperBound());
  auto branch =
      scf::IfOp::create(builder, loc, types, exists, /*addThenBlock=*/true, /*addElseBlock=*/true);
  branch.thenBlock()->clear();
  branch.elseBlock()->clear();
  OpBuilder inner = OpBuilder::atBlockEnd(branch.thenBlock());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), program);
  SmallVector<Value> sent = slice.clone(inner, mapping);
  // What was copied into a branch is not there behind it.
  IRMapping outside;
  outside.map(loop.getInductionVar(), program);
  for (auto [send, value] : llvm::zip(slice.getSends(), sent))
    outside.map(ScalarSendOp(send).getValue(), value);
  for (LoadOp load : loads)
    sent.push_back(slice.cloneFor(load.getResult(), inner, outside));
  scf::YieldOp::create(inner, loc, sent);
  inner.setInsertionPointToEnd(branch.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(arith::ConstantOp::create(inner, loc, inner.getZeroAttr(type)));
  scf::YieldOp::create(inner, loc, zeros);
  return SmallVector<Value>(branch.getResults());
}

/// Ahead of the loop the first program's values are sent; in each trip those of the next.
void prefetchCoordinates(scf::ForOp loop) {
  SendSlice slice(loop);
  if (!slice.collect())
    return;
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<LoadOp> loads = slice.findLoads();
  SmallVector<Value> first = cloneIfInside(slice, loads, loop, loop.getLowerBound(), builder);
  // Values sent are carried, as this program's work uses them too.
  auto ahead = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(),
                                  loop.getStep(), first);
  builder.setInsertionPointToStart(ahead.getBody());
  Value next = arith::AddIOp::create(builder, loc, ahead.getInductionVar(), loop.getStep());
  // The copy stands before its original, whose values it takes from the block that is still the old
  // loop's.
  SmallVector<Value> sent = cloneIfInside(slice, loads, loop, next, builder);
  for (auto [load, value] :
       llvm::zip(loads, ahead.getRegionIterArgs().drop_front(slice.getSends().size()))) {
    load.getResult().replaceAllUsesWith(value);
    load.erase();
  }
  SmallVector<Operation *> computed;
  for (auto [send, value] : llvm::zip(slice.getSends(), ahead.getRegionIterArgs())) {
    // Originals go, and with them what only they needed.
    computed.push_back(ScalarSendOp(send).getValue().getDefiningOp());
    ScalarSendOp(send).getValue().replaceAllUsesWith(value);
    ScalarSendOp(send).erase();
  }
  // Reductions are shuffles later, which no other pass removes.
  for (Operation *op : llvm::reverse(computed))
    if (op && isOpTriviallyDead(op))
      op->erase();
  Block *body = ahead.getBody();
  loop.getInductionVar().replaceAllUsesWith(ahead.getInductionVar());
  loop.getBody()->getTerminator()->erase();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, sent);
  loop.erase();
}

struct TileGPUPrefetchCoordinates
    : tile::impl::TileGPUPrefetchCoordinatesBase<TileGPUPrefetchCoordinates> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel.getBody().walk([](WarpSpecializeOp split) {
        // The loop over programs is in the consumers' block itself.
        for (auto loop :
             llvm::make_early_inc_range(split.getConsumer().front().getOps<scf::ForOp>()))
          if (loop->getParentOfType<KernelOp>()->hasAttr(persistentGridName))
            prefetchCoordinates(loop);
      });
  }
};

} // namespace
