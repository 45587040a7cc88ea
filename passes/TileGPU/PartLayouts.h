// Layouts of tiles that are taken apart and put together: halves of a row, channels of a group.
#ifndef TILE_PASSES_TILEGPU_PARTLAYOUTS_H
#define TILE_PASSES_TILEGPU_PARTLAYOUTS_H

#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/LinearLayout.h"
#include <optional>

namespace tile::gpu {

/// A dimension of a tile, and in how many equal parts its users take it.
struct Parts {
  unsigned dim;
  int64_t count;
};

/// The parts of a loaded tile that meet later on: element-wise work, a reshape that splits a
/// dimension, and a reduction over the parts (as slices of a tile are made). None without them.
std::optional<Parts> getParts(LoadOp load);

/// A layout whose threads hold the same places of all parts of `extents`, so that the parts meet
/// without an exchange; `part` is the layout of one. Of a row of 128 in two parts, 8 elements a
/// vector:
///
///     lane     0      1    ...   7      0      1    ...   7
///           |0..7 |8..15 | ... |..63 |64.. |72..  | ... |..127|
///              first part               second part
///
LinearLayout holdParts(llvm::ArrayRef<int64_t> extents, const LinearLayout &part);

/// The layout that a value takes without an exchange, if it is computed, by operations that take
/// any layout, from tiles that have one. None where threads would hold elements twice.
std::optional<LinearLayout> getNaturalLayout(mlir::Value value);

} // namespace tile::gpu

#endif
