// AST builder: statements.
#include "frontend/Parse/AstBuilder.h"

using namespace tile;
using namespace tile::ast;

/// One report a block: behind the first statement that leaves it all others are out of reach as
/// well.
Block StmtBuilder::block(TileParser::BlockContext *context) {
  Block out;
  out.range = range(context);
  for (TileParser::StatementContext *entry : context->statement())
    out.statements.push_back(statement(entry));
  for (size_t i = 0; i + 1 < out.statements.size(); ++i)
    if (llvm::isa<ReturnStmt, JumpStmt>(*out.statements[i])) {
      Range leaves = out.statements[i]->range;
      diagnostics
          .report(diag::badReturn, leaves,
                  "`" + text(leaves).take_while([](char c) { return c >= 'a' && c <= 'z'; }).str() +
                      "` must be the last statement of its block")
          .note(out.statements[i + 1]->range, "this is never reached");
      break;
    }
  return out;
}

StmtPtr StmtBuilder::statement(TileParser::StatementContext *context) {
  StmtPtr out;
  if (auto *let = dynamic_cast<TileParser::LetStatementContext *>(context))
    out = letStatement(let);
  else if (auto *simple = dynamic_cast<TileParser::SimpleStatementContext *>(context))
    out = simpleStatement(simple);
  else if (auto *branch = dynamic_cast<TileParser::IfStatementContext *>(context))
    out = ifStatement(branch->ifStmt());
  else if (auto *loop = dynamic_cast<TileParser::ForStatementContext *>(context))
    out = forStatement(loop);
  else if (auto *loop = dynamic_cast<TileParser::WhileStatementContext *>(context))
    out = whileStatement(loop);
  else if (auto *jump = dynamic_cast<TileParser::JumpStatementContext *>(context))
    out = jumpStatement(jump);
  else
    out = returnStatement(static_cast<TileParser::ReturnStatementContext *>(context));
  out->range = range(context);
  return out;
}

Pattern StmtBuilder::pattern(TileParser::PatternContext *context) {
  Pattern out;
  out.range = range(context);
  out.isTuple = context->LPAREN() != nullptr;
  for (TileParser::NameContext *name : context->name())
    out.names.push_back(ident(name));
  return out;
}

StmtPtr StmtBuilder::letStatement(TileParser::LetStatementContext *context) {
  auto out = std::make_unique<LetStmt>();
  out->isVar = context->VAR() != nullptr;
  out->pattern = pattern(context->pattern());
  if (context->typeSpec())
    out->type = typeSpec(context->typeSpec());
  out->value = expr(context->expr());
  return out;
}

static std::optional<BinaryOp> assignedOp(size_t token) {
  switch (token) {
  case TileParser::PLUS_EQUAL:
    return BinaryOp::add;
  case TileParser::MINUS_EQUAL:
    return BinaryOp::sub;
  case TileParser::STAR_EQUAL:
    return BinaryOp::mul;
  case TileParser::SLASH_EQUAL:
    return BinaryOp::div;
  case TileParser::PERCENT_EQUAL:
    return BinaryOp::rem;
  case TileParser::AMP_EQUAL:
    return BinaryOp::bitAnd;
  case TileParser::PIPE_EQUAL:
    return BinaryOp::bitOr;
  case TileParser::CARET_EQUAL:
    return BinaryOp::bitXor;
  case TileParser::SHIFT_LEFT_EQUAL:
    return BinaryOp::shl;
  case TileParser::SHIFT_RIGHT_EQUAL:
    return BinaryOp::shr;
  default:
    return std::nullopt;
  }
}

/// Reports a left side that is neither a name, nor a tuple of names, nor subscripted.
void StmtBuilder::checkTarget(const Expr &target) {
  bool good = llvm::isa<NameExpr, SubscriptExpr>(target);
  if (auto *tuple = llvm::dyn_cast<TupleExpr>(&target)) {
    good = true;
    for (const ExprPtr &element : tuple->elements)
      if (!llvm::isa<NameExpr>(*element)) {
        diagnostics.report(diag::invalidTarget, element->range)
            .note("a tuple on the left side consists of names");
        return;
      }
  }
  if (!good)
    diagnostics.report(diag::invalidTarget, target.range)
        .note("assign to a `var`, to a tuple of them, or store to `x[...]`");
}

StmtPtr StmtBuilder::simpleStatement(TileParser::SimpleStatementContext *context) {
  ExprPtr first = expr(context->target);
  if (!context->assignOp()) {
    // A call may store, or be refused later; any other expression computes a value that nobody
    // sees.
    if (!llvm::isa<CallExpr>(*first)) {
      auto report = diagnostics.report(diag::notAStatement, first->range);
      auto *compare = llvm::dyn_cast<BinaryExpr>(first.get());
      if (compare && compare->op == BinaryOp::eq)
        report.fixIt(compare->opRange, "=", "assign with '='");
      else
        report.note("bind it with `let`, or remove it");
    }
    auto out = std::make_unique<ExprStmt>();
    out->value = std::move(first);
    return out;
  }
  auto out = std::make_unique<AssignStmt>();
  checkTarget(*first);
  out->target = std::move(first);
  out->op = assignedOp(context->assignOp()->start->getType());
  out->opRange = range(context->assignOp());
  out->value = expr(context->value);
  return out;
}

StmtPtr StmtBuilder::ifStatement(TileParser::IfStmtContext *context) {
  auto out = std::make_unique<IfStmt>();
  out->range = range(context);
  out->isConst = context->CONST() != nullptr;
  out->condition = expr(context->expr());
  out->thenBlock = block(context->block(0));
  if (context->ifStmt()) {
    out->elseBlock.emplace();
    out->elseBlock->range = range(context->ifStmt());
    // `else if` is a block of one statement, an `if`, whose range is that of the `if`.
    out->elseBlock->statements.push_back(ifStatement(context->ifStmt()));
  } else if (context->ELSE()) {
    out->elseBlock = block(context->block(1));
  }
  return out;
}

StmtPtr StmtBuilder::forStatement(TileParser::ForStatementContext *context) {
  auto out = std::make_unique<ForStmt>();
  out->isConst = context->CONST() != nullptr;
  out->variable = ident(context->name());
  if (context->hi) {
    out->lo = expr(context->over);
    out->hi = expr(context->hi);
    out->step = optional(context->by);
    out->inclusive = context->DOT_DOT_EQUAL() != nullptr;
  } else {
    out->over = expr(context->over);
  }
  out->attributes = attributes(context->attributes());
  // `break` and `continue` belong to the innermost loop of the same body: bodies do not nest, so a
  // counter is enough.
  ++loops;
  out->body = block(context->block());
  --loops;
  return out;
}

StmtPtr StmtBuilder::whileStatement(TileParser::WhileStatementContext *context) {
  auto out = std::make_unique<WhileStmt>();
  out->condition = expr(context->expr());
  out->attributes = attributes(context->attributes());
  ++loops;
  out->body = block(context->block());
  --loops;
  return out;
}

StmtPtr StmtBuilder::returnStatement(TileParser::ReturnStatementContext *context) {
  auto out = std::make_unique<ReturnStmt>();
  out->value = optional(context->expr());
  return out;
}

StmtPtr StmtBuilder::jumpStatement(TileParser::JumpStatementContext *context) {
  auto out = std::make_unique<JumpStmt>();
  out->isBreak = context->BREAK() != nullptr;
  if (!loops)
    diagnostics.report(diag::badJump, range(context), out->isBreak ? "break" : "continue");
  return out;
}

std::vector<Attribute> StmtBuilder::attributes(TileParser::AttributesContext *context) {
  std::vector<Attribute> out;
  if (!context)
    return out;
  for (TileParser::AttributeContext *entry : context->attribute()) {
    Attribute attribute;
    attribute.range = range(entry);
    attribute.name = ident(entry->name());
    if (entry->arguments()) {
      attribute.hasArguments = true;
      attribute.arguments = arguments(entry->arguments());
    }
    out.push_back(std::move(attribute));
  }
  return out;
}
