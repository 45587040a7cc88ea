// Operations that move a tile's elements, as reads at computed positions.
#ifndef TILE_PASSES_CONVERT_SHAPEEXPANSION_H
#define TILE_PASSES_CONVERT_SHAPEEXPANSION_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Replaces an operation that names elements of tiles by takes and selections, and erases it; fails
/// after an error. Any other operation stays as it is. Operations of the tile dialect are expanded
/// for the CPU, too: one that is listed here needs no lowering of its own.
llvm::LogicalResult expandShape(mlir::Operation *op);

} // namespace tile

#endif
