// tile-gpu-specialize-warps: takes a kernel apart into a producer that copies tiles and consumers
// that compute with them.
//
//   warps of the kernel        consumers: wait for a slot, compute, release the slot
//   one more warpgroup         producer: its first thread waits for a free slot and issues copies
//
//   producer   | copy 0 | copy 1 | copy 2 | wait | copy 3 | ...
//   consumers           | use 0           | use 1         | use 2 | ...
//
// The producer is the slice of the program that its copies depend on, so both sides make the same
// trips of every loop. Consumers keep the kernel's warp numbers: the producer's warpgroup is last.
// Registers move from it to the consumers by setRegisters() of
// Convert/TileGPUToLLVM/WarpSpecialize.cpp.
#include "dialect/AttributeNames.h"
#include "dialect/FetchNames.h"
#include "dialect/PlanNames.h"
#include "dialect/RequestLimits.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/IdleWarps.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/OccupancyFit.h"
#include "passes/TileGPU/ProducerDigits.h"
#include "passes/TileGPU/ProducerSlice.h"
#include "passes/TileGPU/RingGroups.h"
#include "passes/TileGPU/SharedLifetimes.h"
#include "passes/TileGPU/SharedPlan.h"
#include "passes/TileGPU/Teams.h"
#include "target/LoadLatency.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSPECIALIZEWARPS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

constexpr int64_t warpsOfWarpgroup = 4;

using Group = RingGroup;

/// True for an operation of a loop that has loops with products in it, as what a persistent
/// program does behind its products: registers would hold its addresses through these.
bool standsAroundProducts(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && loop.getBody()
                     ->walk([&](WgmmaOp product) {
                       return product->getParentOp() == loop ? WalkResult::advance()
                                                             : WalkResult::interrupt();
                     })
                     .wasInterrupted();
}

class Specializer {
public:
  Specializer(KernelOp kernel, const GPUTarget &target)
      : kernel(kernel), target(target), limits(target.limits), builder(kernel) {}

  LogicalResult run() {
    groups = collectRingGroups(kernel);
    if (groups.empty())
      return success();
    if (int64_t idle = countIdleWarps(kernel))
      kernel->setAttr(idleWarpsName, builder.getI64IntegerAttr(idle));
    shareRings(groups);
    if (TeamCount choice = chooseTeams(kernel, groups, limits); choice.teams > 1) {
      teams = choice.teams;
      kernel->setAttr(teamsName, builder.getI64IntegerAttr(teams));
    } else {
      declined(kernel) << "its consumers are one team: " << choice.why;
    }
    if (failed(chooseStages()))
      return failure();
    RegisterShare share = getShare();
    WarpSpecializeOp split = makeRegions();
    if (share.isWide)
      kernel->setAttr(wideProducerName, builder.getUnitAttr());
    if (int64_t kept = chooseProducerRegisters(share, limits); kept != usualProducerRegisters)
      split->setAttr(producerRegistersName, builder.getI64IntegerAttr(kept));
    if (share.products > manyProductRegisters) {
      split.getConsumer().walk([&](Operation *op) {
        if (isa<LocalAllocOp, TmaStoreOp>(op) && op->getParentOfType<scf::ForOp>())
          op->setAttr(recomputesName, builder.getUnitAttr());
      });
    }
    split.getConsumer().walk([&](ConvertLayoutOp op) {
      if (standsAroundProducts(op))
        op->setAttr(recomputesName, builder.getUnitAttr());
    });
    Block &consumer = split.getConsumer().front(), &producer = split.getProducer().front();
    SmallVector<RingFetches> rings;
    for (Group &group : groups)
      rings.push_back({group.ring, group.fetches});
    if (failed(buildProducer(consumer, producer, rings)))
      return failure();
    dropFills(consumer);
    for (Group &group : groups)
      rewriteConsumer(group);
    if (teams > 1)
      dealPrograms(consumer, teams);
    // The producer has its own, and writes those by which the consumers store.
    SmallVector<ViewDescriptorOp> unused;
    consumer.walk([&](ViewDescriptorOp op) {
      if (op->use_empty())
        unused.push_back(op);
    });
    for (ViewDescriptorOp op : unused)
      op.erase();
    for (auto [read, release] : unfenced)
      if (isFenced(read, release))
        release->setAttr(fencedName, builder.getUnitAttr());
    kernel->setAttr(producerThreadsName, builder.getI64IntegerAttr(128));
    return success();
  }

private:
  /// Leaves what no fetch brings to the producer, with all that only these copies need.
  static void dropFills(Block &consumer) {
    SmallVector<Operation *> fills;
    consumer.walk([&](AsyncCopyOp copy) {
      if (isFill(copy) && !llvm::is_contained(fills, copy->getParentOp()))
        fills.push_back(copy->getParentOp());
    });
    if (fills.empty())
      return;
    for (Operation *fill : fills)
      fill->erase();
    SmallVector<Operation *> ops;
    consumer.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops)) // users come later in the text
      if (isOpTriviallyDead(op))
        op->erase();
  }

  /// True if all threads of the producer's warpgroup copy, as no fetch brings some tile.
  bool isWide() {
    return llvm::any_of(
        groups, [](Group &group) { return llvm::any_of(group.fetches, isFilledByThreads); });
  }

  /// Bytes of shared memory: what stays the same, and what each stage adds.
  struct Plan {
    RingNeed need;
    int64_t beside = 0; ///< of what is fixed, all but fetches in loops and mbarriers
  };

  Plan makePlan() {
    Plan plan;
    RingNeed &rings = plan.need;
    int64_t scratch = 0, small = 0, fixed = 0;
    kernel.getBody().walk([&](Operation *op) {
      SharedNeed need = getSharedNeed(op);
      if (keepsScratch(op))
        small += llvm::alignTo(need.bytes, need.alignment);
      else if (need.use == SharedUse::ScratchBlock || need.use == SharedUse::ScratchWarp)
        scratch = std::max(scratch, need.bytes);
      else if (isa<ViewDescriptorOp>(op))
        small += need.bytes;
      else if (auto copy = dyn_cast<AsyncCopyOp>(op); copy && isFill(copy) && !isWide())
        small += FillLayout::values + 16 + getFillBytes(copy);
      else if (need.use != SharedUse::None && !isa<TmaFetchOp>(op))
        fixed += llvm::alignTo(need.bytes, 1024);
    });
    fixed += llvm::alignTo(scratch, 1024) + llvm::alignTo(small, 1024);
    fixed *= teams; // each has its own
    plan.beside = fixed;
    rings.persistent = kernel->hasAttr(persistentGridName);
    for (Group &group : groups) {
      if (findOwner(group) != &group)
        continue;
      int64_t bytes = group.getSlotBytes();
      fixed += 1024; // mbarriers
      if (!isInInnerLoop(group.fetches.front())) {
        fixed += bytes;
        rings.outer += bytes;
        if (!group.fetches.front()->getParentOfType<LoopLikeOpInterface>() &&
            !group.fetches.front()->hasAttr(ringName))
          plan.beside += bytes;
        continue;
      }
      rings.slots.push_back(bytes);
      if (group.requested) {
        rings.explicitly = true;
        rings.requested = std::min(rings.requested, group.requested);
      }
    }
    rings.fixed = fixed;
    return plan;
  }

  /// Blocks that share a multiprocessor: as many as the source says, or, where it leaves the
  /// schedule open, as many as programs, registers and shared memory allow. In a block of one
  /// warpgroup nobody multiplies while that one waits or does anything else; another block does.
  int64_t chooseBlocks(const Plan &plan) {
    if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
      return occupancy.getInt();
    // Who fixes a part of the schedule has the rest of it in mind, too.
    auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
    if (!warps || plan.need.explicitly || kernel->hasAttr(requestedWarpsName) ||
        kernel->hasAttr(consumersName) || kernel->hasAttr(stagesName) ||
        kernel->hasAttr(maxRegistersName) || kernel->hasAttr(blocksOfClusterName))
      return 1;
    BlockNeed need;
    need.warps = warps.getInt();
    need.registers = countLiveRegisters(kernel);
    need.registersOnEntry = getRegisterNeed(kernel).registers;
    need.fixedBytes = plan.need.fixed;
    need.stageBytes = plan.need.getStageBytes();
    need.rings = int64_t(plan.need.slots.size());
    need.programs = countPrograms(kernel, getCard(target)).getRoom();
    int64_t blocks = tile::gpu::chooseBlocks(need, limits);
    if (blocks > 1) {
      kernel->setAttr(occupancyName, builder.getI64IntegerAttr(blocks));
      kernel->setAttr(openOccupancyName, builder.getUnitAttr());
    }
    return blocks;
  }

  /// The tiles in shared memory: what a fetch brings, what is staged beside.
  SmallVector<LargeTile> collectTiles() {
    SmallVector<LargeTile> tiles;
    kernel.getBody().walk([&](Operation *op) {
      SharedNeed need = getSharedNeed(op);
      if (auto fetch = dyn_cast<TmaFetchOp>(op)) {
        MemDescType tile = fetch.getType();
        tiles.push_back({getSharedLayout(tile).getBytes(), op->getLoc(),
                         RankedTensorType::get(tile.getShape(), tile.getElementType())});
      } else if (need.use != SharedUse::None && op->getNumOperands()) {
        if (auto tile = dyn_cast<RankedTensorType>(op->getOperand(0).getType()))
          tiles.push_back({need.bytes, op->getLoc(), tile});
      }
    });
    return tiles;
  }

  LogicalResult reportTooLarge(int64_t bytes, int64_t limit) {
    auto error = kernel.emitError() << "kernel '" << kernel.getSymName() << "' needs " << bytes
                                    << " bytes of shared memory, a block has " << limit
                                    << "; make its tiles smaller, the largest first";
    noteLargest(error, collectTiles());
    return error;
  }

  /// Gives tiles that trips store for products of all warpgroups two places each, where rings keep
  /// stages enough: no warpgroup waits then, before it stores, until the others have multiplied.
  void alternateTiles(Plan &plan) {
    FailureOr<int64_t> warps = getLaunchedWarps(kernel);
    if (failed(warps) || *warps <= warpsOfWarpgroup || plan.need.slots.empty() ||
        plan.need.explicitly)
      return;
    kernel.getBody().walk([&](LocalAllocOp alloc) {
      if (!isReadInTrip(alloc))
        return;
      // Loads take as long as a short trip, which begins when the one before ends.
      constexpr int64_t longTrip = 1024, fewStages = 2;
      int64_t stages = countClocks(*alloc->getBlock()) >= longTrip ? fewStages : usefulStages;
      int64_t bytes = llvm::alignTo(getSharedNeed(alloc).bytes, 1024);
      Plan larger = plan;
      larger.need.fixed += bytes;
      larger.beside += bytes;
      alloc->setAttr(alternatesName, builder.getUnitAttr());
      auto isTooLarge = [&] {
        return larger.need.limit - larger.need.fixed < stages * larger.need.getStageBytes();
      };
      if (isTooLarge())
        countLifetimes(larger);
      if (isTooLarge())
        alloc->removeAttr(alternatesName);
      else
        plan = larger;
    });
  }

  /// Counts what stands beside the rings by lifetimes.
  void countLifetimes(Plan &plan) {
    std::optional<int64_t> planned = planBytesBesideFetches(kernel);
    if (!planned)
      return;
    int64_t bytes = teams * llvm::alignTo(*planned, 1024);
    plan.need.fixed += bytes - plan.beside;
    plan.beside = bytes;
  }

  /// True for a tile of a loop's trip whose readers are products of the trip, and done at its end.
  static bool isReadInTrip(LocalAllocOp alloc) {
    if (!isa<scf::ForOp>(alloc->getParentOp()))
      return false;
    SmallVector<Operation *> users;
    SmallVector<Operation *> views;
    collectUsers(alloc.getResult(), users, views);
    return !users.empty() && llvm::all_of(users, [&](Operation *user) {
      auto product = dyn_cast<WgmmaOp>(user);
      return product && product->getBlock() == alloc->getBlock() &&
             (!product.getAsync() || llvm::all_of(product->getUsers(), [&](Operation *wait) {
               return isa<WgmmaWaitOp>(wait) && wait->getBlock() == alloc->getBlock();
             }));
    });
  }

  /// Bytes of rings more than which gain nothing: loops that memory bounds have no use for all
  /// that fits.
  int64_t chooseEnough(const RingNeed &need, int64_t blocks) {
    for (Group &group : groups) {
      TmaFetchOp fetch = group.fetches.front();
      if (findOwner(group) != &group || !isInInnerLoop(fetch))
        continue;
      int64_t bits = 0;
      auto add = [&](Value a, RankedTensorType sums) {
        auto tile = dyn_cast<RankedTensorType>(a.getType());
        auto memory = dyn_cast<MemDescType>(a.getType());
        bits += sums.getNumElements() * (tile ? tile.getShape() : memory.getShape()).back() *
                getElementBits(tile ? tile.getElementType() : memory.getElementType());
      };
      fetch->getParentOfType<LoopLikeOpInterface>()->walk([&](Operation *op) {
        llvm::TypeSwitch<Operation *>(op).Case<WgmmaOp, MmaOp, FmaDotOp>(
            [&](auto product) { add(product.getA(), product.getType()); });
      });
      if (!isBoundByMemory(bits, need.getStageBytes()))
        return INT64_MAX;
    }
    return getEnoughBytes(getBytesInFlight(getCard(target)), blocks);
  }

  /// The tensor cores' clocks for a block's products of 16-bit operands.
  static int64_t countClocks(Block &block) {
    constexpr int64_t perClock = 2048;
    int64_t clocks = 0;
    for (auto product : block.getOps<WgmmaOp>()) {
      Type a = product.getA().getType();
      auto tile = dyn_cast<RankedTensorType>(a);
      int64_t depth = (tile ? tile.getShape() : cast<MemDescType>(a).getShape()).back();
      clocks += product.getType().getNumElements() * depth / perClock;
    }
    return clocks;
  }

  /// Has the plan be one for `blocks` blocks of a multiprocessor; false if the rings find no room.
  bool makeRoom(Plan &plan, int64_t blocks) {
    RingNeed &need = plan.need;
    need.limit = getSharedLimit(limits, blocks);
    need.enough = chooseEnough(need, blocks);
    // The sum takes all that stands beside the rings for alive at once, which is right for most
    // kernels. Where it costs stages, as of loops that each copy ahead before this one, lifetimes
    // decide.
    if (isCrowded(need))
      countLifetimes(plan);
    // Conversions pay by a few barriers for a stage that would not fit otherwise.
    while (chooseRingStages(need).fitting < 1 && convertInRounds(kernel))
      countLifetimes(plan);
    return chooseRingStages(need).fitting >= 1;
  }

  /// The plan for as many blocks as the occupancy says, or for the most fewer that find room: one
  /// block whose tiles come by TMA is worth more than several that load by their threads.
  Plan makeFittingPlan() {
    const Plan first = makePlan();
    Plan plan = first;
    int64_t blocks = chooseBlocks(plan);
    SmallVector<std::pair<ConvertLayoutOp, Attribute>> rounds;
    if (blocks > 1)
      kernel.getBody().walk([&](ConvertLayoutOp convert) {
        rounds.push_back({convert, convert->getAttr(roundsName)});
      });
    if (makeRoom(plan, blocks))
      return plan;
    const int64_t bytes = plan.need.fixed + plan.need.getStageBytes(), share = plan.need.limit;
    while (blocks > 1) {
      for (auto [convert, before] : rounds) // they have made no room
        if (before)
          convert->setAttr(roundsName, before);
        else
          convert->removeAttr(roundsName);
      plan = first;
      if (makeRoom(plan, --blocks)) {
        lowerOccupancy(kernel, blocks, bytes, share, collectTiles());
        break;
      }
    }
    return plan;
  }

  /// Sets `ring` of each group, with as many stages as chooseRingStages() says.
  LogicalResult chooseStages() {
    Plan plan = makeFittingPlan();
    RingNeed &need = plan.need;
    alternateTiles(plan);
    RingStages chosen = chooseRingStages(need);
    int64_t repeated = need.getStageBytes();
    if (chosen.fitting < 1) {
      kernel->setAttr(loadsItselfName, builder.getUnitAttr());
      return reportTooLarge(need.fixed + repeated, need.limit);
    }
    if (need.explicitly && chosen.fitting < need.requested)
      remarkOn(kernel) << "stages(" << need.requested
                       << ") does not fit into shared memory: a stage takes " << repeated
                       << " bytes, there is room for " << chosen.fitting << " [R0404]";
    else if (repeated && !need.explicitly && chosen.fitting < 2 &&
             !llvm::is_contained(chosen.doubled, true))
      remarkOn(kernel) << "loads are not overlapped with computation: two stages of " << repeated
                       << " bytes do not fit into shared memory; make the tiles smaller [R0404]";
    builder.setInsertionPoint(kernel.getBody().front().getTerminator());
    for (Group &group : groups) {
      Group *owner = findOwner(group);
      owner->perWarp |= group.perWarp;
    }
    size_t number = 0; // among the rings in loops
    for (Group &group : groups) {
      if (findOwner(group) != &group)
        continue;
      SmallVector<MemDescType> tiles;
      for (TmaFetchOp fetch : group.fetches)
        tiles.push_back(fetch.getType());
      bool inner = isInInnerLoop(group.fetches.front());
      auto type = RingType::get(
          builder.getContext(),
          inner ? chosen.inner + int64_t(chosen.doubled[number++]) : chosen.outer, tiles);
      // Blocks that differ in these bits of their ranks fill each other's slots.
      uint64_t across = 0;
      for (TmaFetchOp fetch : group.fetches)
        across |= fetch.getMulticast() ? fetch.getAcross().value_or(1) : 0;
      group.ring =
          RingOp::create(builder, group.fetches.front().getLoc(), type, group.perWarp, across != 0,
                         across > 1 ? builder.getI64IntegerAttr(int64_t(across)) : IntegerAttr());
      if (llvm::any_of(group.fetches, isFilledByThreads))
        group.ring.getDefiningOp()->setAttr(filledName, builder.getUnitAttr());
    }
    for (Group &group : groups)
      group.ring = findOwner(group)->ring;
    return success();
  }

  /// The group whose ring `group` uses: of those with its numbers the one in the innermost loop, or
  /// itself.
  Group *findOwner(Group &group) {
    Group *owner = &group;
    for (Group &other : groups) {
      bool same = other.fetches.size() == group.fetches.size();
      for (size_t i = 0; same && i < group.fetches.size(); ++i) {
        Attribute number = group.fetches[i]->getAttr(ringName);
        same = number && number == other.fetches[i]->getAttr(ringName);
      }
      if (same && isInInnerLoop(other.fetches.front()))
        return &other;
      if (same && &other < owner)
        owner = &other;
    }
    return owner;
  }

  RegisterShare getShare() {
    RegisterShare share;
    if (FailureOr<int64_t> warps = getLaunchedWarps(kernel); succeeded(warps))
      share.warpgroups = teams * *warps / warpsOfWarpgroup;
    if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
      share.blocks = occupancy.getInt();
    share.tiles = countLiveRegisters(kernel);
    kernel.getBody().walk([&](Operation *op) {
      share.writesMaps |= isa<ViewDescriptorOp>(op);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          share.products = std::max(share.products, countProductRegisters(block));
    });
    share.products = std::max(share.products, countProductRegisters(kernel.getBody().front()));
    share.isWide = isWide();
    share.isFew = bool(kernel->removeAttr(producerRegistersName)); // by a second try
    return share;
  }

  /// True for what producer and consumers may both see: scalars and views that nothing changes.
  static bool isShared(Operation &op) {
    if (isa<RingOp, BlockIdOp>(op))
      return true;
    if (isa<ViewDescriptorOp>(op)) // written by one thread
      return false;
    return isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
           llvm::none_of(op.getResultTypes(),
                         [](Type type) { return isa<RankedTensorType, MemDescType>(type); });
  }

  /// Moves the body into the consumers' region, but for what both sides share.
  WarpSpecializeOp makeRegions() {
    Block &body = kernel.getBody().front();
    builder.setInsertionPoint(body.getTerminator());
    auto split = WarpSpecializeOp::create(builder, kernel.getLoc());
    Block *producer = new Block, *consumer = new Block;
    split.getProducer().push_back(producer);
    split.getConsumer().push_back(consumer);
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (&op == split.getOperation())
        break;
      bool inside = !isShared(op);
      for (Value operand : op.getOperands())
        if (Operation *def = operand.getDefiningOp())
          inside |= def->getBlock() == consumer;
      if (inside)
        op.moveBefore(consumer, consumer->end());
    }
    return split;
  }

  /// Waits for the slot before its first use and gives it back after the last.
  void rewriteConsumer(Group &group) {
    SmallVector<Type> types;
    for (TmaFetchOp fetch : group.fetches)
      types.push_back(fetch.getType());
    builder.setInsertionPoint(group.firstUser);
    auto wait = RingWaitOp::create(builder, group.firstUser->getLoc(), types, group.ring);
    Operation *after = wait, *read = wait;
    for (auto [fetch, tile] : llvm::zip(group.fetches, wait.getTiles())) {
      SmallVector<Operation *> users;
      SmallVector<Operation *> views;
      collectUsers(fetch.getResult(), users, views);
      for (Operation *view : views) { // a join comes behind its last source
        if (view != after)
          view->moveAfter(after);
        after = view;
      }
      for (Operation *user : users)
        if (Operation *here = fetch->getBlock()->findAncestorOpInBlock(*user);
            !isa<WgmmaOp>(user) && read->isBeforeInBlock(here))
          read = here;
      fetch.getResult().replaceAllUsesWith(tile);
    }
    Operation *last = group.lastUser->isBeforeInBlock(after) ? after : group.lastUser;
    if (Operation *fence = group.perWarp ? findFence(last, group) : nullptr)
      last = fence;
    builder.setInsertionPointAfter(last);
    auto release = RingReleaseOp::create(builder, group.lastUser->getLoc(), group.ring);
    if (group.perWarp)
      unfenced.push_back({read, release});
    for (TmaFetchOp fetch : group.fetches)
      fetch.erase();
  }

  /// What fences behind a slot's last load, if that comes before a product and the slot may be held
  /// so long, as other slots keep the producer going: the next tile that is stored for wgmma; else
  /// the last load from another slot, whose release then fences for both; else the next product of
  /// an operand in registers, whose threads computed it meanwhile: right behind the loads the fence
  /// would wait for them. Null if there is none.
  /// With two stages that is for large vectors alone: a release right behind the load would have
  /// all elements in registers at once, where each can be read when its turn comes.
  static Operation *findFence(Operation *last, Group &group) {
    constexpr int64_t enoughStages = 3, mostRegisters = 16;
    auto read = dyn_cast<LocalLoadOp>(last);
    int64_t stages = cast<RingType>(group.ring.getType()).getStages();
    if (!read || stages < 2 ||
        (stages < enoughStages && (read.getType().getRank() > 1 ||
                                   getLayout(read.getType()).getNumRegisters() <= mostRegisters)))
      return nullptr;
    Operation *other = nullptr;
    for (Operation *op = last->getNextNode(); op; op = op->getNextNode()) {
      if (auto product = dyn_cast<WgmmaOp>(op); product && !other && stages >= enoughStages &&
                                                product.getAsync() &&
                                                isa<RankedTensorType>(product.getA().getType()))
        return op;
      if (isa<WgmmaOp>(op) || op->getNumRegions())
        break;
      if (auto alloc = dyn_cast<LocalAllocOp>(op); alloc && isReadByWgmma(alloc.getResult()))
        return findLastProductUnder(alloc);
      if (auto load = dyn_cast<LocalLoadOp>(op);
          load && isa_and_nonnull<TmaFetchOp, RingWaitOp>(load.getSource().getDefiningOp()))
        other = op;
    }
    return other;
  }

  /// The last of the products that follow `alloc` and do not read its tile: its fence stands behind
  /// them. `alloc` itself if there is none.
  static Operation *findLastProductUnder(LocalAllocOp alloc) {
    SmallVector<Operation *> readers, views;
    collectUsers(alloc.getResult(), readers, views);
    Operation *last = alloc;
    for (Operation *op = alloc->getNextNode(); op; op = op->getNextNode()) {
      if (isa<WgmmaOp>(op) && !llvm::is_contained(readers, op))
        last = op;
      else if (!isMemoryEffectFree(op) || op->getNumRegions())
        break;
    }
    return last;
  }

  /// True if what stands between the last ordinary load from a slot and its release fences the one
  /// from the copy that follows the other anyway: a tile stored for wgmma, or a release that does.
  static bool isFenced(Operation *read, Operation *release) {
    for (Operation *op = read->getNextNode(); op && op != release; op = op->getNextNode()) {
      if (auto alloc = dyn_cast<LocalAllocOp>(op); alloc && isReadByWgmma(alloc.getResult()))
        return true;
      if (auto other = dyn_cast<RingReleaseOp>(op);
          other && !other->hasAttr(fencedName) &&
          other.getRing().getDefiningOp<RingOp>().getPerWarp())
        return true;
    }
    return false;
  }

  KernelOp kernel;
  const GPUTarget &target;
  const GPULimits &limits;
  OpBuilder builder;
  SmallVector<Group> groups;
  int64_t teams = 1;                                           ///< of consumers
  SmallVector<std::pair<Operation *, RingReleaseOp>> unfenced; ///< behind the last ordinary load
};

struct TileGPUSpecializeWarps : tile::impl::TileGPUSpecializeWarpsBase<TileGPUSpecializeWarps> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (failed(Specializer(kernel, *target).run()))
        return signalPassFailure();
    }
    DivisibilityAnalysis divisibility(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      countProducerDigits(kernel, divisibility);
  }
};

} // namespace
