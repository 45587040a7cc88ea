// The tiles of rings: fetches that one operation waits for, and which of them use one ring.
#ifndef TILE_PASSES_TILEGPU_RINGGROUPS_H
#define TILE_PASSES_TILEGPU_RINGGROUPS_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Fetches of one block that one operation waits for.
struct RingGroup {
  llvm::SmallVector<TmaFetchOp> fetches;
  mlir::Operation *firstUser = nullptr;
  mlir::Operation *lastUser = nullptr; ///< after it nothing reads the tiles
  bool perWarp = false; ///< read by ordinary loads too: each warp gives the slot back
  bool inLoop = false;
  int64_t requested = 0; ///< stages that the source asks for; 0: none
  mlir::Value ring;

  int64_t getSlotBytes() const;
};

/// Collects who reads `memory`, through the views of it, which come before their own views.
void collectUsers(mlir::Value memory, llvm::SmallVectorImpl<mlir::Operation *> &users,
                  llvm::SmallVectorImpl<mlir::Operation *> &views);

/// True in a loop that is not the one over programs.
bool isInInnerLoop(TmaFetchOp fetch);

/// All fetches of the kernel.
llvm::SmallVector<RingGroup> collectRingGroups(KernelOp kernel);

/// Loops that follow each other use one ring where they fetch the same kinds of tiles: the next
/// one's first tiles are on their way while the last one's are used, and no slot lies idle. What a
/// schedule fetches before and behind a loop belongs to the loop's ring.
void shareRings(llvm::MutableArrayRef<RingGroup> groups);

} // namespace tile::gpu

#endif
