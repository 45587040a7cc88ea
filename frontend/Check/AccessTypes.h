// Types of subscripts: elements, tiles and views of tensors, parts of tiles; of loads, stores and
// atomics.
#ifndef TILE_FRONTEND_CHECK_ACCESSTYPES_H
#define TILE_FRONTEND_CHECK_ACCESSTYPES_H

#include "frontend/Check/BodyPart.h"
#include "frontend/Sema/TypeRules.h"

namespace tile {

/// An access x[...] that has been checked.
struct AccessType {
  SemValue view;
  Shape shape; // of the tile; empty for one element
  Range range;
};

class AccessTypes : BodyPart {
public:
  explicit AccessTypes(BodyChecker &body) : BodyPart(body) {}

  SemValue evalSubscript(const ast::SubscriptExpr &expr);
  /// A call such as load(x[...]).
  SemValue callAccess(const Builtin &builtin, const ast::CallExpr &expr);
  /// Has the access a subscript for each dimension, and none of them lo..hi?
  static bool isFull(const SemValue &view, const ast::SubscriptExpr &expr);
  std::optional<AccessType> makeAccess(const SemValue &view, const ast::SubscriptExpr &expr,
                                       bool takesTiles = false);
  bool store(const AccessType &access, const Arg &value);

private:
  SemValue evalView(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalSubview(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalTilePart(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalTupleElement(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalFunction(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue load(const AccessType &access, bool hasPadding);
  SemValue atomic(const Builtin &builtin, const AccessType &access, llvm::ArrayRef<Arg> args);
  bool checkArguments(const AccessType &access, llvm::ArrayRef<Arg> args);
  bool checkWritable(const AccessType &access);
  bool checkStored(const AccessType &access, const Arg &value);
};

} // namespace tile

#endif
