// When a kernel's operations use the shared memory that allocation gave them, for reports.
#ifndef TILE_PASSES_TILEGPU_SHAREDLIFETIMES_H
#define TILE_PASSES_TILEGPU_SHAREDLIFETIMES_H

#include "passes/TileGPU/SharedMemory.h"

namespace tile::gpu {

/// An operation that needs shared memory, and when: from operation number `start` of the kernel's
/// body to `end`, both included, in the order of the program's text.
struct SharedLifetime {
  mlir::Operation *op;
  SharedNeed need;
  unsigned start, end;
};
/// Every such operation of the kernel; fails where a tile of shared memory goes through control
/// flow.
mlir::FailureOr<llvm::SmallVector<SharedLifetime>> getSharedLifetimes(KernelOp kernel);

} // namespace tile::gpu

#endif
