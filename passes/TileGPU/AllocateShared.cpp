// tile-gpu-allocate-shared: finds a place in shared memory for everything that needs one, by
// lifetime.
//
//   bytes
//     ^   | tile b         |
//     |   |................|   | scratch d |      what is never needed at the same time, as a and
//     |   | tile a     |   | tile c        |      c or b and d, may have the same bytes
//     +-------------------------------------> operations in the order of the text
//
// Lifetimes are intervals of that order. One that begins before a loop and is used inside of it
// lasts to the loop's end, since the next trip needs it again. Threads are not in step, so sharing
// bytes is what makes tile-gpu-insert-barriers order the accesses; small scratch is kept apart
// where there is room, which saves these barriers.
#include "dialect/AttributeNames.h"
#include "dialect/PlanNames.h"
#include "dialect/RowNames.h"
#include "dialect/SelectionNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/OccupancyFit.h"
#include "passes/TileGPU/SharedLifetimes.h"
#include "passes/TileGPU/SharedPlan.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUALLOCATESHARED
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// An operation's shared memory and when it is needed.
struct Request : PlacedBytes {
  Operation *op = nullptr;
  SharedNeed need;

  Request(Operation *op, SharedNeed need, unsigned from, unsigned to) : op(op) {
    set(need);
    start = from;
    end = to;
  }
  void set(SharedNeed other) {
    need = other;
    bytes = need.bytes;
    alignment = need.alignment;
    persistent = need.use == SharedUse::Persistent;
    isScratch = need.use == SharedUse::ScratchBlock;
    // Of what warps leave each other none is read more than this at once.
    constexpr int64_t widest = 16;
    if (isa<ReduceOp, ArgReduceOp, JoinWarpsOp>(op))
      alignment = std::min(alignment, widest);
  }
};

} // namespace

/// Collects the last operation at which `memory` may be read: uses in loops below the definition
/// count to the loop's end.
/// From a use in a loop the interval goes on to the loop's end: the next trip reads it again. A
/// loop that holds the definition as well ends the lifetime with the trip.
static LogicalResult extendOverUses(Value memory, Block *home,
                                    const DenseMap<Operation *, unsigned> &lastInside,
                                    unsigned &end) {
  for (Operation *user : memory.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>() || user->getNumRegions())
      return user->emitOpError(
          "takes a tile of shared memory through control flow, which is not supported");
    // Of a product in flight, the use ends where the product is waited for.
    Operation *inHome = getCompletion(user, home);
    end = std::max(end, lastInside.lookup(inHome));
    if (isa<MemDescPermuteOp, SlotOp>(user))
      if (failed(extendOverUses(user->getResult(0), home, lastInside, end)))
        return failure();
  }
  return success();
}

static bool isInLoop(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>() != nullptr;
}

bool tile::gpu::isWholeInWarps(ConvertLayoutOp op) {
  LinearLayout source = getLayout(op.getSource().getType());
  return op.getType().getRank() == 1 &&
         getReplicaBits(source).size() == source.getNumBits(InDim::Warp) &&
         op.getSharedNeed().use == SharedUse::ScratchWarp;
}

/// True for a conversion for which each warp has bytes of its own, once a program of a persistent
/// kernel with a producer: with a barrier of all warps none could begin the next program while
/// others end this one. Without a producer all warps meet in each trip.
static bool endsProgram(ConvertLayoutOp op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  auto kernel = op->getParentOfType<KernelOp>();
  if (!kernel->hasAttr(persistentGridName) || !loop ||
      loop->getParentOfType<LoopLikeOpInterface>() ||
      op.getSharedNeed().use != SharedUse::ScratchWarp)
    return false;
  auto isOfProducer = [](Operation *each) {
    return isa<TmaFetchOp, WarpSpecializeOp>(each) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  };
  return kernel.getBody().walk(isOfProducer).wasInterrupted();
}

/// True if programs will follow each other in a loop that is not there yet.
static bool becomesPersistent(KernelOp kernel) {
  return kernel->hasAttr(persistentName) && !kernel->hasAttr(persistentGridName);
}

/// True for scratch that no barrier guards between the trips of a loop around it.
static bool keepsScratchInLoops(Operation *op) {
  constexpr int64_t small = 4096;
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  return convert && ((isWholeInWarps(convert) && convert.getSharedNeed().bytes <= small) ||
                     endsProgram(convert));
}

bool tile::gpu::keepsScratch(Operation *op) { return isInLoop(op) && keepsScratchInLoops(op); }

bool tile::gpu::isStoredOnce(Operation *op) { return isa<TmaStoreOp>(op) && !isInLoop(op); }

bool tile::gpu::isFilledOnce(RingOp ring) {
  RingType type = ring.getType();
  return type.getStages() == 1 && !type.getTiles().empty() && !ring.getClustered() &&
         !isInLoop(ring) && llvm::none_of(ring->getUsers(), isInLoop);
}

/// Every operation of the kernel that needs shared memory, with its lifetime. Tiles of `ring`, if
/// there is one, count as `stages` slots that live as long as the ring's loop.
/// With `ring`, this is a trial: what would be needed if these tiles had so many slots. With
/// `fetchedOnce`, another one: fetches that no loop repeats count as the rings that they will be.
static FailureOr<SmallVector<Request>> collectRequests(KernelOp kernel,
                                                       const CopyRing *ring = nullptr,
                                                       int64_t stages = 1,
                                                       bool fetchedOnce = false) {
  // Numbers of an operation and of the last one nested in it.
  DenseMap<Operation *, unsigned> first, lastInside;
  unsigned count = 0;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { first[op] = count++; });
  kernel.getBody().walk<WalkOrder::PostOrder>([&](Operation *op) {
    unsigned last = first[op];
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        last = std::max(last, lastInside[&inner]);
    lastInside[op] = last;
  });

  SmallVector<Request> requests;
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    SharedNeed need = getSharedNeed(op);
    auto fetch = dyn_cast<TmaFetchOp>(op);
    // Those with a ring's number may share that of a loop.
    if (fetchedOnce && fetch && !isInLoop(fetch) && !fetch->hasAttr(ringName))
      need = {SharedUse::Allocates, getSharedLayout(fetch.getType()).getBytes(), 1024};
    if (need.use == SharedUse::None)
      return WalkResult::advance();
    Request request(op, need, fetch ? 0 : first[op], first[op]);
    // Alive throughout: rings and staging memory are touched by other warps, or by copies under
    // way.
    bool willRepeat = (ring || fetchedOnce) && becomesPersistent(kernel);
    if (need.use == SharedUse::Persistent)
      request.start = isStoredOnce(op) && !willRepeat ? first[op] : 0, request.end = count;
    if (keepsScratch(op) || (willRepeat && keepsScratchInLoops(op))) {
      Operation *loop = op->getParentOfType<LoopLikeOpInterface>();
      request.start = loop ? first[loop] : 0;
      request.end = loop ? lastInside[loop] : count;
    }
    if (auto ring = dyn_cast<RingOp>(op); ring && isFilledOnce(ring)) {
      request.kept = RingLayout(ring.getType()).getBarrierBytes();
      request.end = first[op];
      for (Operation *user : ring->getUsers()) {
        request.end = std::max(request.end, lastInside[user]);
        for (Value tile : user->getResults())
          if (isa<MemDescType>(tile.getType()) &&
              failed(extendOverUses(tile, user->getBlock(), lastInside, request.end)))
            return WalkResult::interrupt();
      }
    }
    if (need.use == SharedUse::Allocates &&
        failed(extendOverUses(op->getResult(0), op->getBlock(), lastInside, request.end)))
      return WalkResult::interrupt();
    if (ring && llvm::is_contained(ring->allocs, op)) {
      request.bytes = stages * llvm::alignTo(need.bytes, need.alignment);
      request.start = first[ring->loop];
      request.end = lastInside[ring->loop];
    }
    requests.push_back(request);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return requests;
}

bool tile::gpu::reservesWords(KernelOp kernel) {
  bool multiplies = false, exchanges = false;
  kernel.getBody().walk([&](Operation *op) {
    multiplies |= isa<DotOp, MmaOp, WgmmaOp, FmaDotOp>(op);
    auto atomic = dyn_cast<AtomicOp>(op);
    exchanges |= (atomic && !atomic.getResult().use_empty()) ||
                 (isa<ReduceByOp>(op) && !op->hasAttr(selectsOneName)) ||
                 isa<ReduceOp, ArgReduceOp, ScanOp, WarpReduceOp, JoinWarpsOp>(op);
  });
  return exchanges && !multiplies;
}

FailureOr<SmallVector<SharedLifetime>> tile::gpu::getSharedLifetimes(KernelOp kernel) {
  auto requests = collectRequests(kernel);
  if (failed(requests))
    return failure();
  SmallVector<SharedLifetime> lifetimes;
  for (const Request &request : *requests)
    lifetimes.push_back({request.op, request.need, request.start, request.end});
  return lifetimes;
}

static bool multiplies(KernelOp kernel) {
  return kernel.getBody()
      .walk([](Operation *op) {
        return isa<DotOp, MmaOp, WgmmaOp, FmaDotOp>(op) ? WalkResult::interrupt()
                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The bytes that the cost model reckons with, where they are more than what is needed and cost no
/// block: what it cannot know before layouts it has set apart. Without products threads read by
/// way of the first-level cache, which has what blocks leave of the memory.
static int64_t keepPlan(KernelOp kernel, int64_t needed, const GPULimits &limits) {
  auto plan = kernel->getAttrOfType<IntegerAttr>(plannedBytesName);
  if (!plan || plan.getInt() == needed)
    return needed;
  int64_t planned = plan.getInt();
  if (planned < needed) {
    declined(kernel) << "it needs " + std::to_string(needed) +
                            " bytes of shared memory, more than the " + std::to_string(planned) +
                            " by which it was chosen";
    return needed;
  }
  if (!multiplies(kernel) || !kernel->hasAttr(numWarpsName))
    return needed;
  auto producer = kernel->getAttrOfType<IntegerAttr>(producerThreadsName);
  auto teams = kernel->getAttrOfType<IntegerAttr>(teamsName);
  int64_t threads = (teams ? teams.getInt() : 1) * *getLaunchedWarps(kernel) * limits.warpThreads +
                    (producer ? producer.getInt() : 0);
  auto countBlocks = [&](int64_t bytes) {
    return std::min({limits.blocksPerProcessor, limits.threadsPerProcessor / threads,
                     limits.sharedPerProcessor / (bytes + limits.sharedReserved)});
  };
  if (planned <= limits.sharedPerBlock() && countBlocks(planned) == countBlocks(needed))
    return planned;
  declined(kernel) << "the " + std::to_string(planned) +
                          " bytes of shared memory by which it was chosen would cost a block, it "
                          "needs " +
                          std::to_string(needed);
  return needed;
}

static SmallVector<PlacedBytes *> getPointers(MutableArrayRef<Request> requests) {
  SmallVector<PlacedBytes *> all;
  for (Request &request : requests)
    all.push_back(&request);
  return all;
}

/// Gives each its offset; returns the bytes taken in all.
static int64_t placeAll(MutableArrayRef<Request> requests, bool persistentFirst = false) {
  return tile::gpu::place(getPointers(requests), persistentFirst);
}

/// The largest first; ties by the text's order.
static SmallVector<Request *> sortBySize(MutableArrayRef<Request> requests) {
  SmallVector<Request *> order;
  for (Request &request : requests)
    order.push_back(&request);
  llvm::sort(order, [](Request *a, Request *b) {
    return std::tuple(b->bytes, a->start) < std::tuple(a->bytes, b->start);
  });
  return order;
}

/// How much a choice of stages would take, before anything is changed.
std::optional<int64_t> tile::gpu::planSharedBytes(KernelOp kernel, const CopyRing &ring,
                                                  int64_t stages) {
  auto requests = collectRequests(kernel, &ring, stages);
  return failed(requests) ? std::nullopt : std::optional<int64_t>(placeAll(*requests));
}

/// As if fetches in loops had no memory: that is given out by stages, of what is left.
std::optional<int64_t> tile::gpu::planBytesBesideFetches(KernelOp kernel) {
  auto requests = collectRequests(kernel, nullptr, 1, /*fetchedOnce=*/true);
  if (failed(requests))
    return std::nullopt;
  return placeAll(*requests);
}

/// Has the slots of rows come last, and says what a launch needs that makes fewer trips than there
/// are slots: so many blocks more run at once there. Nothing changes where others have bytes of
/// the slots at other times, or where rows go along several dimensions.
static void placeRowsLast(KernelOp kernel, MutableArrayRef<Request> requests, int64_t total) {
  SmallVector<Request *> slots, others;
  for (Request &each : requests)
    (each.op->hasAttr(rowTripsName) ? slots : others).push_back(&each);
  if (slots.empty())
    return;
  llvm::sort(slots, [](Request *a, Request *b) { return a->offset < b->offset; });
  Request *last = slots.back();
  auto trips = last->op->getAttrOfType<DenseI64ArrayAttr>(rowTripsName);
  int64_t end = last->offset + last->bytes,
          stride = getSlotStride(cast<LocalSlotsOp>(last->op).getType());
  bool apart = end % sharedLine == 0, alike = true;
  for (Request *each : others)
    apart &= each->offset >= end && end % each->alignment == 0;
  for (Request *each : slots)
    alike &= each->op->getAttr(rowTripsName) == trips;
  if (!apart || !alike) {
    declined(kernel) << std::string("its launches need as much shared memory for short rows as for "
                                    "long ones: ") +
                            (apart ? "its loops go over rows along several dimensions"
                                   : "other tiles take the bytes of the rows meanwhile");
    return;
  }
  for (Request *each : others)
    each->offset -= end;
  for (Request *each : slots)
    each->offset += total - end;
  kernel->setAttr(sharedByRowName,
                  DenseI64ArrayAttr::get(kernel.getContext(),
                                         {trips[0], trips[1], trips[2], total - end,
                                          end - last->bytes, stride, last->bytes / stride}));
}

/// The contents of a request, for a message: the shape and element type of its tile; of the
/// first slot; null for a ring, which holds several.
static RankedTensorType getTile(Operation *op) {
  if (auto slots = dyn_cast<LocalSlotsOp>(op)) {
    MemDescType tile = slots.getType().getTile();
    return RankedTensorType::get(tile.getShape(), tile.getElementType());
  }
  return op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
                              : RankedTensorType();
}

/// Has a conversion go in twice as many rounds; false if it takes little, or cannot.
static bool doubleRounds(ConvertLayoutOp convert) {
  constexpr int64_t least = 4096;
  SharedNeed need = getSharedNeed(convert);
  if (need.bytes <= least || !getReplicaBits(getLayout(convert.getSource().getType())).empty())
    return false;
  auto now = convert->getAttrOfType<IntegerAttr>(roundsName);
  int64_t rounds = now ? 2 * now.getInt() : 2;
  if (!getConversionRounds(getLayout(convert.getSource().getType()), getLayout(convert.getType()),
                           rounds))
    return false;
  convert->setAttr(roundsName, Builder(convert.getContext()).getI64IntegerAttr(rounds));
  return true;
}

/// The same for the largest request that can; false if there is none.
static bool convertInRounds(MutableArrayRef<Request> requests) {
  for (Request *request : sortBySize(requests))
    if (auto convert = dyn_cast<ConvertLayoutOp>(request->op); convert && doubleRounds(convert)) {
      request->set(getSharedNeed(convert));
      return true;
    }
  return false;
}

bool tile::gpu::convertInRounds(KernelOp kernel) {
  SmallVector<ConvertLayoutOp> converts;
  kernel.getBody().walk([&](ConvertLayoutOp convert) { converts.push_back(convert); });
  llvm::stable_sort(converts, [](ConvertLayoutOp a, ConvertLayoutOp b) {
    return getSharedNeed(a).bytes > getSharedNeed(b).bytes;
  });
  return llvm::any_of(converts, doubleRounds);
}

/// But rings, which hold several each.
static SmallVector<LargeTile> collectTiles(ArrayRef<Request> requests) {
  SmallVector<LargeTile> tiles;
  for (const Request &request : requests)
    if (RankedTensorType tile = getTile(request.op))
      tiles.push_back({request.need.bytes, request.op->getLoc(), tile});
  return tiles;
}

static LogicalResult reportTooLarge(KernelOp kernel, MutableArrayRef<Request> requests,
                                    int64_t total, const GPUTarget &target) {
  auto error = kernel.emitError() << "kernel '" << kernel.getSymName() << "' needs " << total
                                  << " bytes of shared memory, " << StringRef(target.name)
                                  << " has " << target.limits.sharedPerBlock()
                                  << " for a block; make its tiles smaller, the largest first";
  noteLargest(error, collectTiles(requests));
  return error;
}

/// Rings first, which teams share, then what each team has for itself, once for each of them.
static int64_t placeTeams(KernelOp kernel, MutableArrayRef<Request> requests, int64_t limit) {
  constexpr int64_t line = 1024; // what all alignments divide
  SmallVector<PlacedBytes *> rings, own;
  for (Request &request : requests)
    (isa<RingOp>(request.op) ? rings : own).push_back(&request);
  int64_t teams = kernel->getAttrOfType<IntegerAttr>(teamsName).getInt();
  int64_t begin = llvm::alignTo(placeBlock(rings, limit, /*reservesWords=*/false), line);
  int64_t bytes = llvm::alignTo(placeBlock(own, (limit - begin) / teams, false), line);
  for (PlacedBytes *each : own)
    each->offset += begin;
  kernel->setAttr(teamBytesName, Builder(kernel.getContext()).getI64IntegerAttr(bytes));
  return begin + teams * bytes;
}

namespace {

/// On exit each operation with a need has its offset in bytes, and the kernel the total. Everything
/// behind this pass relies on offsets not to change.
struct AllocateShared : tile::impl::TileGPUAllocateSharedBase<AllocateShared> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(allocate(kernel, *target)))
        return signalPassFailure();
  }

  // Four tries, each tighter: small scratch apart, all shared by lifetime, persistent memory first,
  // the largest conversions in rounds.
  LogicalResult allocate(KernelOp kernel, const GPUTarget &target) {
    int64_t limit = target.limits.sharedPerBlock();
    auto requests = collectRequests(kernel);
    if (failed(requests))
      return failure();
    while (std::min(placeAll(*requests), placeAll(*requests, /*persistentFirst=*/true)) > limit &&
           convertInRounds(*requests))
      ;
    // First as if each block had its share alone, for the blocks that the kernel asks for, or that
    // its bytes admit: words apart save barriers, and are not worth a block.
    auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName);
    auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
    int64_t share = getSharedLimit(target.limits, occupancy ? occupancy.getInt() : 1);
    if (!occupancy && warps)
      share = std::min(share, getOpenShare(placeAll(*requests), warps.getInt(), target.limits));
    bool hasTeams = kernel->hasAttr(teamsName);
    int64_t total = hasTeams ? placeTeams(kernel, *requests, limit)
                             : placeBlock(getPointers(*requests), share, reservesWords(kernel));
    if (!hasTeams && total > share)
      total = placeBlock(getPointers(*requests), limit, reservesWords(kernel));
    if (total > limit)
      return reportTooLarge(kernel, *requests, total, target);
    int64_t fitting = target.limits.sharedPerProcessor / (total + target.limits.sharedReserved);
    if (occupancy && fitting < occupancy.getInt())
      lowerOccupancy(kernel, fitting, total, share, collectTiles(*requests));
    Builder builder(&getContext());
    placeRowsLast(kernel, *requests, total);
    for (Request &request : *requests)
      request.op->setAttr(sharedOffsetName, builder.getI64IntegerAttr(request.offset));
    total = keepPlan(kernel, total, target.limits);
    kernel->setAttr(sharedBytesName, builder.getI64IntegerAttr(total));
    return success();
  }
};

} // namespace
