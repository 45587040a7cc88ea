// Layouts of tiles whose elements meet in a thread: parts of a row, neighbours along a scan.
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

/// The dimension along which a scan goes through a loaded tile, perhaps after element-wise work.
std::optional<int64_t> getScannedAxis(LoadOp load);

/// A layout for a scan along `axis`, while memory goes on along `fastest`: lanes side by side along
/// `fastest`, neighbours along the axis in one thread, and warps where anything is left. None for
/// tiles that have no work for all threads. Of 64 x 64 elements, two a vector, 8 warps:
///
///              lane 0  lane 1  ...  lane 31
///     axis 0   [0  1]  [2  3]       [62 63]   warp 0
///          :      :                            (registers)
///          7   [0  1]                         warp 0
///          8   [0  1]                         warp 1
std::optional<LinearLayout> scanInRegisters(llvm::ArrayRef<int64_t> extents, unsigned fastest,
                                            unsigned axis, unsigned vector, unsigned numWarps);

/// The dimension of a loaded tile along which other loads of its block lie beside it, as the taps
/// of a filter do; of several the one with most of them. None along `fastest`, the neighbours in
/// memory, and where products read tiles of the block.
std::optional<int64_t> getShiftedDim(LoadOp load, unsigned fastest);

/// A layout for loads that lie beside each other along `axis`: a thread has as many neighbours
/// along it as it has vectors, so that most of a tile is in the registers of the one beside
/// (passes/TileGPU/ShiftLoads.cpp). All else is as in a blocked layout. None where a thread has one
/// vector. Of 8 x 64 elements, 8 a vector, one warp:
///
///              lane 0   ...  lane 7
///     axis 0   [0 .. 7]      [56 .. 63]
///          1   [0 .. 7]      [56 .. 63]
///          2   lane 8   ...
std::optional<LinearLayout> shiftInRegisters(llvm::ArrayRef<int64_t> extents,
                                             llvm::ArrayRef<unsigned> order, unsigned axis,
                                             unsigned vector, unsigned numWarps);

/// The layout that a value takes without an exchange, if it is computed, by operations that take
/// any layout, from tiles that have one. None where threads would hold elements twice.
std::optional<LinearLayout> getNaturalLayout(mlir::Value value);

} // namespace tile::gpu

#endif
