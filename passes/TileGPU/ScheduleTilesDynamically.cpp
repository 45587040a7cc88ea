// tile-gpu-schedule-tiles-dynamically: a dynamic tile scheduler. Each block of a persistent kernel
// takes the next program when it is done with one, if programs differ in length.
//
// Programs that have nothing to do count: beside them all others are alike, and blocks that count
// through fixed shares drift apart, so that those which read the same operand no longer meet in L2.
//
// Shares that are dealt out beforehand would not be equal: block b would always meet programs of
// the same kind, as causal attention's, whose rows end at their diagonal. So the producer takes
// programs from a count in scratch memory, and tells the consumers, who are at the one before.
//
//   producer   | copies of p | take q, send it | copies of q | take r, send it | copies of r ...
//   consumers      | work on p                     | receive q: work on q        | receive r ...
//
// Programs that turn out to have nothing to do, as those past the end of a packed sequence, the
// producer passes over: it tests them as both sides would, and takes the next one while the
// consumers still work. To the consumers each would be a number to wait for and a test of its own.
//
// A block's first program is its own number, the count begins behind those of all blocks. The ring
// that programs go through has one slot: the producer is one program ahead, no more. The number
// that ends the loop is sent like any other, so both sides end after the same program.
//
// Where consumers send the next program's coordinates ahead, its number is taken before the copies
// of this one, and received before the work on it:
//
//   producer   | take q, send it | copies of p | take r, send it | copies of q ...
//   consumers  | receive q, send its coordinates | work on p | receive r, send its coordinates ...
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Report/Declined.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSCHEDULETILESDYNAMICALLY
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The loop over programs in one side's block: from the block's number on. Null if there is none,
/// or not only one.
scf::ForOp findLoop(Block &block) {
  scf::ForOp found;
  for (auto loop : block.getOps<scf::ForOp>()) {
    auto id = loop.getLowerBound().getDefiningOp<BlockIdOp>();
    if (!id || loop.getLowerBound() != id.getBlock())
      continue;
    if (found)
      return {};
    found = loop;
  }
  return found;
}

/// True if `value`, within `loop`, may differ between its trips.
bool varies(Value value, scf::ForOp loop, DenseSet<Value> &seen) {
  if (loop.isDefinedOutsideOfLoop(value) || !seen.insert(value).second)
    return false;
  Operation *op = value.getDefiningOp();
  if (!op) // the program's number, or what an inner loop carries
    return true;
  return op->getNumRegions() || !op->getNumOperands() ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return varies(operand, loop, seen); });
}

/// True if a value that a load gives, and that may differ between `loop`'s trips, is in what
/// `value` is computed from.
bool variesByData(Value value, scf::ForOp loop, DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || loop.isDefinedOutsideOfLoop(value) || !seen.insert(value).second)
    return false;
  DenseSet<Value> places;
  return (isa<LoadOp>(op) && varies(value, loop, places)) ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return variesByData(operand, loop, seen); });
}

/// True if a loop in the programs makes more trips in some than in others, or none at all. The
/// bounds of a split loop tell its parts apart, whose trips are as many: those of `parts` are
/// uneven by what is loaded, as the lengths of sequences are.
bool isUneven(scf::ForOp loop, bool parts) {
  auto differs = [&](Value value) {
    DenseSet<Value> seen;
    return parts ? variesByData(value, loop, seen) : varies(value, loop, seen);
  };
  bool uneven = false;
  loop.getBody()->walk([&](scf::IfOp branch) {
    bool loops = branch.walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    uneven |= loops && differs(branch.getCondition());
  });
  loop.getBody()->walk([&](scf::ForOp inner) {
    for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
      uneven |= !bound.getDefiningOp<arith::ConstantOp>() && differs(bound);
  });
  return uneven;
}

/// The next program's number as a side computes it ahead from this one's; null if it does not.
arith::AddIOp findNext(scf::ForOp loop) {
  for (auto add : loop.getBody()->getOps<arith::AddIOp>())
    if (add.getLhs() == loop.getInductionVar() && add.getRhs() == loop.getStep())
      return add;
  return {};
}

/// A test by which a program of a loop turns out to have nothing to do.
struct IdleTest {
  Value condition;
  bool isIdle = true; ///< what the condition is then
};

/// Such a test of a side's loop, if all that has an effect stands in one branch of it.
std::optional<IdleTest> findIdleTest(scf::ForOp loop) {
  std::optional<IdleTest> found;
  if (loop.getNumRegionIterArgs())
    return {};
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      auto isEmpty = [](Region &region) {
        return region.empty() || region.front().without_terminator().empty();
      };
      bool idleThen = isEmpty(branch.getThenRegion()), idleElse = isEmpty(branch.getElseRegion());
      if (found || branch.getNumResults() || idleThen == idleElse)
        return {};
      found = IdleTest{branch.getCondition(), idleThen};
      continue;
    }
    auto load = dyn_cast<LoadOp>(op);
    if (op.getNumRegions() || !(isMemoryEffectFree(&op) || (load && readsConstantMemory(load))))
      return {};
  }
  return found;
}

/// True if `a` in the loop `first` is computed as `b` in `second`.
bool areAlike(Value a, scf::ForOp first, Value b, scf::ForOp second) {
  if (a == b || (a == first.getInductionVar() && b == second.getInductionVar()))
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  if (!one || !other || one->getName() != other->getName() ||
      one->getAttrDictionary() != other->getAttrDictionary() ||
      one->getBlock() != first.getBody() || other->getBlock() != second.getBody() ||
      one->getNumOperands() != other->getNumOperands() || one->getNumResults() != 1)
    return false;
  return llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()), [&](auto pair) {
    return areAlike(std::get<0>(pair), first, std::get<1>(pair), second);
  });
}

/// A copy of `value`, of `block`, with what it is computed from there.
Value cloneWithOperands(OpBuilder &builder, Value value, Block *block, IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !op || op->getBlock() != block)
    return mapping.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneWithOperands(builder, operand, block, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Takes the next program at the end of a side's body, and goes on until it is one that `idle`
/// does not leave alone, or none is left.
Value takeProgram(OpBuilder &builder, Location loc, Value total, std::optional<IdleTest> idle) {
  Type index = builder.getIndexType();
  if (!idle)
    return ProgramTakeOp::create(builder, loc, index, total);
  Block *body = builder.getInsertionBlock();
  auto passing = scf::WhileOp::create(
      builder, loc, index, ValueRange(),
      [&](OpBuilder &b, Location at, ValueRange) {
        Value program = ProgramTakeOp::create(b, at, index, total);
        Value exists = arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt, program, total);
        auto test = scf::IfOp::create(
            b, at, exists,
            [&](OpBuilder &inside, Location) {
              IRMapping mapping;
              mapping.map(body->getArgument(0), program);
              Value found = cloneWithOperands(inside, idle->condition, body, mapping);
              if (!idle->isIdle)
                found = arith::XOrIOp::create(
                    inside, at, found,
                    arith::ConstantOp::create(inside, at, inside.getBoolAttr(true)));
              scf::YieldOp::create(inside, at, found);
            },
            [&](OpBuilder &inside, Location) {
              Value none = arith::ConstantOp::create(inside, at, inside.getBoolAttr(false));
              scf::YieldOp::create(inside, at, none);
            });
        scf::ConditionOp::create(b, at, test.getResult(0), program);
      },
      [](OpBuilder &b, Location at, ValueRange) { scf::YieldOp::create(b, at); });
  return passing.getResult(0);
}

/// Puts a loop that asks `getNext` for its next program in place of one that counts: at the start
/// of its body if `ahead`, else at the end.
void rewrite(scf::ForOp loop, bool ahead, llvm::function_ref<Value(OpBuilder &)> getNext) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> first{loop.getLowerBound()};
  llvm::append_range(first, loop.getInitArgs());
  auto taking = scf::WhileOp::create(
      builder, loc, ValueRange(first).getTypes(), first,
      [&](OpBuilder &b, Location at, ValueRange state) {
        Value exists =
            arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt, state[0], loop.getUpperBound());
        scf::ConditionOp::create(b, at, exists, state);
      },
      [](OpBuilder &, Location, ValueRange) {});
  Block *body = taking.getAfterBody();
  builder.setInsertionPointToStart(body);
  Value next = ahead ? getNext(builder) : Value();
  if (arith::AddIOp counted = findNext(loop); counted && ahead) {
    counted.getResult().replaceAllUsesWith(next);
    counted.erase();
  }
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  Operation *terminator = loop.getBody()->getTerminator();
  SmallVector<Value> state{next};
  llvm::append_range(state, terminator->getOperands());
  terminator->erase();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(body);
  if (!ahead)
    state.front() = getNext(builder);
  scf::YieldOp::create(builder, loc, state);
  loop.replaceAllUsesWith(taking.getResults().drop_front());
  loop.erase();
}

/// Has a side receive at the end of its body what it goes on with in place of `program`.
void receiveLast(Value program, Value ring) {
  for (OpOperand &use : llvm::make_early_inc_range(program.getUses())) {
    auto yield = dyn_cast<scf::YieldOp>(use.getOwner());
    if (!yield)
      continue;
    OpBuilder builder(yield);
    use.set(ProgramReceiveOp::create(builder, yield.getLoc(), program.getType(), ring));
  }
}

/// Moves the sending of the next program's number, in a side's body, to where it begins to copy:
/// the thread would wait for the number, and can compute this program's places meanwhile.
void sendLate(ProgramSendOp send) {
  auto contains = [](Operation *op) {
    return op->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  Operation *next = send->getNextNode();
  while (!next->hasTrait<OpTrait::IsTerminator>() && !contains(next) && !isa<RingAcquireOp>(next))
    next = next->getNextNode();
  auto branch = dyn_cast<scf::IfOp>(next);
  if (!branch || branch.getElseRegion().empty()) {
    send->moveBefore(next);
    return;
  }
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder builder = OpBuilder::atBlockBegin(block);
    sendLate(cast<ProgramSendOp>(builder.clone(*send)));
  }
  send->erase();
}

struct TileGPUScheduleTilesDynamically
    : tile::impl::TileGPUScheduleTilesDynamicallyBase<TileGPUScheduleTilesDynamically> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel->hasAttr(persistentGridName) || kernel->hasAttr(blocksOfClusterName)) {
        // Blocks of a cluster go on together.
        declined(kernel) << "it takes persistent kernels without clusters";
        continue;
      }
      bool parts = kernel->hasAttr(splitPartsName);
      kernel.getBody().walk([&](WarpSpecializeOp split) {
        scf::ForOp consumer = findLoop(split.getConsumer().front()),
                   producer = findLoop(split.getProducer().front());
        if (!consumer || !producer || producer.getNumRegionIterArgs() || !isUneven(consumer, parts))
          return;
        bool ahead = consumer.getNumRegionIterArgs();
        if (ahead && !findNext(consumer))
          return;
        OpBuilder builder(split);
        Value ring = RingOp::create(builder, split.getLoc(), RingType::get(&getContext(), 1, {}),
                                    /*per_warp=*/true,
                                    /*clustered=*/false, /*across=*/IntegerAttr());
        Value total = producer.getUpperBound();
        // Of a wide producer one thread takes the number; the others receive it as consumers do.
        bool isWide = kernel->hasAttr(wideProducerName);
        std::optional<IdleTest> idle = findIdleTest(producer), same = findIdleTest(consumer);
        if (!same || !idle || ahead || isWide || idle->isIdle != same->isIdle ||
            !areAlike(idle->condition, producer, same->condition, consumer))
          idle.reset();
        SmallVector<ProgramSendOp> sends;
        rewrite(producer, ahead, [&](OpBuilder &b) {
          Value program = takeProgram(b, split.getLoc(), total, idle);
          sends.push_back(ProgramSendOp::create(b, split.getLoc(), program, ring));
          return program;
        });
        if (isWide)
          receiveLast(sends.front().getProgram(), ring);
        rewrite(consumer, ahead, [&](OpBuilder &b) {
          return ProgramReceiveOp::create(b, split.getLoc(), b.getIndexType(), ring).getResult();
        });
        // Consumers that are ahead have sent what the producer computes this program's from.
        for (ProgramSendOp send : sends)
          if (ahead)
            sendLate(send);
        kernel->setAttr(dynamicScheduleName, builder.getUnitAttr());
      });
    }
  }
};

} // namespace
