// Program order of the accesses to one tensor, where different threads of a block make them.
#ifndef TILE_PASSES_TILEGPU_PROGRAMORDER_H
#define TILE_PASSES_TILEGPU_PROGRAMORDER_H

#include "dialect/Tile/TileDialect.h"

namespace tile::gpu {

/// Inserts barriers between accesses of a kernel that program order orders and that other threads
/// may make: of tensors that it both reads and writes, of those that it changes by atomics or
/// scatters, and of those that it stores to where one store may meet what another has written. See
/// docs/Memory.md.
void orderAccesses(KernelOp kernel);

} // namespace tile::gpu

#endif
