// Reductions across lanes that a warp leaves out where its lanes agree without them.
#ifndef TILE_PASSES_TILEGPU_LAZYREDUCTIONS_H
#define TILE_PASSES_TILEGPU_LAZYREDUCTIONS_H

#include "dialect/Tile/TileDialect.h"

namespace tile::gpu {

/// Puts the part across lanes of a maximum or minimum into a branch, with all that is computed from
/// it, where that only decides a selection; false, and nothing changed, where it does more.
bool reduceLazily(ReduceOp reduce);

} // namespace tile::gpu

#endif
