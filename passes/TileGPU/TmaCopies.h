// What tile-gpu-use-tma has found out about copies before it writes them, and how many columns of a
// store are staged at once.
#ifndef TILE_PASSES_TILEGPU_TMACOPIES_H
#define TILE_PASSES_TILEGPU_TMACOPIES_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/TensorAccess.h"

#include <vector>

namespace tile::gpu {

/// Bytes of shared memory for all stores of a kernel together, and for all additions.
inline constexpr int64_t stagingBytes = 32 * 1024;

/// A load that TMA can make.
struct FetchByTma {
  LoadOp load;
  ReshapeOp fold; ///< between the two, if the tile in shared memory has fewer dimensions
  LocalAllocOp alloc;
  TensorAccess access;
  TensorMapAttr map;
  llvm::SmallVector<int64_t> used; ///< extents that products read; empty: all
};

/// A store, or an atomic addition, that TMA can make.
struct StoreByTma {
  mlir::Operation *store;
  mlir::Value value;
  mlir::RankedTensorType tile; ///< the value's type, all dimensions but the last joined to rows
  TensorAccess access;
  TensorMapAttr map;
  int64_t columns;       ///< staged at once
  int64_t storedColumns; ///< of the tile; further ones are padding
  bool cuts = false;     ///< the map lets copies end at any row
  int64_t rows = 0;      ///< staged at once; 0: all

  /// The stored value, in the layout that ordinary stores want.
  mlir::Value getStored() const;
  /// True if there may be tiles that copies cannot store.
  bool needsBranch() const;
};

/// True of a store that a loop repeats: each must wait for the one before. Sums may be added in any
/// order.
bool isOrderedStore(mlir::Operation *store);

/// As many columns at once for each store as `limit` bytes of shared memory allow beside two stages
/// of what loops fetch; drops stores for which there is no room. Has the programs of a persistent
/// `kernel` start one by one where only tiles that are fetched once leave that room.
void chooseStoreColumns(KernelOp kernel, llvm::ArrayRef<FetchByTma> fetches,
                        std::vector<StoreByTma> &stores, int64_t limit);

} // namespace tile::gpu

#endif
