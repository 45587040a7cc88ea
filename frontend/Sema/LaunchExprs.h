// Expressions that the launcher computes: dimensions, grid extents and contracts, with their
// dtypes.
#ifndef TILE_FRONTEND_SEMA_LAUNCHEXPRS_H
#define TILE_FRONTEND_SEMA_LAUNCHEXPRS_H

#include "frontend/Sema/Evaluator.h"

namespace tile {

class LaunchExprs : SemaPart {
public:
  explicit LaunchExprs(Evaluator &evaluator) : SemaPart(evaluator) {}

  /// An expression as the launcher computes it; constant parts become integers. None after an
  /// error.
  std::optional<runtime::Expr> convert(const ast::Expr &expr, bool isCondition = false);
  /// The same of any dtype, which `dtype` receives: none for what is known at compile time.
  std::optional<runtime::Expr> convert(const ast::Expr &expr, std::optional<DType> &dtype);
  /// Reports operands of a contract that do not mix; else their common dtype is in `a`.
  bool unify(std::optional<DType> &a, runtime::Expr &x, Range aRange, std::optional<DType> b,
             runtime::Expr &y, Range bRange, llvm::StringRef what, Range range);

  /// Reports an expression whose operators stand too deep in each other for the launcher.
  bool checkDepth(const runtime::Expr &expr, Range range);

private:
  std::optional<runtime::Expr> convertBinary(const ast::BinaryExpr &expr,
                                             std::optional<DType> &dtype);
};

/// The names of dimensions, strides and scalars in an expression of the launcher.
void collectNames(const runtime::Expr &expr, std::set<std::string> &out);

} // namespace tile

#endif
