// Plans of shared memory, by numbers alone: where things lie, and how many stages loads have. The
// passes that decide call these with what they find in the IR, the cost model with what it expects
// there, so that equal needs give equal plans.
#ifndef TILE_PASSES_TILEGPU_SHAREDPLAN_H
#define TILE_PASSES_TILEGPU_SHAREDPLAN_H

#include "dialect/RequestLimits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tile::gpu {

/// Bytes that are needed from operation number `start` of a kernel's body to `end`, both included,
/// in the order of the program's text.
struct PlacedBytes {
  int64_t bytes = 0, alignment = 1;
  unsigned start = 0, end = 0;
  bool persistent = false; ///< they live as long as the kernel
  bool isScratch = false;  ///< of the whole block, for the time of one operation
  int64_t kept = 0;        ///< of these, at their end, nobody else's at any time: mbarriers
  int64_t offset = 0;

  // Both ends belong to it: what is written by the operation that reads the other must not share
  // its bytes.
  bool livesWith(const PlacedBytes &other) const {
    return start <= other.end && other.start <= end;
  }

  /// The lowest place from `offset` on that takes nothing from `other` that it has meanwhile: all
  /// of its bytes, or those that it keeps.
  int64_t avoid(const PlacedBytes &other) const;
};

/// First fit, the largest first, or first of all those that live as long as the kernel: these leave
/// no gaps then. Sets offsets; returns the bytes taken in all.
int64_t place(llvm::ArrayRef<PlacedBytes *> requests, bool persistentFirst = false);

/// What a block asks for is whole lines, as hardware hands them out.
inline constexpr int64_t sharedLine = 128;

/// Places all that a block needs, each try tighter than the one before: the few words of reductions
/// apart, which saves barriers; all by lifetime; first what lives as long as the kernel. Sets
/// offsets; returns the bytes that the block asks for, more than `limit` where nothing helps.
/// `reservesWords`: there is memory for these words, whether any are needed or not
/// (SharedLifetimes.h).
inline constexpr int64_t reservedBytes = 256;
/// Scratch of at most this many bytes is a reduction's few words.
inline constexpr int64_t mostWords = 512;
int64_t placeBlock(llvm::ArrayRef<PlacedBytes *> requests, int64_t limit, bool reservesWords);

/// The rings of a producer, as far as the number of their stages depends on it. In bytes.
struct RingNeed {
  int64_t limit = 0;                   ///< of a block
  int64_t fixed = 0;                   ///< all but rings in loops, as if alive at once
  llvm::SmallVector<int64_t, 4> slots; ///< of a stage of each ring in a loop
  int64_t outer = 0;                   ///< of `fixed`, the slots of rings outside of loops
  int64_t requested = limits::stages;  ///< the least that a loop asks for
  bool explicitly = false;             ///< the source asks for stages
  bool persistent = false;             ///< a block takes several programs
  int64_t enough = INT64_MAX;          ///< bytes of rings in loops more than which gain nothing

  int64_t getStageBytes() const { return llvm::sum_of(slots, int64_t(0)); }
};
struct RingStages {
  int64_t fitting = 0;                ///< stages for which there is room; 0: not even one fits
  int64_t inner = 0;                  ///< of rings in loops, but for those that are doubled
  int64_t outer = 1;                  ///< of rings outside of loops
  llvm::SmallVector<bool, 4> doubled; ///< of `slots`, those that have two where others have one
};

/// True if memory bounds a loop whose trip fetches `bytes` for products of `productBits`
/// multiplications, times bits of an operand: they take no more than a clock for each 256 bytes, of
/// which memory gives a multiprocessor some 12 to 18.
inline bool isBoundByMemory(int64_t productBits, int64_t bytes) {
  constexpr int64_t bitsPerClock = 2048 * 16, bytesPerClock = 256;
  return productBits <= bitsPerClock / bytesPerClock * bytes;
}

/// Bytes that the rings of such loops have in one of `blocks` blocks of a multiprocessor, where the
/// latency of a load takes `bytesInFlight` to keep memory busy. With more on their way memory is
/// slower (docs/rationale/Scheduling.md).
inline int64_t getEnoughBytes(double bytesInFlight, int64_t blocks) {
  constexpr double latencies = 5;
  return int64_t(latencies * bytesInFlight) / std::max<int64_t>(blocks, 1);
}

/// True if what is fixed, counted as if all of it were alive at once, costs stages that are wanted:
/// then it is counted by lifetimes.
bool isCrowded(const RingNeed &need);

/// As many stages as fit into what other users of shared memory leave, at most what is asked for.
/// Where that is one for all, the first rings that fit have two. Rings outside of loops have one,
/// or two in a persistent kernel where that leaves the others the useful stages, or costs them
/// none. Loops that ask for no stages have no more than two beyond `enough`.
RingStages chooseRingStages(const RingNeed &need);

/// A loop whose operands the computing threads copy ahead, as far as the number of its slots
/// depends on it.
struct CopyNeed {
  int64_t limit = 0;                ///< bytes of a block
  std::optional<int64_t> requested; ///< by the source
  int64_t useful = 2;               ///< stages more than which hide no more latency
  int64_t slotBytes = 0;            ///< of all that a trip copies
  int64_t enough = INT64_MAX;       ///< bytes on their way more than which gain nothing
  bool chained = false;             ///< products may stay in flight, which takes a slot more
  std::optional<int64_t> trips;     ///< where they are known
  std::optional<int64_t> occupancy; ///< that the source asks for
  int64_t threads = 128;            ///< of a block
  int64_t registers = 0;            ///< of a multiprocessor
  int64_t reserved = 0;             ///< bytes of each block that the system takes
  int64_t openShare = INT64_MAX;    ///< bytes of a block where the source leaves all open
};
/// Slots of such a loop, of which `getBytes` says how many bytes the block needs with so many; none
/// where that cannot be told. 1: nothing is copied ahead. `wanted` is what there is use for.
int64_t chooseCopyStages(const CopyNeed &need, int64_t &wanted,
                         llvm::function_ref<std::optional<int64_t>(int64_t)> getBytes);

} // namespace tile::gpu

#endif
