// AST builder: expressions.
//
// The grammar has one rule for all operators of arithmetic and bits: the parser would else enter a
// rule for each level of precedence, for each name. So a context is a flat list, which chain()
// groups. Comparisons and `&&`, `||` have rules of their own, whose contexts are lists as well.
//
//   children    a   +   b   *   c   |   d
//   index       0   1   2   3   4   5   6
//   chain(0, least 0)  takes a, then for `+` (8) the operand chain(2, least 9), then `| d`
//   chain(2, least 9)  takes b * c, and stops before `|` (4), as 4 < 9
#include "frontend/Parse/AstBuilder.h"
#include "frontend/Parse/Parser.h"

#include <algorithm>

using namespace tile;
using namespace tile::ast;

static BinaryOp binaryOp(size_t token) {
  switch (token) {
  case TileParser::OR_OR:
    return BinaryOp::logicalOr;
  case TileParser::AND_AND:
    return BinaryOp::logicalAnd;
  case TileParser::EQUAL_EQUAL:
    return BinaryOp::eq;
  case TileParser::NOT_EQUAL:
    return BinaryOp::ne;
  case TileParser::LESS:
    return BinaryOp::lt;
  case TileParser::LESS_EQUAL:
    return BinaryOp::le;
  case TileParser::GREATER:
    return BinaryOp::gt;
  case TileParser::GREATER_EQUAL:
    return BinaryOp::ge;
  case TileParser::PIPE:
    return BinaryOp::bitOr;
  case TileParser::CARET:
    return BinaryOp::bitXor;
  case TileParser::AMP:
    return BinaryOp::bitAnd;
  case TileParser::SHIFT_LEFT:
    return BinaryOp::shl;
  case TileParser::SHIFT_RIGHT:
    return BinaryOp::shr;
  case TileParser::PLUS:
    return BinaryOp::add;
  case TileParser::MINUS:
    return BinaryOp::sub;
  case TileParser::STAR:
    return BinaryOp::mul;
  case TileParser::SLASH:
    return BinaryOp::div;
  default:
    return BinaryOp::rem;
  }
}

/// How tightly an operator binds, the loosest first (S3.1).
static unsigned precedence(BinaryOp op) {
  switch (op) {
  case BinaryOp::logicalOr:
    return 1;
  case BinaryOp::logicalAnd:
    return 2;
  case BinaryOp::eq:
  case BinaryOp::ne:
  case BinaryOp::lt:
  case BinaryOp::le:
  case BinaryOp::gt:
  case BinaryOp::ge:
    return 3;
  case BinaryOp::bitOr:
    return 4;
  case BinaryOp::bitXor:
    return 5;
  case BinaryOp::bitAnd:
    return 6;
  case BinaryOp::shl:
  case BinaryOp::shr:
    return 7;
  case BinaryOp::add:
  case BinaryOp::sub:
    return 8;
  case BinaryOp::mul:
  case BinaryOp::div:
  case BinaryOp::rem:
    return 9;
  }
  llvm_unreachable("all operators are listed");
}

/// Any rule from `expr` down to `primary`. Rules that only pass through are skipped, so that the
/// builder recurses once for each level of the AST, not for each level of precedence.
ExprPtr ExprBuilder::expr(antlr4::ParserRuleContext *context) {
  for (;;) {
    switch (context->getRuleIndex()) {
    case TileParser::RuleCast:
      if (context->children.size() > 1)
        return cast(static_cast<TileParser::CastContext *>(context));
      break;
    case TileParser::RuleUnary:
      if (context->children.size() > 1)
        return unary(static_cast<TileParser::UnaryContext *>(context));
      break;
    case TileParser::RulePrimary:
      return primary(static_cast<TileParser::PrimaryContext *>(context));
    default:
      if (context->children.size() > 1) {
        size_t at = 0;
        return chain(context, at, /*least=*/0);
      }
      break;
    }
    context = static_cast<antlr4::ParserRuleContext *>(context->children[0]);
  }
}

std::vector<ExprPtr> ExprBuilder::exprs(const Ptrs<TileParser::ExprContext> &contexts) {
  std::vector<ExprPtr> out;
  for (TileParser::ExprContext *context : contexts)
    out.push_back(expr(context));
  return out;
}

/// Sets the height of a node whose highest child is `below`; too high a tree is cut down to its
/// newest node's leaf.
/// Later passes recurse over expressions without a limit of their own: this one is theirs. Called
/// for each node as it is finished, so that no tree higher than the limit is ever walked, not even
/// to destroy it.
ExprPtr ExprBuilder::limitDepth(ExprPtr node, unsigned below) {
  node->depth = below + 1;
  if (node->depth <= maxExprDepth)
    return node;
  Range place = {node->range.file, node->range.begin, node->range.begin + 1};
  diagnostics.report(diag::nestingTooDeep, place, maxExprDepth);
  auto leaf = std::make_unique<BoolLiteral>(); // parseFile returns null, nobody sees it
  leaf->range = node->range;
  return leaf;
}

/// operand (operator operand)*: from the operand `at` on, as far as operators bind at least as
/// tightly as `least`; moves `at` to the last operand that it took. Operators of one level group
/// from the left.
/// Recursion is bounded by the number of levels of precedence: `precedence + 1` grows with each
/// call, and operators of one level are taken by the loop.
ExprPtr ExprBuilder::chain(antlr4::ParserRuleContext *context, size_t &at, unsigned least) {
  auto operand = [&](size_t i) {
    return static_cast<antlr4::ParserRuleContext *>(context->children[i]);
  };
  uint32_t begin = range(operand(at)).begin;
  ExprPtr left = expr(operand(at));
  while (at + 2 < context->children.size()) {
    antlr4::Token *sign =
        static_cast<antlr4::tree::TerminalNode *>(context->children[at + 1])->getSymbol();
    BinaryOp op = binaryOp(sign->getType());
    if (precedence(op) < least)
      break;
    size_t signAt = at + 1;
    at += 2;
    auto node = std::make_unique<BinaryExpr>();
    node->op = op;
    node->opRange = range(sign);
    node->rhs = chain(context, at, precedence(op) + 1);
    node->lhs = std::move(left);
    node->range = {file, begin, range(operand(at)).end};
    unsigned below = std::max(node->lhs->depth, node->rhs->depth);
    // Before the node moves away, and for each '^' of its own: `2^10` is a mistake wherever it
    // stands.
    if (op == BinaryOp::bitXor)
      warnOfPower(context, signAt, *node);
    left = limitDepth(std::move(node), below);
  }
  return left;
}

ExprPtr ExprBuilder::cast(TileParser::CastContext *context) {
  ExprPtr operand = expr(context->unary());
  Range whole = range(context);
  // `x as f16 as f32` converts from the left to the right, each time the whole before it.
  for (TileParser::CastTargetContext *target : context->castTarget()) {
    auto node = std::make_unique<CastExpr>();
    node->targetRange = range(target);
    node->range = {file, whole.begin, node->targetRange.end};
    node->target = ident(target->name(0));
    if (target->DOT())
      node->member = ident(target->name(1));
    node->operand = std::move(operand);
    unsigned below = node->operand->depth;
    operand = limitDepth(std::move(node), below);
  }
  return operand;
}

/// A prefix and its operand, or what suffixes stand behind.
/// Suffixes bind tighter than prefixes: `-x[0]` is -(x[0]).
ExprPtr ExprBuilder::unary(TileParser::UnaryContext *context) {
  if (TileParser::PrimaryContext *inner = context->primary()) {
    ExprPtr base = primary(inner);
    for (size_t i = 1; i < context->children.size(); ++i)
      base =
          suffix(std::move(base), static_cast<TileParser::SuffixContext *>(context->children[i]));
    return base;
  }
  auto node = std::make_unique<UnaryExpr>();
  node->op = context->MINUS() ? UnaryOp::neg
             : context->NOT() ? UnaryOp::logicalNot
                              : UnaryOp::bitNot;
  node->opRange = range(context->start);
  node->range = range(context);
  node->operand = expr(context->unary());
  unsigned below = node->operand->depth;
  return limitDepth(std::move(node), below);
}

/// The node takes `base` over; the height counts its arguments as well (`grow`).
ExprPtr ExprBuilder::suffix(ExprPtr base, TileParser::SuffixContext *context) {
  Range place = range(context);
  Range whole = base->range.join(place);
  unsigned below = base->depth;
  auto grow = [&](const ExprPtr &child) {
    if (child)
      below = std::max(below, child->depth);
  };
  ExprPtr out;
  if (auto *brackets = dynamic_cast<TileParser::SubscriptsContext *>(context)) {
    auto node = std::make_unique<SubscriptExpr>();
    node->base = std::move(base);
    node->bracketRange = place;
    for (TileParser::SubscriptContext *entry : brackets->subscript()) {
      node->subscripts.push_back(subscript(entry));
      const Subscript &last = node->subscripts.back();
      grow(last.value);
      grow(last.lo);
      grow(last.hi);
    }
    out = std::move(node);
  } else if (auto *call = dynamic_cast<TileParser::CallContext *>(context)) {
    auto node = std::make_unique<CallExpr>();
    node->callee = std::move(base);
    node->parenRange = place;
    node->arguments = arguments(call->arguments());
    for (const Argument &argument : node->arguments)
      grow(argument.value);
    out = std::move(node);
  } else {
    auto node = std::make_unique<MemberExpr>();
    node->base = std::move(base);
    node->member = ident(static_cast<TileParser::MemberContext *>(context)->name());
    out = std::move(node);
  }
  out->range = whole;
  return limitDepth(std::move(out), below);
}

Subscript ExprBuilder::subscript(TileParser::SubscriptContext *context) {
  Subscript out;
  out.range = range(context);
  if (context->COLON()) {
    out.kind = Subscript::all;
  } else if (context->DOT_DOT()) {
    out.kind = Subscript::slice;
    out.lo = expr(context->lo);
    out.hi = expr(context->hi);
  } else {
    out.kind = Subscript::index;
    out.value = expr(context->lo);
    if (llvm::isa<NoneLiteral>(*out.value)) {
      out.kind = Subscript::newAxis;
      out.value = nullptr;
    }
  }
  return out;
}

std::vector<Argument> ExprBuilder::arguments(TileParser::ArgumentsContext *context) {
  std::vector<Argument> out;
  for (TileParser::ArgumentContext *entry : context->argument()) {
    Argument argument;
    argument.range = range(entry);
    if (entry->name())
      argument.name = ident(entry->name());
    else if (!out.empty() && out.back().name)
      diagnostics.report(diag::positionalAfterNamed, argument.range)
          .secondary(out.back().range, "this argument is named");
    argument.value = expr(entry->expr());
    out.push_back(std::move(argument));
  }
  return out;
}

ExprPtr ExprBuilder::primary(TileParser::PrimaryContext *context) {
  if (auto *atom = dynamic_cast<TileParser::LiteralPrimaryContext *>(context))
    return literal(atom->literal());
  if (dynamic_cast<TileParser::NamePrimaryContext *>(context)) {
    auto node = std::make_unique<NameExpr>();
    node->range = range(context);
    node->text = text(node->range).str();
    return node;
  }
  ExprPtr out;
  unsigned below = 0;
  auto elements = [&](const Ptrs<TileParser::ExprContext> &contexts) {
    std::vector<ExprPtr> list = exprs(contexts);
    for (const ExprPtr &element : list)
      below = std::max(below, element->depth);
    return list;
  };
  if (auto *parens = dynamic_cast<TileParser::ParenthesisContext *>(context)) {
    // Brackets leave no node, only a wider range: a fix that replaces the operand replaces its
    // brackets too.
    if (parens->expr().size() == 1) {
      out = expr(parens->expr(0));
      out->range = range(context);
      return out;
    }
    auto node = std::make_unique<TupleExpr>();
    node->elements = elements(parens->expr());
    out = std::move(node);
  } else {
    auto node = std::make_unique<ListExpr>();
    node->elements = elements(static_cast<TileParser::ListingContext *>(context)->expr());
    out = std::move(node);
  }
  out->range = range(context);
  return limitDepth(std::move(out), below);
}

TypeSpec ExprBuilder::typeSpec(TileParser::TypeSpecContext *context) {
  TypeSpec out;
  out.range = range(context);
  out.name = ident(context->ID());
  out.hasShape = context->LBRACKET() != nullptr;
  out.dims = exprs(context->expr());
  for (TileParser::StrideContext *entry : context->stride()) {
    Stride stride;
    stride.range = range(entry);
    stride.value = optional(entry->expr());
    out.strides.push_back(std::move(stride));
  }
  return out;
}
