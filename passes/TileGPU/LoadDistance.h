// How far loads of one tensor lie from each other, where that is a constant: the points of a
// stencil, the taps of a filter.
#ifndef TILE_PASSES_TILEGPU_LOADDISTANCE_H
#define TILE_PASSES_TILEGPU_LOADDISTANCE_H

#include "dialect/Tile/TileDialect.h"
#include <optional>

namespace tile::gpu {

/// A dimension of the view, and by how many positions `to` lies behind `from` along it.
struct LoadDistance {
  unsigned dim;
  int64_t offset;
};

/// The distance of two loads of equal tiles that is not 0 along one dimension of the view alone,
/// which the tiles have; none of others.
std::optional<LoadDistance> getDistance(LoadOp from, LoadOp to);

} // namespace tile::gpu

#endif
