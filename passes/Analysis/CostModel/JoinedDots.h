// Products that tile-gpu-join-products makes one of, as far as that can be told before layouts.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_JOINEDDOTS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_JOINEDDOTS_H

#include "dialect/Tile/TileDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::gpu {
struct KernelShape;
}

namespace tile::cost {

/// The product in whose place the joined one stands, by each of its products; looked up only. They
/// are joined where no two warps share columns.
llvm::DenseMap<mlir::Operation *, mlir::Operation *> findJoinedDots(KernelOp kernel,
                                                                    const gpu::KernelShape &shape);

/// The value before transposing and joining rows, which memory can do.
mlir::Value getRenamed(mlir::Value value);

} // namespace tile::cost

#endif
