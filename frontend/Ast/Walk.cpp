// The walk over expressions and statements.
#include "frontend/Ast/Walk.h"

using namespace tile::ast;
using llvm::dyn_cast;

/// The expressions directly below one.
static void forEachChild(const Expr &expr, VisitExpr visit) {
  auto one = [&](const ExprPtr &child) {
    if (child)
      visit(*child);
  };
  if (auto *unary = dyn_cast<UnaryExpr>(&expr)) {
    one(unary->operand);
  } else if (auto *binary = dyn_cast<BinaryExpr>(&expr)) {
    one(binary->lhs);
    one(binary->rhs);
  } else if (auto *cast = dyn_cast<CastExpr>(&expr)) {
    one(cast->operand);
  } else if (auto *subscript = dyn_cast<SubscriptExpr>(&expr)) {
    one(subscript->base);
    for (const Subscript &each : subscript->subscripts) {
      one(each.value);
      one(each.lo);
      one(each.hi);
    }
  } else if (auto *call = dyn_cast<CallExpr>(&expr)) {
    one(call->callee);
    for (const Argument &argument : call->arguments)
      one(argument.value);
  } else if (auto *member = dyn_cast<MemberExpr>(&expr)) {
    one(member->base);
  } else if (auto *tuple = dyn_cast<TupleExpr>(&expr)) {
    for (const ExprPtr &element : tuple->elements)
      one(element);
  } else if (auto *list = dyn_cast<ListExpr>(&expr)) {
    for (const ExprPtr &element : list->elements)
      one(element);
  }
}

void tile::ast::walk(const Expr &expr, VisitExpr visit) {
  visit(expr);
  forEachChild(expr, [&](const Expr &child) { walk(child, visit); });
}

/// The blocks directly below a statement.
static void forEachBlock(const Stmt &stmt, llvm::function_ref<void(const Block &)> visit) {
  if (auto *branch = dyn_cast<IfStmt>(&stmt)) {
    visit(branch->thenBlock);
    if (branch->elseBlock)
      visit(*branch->elseBlock);
  } else if (auto *loop = dyn_cast<ForStmt>(&stmt)) {
    visit(loop->body);
  } else if (auto *loop = dyn_cast<WhileStmt>(&stmt)) {
    visit(loop->body);
  }
}

/// The expressions directly in a statement.
static void forEachExpr(const Stmt &stmt, VisitExpr visit) {
  auto one = [&](const ExprPtr &expr) {
    if (expr)
      visit(*expr);
  };
  auto attributes = [&](const std::vector<Attribute> &list) {
    for (const Attribute &attribute : list)
      for (const Argument &argument : attribute.arguments)
        one(argument.value);
  };
  if (auto *let = dyn_cast<LetStmt>(&stmt)) {
    if (let->type)
      for (const ExprPtr &dim : let->type->dims)
        one(dim);
    one(let->value);
  } else if (auto *expression = dyn_cast<ExprStmt>(&stmt)) {
    one(expression->value);
  } else if (auto *assign = dyn_cast<AssignStmt>(&stmt)) {
    one(assign->target);
    one(assign->value);
  } else if (auto *branch = dyn_cast<IfStmt>(&stmt)) {
    one(branch->condition);
  } else if (auto *loop = dyn_cast<ForStmt>(&stmt)) {
    for (const ExprPtr *part : {&loop->over, &loop->lo, &loop->hi, &loop->step})
      one(*part);
    attributes(loop->attributes);
  } else if (auto *loop = dyn_cast<WhileStmt>(&stmt)) {
    one(loop->condition);
    attributes(loop->attributes);
  } else if (auto *result = dyn_cast<ReturnStmt>(&stmt)) {
    one(result->value);
  }
}

void tile::ast::walk(const Block &block, VisitStmt visit) {
  for (const StmtPtr &stmt : block.statements) {
    visit(*stmt);
    forEachBlock(*stmt, [&](const Block &inner) { walk(inner, visit); });
  }
}

void tile::ast::walk(const Block &block, VisitExpr visit) {
  walk(block,
       [&](const Stmt &stmt) { forEachExpr(stmt, [&](const Expr &expr) { walk(expr, visit); }); });
}
