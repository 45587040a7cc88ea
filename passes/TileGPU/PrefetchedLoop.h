// A loop whose loads are made a trip ahead: what is loaded, and the loop itself. By
// tile-gpu-prefetch-loads.
#ifndef TILE_PASSES_TILEGPU_PREFETCHEDLOOP_H
#define TILE_PASSES_TILEGPU_PREFETCHEDLOOP_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tile::gpu {

/// Registers of 32 bits that a thread may hold of the next trip.
inline constexpr int64_t mostPrefetchedRegisters = 16;

/// A loop's loads that can be made a trip ahead.
struct PrefetchPlan {
  mlir::scf::ForOp loop;
  llvm::SmallVector<LoadOp> loads;
  llvm::SetVector<mlir::Operation *>
      needed;            // of the body, in its order: the loads, and what says where
  int64_t registers = 0; // of 32 bits, in a thread
  int64_t bytes = 0;     // of a block in a trip
  bool clamps = false;   // a place is known to exist in trips that there are only
  bool fetches = false;  // a producer fetches operands of the loop's products
  bool written = false;  // the kernel writes what is loaded
};

/// True if what is computed first from the loaded values is known, and is so little that threads
/// can hold it instead of these.
bool hasFirstUses(const PrefetchPlan &plan);

/// Has each trip load what the next one needs.
void prefetch(const PrefetchPlan &plan);

} // namespace tile::gpu

#endif
