// tile-gpu-keep-dots-in-flight: a loop's product runs on while the next iteration's is issued.
//
// A warpgroup that waits for its product before it asks for the next leaves the tensor cores idle
// from the end of the one to the start of the other: the wait's own latency, the release of the
// slot, the wait for the next slot. With one product in flight the one before is done when the wait
// returns, and its slot goes back one iteration late. Only where one warpgroup computes: of two,
// one multiplies while the other waits.
//
//   before   | issue n | product n        | wait, release n | issue n+1 | product n+1 ...
//   after    | issue n | issue n+1; wait n, release n | issue n+2; wait n+1, release n+1 | ...
//
// So the producer has one slot fewer to be ahead with than the ring has.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LaunchFit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUKEEPDOTSINFLIGHT
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A loop whose one product is added to a variable of the loop.
struct Candidate {
  scf::ForOp loop;
  WgmmaOp product;
  unsigned carried = 0;
  SmallVector<RingReleaseOp> releases; ///< of the slots that the product reads
};

/// Adds the release, in the loop's body, of the slot that `memory` lies in; false if the memory is
/// not a slot's, or if the next slot would be filled only after that release.
bool addRelease(Value memory, Candidate &found) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  auto wait = memory.getDefiningOp<RingWaitOp>();
  if (!wait)
    return false;
  if (found.loop.isDefinedOutsideOfLoop(memory))
    return true;
  Block *body = found.loop.getBody();
  if (wait->getBlock() != body || wait.getRing().getType().getStages() < 2)
    return false;
  RingReleaseOp release;
  for (Operation *user : wait.getRing().getUsers()) {
    if (!body->findAncestorOpInBlock(*user) || user == wait)
      continue;
    if (release || user->getBlock() != body || !isa<RingReleaseOp>(user) ||
        user->isBeforeInBlock(found.product))
      return false;
    release = cast<RingReleaseOp>(user);
  }
  if (!release)
    return false;
  if (!llvm::is_contained(found.releases, release))
    found.releases.push_back(release);
  return true;
}

std::optional<Candidate> match(scf::ForOp loop) {
  Candidate found;
  found.loop = loop;
  SmallVector<WgmmaOp> products;
  loop.getBody()->walk([&](WgmmaOp product) { products.push_back(product); });
  auto refuse = [&](const std::string &reason) {
    declined(loop) << reason;
    return std::nullopt;
  };
  if (products.size() != 1)
    return refuse("it takes loops of one product by wgmma, and this one has " +
                  std::to_string(products.size()));
  if (products[0].getAsync() || products[0]->getBlock() != loop.getBody())
    return refuse("the product is in flight already, or stands in a branch or an inner loop");
  found.product = products[0];
  // Nothing but the next iteration's product may touch the accumulator.
  auto variable = dyn_cast<BlockArgument>(found.product.getAcc());
  if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      !found.product->hasOneUse() || !isa<scf::YieldOp>(*found.product->user_begin()))
    return refuse("more than the next trip's product touches the accumulator");
  found.carried = found.product->use_begin()->getOperandNumber();
  if (variable != loop.getRegionIterArg(found.carried))
    return refuse("the product is carried on as another variable than it is added to");
  // Registers of an operand, or memory of the loop's own, would be written for the next product.
  if (!isa<MemDescType>(found.product.getA().getType()) ||
      !addRelease(found.product.getA(), found) || !addRelease(found.product.getB(), found) ||
      found.releases.empty())
    return refuse("an operand does not lie in a ring of two stages or more that TMA fills");
  return found;
}

void rewrite(const Candidate &found) {
  WgmmaOp product = found.product;
  scf::ForOp loop = found.loop;
  Location loc = product.getLoc();
  product.setAsync(true);
  OpBuilder builder(loop.getBody()->getTerminator());
  builder.setInsertionPointAfter(product);
  auto wait =
      WgmmaWaitOp::create(builder, loc, product.getType(), product.getResult(), /*pending=*/1);
  product.getResult().replaceAllUsesExcept(wait.getResult(), wait);

  builder.setInsertionPointAfter(loop);
  Value sum = loop.getResult(found.carried);
  auto last = WgmmaWaitOp::create(builder, loc, product.getType(), sum, /*pending=*/0);
  sum.replaceAllUsesExcept(last.getResult(), last);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                     loop.getUpperBound());
  auto behind = scf::IfOp::create(builder, loc, some, /*withElseRegion=*/false);
  for (RingReleaseOp release : found.releases) {
    builder.setInsertionPoint(release);
    Value isSecond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                           loop.getInductionVar(), loop.getLowerBound());
    auto before = scf::IfOp::create(builder, loc, isSecond, /*withElseRegion=*/false);
    builder.setInsertionPoint(behind.thenYield());
    builder.clone(*release);
    release->moveBefore(before.thenYield());
  }
}

struct TileGPUKeepDotsInFlight : tile::impl::TileGPUKeepDotsInFlightBase<TileGPUKeepDotsInFlight> {
  void runOnOperation() override {
    constexpr int64_t warpsOfOne = 4; // two warpgroups: one's products run while the other waits
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<int64_t> warps = getNumWarps(kernel);
      if (failed(warps))
        return signalPassFailure();
      if (*warps != warpsOfOne) {
        declined(kernel) << "it takes kernels whose one warpgroup computes, and here " +
                                std::to_string(*warps) + " warps do";
        continue;
      }
      kernel.getBody().walk([&](WarpSpecializeOp split) {
        SmallVector<scf::ForOp> loops;
        split.getConsumer().walk([&](scf::ForOp loop) { loops.push_back(loop); });
        for (scf::ForOp loop : loops)
          if (auto found = match(loop))
            rewrite(*found);
      });
    }
  }
};

} // namespace
