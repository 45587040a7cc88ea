// What an operation needs of shared memory: the answer of SharedMemoryOpInterface.
#ifndef TILE_DIALECT_TILEGPU_SHAREDNEED_H
#define TILE_DIALECT_TILEGPU_SHAREDNEED_H

#include <cstdint>

namespace tile::gpu {

/// How an operation uses the shared memory that it owns.
enum class SharedUse {
  None,
  Allocates,    ///< writes it; others read it later
  Persistent,   ///< keeps it as long as the kernel runs, and synchronises its accesses itself
  ScratchBlock, ///< writes, waits for the block, reads
  ScratchWarp,  ///< writes, waits for the warp alone, reads
};

/// What an operation does with shared memory of its own, and how much it needs: `bytes`, aligned to
/// `alignment`.
struct SharedNeed {
  SharedUse use = SharedUse::None;
  int64_t bytes = 0;
  unsigned alignment = 128;
};

} // namespace tile::gpu

#endif
