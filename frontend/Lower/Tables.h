// Constant tiles from lists, and look-ups in them.
#ifndef TILE_FRONTEND_LOWER_TABLES_H
#define TILE_FRONTEND_LOWER_TABLES_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class Tables : LowerPart {
public:
  explicit Tables(Lowering &lowering) : LowerPart(lowering) {}

  SemValue listToTile(const SemValue &list, std::optional<DType> dtype, Range range);
  /// Makes constant tiles of the lists among operands, at the dtype of the first operand that has
  /// one. False after an error.
  bool listsToTiles(llvm::MutableArrayRef<Arg> args);
  /// `tile` at positions, an i32 or index scalar or tile, clamped; null where `tile` is no constant
  /// tile of rank 1.
  mlir::Value emitTableLookup(const SemValue &tile, mlir::Value position, mlir::Location location);
  /// One element of a constant tile at compile-time positions; void where `tile` is none or a
  /// position is not constant.
  SemValue evalTableElement(const SemValue &tile, const ast::SubscriptExpr &expr);
};

} // namespace tile

#endif
