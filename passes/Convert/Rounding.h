// Rounding twice as if once.
#ifndef TILE_PASSES_CONVERT_ROUNDING_H
#define TILE_PASSES_CONVERT_ROUNDING_H

#include "mlir/IR/Builders.h"

namespace tile {

/// `type` with elements of `element`.
mlir::Type withElement(mlir::Type type, mlir::Type element);
/// The integer `value`, as a scalar or splat of `type`.
mlir::Value integerLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, int64_t value);
/// f64 to f32 such that rounding once more, to at most 21 bits, gives what one rounding would: an
/// inexact result is odd.
mlir::Value narrowToOdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
/// An integer to f32 such that rounding once more, to at most 21 bits, gives what one rounding
/// would.
mlir::Value integerToF32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, bool hasSign);
/// x * y + z of bf16 in f32 such that rounding to bf16 gives what one rounding of the exact number
/// would.
mlir::Value fmaToF32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                     mlir::Value z);

} // namespace tile

#endif
