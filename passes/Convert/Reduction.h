// The combining operation of each kind of reduction, for scalars and vectors.
#ifndef TILE_PASSES_CONVERT_REDUCTION_H
#define TILE_PASSES_CONVERT_REDUCTION_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tile {

/// The element of type `type` that changes nothing when it is combined; for the maximum of floats
/// that is -inf.
mlir::TypedAttr getIdentity(mlir::Builder &builder, ReduceKind kind, mlir::Type type);

/// `x` and `y` combined, which are scalars or vectors of one type. `flags` are those of sums and
/// products of floats.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc, ReduceKind kind, mlir::Value x,
                    mlir::Value y,
                    mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none);

/// The kind whose combiner is this operation on two different block arguments, if there is one.
std::optional<ReduceKind> getReduceKind(mlir::Operation *op);

} // namespace tile

#endif
