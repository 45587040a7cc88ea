// What is right in another language: each becomes a fix-it where one text is right.
#ifndef TILE_FRONTEND_SEMA_FOREIGNCODE_H
#define TILE_FRONTEND_SEMA_FOREIGNCODE_H

#include "frontend/Ast/Stmt.h"
#include "frontend/Sema/Evaluator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

class ForeignCode : SemaPart {
public:
  explicit ForeignCode(Evaluator &evaluator) : SemaPart(evaluator) {}

  bool isForeignMember(const ast::MemberExpr &expr);
  SemValue reportPrefixed(const ast::MemberExpr &expr, const ast::CallExpr *call);
  bool reportMethod(const ast::CallExpr &call, const ast::MemberExpr &callee);
  /// `p + offsets` where an access is wanted.
  bool reportPointerSum(const ast::Expr &expr, llvm::StringRef function);
  /// -1 among the extents of `reshape`.
  bool reportOpenExtent(const Arg &arg, llvm::ArrayRef<int64_t> shape);
  /// Says how a view made by lo..hi, which a `let` names, is written as a tile.
  void addViewHint(DiagnosticBuilder &report, Range range);
  /// What stands there, in brackets where an operator could tear it apart.
  std::string operandText(Range range) const;
  /// `f32(x)`, and whatever else is no function.
  void reportUncallable(const ast::CallExpr &call, const SemValue &callee);
  /// x[-1] is not the last element, as elsewhere. A number that is computed may well be negative:
  /// what stands beside the first row reads as padding.
  void warnOfNegative(const ast::Subscript &subscript);
  bool reportRangeLoop(const ast::ForStmt &stmt);
  /// Reports an assignment to a name that nothing declares, and declares it for what follows; a
  /// number becomes a value of the run by `toData` where it would be a `var`.
  void declareAssigned(const ast::NameExpr &target, const SemValue &value,
                       llvm::function_ref<SemValue(const SemValue &)> toData);
  /// `t[mask] = v` on a tile.
  void addTileStoreFix(DiagnosticBuilder &report, const ast::AssignStmt &stmt,
                       const ast::SubscriptExpr &access, const SemValue &base);
  /// Does `+=` or its like follow?
  bool isAssigned(Range range) const;
  void addAccumulatorFix(DiagnosticBuilder &report, const Arg &arg, DType wanted);
  /// `as dtype` behind what stands at `range`.
  void addConversion(DiagnosticBuilder &report, Range range, DType dtype);
  std::string textOf(const ast::Expr &expr) const;

private:
  /// A call that does what the method does elsewhere; empty if there is none.
  std::string rewriteMethod(const ast::CallExpr &call, const ast::MemberExpr &callee,
                            const SemValue &base);
  /// The dtype that `f16`, "float16", `torch.float16` or a parameter names; empty if none.
  std::string dtypeWord(llvm::StringRef text);
};

} // namespace tile

#endif
