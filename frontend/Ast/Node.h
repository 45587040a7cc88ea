// AST: the base of all nodes and of all expressions.
#ifndef TILE_FRONTEND_AST_NODE_H
#define TILE_FRONTEND_AST_NODE_H

#include "frontend/Source/SourceManager.h"

#include <memory>
#include <string>

namespace tile::ast {

/// Every node has the range of source text that it was made from.
struct Node {
  Range range;
};

/// A name where it is declared or used.
struct Ident : Node {
  std::string text;
};

/// Base of all expressions. Parentheses leave no node, but belong to the range of what they
/// enclose.
struct Expr : Node {
  enum class Kind {
    IntLiteral,
    FloatLiteral,
    StringLiteral,
    BoolLiteral,
    NoneLiteral,
    Name,
    Unary,
    Binary,
    Cast,
    Subscript,
    Call,
    Member,
    Tuple,
    List
  };
  const Kind kind;
  unsigned depth =
      1; // height of this tree; the parser bounds it, so recursion over an Expr is safe

  virtual ~Expr() = default;

protected:
  explicit Expr(Kind kind) : kind(kind) {}
};

using ExprPtr = std::unique_ptr<Expr>;

} // namespace tile::ast

#endif
