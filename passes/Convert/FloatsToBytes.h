// Conversion of f32 vectors to 8-bit integers by the GPU's own saturation.
#ifndef TILE_PASSES_CONVERT_FLOATSTOBYTES_H
#define TILE_PASSES_CONVERT_FLOATSTOBYTES_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Expands every conversion below `op` that FloatsToBytes.cpp describes.
void expandFloatsToBytes(mlir::Operation *op);

/// True if the operation is such a conversion's rounding of a number to the nearest integer.
bool isRoundingToInteger(mlir::Operation *op);

} // namespace tile

#endif
