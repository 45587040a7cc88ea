// How a tile leaves registers for a tensor by TMA: what pass and lowering agree on. No MLIR.
#ifndef TILE_DIALECT_TILEGPU_STOREPLAN_H
#define TILE_DIALECT_TILEGPU_STOREPLAN_H

#include "dialect/TileGPU/LinearLayout.h"

namespace tile::gpu {

/// Which threads work together, which blocks of rows are theirs, and which registers hold each
/// chunk of columns, or of rows and columns.
struct StorePlan {
  LinearLayout chunk; ///< of one chunk's tile, in the registers that hold it
  llvm::SmallVector<llvm::SmallVector<int64_t>> registers;
  bool isPrivate =
      false; ///< each group of `groupWarps` warps has blocks of its own, and needs no other
  unsigned groupWarps = 4; ///< warps of a group: a warpgroup's, or one
  llvm::SmallVector<int64_t> rows,
      columns; ///< of a chunk: where the blocks of the first group of threads start
  /// The part that the bits of the group's number add to that, by XOR.
  llvm::SmallVector<uint32_t> rowImages, columnImages;

  /// The plan for a tile [M, N] of layout `layout`, `columns` of `rows` at once (0: of all), in
  /// copies of `blockRows` rows and `blockColumns` columns. Chunks of one block of rows follow each
  /// other. With `ordered`, one thread issues all copies; with `byWarp`, warps are groups where the
  /// blocks allow it. None if threads, not registers alone, count the chunks.
  static std::optional<StorePlan> get(const LinearLayout &layout, int64_t columns,
                                      int64_t blockRows, int64_t blockColumns, bool ordered,
                                      bool byWarp = false, int64_t rows = 0);
};

/// The most rows of one copy, so that each belongs to one warpgroup, or, with `byWarp`, to one
/// warp, where the layout allows it.
int64_t getBlockRows(const LinearLayout &layout, bool byWarp = false);

/// How many rows of a tile are staged at once in `bytes` of shared memory where that is not enough
/// for all rows of the fewest columns that are: registers must count the rest. 0: all rows are.
int64_t getStagedRows(const LinearLayout &layout, int64_t elementBytes, int64_t bytes);

} // namespace tile::gpu

#endif
