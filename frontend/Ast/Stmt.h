// AST: statements.
#ifndef TILE_FRONTEND_AST_STMT_H
#define TILE_FRONTEND_AST_STMT_H

#include "frontend/Ast/Expr.h"

namespace tile::ast {

/// Base of all statements.
struct Stmt : Node {
  enum class Kind { Let, Expression, Assign, If, For, While, Return, Jump };
  const Kind kind;

  virtual ~Stmt() = default;

protected:
  explicit Stmt(Kind kind) : kind(kind) {}
};
using StmtPtr = std::unique_ptr<Stmt>;

/// `{ … }`.
struct Block : Node {
  std::vector<StmtPtr> statements;
};

/// `name` or `(name, …)`; the name `_` discards.
struct Pattern : Node {
  bool isTuple = false;
  std::vector<Ident> names; // one unless isTuple
};

/// `split(SPLIT)`, `persistent`: on a loop or a kernel.
struct Attribute : Node {
  Ident name;
  bool hasArguments = false; // parentheses present
  std::vector<Argument> arguments;
};

/// `let pattern: type = value;` and `var …`.
struct LetStmt : Stmt {
  bool isVar = false;
  Pattern pattern;
  std::optional<TypeSpec> type;
  ExprPtr value;

  LetStmt() : Stmt(Kind::Let) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Let; }
};

/// A call for its effect: `store(…);`. The parser refuses other expressions.
struct ExprStmt : Stmt {
  ExprPtr value;

  ExprStmt() : Stmt(Kind::Expression) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Expression; }
};

/// `target = value;` or `target += value;`. The target is a NameExpr, a TupleExpr of them, or a
/// SubscriptExpr (a store).
struct AssignStmt : Stmt {
  ExprPtr target;
  std::optional<BinaryOp> op; // of `+=` and the like
  Range opRange;
  ExprPtr value;

  AssignStmt() : Stmt(Kind::Assign) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assign; }
};

/// `if`, `const if`. `else if` is an else block whose only statement is the next IfStmt.
struct IfStmt : Stmt {
  bool isConst = false;
  ExprPtr condition;
  Block thenBlock;
  std::optional<Block> elseBlock;

  IfStmt() : Stmt(Kind::If) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::If; }
};

/// `for i in lo..hi step s with … { }`, `for k in blocks(…) { }`, `const for`.
struct ForStmt : Stmt {
  bool isConst = false;
  Ident variable;
  ExprPtr over;           // `blocks(…)`; null for an interval
  ExprPtr lo, hi, step;   // interval; step may be null
  bool inclusive = false; // `..=`
  std::vector<Attribute> attributes;
  Block body;

  ForStmt() : Stmt(Kind::For) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::For; }
};

/// `while condition with … { }`.
struct WhileStmt : Stmt {
  ExprPtr condition;
  std::vector<Attribute> attributes;
  Block body;

  WhileStmt() : Stmt(Kind::While) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::While; }
};

/// `return;` (a kernel's program ends) or `return value;` (a function's result). The last of its
/// block, as is a JumpStmt.
struct ReturnStmt : Stmt {
  ExprPtr value; // may be null

  ReturnStmt() : Stmt(Kind::Return) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Return; }
};

/// `break;` (the innermost loop ends) or `continue;` (its next trip begins). Stands in a loop; the
/// elaborator turns it into control flow of a tree (frontend/Lower/Flow.h).
struct JumpStmt : Stmt {
  bool isBreak = false;

  JumpStmt() : Stmt(Kind::Jump) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Jump; }
};

} // namespace tile::ast

#endif
