// What operands are refused for, and how it is said: dtypes and shapes that do not meet, values
// that do not become another dtype, operators that do not take a dtype, stores that do not fit.
#ifndef TILE_FRONTEND_SEMA_OPERANDS_H
#define TILE_FRONTEND_SEMA_OPERANDS_H

#include "frontend/Sema/ForeignCode.h"
#include "frontend/Sema/TypeRules.h"

namespace tile {

class Operands : SemaPart {
public:
  Operands(Evaluator &evaluator, ForeignCode &foreign) : SemaPart(evaluator), foreign(foreign) {}

  /// Reports that `what` does not take the dtype, if it is one that only stores. True if so.
  bool refuseStorage(DType dtype, Range range, const llvm::Twine &what);
  /// Reports the use of a tensor that does not exist. True if so.
  bool refuseNone(const SemValue &value, Range range);
  /// False after a report.
  bool checkShape(llvm::ArrayRef<int64_t> shape, Range range);
  /// Is it an integer scalar? False after a report, which names `what`.
  bool isIndex(const SemValue &value, Range range, const llvm::Twine &what);
  void reportDtypes(const CommonDtype &common, llvm::ArrayRef<Arg> args, const llvm::Twine &what,
                    Range range);
  void reportShapes(const CommonShape &common, llvm::ArrayRef<Arg> args, Range range);
  /// The value does not become one of the dtype.
  void reportUnfit(const SemValue &value, DType dtype, Range range);
  void reportCast(const SemValue &value, DType to, Range range);
  /// The value's dtype or shape is not that of the access.
  void reportStore(const Arg &value, DType dtype, llvm::ArrayRef<int64_t> shape, Range access);
  /// Reports what an operator does not take. True if so.
  bool refuseUnary(const ast::UnaryExpr &expr, const SemValue &operand);
  /// An operand that is neither a number nor a tile.
  void reportNoNumber(const SemValue &value, Range range, const llvm::Twine &what);
  /// `op` does not take operands of the dtype.
  void reportOperator(ast::BinaryOp op, DType dtype, Range aRange, Range bRange, Range range,
                      Range opRange);

  /// Reports that an element-wise built-in does not take the dtype. True if so.
  bool refuseDtype(llvm::StringRef builtin, DType dtype, Range range);
  /// Reports a load from an `out` tensor, a store to an `in` one. True if so. The parameter may be
  /// null.
  bool refuseLoad(const ast::Param *param, Range range);
  bool refuseStore(const ast::Param *param, Range range);
  /// The arguments of a call in the order of the parameters, null where a default stands. None
  /// after a report.
  std::optional<std::vector<const Arg *>> matchArguments(const ast::FnDecl &decl,
                                                         llvm::ArrayRef<Arg> args, Range range);
  /// Reports that a function calls itself. True if so.
  bool refuseRecursion(const ast::FnDecl &decl, Range range);

private:
  /// Adds how to begin a `var` that began as an integer and meets floats.
  bool addVarFix(DiagnosticBuilder &report, const Arg &arg, DType wanted);

  ForeignCode &foreign;
};

} // namespace tile

#endif
