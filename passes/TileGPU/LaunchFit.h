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

/// Threads of a block: those that compute, and a producer's warpgroup where copies are fetched.
int64_t getBlockThreads(KernelOp kernel, const GPULimits &limits);

/// The most warps that compute beside a producer's warpgroup.
int64_t getWarpsBesideProducer(const GPULimits &limits);

} // namespace tile::gpu

#endif
