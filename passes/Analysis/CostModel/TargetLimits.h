// What a target has and how fast it is: the one table that the cost model reads.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_TARGETLIMITS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_TARGETLIMITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile::cost {

/// Rates are for the whole machine, in units of 10^9 a second: GB/s, GFLOP/s (a multiply-add counts
/// 2).
struct TargetLimits {
  const char *name;   ///< as --target spells it
  const char *device; ///< whose figures these are
  // Limits.
  int64_t processors;      ///< multiprocessors; cores of a CPU
  int64_t threads;         ///< of a multiprocessor at once
  int64_t blocks;          ///< of a multiprocessor at once
  int64_t registers;       ///< of a multiprocessor, 32 bits each
  int64_t threadRegisters; ///< of a thread
  int64_t sharedBytes;     ///< of a multiprocessor, for its blocks
  int64_t cacheBytes;      ///< shared by all: L2; L3 of a CPU
  bool hasBulkCopies;      ///< TMA, wgmma
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

/// All targets that the table has, oldest first, the CPU last.
llvm::ArrayRef<TargetLimits> getTargetLimits();

/// The row for a target's name; the nearest older architecture for one that has no row of its own;
/// null for what is neither a GPU nor the CPU.
const TargetLimits *findTargetLimits(llvm::StringRef target);

} // namespace tile::cost

#endif
