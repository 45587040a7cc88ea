// The tile dialect: include this for its types, attributes and operations.
#ifndef TILE_DIALECT_TILE_TILEDIALECT_H
#define TILE_DIALECT_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileEnums.h.inc"

#include "dialect/Tile/TileDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"

namespace tile {
/// Shape of a tile's type; empty for a scalar's.
llvm::SmallVector<int64_t> getShapeOf(mlir::Type type);
/// Fails where `valid`, a product's own extents if there are any, is not [m, n, k] of at most
/// these.
llvm::LogicalResult verifyValidExtents(mlir::Operation *op, mlir::DenseI64ArrayAttr valid,
                                       int64_t m, int64_t n, int64_t k);
/// For each of an access's `sizes` the dimension of its tile of rank `rank` along which the range
/// lies, -1 where there is no range: dropped dimensions have none, those with index tiles share the
/// tile's dimensions that are left, which stand where the first of them stands.
llvm::SmallVector<int64_t> mapRangesToTile(llvm::ArrayRef<int64_t> sizes, int64_t rank);
/// The nearest number of an 8-bit format, ties to even, saturated to finite; NaN stays NaN.
llvm::APFloat roundToFloat8(llvm::APFloat value, const llvm::fltSemantics &semantics);
} // namespace tile

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

#endif
