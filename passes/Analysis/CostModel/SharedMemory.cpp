// The shared memory of a block: what SharedTiles.cpp has found in the kernel, placed and given
// stages by the functions of passes/TileGPU/SharedPlan.h, which the passes call too.
//
//   fetched   by TMA, in a kernel whose loops fetch operands    rings    tile-gpu-specialize-warps
//   copied    by cp.async, in innermost loops                   slots    tile-gpu-pipeline-copies
//   stored    by the threads                                    tiles    tile-gpu-allocate-shared
#include "passes/Analysis/CostModel/SharedMemory.h"
#include "passes/Analysis/CostModel/ExchangePlan.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/SharedPlan.h"
#include "target/LoadLatency.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tile::cost {

namespace {

using Use = SharedTile::Use;

constexpr int64_t page = sharedPage, line = gpu::sharedLine;
/// Of results that TMA stores: what is staged at once, and the smallest that are.
constexpr int64_t staging = 32 * 1024, leastStored = 4096;

bool isLoaded(const SharedTile &tile) {
  return tile.use == Use::Operand || tile.use == Use::Source || tile.use == Use::Vector;
}

/// Tiles that are fetched into one slot, for the operation that waits for all of them.
struct Ring {
  int loop = -1;
  unsigned firstUse = 0, end = 0;
  int64_t requested = 0;
  bool isVectors = false;
  unsigned firstRead = 0;        ///< of vectors
  SmallVector<int64_t, 2> tiles; ///< bytes

  int64_t getSlotBytes() const {
    int64_t bytes = 0;
    for (int64_t tile : tiles)
      bytes += int64_t(alignTo(uint64_t(tile), page));
    return bytes;
  }
  int64_t getBytes(int64_t stages) const {
    int64_t bytes = barrierBytes * stages;
    for (int64_t tile : tiles)
      bytes += stages * int64_t(alignTo(uint64_t(tile), page));
    return bytes;
  }
};

class Planner : ExchangePlan {
public:
  Planner(const KernelWork &work, const Schedule &schedule, const TargetLimits &target,
          Resources &found)
      : ExchangePlan(work.shared, *target.target, found, schedule.persistent), work(work),
        schedule(schedule), target(target),
        wgmma(shared.hasWgmma && found.warps % warpsOfWarpgroup == 0) {}

  void run() {
    addFixed();
    if (found.asyncCopies)
      chooseSlots();
    if (found.bulkCopies) {
      found.fillsByThreads = any_of(
          shared.tiles, [&](const SharedTile &tile) { return tile.isGathered && isFetched(tile); });
      collectRings();
      addStores();
      chooseStages();
    } else if (wgmma) {
      addStores();
    } else {
      addExchanges();
    }
    finish();
  }

  bool isFetched(const SharedTile &tile) const {
    return found.bulkCopies && isLoaded(tile) &&
           (tile.canFetch ||
            (tile.isGathered && mayFill() && any_of(shared.tiles, [&](const SharedTile &other) {
               return other.loop == tile.loop && other.canFetch && other.use == Use::Operand;
             })));
  }
  /// True for what the computing threads copy ahead in a loop.
  bool isCopied(const SharedTile &tile) const {
    return found.asyncCopies && isLoaded(tile) && tile.canCopy && !isFetched(tile) &&
           tile.loop >= 0 && shared.loops[tile.loop].isInnermost &&
           shared.loops[tile.loop].isCounted && (tile.use != Use::Vector || tile.makesOperand);
  }

private:
  /// True if a producer's threads copy what TMA does not fetch: the rule of tile-gpu-fetch-gathers.
  bool mayFill() const {
    if (!persistent || schedule.cluster.value_or(1) > 1 || schedule.maxRegisters ||
        shared.writesMaps ||
        any_of(work.loops, [](const LoopWork &loop) { return loop.split > 1; }))
      return false;
    gpu::RegisterShare share;
    share.warpgroups = found.warps / warpsOfWarpgroup;
    share.blocks = getBlocks();
    share.tiles =
        int64_t(work.live[std::min<size_t>(Log2_64(uint64_t(found.warps)), work.live.size() - 1)]);
    return gpu::mayProducerFill(share, target.target->limits);
  }

  int64_t getBlocks() const { return schedule.occupancy.value_or(1); }
  int64_t getLimit() const { return gpu::getSharedLimit(target.target->limits, getBlocks()); }
  int64_t getStages(int loop) const {
    for (; loop >= 0; loop = shared.loops[loop].parent)
      if (shared.loops[loop].stages)
        return shared.loops[loop].stages;
    return schedule.stages.value_or(0);
  }

  /// True if threads keep the operand in registers, where its product reads it.
  bool staysInRegisters(const SharedTile &tile) const {
    const OperandPlace &operand = tile.operand;
    if (!operand.isFirst)
      return operand.isHeld && operand.wgmma && found.warps % warpsOfWarpgroup == 0;
    DotWork rows;
    rows.m = operand.rows;
    rows.n = operand.depth;
    if (operand.wgmma && found.warps % warpsOfWarpgroup == 0)
      return operand.isHeld || (operand.isResult && hasWholeRows(rows));
    auto [height, width] = getWarpTile(rows, found.warps, shared.rowsInWarps);
    // The product that reads it gives a warp as many rows.
    rows.n = operand.columns;
    return width >= operand.depth &&
           height == getWarpTile(rows, found.warps, shared.rowsInWarps).first;
  }

  /// True if warps share no rows of a result of wgmma: they come along rows, 64 columns each at
  /// least where there are no more of these (chooseWgmmaWarps() in DotSelection.cpp).
  bool hasWholeRows(DotWork result) const {
    constexpr int64_t warpRows = 16, leastColumns = 64;
    return result.m >= warpRows * found.warps || result.n < 2 * leastColumns;
  }

  /// Tiles whose rows are swizzled begin at whole pages, others, vectors and scratch at lines.
  static int64_t getAlignment(const SharedTile &tile) { return tile.isSwizzled ? page : line; }
  static int64_t getSlots(const SharedTile &tile, int64_t stages) {
    return stages * int64_t(alignTo(uint64_t(tile.bytes), uint64_t(getAlignment(tile))));
  }

  /// What no copy brings ahead: operands that are computed, or loaded by the threads.
  void addFixed() {
    if (hasClusterOfParts(work, schedule))
      for (const LoopWork &loop : work.loops)
        if (loop.stateBytes > 0)
          addPersistent(loop.stateBytes, 0, shared.operations);
    for (const SharedTile &tile : shared.tiles) {
      if (tile.use == Use::Operand && !isFetched(tile) && !isCopied(tile))
        add(tile.bytes, tile.start, tile.end, getAlignment(tile));
      addByLayout(tile);
      if (tile.use != Use::Computed || staysInRegisters(tile))
        continue;
      auto *same = find_if(computed, [&](const auto &each) {
        return each.first->source == tile.source && each.first->bytes == tile.bytes;
      });
      if (same != computed.end())
        placed[same->second].end = std::max(placed[same->second].end, tile.end);
      else
        computed.push_back({&tile, add(tile.bytes, tile.start, tile.end, getAlignment(tile))});
    }
  }

  //===--- Copies by the threads ------------------------------------------===//

  void chooseSlots() {
    for (auto [number, loop] : enumerate(shared.loops)) {
      SmallVector<const SharedTile *> tiles;
      bool any = false;
      for (const SharedTile &tile : shared.tiles)
        if (tile.loop == int(number) && isCopied(tile)) {
          any |= tile.use != Use::Vector;
          tiles.push_back(&tile);
        }
      if (any)
        chooseSlots(int(number), loop, tiles);
    }
  }

  void chooseSlots(int number, const SharedLoop &loop, ArrayRef<const SharedTile *> tiles) {
    // What TMA fetches has a place each until rings are laid out.
    SmallVector<gpu::PlacedBytes> fetched;
    int64_t inLoop = 0;
    for (const SharedTile &tile : shared.tiles)
      if (isFetched(tile)) {
        fetched.emplace_back();
        fetched.back().bytes = tile.fetchedBytes;
        fetched.back().alignment = page;
        fetched.back().end = tile.end;
        inLoop += tile.loop == number ? tile.fetchedBytes : 0;
      }
    auto getBytes = [&](int64_t stages) -> std::optional<int64_t> {
      SmallVector<gpu::PlacedBytes> all(fetched);
      for (const SharedTile *tile : tiles) {
        gpu::PlacedBytes &slots = all.emplace_back();
        slots.bytes = getSlots(*tile, stages);
        slots.alignment = getAlignment(*tile);
        slots.start = loop.start;
        slots.end = loop.end;
      }
      return placeAll(all);
    };
    const GPULimits &limits = target.target->limits;
    gpu::CopyNeed need;
    need.limit = limits.sharedPerBlock();
    if (int64_t stages = getStages(number))
      need.requested = stages;
    need.useful = gpu::countUsefulCopyStages(loop.productBits);
    need.chained = wgmma && loop.isChained;
    if (loop.mostTrips)
      need.trips = loop.mostTrips;
    need.occupancy = schedule.occupancy;
    for (const SharedTile *tile : tiles)
      need.slotBytes += getSlots(*tile, 1);
    if (gpu::isBoundByMemory(loop.productBits, need.slotBytes))
      need.enough = gpu::getEnoughBytes(getBytesInFlight(getCard(*target.target)), getBlocks());
    need.threads = found.warps * limits.warpThreads;
    need.registers = limits.registersPerProcessor;
    need.reserved = limits.sharedReserved;
    if (!need.requested && inLoop)
      need.openShare = need.limit - inLoop - page;
    if (!need.requested && !need.occupancy && wgmma && !found.bulkCopies && !schedule.warps &&
        !schedule.maxRegisters) {
      gpu::BlockNeed block = found.need;
      block.warps = found.warps;
      block.fixedBytes = getBytes(gpu::usefulStages).value_or(need.limit + 1);
      need.openShare = std::min(
          need.openShare, gpu::getSharedLimit(limits, gpu::chooseBlocksOfCopies(block, limits)));
    }
    // Layouts are known when the pass asks: what goes between threads counts.
    SmallVector<gpu::PlacedBytes> before = placed;
    SmallVector<size_t> exchanged = exchanges;
    addAllTurned();
    for (const SharedTile &tile : shared.tiles)
      if (tile.use == Use::Exchange || (tile.use == Use::Result && !wgmma && !found.bulkCopies))
        addScratch(tile.bytes, tile.start, tile.end, tile.isApart);
    int64_t wanted = 0, stages = gpu::chooseCopyStages(need, wanted, getBytes);
    placed = std::move(before);
    exchanges = std::move(exchanged);
    if (stages < 2 || (need.requested && *need.requested < 2) || loop.mostTrips == 1) {
      for (const SharedTile &tile : shared.tiles) // threads store it when they have it
        if (tile.loop == number && isCopied(tile) && tile.use == Use::Operand)
          add(tile.bytes, tile.start, tile.end, getAlignment(tile));
      return;
    }
    for (const SharedTile *tile : tiles)
      add(getSlots(*tile, stages), loop.start, loop.end, getAlignment(*tile));
    found.stages = std::max(found.stages, stages);
  }

  //===--- Copies by a producer -------------------------------------------===//

  /// Products are joined where each warp has all of their columns.
  unsigned getFirstUse(const SharedTile &tile) const {
    constexpr int64_t warpRows = 16;
    bool isJoined = wgmma && tile.joinedRows >= warpRows * found.warps;
    return isJoined ? tile.joinedUse : tile.firstUse;
  }

  /// The ring of the product before which vectors are read, else any of their loop.
  Ring *findOperands(const Ring &vectors) {
    Ring *found = rings.end();
    for (Ring &each : rings) {
      if (each.loop != vectors.loop || each.isVectors || each.tiles.empty())
        continue;
      bool isNext = each.firstUse >= vectors.firstRead;
      if (found == rings.end() ||
          (isNext && (found->firstUse < vectors.firstRead || each.firstUse < found->firstUse)))
        found = &each;
    }
    return found;
  }

  /// True of vectors from which an operand of the product is computed and stored, unless a tile's
  /// slot is held all the time: the rule of RingGroups.cpp.
  bool isReadBeforeStore(const Ring &vectors, const Ring &operands) const {
    bool isStored = any_of(computed, [&](const auto &each) {
      const SharedTile &tile = *each.first;
      return tile.loop == vectors.loop && vectors.firstRead < tile.start &&
             tile.start <= operands.firstUse;
    });
    return isStored && none_of(rings, [&](const Ring &ring) {
             return ring.loop == vectors.loop && !ring.isVectors &&
                    ring.firstUse < vectors.firstRead && vectors.end < ring.end;
           });
  }

  void collectRings() {
    for (const SharedTile &tile : shared.tiles) {
      if (!isFetched(tile))
        continue;
      auto *ring = find_if(rings, [&](const Ring &each) {
        return each.loop == tile.loop && each.firstUse == getFirstUse(tile);
      });
      if (ring == rings.end()) {
        rings.push_back({tile.loop,
                         getFirstUse(tile),
                         tile.end,
                         getStages(tile.loop),
                         tile.use == Use::Vector,
                         tile.firstRead,
                         {}});
        ring = std::prev(rings.end());
      }
      ring->tiles.push_back(tile.fetchedBytes);
      ring->end = std::max(ring->end, tile.end);
    }
    // Vectors that are read ahead of a product come with its operands.
    Ring *apart = nullptr;
    for (Ring &vectors : rings) {
      auto *first = findOperands(vectors);
      if (!vectors.isVectors || first == rings.end())
        continue;
      if (isReadBeforeStore(vectors, *first)) {
        if (apart && apart->loop == vectors.loop) {
          append_range(apart->tiles, vectors.tiles);
          vectors.tiles.clear();
        } else {
          apart = &vectors;
        }
        continue;
      }
      append_range(first->tiles, vectors.tiles);
      vectors.tiles.clear();
    }
    erase_if(rings, [](const Ring &ring) { return ring.tiles.empty(); });
    for (Ring &ring : rings)
      sort(ring.tiles, std::greater<>());
    // Loops that follow each other share rings of tiles as large.
    for (size_t i = 0; i < rings.size(); ++i) {
      if (rings[i].loop < 0)
        continue;
      for (size_t k = 0; k < i; ++k) {
        if (rings[k].loop < 0 || rings[k].loop == rings[i].loop ||
            rings[k].tiles != rings[i].tiles || rings[k].requested != rings[i].requested ||
            shared.loops[rings[k].loop].parent != shared.loops[rings[i].loop].parent ||
            sharing.contains(std::pair(k, rings[i].loop)))
          continue;
        sharing.insert(std::pair(k, rings[i].loop));
        rings[i].tiles.clear();
        break;
      }
    }
    erase_if(rings, [](const Ring &ring) { return ring.tiles.empty(); });
  }

  bool mayStore(const SharedTile &tile) const {
    return (tile.use == Use::Result || tile.use == Use::Sum) && wgmma && tile.canFetch &&
           tile.bytes >= leastStored;
  }

  /// The most of a result, in halves, that `room` has place for; 0 where that is too little.
  static int64_t getStaged(int64_t bytes, int64_t room) {
    while (bytes > room && bytes >= leastStored)
      bytes /= 2;
    return bytes < leastStored ? 0 : bytes;
  }

  /// Programs start one by one where the loads of a persistent kernel leave no memory to stage
  /// results in, which then lie where tiles were that are fetched once: `dead` bytes.
  void giveUpPersistence(int64_t room, int64_t dead) {
    bool lacks = false, fits = true;
    for (const SharedTile &tile : shared.tiles) {
      if (!mayStore(tile))
        continue;
      if (getStaged(leastStored, room)) {
        room -= leastStored;
        continue;
      }
      lacks = true;
      fits &= tile.loop < 0 && tile.bytes <= dead;
      dead -= tile.bytes;
    }
    persistent &= !lacks || !fits;
  }

  /// Results leave by TMA, through what two stages of the loads leave, or where tiles were that
  /// are fetched once; others by the threads.
  void addStores() {
    int64_t taken = 0, dead = 0, scratch = 0;
    for (const gpu::PlacedBytes &each : placed)
      taken += int64_t(alignTo(uint64_t(each.bytes), page));
    bool adds = false, stores = false;
    for (const Ring &ring : rings) {
      taken += ring.getSlotBytes() * (ring.loop < 0 ? 1 : 2) + page;
      dead += ring.loop < 0 ? ring.getSlotBytes() : 0;
    }
    for (const SharedTile &tile : shared.tiles) {
      if (tile.use == Use::Exchange)
        scratch = std::max(scratch, tile.bytes);
      adds |= tile.use == Use::Sum;
      stores |= tile.use == Use::Result;
    }
    // tile-gpu-use-tma knows of no other block on the multiprocessor.
    int64_t limit = target.target->limits.sharedPerBlock();
    int64_t room = std::min((adds && stores ? 2 : 1) * staging, limit - taken - scratch);
    if (persistent)
      giveUpPersistence(room, dead);
    if (persistent)
      dead = 0;
    for (const SharedTile &tile : shared.tiles) {
      if (tile.use == Use::Exchange)
        addScratch(tile.bytes, tile.start, tile.end, tile.isApart);
      if (tile.use != Use::Result && tile.use != Use::Sum)
        continue;
      bool once = tile.loop < 0 && !persistent, isDead = once && tile.bytes <= dead;
      int64_t bytes = !mayStore(tile) ? 0 : isDead ? tile.bytes : getStaged(tile.bytes, room);
      if (bytes)
        addPersistent(bytes, once ? tile.start : 0, shared.operations);
      else if (tile.use == Use::Result)
        addScratch(tile.bytes, tile.start, tile.end);
      (isDead ? dead : room) -= bytes;
    }
  }

  gpu::RingNeed getNeed() const {
    gpu::RingNeed need;
    need.limit = getLimit();
    need.persistent = persistent;
    int64_t scratch = 0;
    for (auto [number, each] : enumerate(placed))
      if (is_contained(exchanges, number))
        scratch = std::max(scratch, each.bytes);
      else
        need.fixed += int64_t(alignTo(uint64_t(each.bytes), page));
    need.fixed += int64_t(alignTo(uint64_t(scratch), page));
    need.fixed *= found.teams;
    for (const Ring &ring : rings) {
      need.fixed += page;
      if (ring.loop < 0) {
        need.fixed += ring.getSlotBytes();
        need.outer += ring.getSlotBytes();
        continue;
      }
      need.slots.push_back(ring.getSlotBytes());
      if (ring.requested) {
        need.explicitly = true;
        need.requested = std::min(need.requested, ring.requested);
      }
    }
    bool bound = all_of(rings, [&](const Ring &ring) {
      return ring.loop < 0 ||
             gpu::isBoundByMemory(shared.loops[ring.loop].productBits, need.getStageBytes());
    });
    if (bound) // passes know no other card than the target's
      need.enough = gpu::getEnoughBytes(getBytesInFlight(getCard(*target.target)), getBlocks());
    return need;
  }

  /// Counts what stands beside rings by lifetimes.
  void countLifetimes(gpu::RingNeed &need) {
    SmallVector<gpu::PlacedBytes> once;
    int64_t barriers = 0;
    for (const Ring &ring : rings) {
      barriers += page;
      if (ring.loop >= 0)
        continue;
      gpu::PlacedBytes &each = once.emplace_back();
      each.bytes = ring.getSlotBytes();
      each.alignment = page;
      each.end = ring.end;
    }
    need.fixed = found.teams * int64_t(alignTo(uint64_t(placeAll(once)), page)) + barriers;
  }

  /// Tiles that each trip stores for its products have two places where rings keep stages enough.
  void alternate(gpu::RingNeed &need) {
    constexpr int64_t longTrip = 1024, perClock = 2048, operandBits = 16, fewStages = 2;
    if (int64_t(found.launched) <= warpsOfWarpgroup || need.slots.empty() || need.explicitly)
      return;
    for (auto [tile, place] : computed) {
      if (tile->loop < 0 || !tile->operand.wgmma)
        continue;
      int64_t clocks = shared.loops[tile->loop].productBits / operandBits / perClock;
      int64_t stages = clocks >= longTrip ? fewStages : gpu::usefulStages;
      gpu::RingNeed larger = need;
      larger.fixed += int64_t(alignTo(uint64_t(tile->bytes), page));
      placed[place].bytes *= 2;
      auto isTooLarge = [&] {
        return larger.limit - larger.fixed < stages * larger.getStageBytes();
      };
      if (isTooLarge())
        countLifetimes(larger);
      if (isTooLarge())
        placed[place].bytes /= 2;
      else
        need = larger;
    }
  }

  void chooseStages() {
    gpu::RingNeed need = getNeed();
    found.need.fixedBytes = need.fixed;
    found.need.stageBytes = need.getStageBytes();
    found.need.rings = int64_t(need.slots.size());
    found.isOpen = !need.explicitly;
    if (gpu::isCrowded(need))
      countLifetimes(need);
    alternate(need);
    gpu::RingStages chosen = gpu::chooseRingStages(need);
    if (chosen.fitting < 1)
      found.reason = "a block needs about " + std::to_string(need.fixed + need.getStageBytes()) +
                     " bytes of shared memory and gets " + std::to_string(need.limit);
    int64_t inner = std::max<int64_t>(chosen.inner, 1);
    found.stages = std::max(found.stages, inner + int64_t(is_contained(chosen.doubled, true)));
    // Where nobody asks for several blocks, those that fit to the last page rate as one: two such
    // blocks of a convolution of 5 x 5 pixels took 0.60 ms where 0.51 were expected (H200).
    if (!schedule.occupancy)
      found.ratedBytes = need.fixed + inner * need.getStageBytes() + page;
    size_t number = 0;
    for (const Ring &ring : rings) {
      bool isOuter = ring.loop < 0;
      int64_t stages = isOuter ? chosen.outer : inner + int64_t(chosen.doubled[number++]);
      bool once = stages == 1 && isOuter && !persistent;
      size_t place = addPersistent(ring.getBytes(stages), 0, once ? ring.end : shared.operations);
      ringBytes += int64_t(alignTo(uint64_t(ring.getBytes(stages)), line));
      placed[place].kept = once ? barrierBytes : 0;
    }
  }

  //===--- All of it ------------------------------------------------------===//

  /// Adds what only layouts tell whether it is needed, as far as that costs no block.
  int64_t reserve(int64_t total) {
    const GPULimits &limits = target.target->limits;
    constexpr int64_t scalarBytes = 64;
    bool any = false;
    for (const SharedTile &tile : shared.tiles) {
      if (tile.use == Use::Scalar && found.bulkCopies) {
        addPersistent(scalarBytes, 0, shared.operations);
        any = true;
      }
    }
    any |= addAllTurned();
    int64_t blocks = std::min({limits.blocksPerProcessor,
                               limits.threadsPerProcessor / (found.warps * limits.warpThreads),
                               limits.sharedPerProcessor / (total + limits.sharedReserved)});
    if (!any || blocks < 1)
      return total;
    int64_t share = limits.sharedPerProcessor / blocks - limits.sharedReserved;
    int64_t most = std::max(total, std::min(share - share % line, limits.sharedPerBlock()));
    return std::min(placeBlock(most), most);
  }

  void finish() {
    const int64_t limit = target.sharedBytes - page;
    // First as if each block had its share alone, as tile-gpu-allocate-shared does.
    const int64_t share = std::min(
        schedule.occupancy ? getLimit()
                           : gpu::getOpenShare(placeAll({}), found.warps, target.target->limits),
        limit);
    int64_t total = placeBlock(share);
    if (total > share && share < limit)
      total = placeBlock(limit);
    // The largest exchanges go in rounds.
    while (total > limit) {
      gpu::PlacedBytes *largest = nullptr;
      for (size_t number : exchanges)
        if (!largest || placed[number].bytes > largest->bytes)
          largest = &placed[number];
      if (!largest || largest->bytes <= leastStored)
        break;
      largest->bytes /= 2;
      total = placeBlock(limit);
    }
    total = reserve(total);
    // Rings are for all teams, each has the rest for itself.
    if (found.teams > 1)
      total = int64_t(alignTo(uint64_t(ringBytes), page)) +
              found.teams * int64_t(alignTo(uint64_t(total - ringBytes), page));
    found.sharedBytes = total;
    if (total > limit && found.reason.empty())
      found.reason = "a block needs about " + std::to_string(total) +
                     " bytes of shared memory and gets " + std::to_string(limit);
    const GPULimits &limits = target.target->limits;
    int64_t fitting = limits.sharedPerProcessor / (total + limits.sharedReserved);
    if (schedule.occupancy && fitting < *schedule.occupancy && found.reason.empty()) {
      found.reason = "a block needs about " + std::to_string(total) +
                     " bytes of shared memory and gets " + std::to_string(share) +
                     " with occupancy(" + std::to_string(*schedule.occupancy) + ")";
      found.lacksShare = true;
    }
    if (found.stages < 2)
      found.stages = 0;
  }

  const KernelWork &work;
  const Schedule &schedule;
  const TargetLimits &target;
  const bool wgmma;                                            ///< some product runs on it
  SmallVector<std::pair<const SharedTile *, size_t>> computed; ///< and their places in `placed`
  SmallVector<Ring> rings;
  int64_t ringBytes = 0;                    ///< of all of them
  DenseSet<std::pair<size_t, int>> sharing; ///< a ring, and a loop that goes by it; looked up only
};

} // namespace

void chooseCopies(const KernelWork &work, const Schedule &schedule, const TargetLimits &target,
                  Resources &found) {
  if (!target.target)
    return;
  const SharedTiles &shared = work.shared;
  auto isOperand = [&](const SharedTile &tile) {
    return (tile.use == Use::Operand || tile.use == Use::Source) && tile.loop >= 0;
  };
  found.bulkCopies =
      target.hasBulkCopies && found.warps <= gpu::getWarpsBesideProducer(target.target->limits) &&
      any_of(shared.tiles,
             [&](const SharedTile &tile) { return isOperand(tile) && tile.canFetch; });
  Planner plan(work, schedule, target, found);
  found.asyncCopies = target.target->has(Feature::AsyncCopy);
  found.asyncCopies = found.asyncCopies && any_of(shared.tiles, [&](const SharedTile &tile) {
                        return isOperand(tile) && plan.isCopied(tile);
                      });
}

void estimateShared(const KernelWork &work, const Schedule &schedule, const TargetLimits &target,
                    Resources &found) {
  if (target.target)
    Planner(work, schedule, target, found).run();
}

} // namespace tile::cost
