// Tiles in shared memory as the boxes that TMA copies, and how much of a tile has to be copied.
#ifndef TILE_PASSES_TILEGPU_COPYBOXES_H
#define TILE_PASSES_TILEGPU_COPYBOXES_H

#include "passes/TileGPU/TensorAccess.h"

namespace tile::gpu {

/// The map of an access whose tile has these extents and lies so in shared memory; null if copies
/// cannot make it up.
TensorMapAttr makeMap(mlir::MLIRContext *context, const TensorAccess &access,
                      llvm::ArrayRef<int64_t> shape, int64_t swizzle, int64_t elementBytes);

/// The type of a tile as rows of its last dimension, in the same registers.
mlir::RankedTensorType joinRows(mlir::RankedTensorType type);
/// The columns of a padded tile that are stored, of `all`: where every end along them, dimension
/// `tileDim`, is that many behind the start, the ends are taken from the access.
int64_t takeColumns(TensorAccess &access, int64_t tileDim, int64_t all);
/// True if all ends are of the tile's rows.
bool isCutInRows(const TensorAccess &access);

/// The extents of the tile that have to be copied, in whole panels; empty if those are all.
llvm::SmallVector<int64_t> getUsedExtents(LocalAllocOp alloc);
/// Gives a tile in shared memory, and what permutes it, its used extents.
void setUsedExtents(mlir::Value memory, llvm::ArrayRef<int64_t> used);

} // namespace tile::gpu

#endif
