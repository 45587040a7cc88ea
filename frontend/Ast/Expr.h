// AST: expressions. Use llvm::isa, cast and dyn_cast, or switch over kind.
#ifndef TILE_FRONTEND_AST_EXPR_H
#define TILE_FRONTEND_AST_EXPR_H

#include "frontend/Ast/Type.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"

#include <optional>
#include <string>

namespace tile::ast {

/// `42`, `0xff`. A minus sign is a UnaryExpr around it.
struct IntLiteral : Expr {
  uint64_t value = 0;

  IntLiteral() : Expr(Kind::IntLiteral) {}
  static bool classof(const Expr *e) { return e->kind == Kind::IntLiteral; }
};

/// `1.5`, `1e-5`: rounded to double, with its text (without `_`) for those who round once to
/// another type.
struct FloatLiteral : Expr {
  double value = 0;
  std::string text;

  FloatLiteral() : Expr(Kind::FloatLiteral) {}
  static bool classof(const Expr *e) { return e->kind == Kind::FloatLiteral; }
};

/// `"full"`, escapes resolved.
struct StringLiteral : Expr {
  std::string value;

  StringLiteral() : Expr(Kind::StringLiteral) {}
  static bool classof(const Expr *e) { return e->kind == Kind::StringLiteral; }
};

/// `true`, `false`.
struct BoolLiteral : Expr {
  bool value = false;

  BoolLiteral() : Expr(Kind::BoolLiteral) {}
  static bool classof(const Expr *e) { return e->kind == Kind::BoolLiteral; }
};

/// `None`: a tensor that is left away. As a subscript it is a new dimension (Subscript::newAxis).
struct NoneLiteral : Expr {
  NoneLiteral() : Expr(Kind::NoneLiteral) {}
  static bool classof(const Expr *e) { return e->kind == Kind::NoneLiteral; }
};

/// A name: variable, parameter, dimension, dtype, function, built-in (`inf` and `nan` too).
struct NameExpr : Expr {
  std::string text;

  NameExpr() : Expr(Kind::Name) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }
};

enum class UnaryOp { neg, logicalNot, bitNot };

/// `-x`, `!x`, `~x`.
struct UnaryExpr : Expr {
  UnaryOp op = UnaryOp::neg;
  Range opRange;
  ExprPtr operand;

  UnaryExpr() : Expr(Kind::Unary) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }
};

enum class BinaryOp {
  logicalOr,
  logicalAnd,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  bitOr,
  bitXor,
  bitAnd,
  shl,
  shr,
  add,
  sub,
  mul,
  div,
  rem
};

/// Infix operators, left-associative; `&&` and `||` do not short-circuit.
struct BinaryExpr : Expr {
  BinaryOp op = BinaryOp::add;
  Range opRange;
  ExprPtr lhs, rhs;

  BinaryExpr() : Expr(Kind::Binary) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }
};

/// `x as f32`, `x as T`, `x as y.dtype`.
struct CastExpr : Expr {
  ExprPtr operand;
  Ident target;                // `f32`, `T`, `y`
  std::optional<Ident> member; // `dtype`
  Range targetRange;           // of `y.dtype` as a whole

  CastExpr() : Expr(Kind::Cast) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Cast; }
};

/// One entry between the brackets of a subscript.
struct Subscript : Node {
  enum Kind { all, newAxis, index, slice }; // `:`, `None`, an expression, lo..hi
  Kind kind = all;
  ExprPtr value;  // index
  ExprPtr lo, hi; // slice
};

/// `base[...]`: access, sub-view, tile subscript, element of a tuple or array, or a function's
/// compile-time arguments.
struct SubscriptExpr : Expr {
  ExprPtr base;
  std::vector<Subscript> subscripts; // empty for x[]
  Range bracketRange;                // from '[' to ']'

  SubscriptExpr() : Expr(Kind::Subscript) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Subscript; }
};

/// `value` or `name: value`.
struct Argument : Node {
  std::optional<Ident> name;
  ExprPtr value;
};

/// `callee(arguments)`. Positional arguments come before named ones; the parser checks that.
struct CallExpr : Expr {
  ExprPtr callee; // a NameExpr, a MemberExpr (import behind a name), or a SubscriptExpr
                  // (compile-time arguments)
  std::vector<Argument> arguments;
  Range parenRange; // from '(' to ')'

  CallExpr() : Expr(Kind::Call) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }
};

/// `base.member`.
struct MemberExpr : Expr {
  ExprPtr base;
  Ident member;

  MemberExpr() : Expr(Kind::Member) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Member; }
};

/// `(a, b)`: two or more.
struct TupleExpr : Expr {
  std::vector<ExprPtr> elements;

  TupleExpr() : Expr(Kind::Tuple) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Tuple; }
};

/// `[a, b]`: a shape, a list of tiles, or a constant tile; one or more.
struct ListExpr : Expr {
  std::vector<ExprPtr> elements;

  ListExpr() : Expr(Kind::List) {}
  static bool classof(const Expr *e) { return e->kind == Kind::List; }
};

/// The spelling of an operator: `+`, `&&`.
llvm::StringRef spelling(UnaryOp op);
llvm::StringRef spelling(BinaryOp op);

} // namespace tile::ast

#endif
