// Reductions that one arm of a selection alone needs are made in a branch.
#ifndef TILE_PASSES_TILEGPU_SELECTEDREDUCTIONS_H
#define TILE_PASSES_TILEGPU_SELECTEDREDUCTIONS_H

#include "dialect/Tile/TileDialect.h"

namespace tile::gpu {

/// Puts reductions of the kernel that selections need in one arm alone into branches, with all that
/// is computed for this arm and nothing else.
void branchAroundReductions(KernelOp kernel);

} // namespace tile::gpu

#endif
