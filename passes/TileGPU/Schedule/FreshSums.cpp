// Sums that begin as 0 are begun by the first trip's products.
//
// A persistent kernel sets a program's sums to 0 ahead of its first product, while nobody
// multiplies: two clocks for each register and warp of a scheduler. An instruction of wgmma may
// leave out what it would add to.
//
//   sum = 0                                  sum = anything
//   for k: sum = wgmma a, b, sum     ->      for k: sum = k is the first ? wgmma a, b
//                                                                        : wgmma a, b, sum
//
// A loop that makes no trip has no product that begins the sums: they are 0 there, as before.
//
// ptxas gives each product that begins a sum registers of its own, throughout the loop. Of several
// in a trip, whose results are used up one after the other, all but the first one take those of the
// product before: its result stands where the sum would, and is not read. Both must be in flight
// until a wait of its own: where a product waits at once, ptxas takes the first one's result for
// the second's, and leaves the first product out.
#include "dialect/ProductNames.h"
#include "passes/TileGPU/Schedule/RingSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static bool isZero(Value value) {
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}

/// The loop's operand that `product` begins to add to; null if it is not the loop's variable.
static OpOperand *findInit(scf::ForOp loop, WgmmaOp product) {
  auto variable = dyn_cast<BlockArgument>(product.getAcc());
  return variable && variable.getOwner() == loop.getBody() && variable.hasOneUse()
             ? loop.getTiedLoopInit(variable)
             : nullptr;
}

/// True if the branch that the loop stands in is taken only where the loop makes a trip.
static bool isGuarded(scf::ForOp loop) {
  auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
  auto some = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  return some && loop->getBlock() == branch.thenBlock() &&
         some.getPredicate() == arith::CmpIPredicate::slt &&
         some.getLhs() == loop.getLowerBound() && some.getRhs() == loop.getUpperBound();
}

/// True if a sum is stored as it is, or rounded: nothing is computed with it.
static bool isOnlyStored(Value sum) {
  return llvm::all_of(sum.getUsers(), [](Operation *user) {
    if (isa<TmaStoreOp, StoreOp>(user))
      return true;
    return isa<CastOpInterface, ConvertLayoutOp, ReshapeOp, PermuteOp>(user) &&
           isOnlyStored(user->getResult(0));
  });
}

void tile::gpu::markFreshSums(scf::ForOp loop) {
  // A loop that stands alone begins while its first tiles are on their way.
  if (!loop->getParentOfType<LoopLikeOpInterface>())
    return;
  // To the assembler the sums' registers live on from the program before, beside all that is
  // computed with its sums: registers are too few for both.
  for (auto product : loop.getBody()->getOps<WgmmaOp>())
    if (OpOperand *init = findInit(loop, product);
        init && isZero(init->get()) && isOnlyStored(loop.getTiedLoopResult(init)))
      product->setAttr(freshName, UnitAttr::get(loop.getContext()));
}

void tile::gpu::beginSums(scf::ForOp loop) {
  SmallVector<OpOperand *> inits;
  for (auto product : loop.getBody()->getOps<WgmmaOp>())
    if (OpOperand *init = product->hasAttr(freshName) ? findInit(loop, product) : nullptr;
        init && isZero(init->get()))
      inits.push_back(init);
  if (inits.empty())
    return;
  if (!isGuarded(loop))
    enterOnTrips(loop);
  OpBuilder builder(loop);
  for (OpOperand *init : inits)
    init->set(ub::PoisonOp::create(builder, loop.getLoc(), init->get().getType()));
}

void tile::gpu::hold(Operation *end) {
  SmallVector<OpOperand *> behind;
  for (Operation *op = end->getNextNode(); op; op = op->getNextNode())
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *def = operand.get().getDefiningOp();
          def && def->getBlock() == end->getBlock() && def->isBeforeInBlock(end) &&
          isa<RankedTensorType>(operand.get().getType()))
        behind.push_back(&operand);
  OpBuilder builder(end);
  DenseMap<Value, Value> held; // looked up only
  for (OpOperand *operand : behind) {
    Value &now = held[operand->get()];
    if (!now)
      now = OptimizationBarrierOp::create(builder, end->getLoc(), operand->get().getType(),
                                          operand->get());
    operand->set(now);
  }
}

/// The result of a product in flight as it is read: behind the wait.
static Value getReadResult(WgmmaOp product) {
  auto wait = product->hasOneUse() ? dyn_cast<WgmmaWaitOp>(*product->user_begin()) : WgmmaWaitOp();
  return wait ? wait.getResult() : Value();
}

/// True if the value is there and no longer needed where `product` stands.
static bool isUsedUp(Value value, WgmmaOp product) {
  Block *block = product->getBlock();
  return value && value.getDefiningOp()->getBlock() == block &&
         value.getDefiningOp()->isBeforeInBlock(product) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           Operation *here = block->findAncestorOpInBlock(*user);
           return here && here->isBeforeInBlock(product);
         });
}

void tile::gpu::shareRegisters(scf::ForOp loop) {
  WgmmaOp before; // that begins a sum
  for (auto product : llvm::to_vector(loop.getBody()->getOps<WgmmaOp>())) {
    if (!isZero(product.getAcc())) {
      before = {};
      continue;
    }
    bool both =
        before && before.getType() == product.getType() && before.getAsync() && product.getAsync();
    Value old = both ? getReadResult(before) : Value();
    if (isUsedUp(old, product)) {
      hold(product);
      product.getAccMutable().assign(old);
      product->setAttr(overwritesName, UnitAttr::get(loop.getContext()));
    }
    before = product;
  }
}
