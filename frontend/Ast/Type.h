// AST: what names a type or a set of values.
#ifndef TILE_FRONTEND_AST_TYPE_H
#define TILE_FRONTEND_AST_TYPE_H

#include "frontend/Ast/Node.h"

#include <vector>

namespace tile::ast {

/// One entry behind the ';' of a tensor's dimensions: an expression, or `*` for any stride.
struct Stride : Node {
  ExprPtr value; // null for `*`
};

/// `f32`, `T[M, K]`, `f32[]`, `T[M, K; *, 1]`.
struct TypeSpec : Node {
  Ident name;            // a dtype or a compile-time parameter
  bool hasShape = false; // brackets present: f32 is a scalar, f32[] a tensor of rank 0
  std::vector<ExprPtr> dims;
  std::vector<Stride> strides; // empty: dense, row-major
};

/// The set behind `in`: `{a, b, c}`, `lo..hi`, `lo..=hi step s`.
struct ValueSet : Node {
  enum Kind { list, interval };
  Kind kind = list;
  std::vector<ExprPtr> values; // list
  ExprPtr lo, hi, step;        // interval; step may be null
  bool inclusive = false;      // `..=`
};

} // namespace tile::ast

#endif
