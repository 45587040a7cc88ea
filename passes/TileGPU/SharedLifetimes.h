// When a kernel's operations use shared memory: of reports, and of passes that plan with what a
// change would need.
#ifndef TILE_PASSES_TILEGPU_SHAREDLIFETIMES_H
#define TILE_PASSES_TILEGPU_SHAREDLIFETIMES_H

#include "dialect/TileGPU/SharedMemory.h"

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

/// True for a kernel without products that reduces or scans tiles, or asks atomics for old values:
/// it has a few lines of shared memory for the words that warps leave each other. Before layouts
/// are known nobody can tell whether warps share rows.
bool reservesWords(KernelOp kernel);

/// True for a store by TMA that no loop repeats: its staging memory is its own from there to the
/// kernel's end, as the copies of others are throughout.
bool isStoredOnce(mlir::Operation *op);

/// True for a ring that is filled and emptied once: its memory is free behind the last use of its
/// tiles.
bool isFilledOnce(RingOp ring);

/// Loads of a loop that are to be copied ahead into as many slots as there are stages: what stands
/// in `allocs` and `loop` now.
struct CopyRing {
  mlir::Operation *loop = nullptr;
  llvm::SmallVector<LocalAllocOp> allocs;
};
/// True for the conversion of a vector that every warp holds whole.
bool isWholeInWarps(ConvertLayoutOp op);

/// True for such a conversion in a loop, if it is small, and for one within warps that a program of
/// a persistent kernel with a producer makes once. Its bytes are nobody else's as long as the loop
/// lasts, so each warp waits for itself alone, from trip to trip too.
bool keepsScratch(mlir::Operation *op);

/// Bytes of shared memory that the kernel would need with `stages` slots for each tile of `ring`;
/// none if lifetimes cannot be told.
std::optional<int64_t> planSharedBytes(KernelOp kernel, const CopyRing &ring, int64_t stages);

/// Has the kernel's largest conversion of a layout that can do so go through shared memory in twice
/// as many rounds, each of half the bytes; false if no conversion takes much.
bool convertInRounds(KernelOp kernel);
/// Bytes of shared memory that the kernel would need but for fetches by TMA that loops repeat; none
/// if lifetimes cannot be told.
std::optional<int64_t> planBytesBesideFetches(KernelOp kernel);

} // namespace tile::gpu

#endif
