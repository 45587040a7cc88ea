// Tables of tile.lookup as constant data of the module.
#ifndef TILE_PASSES_CONVERT_TABLE_H
#define TILE_PASSES_CONVERT_TABLE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// The address, in `addressSpace`, of constant data that holds `table`: one for all equal tables of
/// the module. Elements are stored as getTableElement says.
mlir::Value getTableAddress(mlir::OpBuilder &builder, mlir::Location loc, mlir::ModuleOp module,
                            mlir::DenseElementsAttr table, unsigned addressSpace);

/// How an element stands in the table: bool as i8, index as i64, others as they are.
mlir::Type getTableElement(mlir::Type element);

/// Reads element `position`, an i32 or index scalar that is clamped to the table, as an element of
/// the table's type.
mlir::Value readTable(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                      mlir::Value position, mlir::DenseElementsAttr table);

} // namespace tile

#endif
