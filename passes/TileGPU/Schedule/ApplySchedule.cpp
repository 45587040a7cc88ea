// tile-gpu-apply-schedule: realises the schedules of loops.
//
// Stages and order are realised while copies are values, before a kernel is taken apart into
// producer and consumers; flights over trips, turns and peeks in the loops of consumers. A part
// that is there already is left alone, one that is not possible is an error: the pass that decides
// does not ask for it, and a hand may.
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/Schedule/IssueOrder.h"
#include "passes/TileGPU/Schedule/ProductParts.h"
#include "passes/TileGPU/Schedule/RingSchedule.h"
#include "passes/TileGPU/Schedule/Staging.h"

#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUAPPLYSCHEDULE
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Reached by schedules written by hand in IR alone.
LogicalResult refuse(scf::ForOp loop, const std::string &reason) {
  return loop.emitError() << "cannot realise the schedule: " << reason;
}

/// Runs products of stage 1 beside those of the next trip.
/// Stage 0 first, then those of stage 1: the head's product of trip n + 1 runs beside the staged
/// ones of trip n.
LogicalResult applyStages(scf::ForOp loop, LoopSchedule &schedule, int64_t &rings) {
  WgmmaOp head;
  SmallVector<WgmmaOp> staged;
  for (WgmmaOp product : schedule.getIssueOrder()) {
    const ProductPlace &place = schedule.placeOf(product);
    if (place.stage)
      staged.push_back(product);
    else if (staged.empty())
      head = product;
    if (!place.stage && place.flight && product != head)
      return refuse(loop,
                    "products of stage 1 are issued behind the last one of stage 0 in flight");
  }
  if (!head || schedule.placeOf(head).flight != 0)
    return refuse(loop, "products of stage 1 need one of stage 0 before them, of flight 0");
  std::string reason;
  auto staging = findStaging(loop, head, staged, reason);
  if (!staging)
    return refuse(loop, reason);
  expandStages(*staging, schedule, rings);
  return success();
}

/// Leaves the last part of a product in flight till the next trip has issued its first.
LogicalResult applyLastPart(scf::ForOp loop, LoopSchedule &schedule) {
  if (auto wait = dyn_cast<WgmmaWaitOp>(*schedule.products.back()->user_begin());
      wait && wait.getPending())
    return success(); // realised
  std::string reason;
  auto found = findLateParts(loop, reason);
  if (!found)
    return refuse(loop, reason);
  releaseLate(*found);
  return success();
}

/// Leaves the products in flight till the next trip, if the schedule says so.
LogicalResult applyFlights(scf::ForOp loop, LoopSchedule &schedule) {
  if (!schedule.isEmpty() && schedule.places.back().parts > 1 && schedule.places.back().flight == 1)
    return applyLastPart(loop, schedule);
  if (!schedule.leaves(1))
    return success();
  std::string reason;
  auto found = findLateReleases(loop, reason);
  if (!found ||
      !llvm::all_of(schedule.places, [](const ProductPlace &place) { return place.flight == 1; }))
    return refuse(loop, found ? "products stay in flight till the next trip together" : reason);
  releaseLate(*found);
  return success();
}

/// Realises what concerns one trip and its neighbour.
/// Called twice in the pipeline; the second call finds products async and leaves the loop.
LogicalResult applyToTrips(scf::ForOp loop, int64_t &rings) {
  LoopSchedule schedule = LoopSchedule::of(loop);
  if (llvm::any_of(schedule.products, [](WgmmaOp product) { return product.getAsync(); }))
    return success(); // realised
  if (!schedule.isEmpty() && schedule.places.front().parts > 1)
    return applyParts(loop, schedule);
  if (schedule.isStaged())
    return applyStages(loop, schedule, rings);
  // Operands that a producer fetches have their rings later.
  if (schedule.leaves(1) && loop.getBody()->getOps<TmaFetchOp>().empty())
    return applyFlights(loop, schedule);
  return schedule.leaves(0) ? applyOrder(loop, schedule) : success();
}

/// True if the trips of `loop` wait for their tiles ahead.
bool hasPeeked(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<RingWaitOp>(),
                      [](RingWaitOp wait) { return wait.getFull(); });
}

/// Realises what concerns rings; sets `turns` if the loop takes turns. With `others`, more than one
/// warpgroup multiplies meanwhile.
/// Late release first: turns count on products that stay in flight.
LogicalResult applyToRings(scf::ForOp loop, bool others, bool &turns) {
  LoopSchedule schedule = LoopSchedule::of(loop);
  std::string reason;
  if (failed(applyFlights(loop, schedule)))
    return failure();
  beginSums(loop);
  shareRegisters(loop);
  if ((!schedule.words.turns && !schedule.words.peek) ||
      !loop.getBody()->getOps<TurnWaitOp>().empty() || hasPeeked(loop))
    return success();
  if (reason = whyNoTurns(loop, schedule.words.apart); !reason.empty())
    return refuse(loop, reason);
  auto found =
      schedule.words.peek ? findPeek(loop, others, schedule.words.apart, reason) : std::nullopt;
  if (!reason.empty())
    return refuse(loop, reason);
  if (schedule.words.turns) {
    turns = true;
    takeTurns(loop, schedule.words.apart);
  }
  if (found)
    peekAhead(loop, *found);
  return success();
}

struct TileGPUApplySchedule : tile::impl::TileGPUApplyScheduleBase<TileGPUApplySchedule> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      int64_t rings = 0;
      // Loops of the consumers are the second call's business.
      for (scf::ForOp loop : findLoops(kernel.getBody()))
        if (!isOfConsumers(loop) && failed(applyToTrips(loop, rings)))
          return signalPassFailure();
      WalkResult result = kernel.getBody().walk([&](WarpSpecializeOp split) {
        constexpr int64_t warpsOfWarpgroup = 4;
        FailureOr<int64_t> warps = getLaunchedWarps(kernel);
        if (failed(warps))
          return WalkResult::interrupt();
        bool turns = false, others = !Consumers{*warps / warpsOfWarpgroup}.arePair();
        for (scf::ForOp loop : findLoops(split.getConsumer()))
          if (failed(applyToRings(loop, others, turns)))
            return WalkResult::interrupt();
        if (!turns)
          return WalkResult::advance();
        // Once for the kernel: the first warpgroup starts with its turn, the last turn is handed on
        // at the end.
        OpBuilder builder = OpBuilder::atBlockBegin(&split.getConsumer().front());
        TurnStartOp::create(builder, split.getLoc());
        builder.setInsertionPointToEnd(&split.getConsumer().front());
        TurnEndOp::create(builder, split.getLoc());
        return WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }

private:
  /// Those with a schedule, inner ones first.
  static SmallVector<scf::ForOp> findLoops(Region &region) {
    SmallVector<scf::ForOp> loops;
    region.walk([&](scf::ForOp loop) {
      if (loop->hasAttr(ScheduleAttr::name))
        loops.push_back(loop);
    });
    return loops;
  }
};

} // namespace
