// Plans of shared memory, by numbers alone.
#include "passes/TileGPU/SharedPlan.h"
#include "passes/TileGPU/LaunchFit.h"
#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace tile::gpu {

//===--- Places -----------------------------------------------------------===//

int64_t PlacedBytes::avoid(const PlacedBytes &other) const {
  int64_t last = other.offset + other.bytes, free = bytes - kept;
  auto overlap = [&](int64_t from, int64_t begin) { return from < last && begin < offset + bytes; };
  bool together = livesWith(other);
  if (together ? overlap(offset, other.offset) : other.kept && overlap(offset, last - other.kept))
    return llvm::alignTo(last, alignment);
  if (!together && kept && overlap(offset + free, other.offset))
    return llvm::alignTo(last - free, alignment);
  return offset;
}

/// Each takes the lowest place that is free for its whole lifetime: a few passes over those that
/// were placed, for each. Large ones first leave fewer gaps; ties by the text's order keep the
/// result the same each time.
int64_t place(llvm::ArrayRef<PlacedBytes *> requests, bool persistentFirst) {
  llvm::SmallVector<PlacedBytes *> order(requests), placed; // the latter by offset
  llvm::sort(order, [&](PlacedBytes *a, PlacedBytes *b) {
    return std::tuple(persistentFirst && !a->persistent, b->bytes, a->start) <
           std::tuple(persistentFirst && !b->persistent, a->bytes, b->start);
  });
  int64_t total = 0;
  for (PlacedBytes *request : order) {
    request->offset = 0;
    // One pass where nothing is kept: what lies lower has been avoided by then.
    for (bool moved = true; moved;) {
      moved = false;
      for (PlacedBytes *other : placed) {
        int64_t offset = request->avoid(*other);
        moved |= offset != request->offset;
        request->offset = offset;
      }
    }
    total = std::max(total, request->offset + request->bytes);
    placed.insert(
        llvm::upper_bound(placed, request,
                          [](PlacedBytes *a, PlacedBytes *b) { return a->offset < b->offset; }),
        request);
  }
  return total;
}

static bool isWords(const PlacedBytes &request) {
  return request.isScratch && request.bytes <= mostWords;
}

/// Gives words bytes of their own for the whole kernel, so that one reduction need not wait, at a
/// barrier more, until the block is done with the one before. False if that is too much, then with
/// offsets as they were.
static bool placeApart(llvm::ArrayRef<PlacedBytes *> requests, int64_t limit, int64_t &total) {
  llvm::SmallVector<PlacedBytes> trial;
  int64_t words = 0;
  for (PlacedBytes *request : requests) {
    PlacedBytes &each = trial.emplace_back(*request);
    if (!isWords(each))
      continue;
    words += each.bytes;
    each.start = 0;
    each.end = ~0u;
  }
  llvm::SmallVector<PlacedBytes *> all;
  for (PlacedBytes &each : trial)
    all.push_back(&each);
  total = place(all);
  // Too many of them would take memory that occupancy needs.
  if (words > 8 * mostWords || total > limit)
    return false;
  for (auto [request, each] : llvm::zip(requests, trial))
    request->offset = each.offset;
  return true;
}

int64_t placeBlock(llvm::ArrayRef<PlacedBytes *> requests, int64_t limit, bool reservesWords) {
  int64_t total = 0;
  if (reservesWords) { // beside all else, if there is room
    llvm::SmallVector<PlacedBytes *> others(requests);
    llvm::erase_if(others, [](PlacedBytes *each) { return isWords(*each); });
    total = int64_t(llvm::alignTo(place(others), sharedLine)) + reservedBytes;
  }
  int64_t least = total > limit ? 0 : total;
  if (!placeApart(requests, limit, total))
    total = place(requests);
  if (total > limit)
    total = place(requests, /*persistentFirst=*/true);
  return int64_t(llvm::alignTo(std::max(total, least), sharedLine));
}

//===--- Stages -----------------------------------------------------------===//

bool isCrowded(const RingNeed &need) {
  constexpr int64_t overlapping = 2; // a load and the use of the one before
  int64_t stage = need.getStageBytes();
  int64_t wanted = !stage ? 0 : need.explicitly ? need.requested : overlapping;
  return need.limit - need.fixed < wanted * stage;
}

/// Stages that hold `enough` bytes, the next whole number; two at least, a load and the use of the
/// one before.
static int64_t countEnough(int64_t enough, int64_t stage) {
  constexpr int64_t overlapping = 2;
  return std::max(overlapping, enough / stage + int64_t(enough % stage >= stage / 2));
}

RingStages chooseRingStages(const RingNeed &need) {
  int64_t stage = need.getStageBytes(), room = need.limit - need.fixed;
  RingStages chosen;
  chosen.doubled.assign(need.slots.size(), false);
  if (room < 0)
    return chosen;
  chosen.fitting = stage ? room / stage : 1;
  chosen.inner = std::min(need.requested, chosen.fitting);
  if (!need.explicitly && stage)
    chosen.inner = std::min(chosen.inner, countEnough(need.enough, stage));
  int64_t spare = room - chosen.inner * stage;
  if (chosen.inner == 1 && !need.explicitly)
    for (auto [slot, doubled] : llvm::zip(need.slots, chosen.doubled))
      if (slot <= spare) {
        doubled = true;
        spare -= slot;
      }
  // Tiles that each program of a persistent kernel fetches once are fetched for the next meanwhile,
  // where that leaves the others stages enough.
  if (need.persistent && need.outer > spare && !need.explicitly && stage)
    if (int64_t fewer = (room - need.outer) / stage; fewer >= usefulStages) {
      chosen.inner = std::min(chosen.inner, fewer);
      spare = room - chosen.inner * stage;
    }
  chosen.outer = need.persistent && need.outer <= spare ? 2 : 1;
  return chosen;
}

int64_t chooseCopyStages(const CopyNeed &need, int64_t &wanted,
                         llvm::function_ref<std::optional<int64_t>(int64_t)> getBytes) {
  // What a thread may take of a multiprocessor's registers: they admit so many blocks.
  constexpr int64_t registersOfThread = 256;
  wanted = need.requested.value_or(std::min(mostCopyStages, need.useful + int64_t(need.chained)));
  // All slots but the one in use are on their way.
  if (!need.requested && need.slotBytes)
    wanted = std::min(wanted, 1 + countEnough(need.enough, need.slotBytes));
  if (need.trips)
    wanted = std::min(wanted, *need.trips);
  auto fit = [&](int64_t bytes, int64_t least) {
    int64_t stages = wanted;
    while (stages > least && getBytes(stages).value_or(INT64_MAX) > bytes)
      --stages;
    return stages;
  };
  bool isOpen = !need.requested && !need.occupancy;
  int64_t share = need.limit;
  if (!need.requested || need.occupancy) {
    int64_t blocks = need.occupancy.value_or(
        std::max<int64_t>(1, need.registers / (need.threads * registersOfThread)));
    share = (need.limit + need.reserved) / blocks - need.reserved;
    // Where products are that short, loads are waited for: blocks make room for stages if more
    // bytes are on their way then, or as many where each of several has a slot for them alone.
    if (isOpen && need.useful == mostCopyStages) {
      int64_t alone = fit(need.limit, 2) - 1, each = fit(share, 2) - 1,
              together = (need.limit + need.reserved) / (share + need.reserved) * each;
      if (alone > together || (alone == together && each == 1))
        share = need.limit;
    }
  }
  if (!need.requested)
    share = std::min(share, need.openShare);
  int64_t stages = fit(share, 2);
  // Two are worth a block.
  return stages == 2 && getBytes(stages).value_or(INT64_MAX) > need.limit ? 1 : stages;
}

} // namespace tile::gpu
