// The resources of a multiprocessor that a kernel's block takes, as far as it is known before
// memory is placed.
#ifndef TILE_PASSES_TILEGPU_LAUNCHFIT_H
#define TILE_PASSES_TILEGPU_LAUNCHFIT_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Registers that one instruction of a kernel needs of a thread, the most of all. ptxas refuses a
/// kernel whose threads have fewer on entry.
struct RegisterNeed {
  int64_t registers = 0;
  int64_t rows = 0, columns = 0; ///< of the instruction
  mlir::Operation *product = nullptr;
};
RegisterNeed getRegisterNeed(KernelOp kernel);

/// Warps of a block that compute, once layouts are assigned; an error at the kernel where nobody
/// has decided.
mlir::FailureOr<int64_t> getNumWarps(KernelOp kernel);

/// Those of them that are launched: without idleWarpsName.
mlir::FailureOr<int64_t> getLaunchedWarps(KernelOp kernel);

/// Threads of a block: those that compute, and a producer's warpgroup where copies are fetched.
int64_t getBlockThreads(KernelOp kernel, const GPULimits &limits);

/// The most warps that compute beside a producer's warpgroup.
int64_t getWarpsBesideProducer(const GPULimits &limits);

/// Bytes of shared memory for each of `blocks` blocks of a multiprocessor.
int64_t getSharedLimit(const GPULimits &limits, int64_t blocks);

/// Registers of a thread that computes, beside a producer whose threads keep `producer`; 0 where
/// none can be handed on. On entry every thread has the same share.
int64_t getConsumerRegisters(const GPULimits &limits, int64_t warpgroups, int64_t blocks,
                             int64_t producer);
/// Registers of a producer's thread that keeps `least` or more: what such consumers leave.
int64_t getProducerRegisters(const GPULimits &limits, int64_t warpgroups, int64_t blocks,
                             int64_t least);
/// A block with a producer, as far as it matters how registers are shared.
struct RegisterShare {
  int64_t warpgroups = 1;  ///< that compute
  int64_t blocks = 1;      ///< of a multiprocessor
  int64_t tiles = 0;       ///< registers of a thread that tiles take
  int64_t products = 0;    ///< that the results of one block's products take, the most
  bool isWide = false;     ///< all threads of the producer's warpgroup copy
  bool writesMaps = false; ///< it writes the maps of views
  bool isFew = false;      ///< a first try has spilled
};
/// Registers that a producer's thread keeps at least.
int64_t chooseProducerRegisters(const RegisterShare &share, const GPULimits &limits);

/// True if all threads of a producer may copy what TMA does not fetch: those that compute have
/// registers enough beside their tiles.
bool mayProducerFill(const RegisterShare &share, const GPULimits &limits);

/// Registers that threads of a producer keep at least.
inline constexpr int64_t usualProducerRegisters = 40;
/// And where those that compute need every register that there is.
inline constexpr int64_t fewestProducerRegisters = 24;

/// Registers of a thread that the results of a block's products take.
int64_t countProductRegisters(mlir::Block &body);
/// Products of one block that take more than this need all the registers that there are.
inline constexpr int64_t manyProductRegisters = 192;

/// More programs than hide each other's waits.
inline constexpr int64_t manyPrograms = 1000000;
/// Programs of a launch for each multiprocessor, rounded up; `manyPrograms` at most.
struct ProgramCount {
  int64_t all = manyPrograms;
  int64_t busy = manyPrograms; ///< without those that find nothing to do (countBusyPrograms)

  /// The most that gain by running at once: where some have nothing to do, these pass by the busy
  /// ones if there is room for one more.
  int64_t getRoom() const { return busy < all ? busy + 1 : all; }
};
ProgramCount countPrograms(KernelOp kernel, llvm::ArrayRef<double> grid, const GPUCard &card);
/// At the extents that the contract expects; `manyPrograms` where nobody knows.
ProgramCount countPrograms(KernelOp kernel, const GPUCard &card);

/// A block with a producer, as far as the number of blocks depends on it.
struct BlockNeed {
  int64_t warps = 4;            ///< that compute
  int64_t registers = 0;        ///< of tiles, in a thread that computes
  int64_t registersOnEntry = 0; ///< for the largest instruction
  int64_t fixedBytes = 0;       ///< of shared memory, however many stages there are
  int64_t stageBytes = 0;       ///< of a stage of all rings
  int64_t rings = 1;
  int64_t programs = manyPrograms; ///< of a launch for each multiprocessor, that gain by room
};
/// Blocks that may share a multiprocessor where the source leaves their number open: several if
/// each has one warpgroup that computes, all get the registers that they need, enough stages are
/// left, and a launch has so many programs. Room for a block that there is not is better spent on
/// stages.
int64_t chooseBlocks(const BlockNeed &need, const GPULimits &limits);

/// Bytes of a block of so many warps that compute, where the source leaves open how many blocks
/// share a multiprocessor: of as many as `least` bytes of each admit, where they hide each other's
/// waits.
int64_t getOpenShare(int64_t least, int64_t warps, const GPULimits &limits);

/// Slots of a ring that threads fill themselves, more of which hide no more latency: two, and one
/// for each time that a trip's products of `bits` (multiplications, times the bits of an operand's
/// element) fit into a copy's latency. A loop asks for no more than `mostCopyStages`.
int64_t countUsefulCopyStages(int64_t bits);
inline constexpr int64_t mostCopyStages = 5;

/// Trips of a loop from `low` to `high` at most; a large number where no contract says.
int64_t countMostTrips(mlir::Value low, mlir::Value high, int64_t step);

/// Stages with which loads are not late.
inline constexpr int64_t usefulStages = 3;
/// The same without a producer: `fixedBytes` has the useful stages. So many warps compute.
int64_t chooseBlocksOfCopies(const BlockNeed &need, const GPULimits &limits);

/// Loops over the same blocks, the first of which loads what later ones load again.
struct KeptNeed {
  int64_t threads = 0;             ///< of a block
  int64_t registers = 0;           ///< of a thread
  int64_t tripBytes = 0;           ///< of all tiles that a trip keeps
  int64_t fixedBytes = 0;          ///< of shared memory, whatever is kept
  int64_t trips = 0;               ///< that are expected; 0: not known
  int64_t mostTrips = 0;           ///< by the contract
  int64_t programs = manyPrograms; ///< of a launch for each multiprocessor
  double bytesInFlight = 0;        ///< of a multiprocessor that keeps memory busy
  int64_t asked = 1;               ///< blocks of a multiprocessor that the source asks for
};
/// Blocks that run at once on a multiprocessor, by threads, registers and what they keep, and the
/// trips whose tiles each keeps in shared memory: all that are expected, where enough warps are
/// left to keep memory busy; else those for which there is room that costs no block. No fewer
/// blocks than the source asks for.
struct KeptTrips {
  int64_t blocks = 1, trips = 0;
};
KeptTrips chooseKeptTrips(const KeptNeed &need, const GPULimits &limits);

} // namespace tile::gpu

#endif
