// Subscripts: elements, tiles and views of tensors, loads, stores and atomics.
#ifndef TILE_FRONTEND_LOWER_ACCESSES_H
#define TILE_FRONTEND_LOWER_ACCESSES_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

/// An access x[...] that has been checked: what tile.load, tile.store, tile.inside and those with
/// index tiles share.
struct AccessSpec {
  const ViewValue *view = nullptr;
  std::shared_ptr<const ViewValue> keepAlive;
  llvm::SmallVector<mlir::Value> starts, ends;
  llvm::SmallVector<int64_t> sizes, steps;
  llvm::SmallVector<bool> hasEnd, inBounds;
  llvm::SmallVector<int64_t> shape;         // of the tile; empty for one element
  llvm::SmallVector<mlir::Value> positions; // index tiles of this shape, for each size of -2
  Range range;
};

class Accesses : LowerPart {
public:
  explicit Accesses(Lowering &lowering) : LowerPart(lowering) {}

  SemValue evalSubscript(const ast::SubscriptExpr &expr);
  /// The extent of a view's dimension: of an emptied view what it would be with all elements.
  SemValue extentOf(const ViewValue &view, unsigned dim, mlir::Location location);
  /// `takesTiles`: subscripts may be tiles of positions.
  std::optional<AccessSpec> makeAccess(const SemValue &base, const ast::SubscriptExpr &expr,
                                       bool takesTiles = false);
  /// The access that a call such as load(x[...]) takes first.
  std::optional<AccessSpec> evalAccessArgument(const ast::Expr &expr, llvm::StringRef function,
                                               bool takesTiles = false);
  static bool isFullAccess(const ViewValue &view, const ast::SubscriptExpr &expr);
  SemValue emitLoad(const AccessSpec &access, mlir::Value pad, mlir::Value mask,
                    mlir::StringAttr cache);
  bool emitStore(const AccessSpec &access, const Arg &value, mlir::Value mask,
                 mlir::StringAttr cache);
  SemValue emitAtomic(const Builtin &builtin, const AccessSpec &access, llvm::ArrayRef<Arg> args,
                      mlir::Value mask);
  mlir::Type accessType(const AccessSpec &access, DType dtype);
  mlir::Value toPosition(const SemValue &value, mlir::Location location);

  /// The parameters that are written.
  std::set<const ast::Param *> written;

private:
  SemValue evalView(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalSubview(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalTileSubscript(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalTupleElement(const SemValue &base, const ast::SubscriptExpr &expr);
  /// Brings tiles of positions to the shape of the access; their joint shape goes to dimension
  /// `at`.
  bool joinPositions(AccessSpec &access, llvm::MutableArrayRef<Arg> tiles, size_t at);
  /// What is to be written through an access, at its dtype and shape. Null after an error.
  mlir::Value valueToStore(const AccessSpec &access, const Arg &value);
  /// False, after an error, if the parameter may not be written.
  bool checkWritable(const AccessSpec &access);
  /// Says how the positions of an index tile are written as a range, where they are one.
  bool addRangeFix(DiagnosticBuilder &report, const ast::Expr &subscript);
};

} // namespace tile

#endif
