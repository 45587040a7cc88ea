// How a kernel is laid out on the machine, and what of the machine a block then takes.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SCHEDULE_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SCHEDULE_H

#include "passes/Analysis/CostModel/KernelWork.h"
#include "passes/Analysis/CostModel/TargetLimits.h"
#include "passes/TileGPU/LaunchFit.h"

#include <optional>

namespace tile::cost {

/// The attributes of kernels that may be chosen. What is left out is up to the compiler's own
/// rules.
struct Schedule {
  std::optional<int64_t> warps, stages, consumers, occupancy, grouped, maxRegisters, cluster;
  bool persistent = false;

  /// Reads the attributes of a kernel of the tile dialect.
  static Schedule of(KernelOp kernel);
  /// Sets what a configuration of `tune` says; names that are no attributes are left alone.
  void set(llvm::StringRef name, llvm::StringRef value);
};

/// True if the parts of the kernel's split loop are a cluster, whose blocks take one program each:
/// what tile-gpu-split-loops decides.
bool hasClusterOfParts(const KernelWork &work, const Schedule &schedule);

/// The resources of a block, and how many blocks run on a multiprocessor at once.
struct Resources {
  std::string reason;          ///< why it cannot be compiled or would spill; empty: it can
  bool bulkCopies = false;     ///< operands come by TMA, from warps of their own
  bool asyncCopies = false;    ///< operands come by cp.async, from the warps that compute
  bool fillsByThreads = false; ///< a producer's threads copy what it cannot fetch
  unsigned launched = 0;       ///< of `warps`, without the ones that hold padding alone
  int64_t warps = 0;           ///< that compute, of layouts: a power of two
  int64_t teams = 1;           ///< that these warps are there for, each with a program of its own
  int64_t threads = 0;         ///< of a block, with those that only load
  int64_t stages = 0;          ///< of loads that run ahead; 0: none do
  int64_t registers = 0;       ///< of a thread that computes, estimated
  int64_t registerLimit = 0;   ///< what such a thread may have
  int64_t given = 0;           ///< registers that such a thread gets, by setmaxnreg or by ptxas
  int64_t spilled = 0;     ///< registers beyond that: few enough to go through memory now and then
  int64_t sharedBytes = 0; ///< of a block, estimated
  int64_t ratedBytes = 0;  ///< by which blocks are counted that run at once
  gpu::BlockNeed need;     ///< with bulk copies
  bool lacksShare = false; ///< the reason is that its occupancy cannot be had
  bool isOpen = true;      ///< no loop says how many stages it wants
  int64_t keptTrips = 0;   ///< whose tiles later loops find in shared memory
  int64_t blocks = 0;      ///< of a multiprocessor at once
};

/// Rows and columns of a product by mma.sync that one of `warps` warps computes: the rule of
/// chooseMmaWarps() in DotSelection.cpp. `rowsInWarps`: rows are reduced, so warps share none.
std::pair<int64_t, int64_t> getWarpTile(const DotWork &dot, int64_t warps, bool rowsInWarps);

Resources estimateResources(const KernelWork &work, const Schedule &schedule,
                            const TargetLimits &target);

} // namespace tile::cost

#endif
