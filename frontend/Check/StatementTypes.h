// Types in statements: declarations, assignments and stores, and what functions return.
#ifndef TILE_FRONTEND_CHECK_STATEMENTTYPES_H
#define TILE_FRONTEND_CHECK_STATEMENTTYPES_H

#include "frontend/Ast/Stmt.h"
#include "frontend/Check/BodyPart.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

/// The ways out of a list of statements.
struct Ways {
  enum When { Never, Sometimes, Always };
  When breaks = Never, continues = Never, returns = Never;
  bool falls = true;                   // the end may be reached
  SemValue value = SemValue::ofVoid(); // of its `return`s

  bool leaves() const { return breaks || continues || returns; }
  static Ways leaving(When Ways::*kind) {
    Ways ways;
    ways.*kind = Always;
    ways.falls = false;
    return ways;
  }
};

class StatementTypes : BodyPart {
public:
  explicit StatementTypes(BodyChecker &body) : BodyPart(body) {}

  Ways checkBlock(const ast::Block &block);
  Ways checkStatements(llvm::ArrayRef<ast::StmtPtr> statements);

private:
  Ways check(const ast::Stmt &stmt);
  void checkLet(const ast::LetStmt &stmt);
  void checkAssign(const ast::AssignStmt &stmt);
  void checkStore(const ast::AssignStmt &stmt, const ast::SubscriptExpr &target);
  void assignName(const ast::Expr &target, SemValue value, Range range);
  Ways checkIf(const ast::IfStmt &stmt);
  Ways checkLeavingIf(const ast::IfStmt &stmt, llvm::ArrayRef<ast::StmtPtr> rest);
  Ways checkRest(Ways before, llvm::ArrayRef<ast::StmtPtr> rest);
  Ways checkUnlessLeft(const Ways &before, llvm::function_ref<Ways()> rest);
  Ways checkFor(const ast::ForStmt &stmt);
  Ways checkConstFor(const ast::ForStmt &stmt);
  Ways checkTrips(const ast::ForStmt &stmt, uint64_t trips,
                  llvm::function_ref<SemValue(uint64_t)> variable);
  Ways checkWhile(const ast::WhileStmt &stmt);
  /// The arguments of `blocks`; none after an error.
  std::optional<std::vector<Arg>> evalBlocks(const ast::ForStmt &stmt);
  Ways leaveLoop(const Ways &trip, const std::vector<ast::Attribute> &attributes);
  bool readAttributes(const std::vector<ast::Attribute> &attributes, bool mayLeave);
  /// A bool scalar of the run.
  SemValue checkCondition(const ast::Expr &expr);
  Ways join(const Ways &a, const Ways &b);
  SemValue joinReturns(const Ways &a, const Ways &b);
  SemValue joinValues(const SemValue *a, const SemValue *b);
  std::optional<uint64_t> countTripsOf(int64_t low, int64_t high, int64_t step, bool inclusive);

  uint64_t tripsInAll = 0; // of `const for`
  unsigned exitDepth = 0;  // conditions around what follows an early exit
};

} // namespace tile

#endif
