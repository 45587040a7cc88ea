// The second operand of a product in parts, fetched in pieces along K.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_OPERANDPIECES_H
#define TILE_PASSES_TILEGPU_SCHEDULE_OPERANDPIECES_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::gpu {

/// The second operand of a product, as its parts read it: whole, or in pieces along K.
struct OperandPieces {
  llvm::SmallVector<mlir::Value> memory; ///< one after the other along K
  int64_t extent = 0;                    ///< of a piece along K
};

/// Splits the fetch of the product's second operand along K where few stages of the loop's tiles
/// have room: at most into as many pieces as there are parts, each of whole boxes of its map.
OperandPieces splitFetch(mlir::scf::ForOp loop, WgmmaOp product, int64_t parts);

/// Erases the fetch behind `memory` if nothing reads it any more.
void eraseUnusedFetch(mlir::Value memory);

} // namespace tile::gpu

#endif
