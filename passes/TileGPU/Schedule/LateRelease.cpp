// A loop's products run on while the next trip's are issued.
//
// A warpgroup that waits for its products before it asks for the next leaves the tensor cores idle
// from the end of the one to the start of the other: the wait's own latency, the release of the
// slot, the wait for the next slot. With a trip's products in flight those of the trip before are
// done when the wait returns, and their slots go back one trip late.
//
//   before   | issue n | product n        | wait, release n | issue n+1 | product n+1 ...
//   after    | issue n | issue n+1; wait n, release n | issue n+2; wait n+1, release n+1 | ...
//
// So the producer has one slot fewer to be ahead with than the ring has. Slots that threads fill by
// cp.async do not go back: the barrier of a trip says that all are done with them. They must be
// filled two trips after their own, as tile-gpu-pipeline-copies does where it asks for this.
#include "passes/TileGPU/Schedule/RingSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True if copies by cp.async fill the slot two trips after its own or later: a trip waits until at
/// most as many groups are under way as there are slots, less that and its own.
static bool isFilledLate(SlotOp slot, scf::ForOp loop) {
  constexpr int64_t tripsBetween = 2;
  auto waits = loop.getBody()->getOps<AsyncWaitOp>();
  return llvm::hasSingleElement(waits) &&
         slot.getSlots().getType().getCount() - (*waits.begin()).getPending() > tripsBetween;
}

/// Adds the release, in the loop's body, of the slot that `memory` lies in; false if the memory is
/// not a slot's, or if the next slot would be filled only after that release.
static bool addRelease(Value memory, LateReleases &found) {
  if (auto join = memory.getDefiningOp<MemDescJoinOp>())
    return llvm::all_of(join.getSources(), [&](Value source) { return addRelease(source, found); });
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  if (auto slot = memory.getDefiningOp<SlotOp>()) {
    found.hasSlots = true;
    return isFilledLate(slot, found.loop);
  }
  if (found.loop.isDefinedOutsideOfLoop(memory))
    return true;
  auto wait = memory.getDefiningOp<RingWaitOp>();
  if (!wait)
    return false;
  Block *body = found.loop.getBody();
  // With one slot the producer would wait for the release that waits for its copy.
  constexpr int64_t fewestStages = 2;
  if (wait->getBlock() != body || wait.getRing().getType().getStages() < fewestStages)
    return false;
  RingReleaseOp release;
  for (Operation *user : wait.getRing().getUsers()) {
    if (!body->findAncestorOpInBlock(*user) || user == wait)
      continue;
    if (release || user->getBlock() != body || !isa<RingReleaseOp>(user))
      return false;
    release = cast<RingReleaseOp>(user);
  }
  if (!release)
    return false;
  if (!llvm::is_contained(found.releases, release))
    found.releases.push_back(release);
  return true;
}

std::optional<LateReleases> tile::gpu::findLateReleases(scf::ForOp loop, std::string &reason) {
  LateReleases found;
  found.loop = loop;
  found.products = llvm::to_vector(loop.getBody()->getOps<WgmmaOp>());
  auto refuse = [&](StringRef why) {
    reason = why;
    return std::nullopt;
  };
  bool atHome = true;
  loop.getBody()->walk([&](WgmmaOp product) {
    atHome &= product->getBlock() == loop.getBody() && !product.getAsync();
  });
  if (!atHome || found.products.empty())
    return refuse("a product is in flight already, or stands in a branch or an inner loop");
  for (WgmmaOp product : found.products) {
    // Nothing but the next trip's product may touch the accumulator.
    auto variable = dyn_cast<BlockArgument>(product.getAcc());
    if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
        !product->hasOneUse() || !isa<scf::YieldOp>(*product->user_begin()))
      return refuse("more than the next trip's product touches the accumulator");
    found.carried.push_back(product->use_begin()->getOperandNumber());
    if (variable != loop.getRegionIterArg(found.carried.back()))
      return refuse("a product is carried on as another variable than it is added to");
    // Registers of an operand, or memory of the loop's own, would be written for the next product.
    if (!isa<MemDescType>(product.getA().getType()) || !addRelease(product.getA(), found) ||
        !addRelease(product.getB(), found))
      return refuse("an operand does not lie in a ring that is filled late enough");
  }
  if (found.releases.empty() && !found.hasSlots)
    return refuse("an operand does not lie in a ring that is filled late enough");
  return found;
}

scf::IfOp tile::gpu::enterOnTrips(scf::ForOp loop) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  // Not folded: FreshSums.cpp knows the branch by this comparison.
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                     loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), some,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  loop->replaceAllUsesWith(branch.getResults());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, loop.getResults());
  return branch;
}

void tile::gpu::releaseLate(const LateReleases &found) {
  scf::ForOp loop = found.loop;
  Location loc = loop.getLoc();
  OpBuilder builder(loop.getBody()->getTerminator());
  builder.setInsertionPointAfter(found.products.back());
  WgmmaWaitOp wait;
  for (WgmmaOp product : found.products) {
    product.setAsync(true);
    wait = WgmmaWaitOp::create(builder, product.getLoc(), product.getType(), product.getResult(),
                               int64_t(found.products.size()), product.getValidAttr());
    product.getResult().replaceAllUsesExcept(wait.getResult(), wait);
  }
  // Slots of products before the last one went back as soon as those were done.
  for (RingReleaseOp release : llvm::reverse(found.releases))
    if (release->isBeforeInBlock(wait))
      release->moveAfter(wait);

  // Behind the loop the last products are waited for where it is known to have made a trip: the
  // sums of a loop that makes none would else meet those of products in flight, and ptxas then
  // serializes all of them (C7515).
  scf::YieldOp leave = enterOnTrips(loop).thenYield();
  builder.setInsertionPoint(leave);
  int64_t pending = int64_t(found.products.size());
  for (auto [product, carried] : llvm::zip(found.products, found.carried)) {
    OpOperand &sum = leave->getOpOperand(carried);
    sum.set(WgmmaWaitOp::create(builder, WgmmaOp(product).getLoc(), sum.get().getType(), sum.get(),
                                --pending, WgmmaOp(product).getValidAttr()));
  }
  for (RingReleaseOp release : found.releases)
    builder.clone(*release);
  for (RingReleaseOp release : found.releases) {
    builder.setInsertionPoint(release);
    Value isSecond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                           loop.getInductionVar(), loop.getLowerBound());
    auto before = scf::IfOp::create(builder, loc, isSecond, /*withElseRegion=*/false);
    release->moveBefore(before.thenYield());
  }
}
