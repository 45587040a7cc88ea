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
// So the producer has one slot fewer to be ahead with than the ring has. Of a product in parts the
// last one runs on alone: the next trip's first part is computed meanwhile, and waits behind each
// issue leave that one part in flight. With two, ptxas would serialize all of them (C7513): parts
// take their registers in turns. Slots that threads fill by cp.async do not go back: the barrier of
// a trip says that all are done with them. They must be
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

/// The wait for the last part of a trip's product, if nothing but the next trip touches the sum.
static WgmmaWaitOp findLastWait(scf::ForOp loop, ArrayRef<WgmmaOp> parts) {
  if (parts.empty())
    return {};
  WgmmaOp last = parts.back();
  auto wait = dyn_cast<WgmmaWaitOp>(*last->user_begin());
  bool isCarried = last->hasOneUse() && wait && wait->getBlock() == loop.getBody() &&
                   wait->hasOneUse() && isa<scf::YieldOp>(*wait->user_begin());
  return isCarried ? wait : WgmmaWaitOp();
}

std::optional<LateReleases> tile::gpu::findLateParts(scf::ForOp loop, std::string &reason) {
  LateReleases found;
  found.loop = loop;
  auto parts = llvm::to_vector(loop.getBody()->getOps<WgmmaOp>());
  WgmmaWaitOp wait = findLastWait(loop, parts);
  constexpr size_t fewestParts = 2;
  if (parts.size() < fewestParts || !wait) {
    reason = "the sum of the last part meets more than the next trip's first one";
    return std::nullopt;
  }
  for (WgmmaOp part : parts)
    if (!addRelease(part.getB(), found)) {
      reason = "an operand of the last part does not lie in a ring of two slots or more";
      return std::nullopt;
    }
  // What earlier parts alone read goes back within the trip.
  llvm::erase_if(found.releases,
                 [&](RingReleaseOp release) { return release->isBeforeInBlock(wait); });
  found.products = {parts.front(), parts.back()};
  found.carried = {wait->use_begin()->getOperandNumber()};
  return found;
}

/// Leaves the last part in flight until the next trip's first one is issued.
static void leaveLastPart(const LateReleases &found) {
  scf::ForOp loop = found.loop;
  WgmmaOp first = found.products.front(), last = found.products.back();
  WgmmaWaitOp end = findLastWait(loop, last);
  OpBuilder builder(first);
  builder.setInsertionPointAfter(first);
  auto wait = WgmmaWaitOp::create(builder, first.getLoc(), first.getType(), first.getResult(),
                                  /*pending=*/1, first.getValidAttr());
  first.getResult().replaceAllUsesExcept(wait.getResult(), wait);
  end.setPending(1); // the part before is done, whose registers the next trip's first one takes
  // Behind the second part, where the slots of operands in registers go back as a rule: a branch
  // between the first two parts has ptxas serialize all of them, too.
  Operation *place = wait;
  for (Operation *op = wait->getNextNode(); op && op != end; op = op->getNextNode())
    if (isa<WgmmaWaitOp>(op)) {
      place = op;
      break;
    }
  for (RingReleaseOp release : llvm::reverse(found.releases))
    release->moveAfter(place);
}

/// Leaves the products of a trip in flight until the next one has issued its own.
static void leaveProducts(const LateReleases &found) {
  OpBuilder builder(found.products.back());
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
}

void tile::gpu::releaseLate(const LateReleases &found) {
  scf::ForOp loop = found.loop;
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<WgmmaOp> products(found.products); // that are in flight at the end of a trip
  if (found.carried.size() < products.size()) {
    leaveLastPart(found);
    products = {found.products.back()};
  } else {
    leaveProducts(found);
  }

  // Behind the loop the last products are waited for where it is known to have made a trip: the
  // sums of a loop that makes none would else meet those of products in flight, and ptxas then
  // serializes all of them (C7515).
  auto pass = dyn_cast_or_null<TurnPassOp>(loop->getNextNode());
  scf::IfOp entered = enterOnTrips(loop);
  scf::YieldOp leave = entered.thenYield();
  builder.setInsertionPoint(leave);
  // All tiles are there, so another team may wait for its own ones while these products run.
  if (pass) {
    pass->moveBefore(leave);
    OpBuilder(entered.elseYield()).clone(*pass);
  }
  int64_t pending = int64_t(products.size());
  for (auto [product, carried] : llvm::zip(products, found.carried)) {
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
