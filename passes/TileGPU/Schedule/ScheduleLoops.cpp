// tile-gpu-schedule-loops: decides when each loop issues its products and when it waits for them.
//
// The schedule of a loop of any number of products follows from three questions:
//
// 1. Which products of a trip need the result of another one? Where none does, they stay as they
//    are, but for a single one beside much arithmetic: it is in flight, so that warpgroups take
//    turns; and for several, each of which meets much arithmetic ahead of the next one. Where all
//    the others need one, nothing runs under the arithmetic between: the others are left to the
//    next trip (stage 1), beside that one's first. Else each is issued as soon as its operands are
//    there, and is in flight until its result is used.
// 2. Who multiplies while a warpgroup waits or computes? Where nobody does, sums that only products
//    touch stay in flight till the next trip has issued its own. Several warpgroups take turns.
// 3. Does the last wait of a trip stay behind the arithmetic that is to run under it? With turns, a
//    peek at the next trip's tile keeps it there: behind all of it where two warpgroups compute,
//    behind the first reduction where others multiply meanwhile.
//
// Sums that begin as 0 in each of several programs are begun by products (FreshSums.cpp).
//
// The first question is answered before a kernel is taken apart into producer and consumers, when
// copies are values; the others when rings are there and have their stages: so the pass runs twice,
// and fills in what is open. A schedule that a loop has already is kept.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/Schedule/IssueOrder.h"
#include "passes/TileGPU/Schedule/ProductParts.h"
#include "passes/TileGPU/Schedule/RingSchedule.h"
#include "passes/TileGPU/Schedule/Staging.h"

#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSCHEDULELOOPS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Warps that issue a product by wgmma together.
constexpr int64_t warpsOfWarpgroup = 4;

/// Registers of a thread that factors of sums may take from one trip to the next.
constexpr int64_t mostRegistersOfFactors = 16;

/// Registers of a thread that vectors read before the products may take. They are there when the
/// products have left few free.
constexpr int64_t mostRegistersOfVectors = 32;

/// Why the products of a trip must be waited for one by one; empty if they may be in flight.
std::string whyNotInFlight(const LoopSchedule &schedule, Block &body) {
  for (WgmmaOp product : schedule.products) {
    if (product.getAsync())
      return "a product is in flight already";
    if (auto acc = product.getAcc().getDefiningOp<WgmmaOp>(); acc && acc->getBlock() == &body)
      return "a sum of several products of one trip waits for itself";
  }
  if (!body.getOps<AsyncWaitOp>().empty())
    return "operands that threads copy by cp.async are there for one trip alone";
  return "";
}

/// Leaves the products behind `head` to the next trip.
void stage(LoopSchedule &schedule, const Staging &staging, Consumers consumers) {
  schedule.placeOf(staging.head) = {0, 0, 0};
  for (auto [i, each] : llvm::enumerate(staging.staged))
    schedule.placeOf(each.product) = {1, int64_t(i) + 1, 0};
  // One alone would wait for the scaling, and nothing else keep the tensor cores busy; of several
  // each turn would be longer, and the others wait.
  schedule.words.scaleUnder =
      staging.factorRegisters <= mostRegistersOfFactors && consumers.arePair();
}

/// Issues each product as early as it can be.
void issueEarly(LoopSchedule &schedule, Block &body) {
  SmallVector<WgmmaOp> order = findIndependent(body);
  for (WgmmaOp product : schedule.products)
    if (!llvm::is_contained(order, product))
      order.push_back(product);
  for (auto [i, product] : llvm::enumerate(order))
    schedule.placeOf(product) = {0, int64_t(i), 0};
  int64_t registers = countVectorRegisters(body);
  schedule.words.vectorsFirst = registers && registers <= mostRegistersOfVectors;
}

/// True for arithmetic on a large tile.
bool computesMuch(Operation &op) {
  constexpr unsigned many = 32;
  auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                                      : RankedTensorType();
  return type && hasLayout(type) && OpTrait::hasElementwiseMappableTraits(&op) &&
         getLayout(type).getNumRegisters() >= many;
}

/// True if a trip computes much on the result of each product, and all of it stands ahead of the
/// next product.
bool standApart(const LoopSchedule &schedule, Block &body) {
  SmallVector<WgmmaOp> products(schedule.products);
  for (auto [i, product] : llvm::enumerate(products)) {
    Operation *next =
        i + 1 < products.size() ? products[i + 1].getOperation() : body.getTerminator();
    bool much = false;
    for (Operation *user : WgmmaOp(product)->getUsers()) {
      if (user->getBlock() != &body || !user->isBeforeInBlock(next))
        return false;
      much |= computesMuch(*user);
    }
    if (!much)
      return false;
  }
  return true;
}

/// True if a trip computes much beside its only product, on what it reads or on its result, or on
/// the result of each of several, and warpgroups do so without meeting each other: then one
/// computes while the other one multiplies.
bool computesBeside(const LoopSchedule &schedule, Block &body) {
  bool single = llvm::hasSingleElement(schedule.products), found = false;
  if (!single && !standApart(schedule, body))
    return false;
  for (Operation &op : body) {
    if (getSharedNeed(&op).use != SharedUse::None || isa<LocalAllocOp>(op))
      return false; // a barrier for all
    found |= computesMuch(op);
  }
  return found;
}

/// Decides on the products of one trip and the next.
void scheduleTrip(scf::ForOp loop, LoopSchedule &schedule, Consumers consumers) {
  Block &body = *loop.getBody();
  if (std::string why = whyNotInFlight(schedule, body); !why.empty()) {
    declined(loop) << why;
    return;
  }
  std::string noParts;
  if (std::optional<int64_t> parts = findPartCount(loop, noParts)) {
    schedule.places.front() = {0, 0, 0, *parts};
    return;
  }
  SmallVector<WgmmaOp> heads, others;
  for (WgmmaOp product : schedule.products) {
    bool isHead = llvm::none_of(schedule.products, [&](WgmmaOp other) {
      return other != product && needs(product, other);
    });
    (isHead ? heads : others).push_back(product);
  }
  bool alone = others.empty() && consumers.canTakeTurns() && computesBeside(schedule, body);
  if (others.empty() && !alone) {
    declined(loop) << "no product of a trip needs the result of another one";
    return;
  }
  std::string reason;
  if (llvm::hasSingleElement(heads) &&
      !alone) // else one head runs under the arithmetic on the other
    if (auto staging = findStaging(loop, heads.front(), others, reason)) {
      stage(schedule, *staging, consumers);
      return;
    }
  // What changes in place what a product reads would have to move with the product.
  bool fills = body.walk([](AsyncCopyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (fills || !body.getOps<ClearFromOp>().empty()) {
    declined(loop) << (reason.empty() ? "" : reason + "; ") +
                          (fills ? "an operand that no fetch brings is copied within the trip"
                                 : "an operand's end is cleared within the trip");
    return;
  }
  if (alone && !llvm::hasSingleElement(heads)) {
    schedule.words.apart = true;
    for (auto [i, place] : llvm::enumerate(schedule.places))
      place = {0, int64_t(i), 0};
    return;
  }
  issueEarly(schedule, body);
}

/// Waits within the trip after all where a flight that tile-gpu-pipeline-copies has planned cannot
/// be: it decides before the rings of fetched operands have their stages.
void dropImpossibleFlights(scf::ForOp loop, LoopSchedule &schedule) {
  std::string reason;
  if (!schedule.leaves(1) || findLateReleases(loop, reason))
    return;
  for (ProductPlace &place : schedule.places)
    place.flight.reset();
  declined(loop) << reason;
}

/// Decides on what goes from trip to trip in a loop of the consumers.
void scheduleRings(scf::ForOp loop, LoopSchedule &schedule, Consumers consumers) {
  std::string reason;
  if (schedule.places.front().parts > 1) {
    // Warpgroups multiply and compute at once, and take no turns.
    if (findLateParts(loop, reason))
      schedule.places.back().flight = 1;
  } else if (consumers.isAlone()) {
    if (findLateReleases(loop, reason))
      for (ProductPlace &place : schedule.places)
        place.flight = 1;
  } else if (!consumers.canTakeTurns()) {
    reason = "turns go between four warpgroups at most, and here " +
             std::to_string(consumers.warpgroups) + " compute";
  } else if (reason = whyNoTurns(loop, schedule.words.apart); reason.empty()) {
    // Of two whose products stand apart one multiplies while the other one scales what it has, in
    // turns by themselves: a barrier would only be waited for ahead of each product.
    schedule.words.turns = !schedule.words.apart || !consumers.arePair();
    schedule.words.peek =
        findPeek(loop, !consumers.arePair(), schedule.words.apart, reason).has_value();
  }
  if (!reason.empty())
    declined(loop) << reason;
}

struct TileGPUScheduleLoops : tile::impl::TileGPUScheduleLoopsBase<TileGPUScheduleLoops> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<int64_t> warps = getLaunchedWarps(kernel);
      if (failed(warps))
        return signalPassFailure();
      Consumers consumers{*warps / warpsOfWarpgroup};
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (isOfProducer(loop))
          return;
        LoopSchedule schedule = LoopSchedule::of(loop);
        if (schedule.isEmpty()) {
          declined(loop) << "it has no product by wgmma";
          return;
        }
        if (isOfConsumers(loop)) {
          dropImpossibleFlights(loop, schedule);
          scheduleRings(loop, schedule, consumers);
          markFreshSums(loop);
        } else if (!loop->hasAttr(ScheduleAttr::name)) {
          scheduleTrip(loop, schedule, consumers);
        } else if (loop.getBody()->getOps<TmaFetchOp>().empty()) {
          dropImpossibleFlights(loop, schedule);
        }
        schedule.setOn(loop);
      });
    }
  }
};

} // namespace
