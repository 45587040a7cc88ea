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
