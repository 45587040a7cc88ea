// Visits the expressions and statements below a node, each before what it is made of, in source
// order.
#ifndef TILE_FRONTEND_AST_WALK_H
#define TILE_FRONTEND_AST_WALK_H

#include "frontend/Ast/Stmt.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::ast {

using VisitExpr = llvm::function_ref<void(const Expr &)>;
using VisitStmt = llvm::function_ref<void(const Stmt &)>;

/// `expr` and all below it. Dtypes behind `as` are no expressions.
void walk(const Expr &expr, VisitExpr visit);

/// All expressions of a block, those of attributes and declared types included.
void walk(const Block &block, VisitExpr visit);

/// All statements of a block.
void walk(const Block &block, VisitStmt visit);

} // namespace tile::ast

#endif
