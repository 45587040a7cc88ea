// Reductions that one arm of a selection alone needs are made in a branch.
//
//   t = max(x)                          t = max(x)
//   p = argmax(x) + i                   w = if t > best:
//   w = t > best ? p : w0        ->           p = argmax(x) + i
//                                             p
//                                           else: w0
//
// A reduction makes all threads of a block wait for each other, and a selection takes it in few
// trips of a loop: a running maximum of n blocks in any order rises about log(n) times. The
// condition is one number, the same in all threads, so that all of them meet in the branch or none
// does.
#include "passes/TileGPU/SelectedReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// What is computed in the selection's block for `arm` alone, in program order; empty if there is
/// no reduction among it.
static SmallVector<Operation *> findComputed(arith::SelectOp select, Value arm) {
  llvm::SetVector<Operation *> found;
  bool reduces = false;
  auto isPrivate = [&](Operation *op) {
    return op && op->getBlock() == select->getBlock() && op->getNumRegions() == 0 && isPure(op) &&
           llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return user == select || found.contains(user); });
  };
  // Users come before what they use: an operation with several users is met again by the last one.
  SmallVector<Value> todo{arm};
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val().getDefiningOp();
    if (!isPrivate(op) || !found.insert(op))
      continue;
    reduces |= isa<ReduceOp, ArgReduceOp>(op);
    llvm::append_range(todo, op->getOperands());
  }
  if (!reduces)
    return {};
  SmallVector<Operation *> computed = found.takeVector();
  llvm::sort(computed, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return computed;
}

/// Puts the selection into a branch if one arm asks for a reduction; false if none does.
static bool branch(arith::SelectOp select) {
  // The other arm, and the condition, may not be what the branch computes.
  for (bool isTrue : {true, false}) {
    Value arm = isTrue ? select.getTrueValue() : select.getFalseValue(),
          other = isTrue ? select.getFalseValue() : select.getTrueValue();
    if (arm == other || arm == select.getCondition())
      continue;
    SmallVector<Operation *> computed = findComputed(select, arm);
    if (computed.empty() || llvm::any_of(computed, [&](Operation *op) {
          return op == other.getDefiningOp() || op == select.getCondition().getDefiningOp();
        }))
      continue;
    OpBuilder b(select);
    auto made = scf::IfOp::create(b, select.getLoc(), TypeRange(select.getType()),
                                  select.getCondition(), /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
    Block *with = isTrue ? made.thenBlock() : made.elseBlock(),
          *without = isTrue ? made.elseBlock() : made.thenBlock();
    for (Operation *op : computed)
      op->moveBefore(with, with->end());
    b.setInsertionPointToEnd(with);
    scf::YieldOp::create(b, select.getLoc(), arm);
    b.setInsertionPointToEnd(without);
    scf::YieldOp::create(b, select.getLoc(), other);
    select.replaceAllUsesWith(made.getResult(0));
    select.erase();
    return true;
  }
  return false;
}

void tile::gpu::branchAroundReductions(KernelOp kernel) {
  SmallVector<arith::SelectOp> selections;
  kernel.getBody().walk([&](arith::SelectOp select) {
    if (select.getCondition().getType().isInteger(1) && select.getType().isIntOrIndexOrFloat())
      selections.push_back(select);
  });
  for (arith::SelectOp select : selections)
    branch(select);
}
