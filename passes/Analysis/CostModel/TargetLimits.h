// The cost model's view of a machine: a target's limits and a card's rates (target/), or the
// CPU's.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_TARGETLIMITS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_TARGETLIMITS_H

#include "target/Target.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tile::cost {

/// Rates are for the whole machine, in units of 10^9 a second: GB/s, GFLOP/s (a multiply-add counts
/// 2).
struct TargetLimits {
  const GPUTarget *target; ///< null for the CPU
  llvm::StringRef name;    ///< as --target spells it
  llvm::StringRef device;  ///< whose figures these are
  bool isOwnDevice;        ///< the card is one of the target's; else the nearest that the table has
  // Limits.
  int64_t processors;      ///< multiprocessors; cores of a CPU
  int64_t threads;         ///< of a multiprocessor at once
  int64_t blocks;          ///< of a multiprocessor at once
  int64_t registers;       ///< of a multiprocessor, 32 bits each
  int64_t threadRegisters; ///< of a thread
  int64_t sharedBytes;     ///< of a multiprocessor, for its blocks
  int64_t cacheBytes;      ///< shared by all: L2; L3 of a CPU
  bool hasBulkCopies;      ///< a producer warp copies ahead: TMA, wgmma
  double clock;            ///< GHz, under load
  // Rates.
  double memory;   ///< from and to memory, as a copy reaches it
  double cache;    ///< from L2 to the multiprocessors
  double tensor16; ///< products of f16 and bf16, dense
  double tensor8;  ///< of f8 and i8; 0: the target has none
  double tensorTF32;
  double vector32; ///< f32 outside of tensor cores
  double special;  ///< exp2, reciprocal and the like: results
  double launch;   ///< microseconds of an empty kernel in a graph
};

/// Of the rate of wgmma, what products by mma.sync reach on a card that has both.
inline constexpr double mmaSyncShare = 0.62;

/// A target on a card, which may be newer: without wgmma in its code such a card multiplies by
/// mma.sync.
TargetLimits getTargetLimits(const GPUTarget &target, const GPUCard &card);

/// The target called `name`, on `card` or, without one, on the card that stands for the target; the
/// host for "cpu"; nothing for another name.
std::optional<TargetLimits> findTargetLimits(llvm::StringRef name, const GPUCard *card = nullptr);

} // namespace tile::cost

#endif
