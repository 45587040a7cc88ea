// Declarations, assignments and stores.
#ifndef TILE_FRONTEND_LOWER_STATEMENTS_H
#define TILE_FRONTEND_LOWER_STATEMENTS_H

#include "frontend/Lower/Flow.h"
#include "frontend/Lower/LowerPart.h"

namespace tile {

class Statements : LowerPart {
public:
  explicit Statements(Lowering &lowering) : LowerPart(lowering) {}

  Flow lowerStatement(const ast::Stmt &stmt, const FlowNeeds &needs);
  /// The `var`s of enclosing scopes that the statements assign, in order of first assignment.
  std::vector<Binding *> assignedVars(llvm::ArrayRef<const ast::Block *> blocks);
  std::vector<Binding *> assignedVars(llvm::ArrayRef<ast::StmtPtr> statements);

private:
  void lowerLet(const ast::LetStmt &stmt);
  void lowerAssign(const ast::AssignStmt &stmt);
  void assignName(const ast::Expr &target, SemValue value, Range range);
  std::vector<Binding *> varsNamed(const std::vector<std::string> &names);
};

} // namespace tile

#endif
