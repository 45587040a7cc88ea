// tile.random_bits as arithmetic on scalars or vectors, the same for every target.
#ifndef TILE_PASSES_CONVERT_PHILOX_H
#define TILE_PASSES_CONVERT_PHILOX_H

#include "mlir/IR/Builders.h"

namespace tile {

/// Word `position` % 4 of Philox4x32-10's block at the counter `position` / 4 under the key `seed`.
/// Both are i64 scalars or vectors of one shape; the result is i32 of that shape.
mlir::Value expandPhilox(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value seed,
                         mlir::Value position);

/// The same for the registers of a thread of a GPU, vectors of one dimension: those whose positions
/// follow each other, in fours, share blocks.
mlir::Value expandPhiloxOfThread(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value seed,
                                 mlir::Value position);

} // namespace tile

#endif
