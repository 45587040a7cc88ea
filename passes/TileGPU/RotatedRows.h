// Kernels of which each tile is a piece of one row, and may go round in its registers.
#ifndef TILE_PASSES_TILEGPU_ROTATEDROWS_H
#define TILE_PASSES_TILEGPU_ROTATEDROWS_H

#include "dialect/Tile/TileDialect.h"

#include <optional>

namespace tile::gpu {

/// How the tiles of a kernel go round.
struct RowRotation {
  mlir::Operation *anchor = nullptr; ///< a load or store whose rows' beginnings say how far
  int64_t vector = 1;                ///< elements of it in 16 bytes: tiles go round by fewer
};

/// What tile-gpu-rotate-rows does to a kernel whose tiles have no layouts yet; none where some
/// operation knows the order of a tile's elements, or rows are not known to begin anywhere.
std::optional<RowRotation> findRotation(KernelOp kernel);

/// True if each vector of a load of a kernel whose tiles go round is aligned then, in one window;
/// others take two.
bool isAlignedByRotation(LoadOp load);

} // namespace tile::gpu

#endif
