// Statements and their ways out, as LowerStmt.cpp and LowerControl.cpp emit them.
//
// A variable never changes its type, so that neither branches nor trips need to be joined: each is
// walked once, and only what functions return meets.
#include "frontend/Check/StatementTypes.h"
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/AccessRules.h"
#include "frontend/Sema/Limits.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

Ways StatementTypes::checkBlock(const ast::Block &block) {
  here.frames.back().emplace_back();
  Ways ways = checkStatements(block.statements);
  here.leaveBlock();
  return ways;
}

/// Does a `break`, `continue` or `return` in the block leave it? By the text.
static bool mayLeave(const ast::Block &block, bool inLoop);

static bool mayLeave(const ast::Stmt &stmt, bool inLoop) {
  if (auto *branch = dyn_cast<ast::IfStmt>(&stmt))
    return mayLeave(branch->thenBlock, inLoop) ||
           (branch->elseBlock && mayLeave(*branch->elseBlock, inLoop));
  if (auto *loop = dyn_cast<ast::ForStmt>(&stmt))
    return mayLeave(loop->body, true);
  if (auto *loop = dyn_cast<ast::WhileStmt>(&stmt))
    return mayLeave(loop->body, true);
  return isa<ast::ReturnStmt>(stmt) || (!inLoop && isa<ast::JumpStmt>(stmt));
}

static bool mayLeave(const ast::Block &block, bool inLoop) {
  return llvm::any_of(block.statements,
                      [&](const ast::StmtPtr &each) { return mayLeave(*each, inLoop); });
}

Ways StatementTypes::checkStatements(ArrayRef<ast::StmtPtr> statements) {
  for (size_t i = 0; i < statements.size() && body.isDecided(); ++i) {
    const ast::Stmt &stmt = *statements[i];
    ArrayRef<ast::StmtPtr> rest = statements.drop_front(i + 1);
    auto *branch = dyn_cast<ast::IfStmt>(&stmt);
    if (branch && !branch->isConst && mayLeave(stmt, false))
      return checkLeavingIf(*branch, rest);
    Ways ways = check(stmt);
    if (ways.leaves())
      return checkRest(std::move(ways), rest);
  }
  return {};
}

Ways StatementTypes::checkRest(Ways before, ArrayRef<ast::StmtPtr> rest) {
  if (!before.falls || rest.empty())
    return before;
  if (!before.leaves())
    return checkStatements(rest);
  return checkUnlessLeft(before, [&] { return checkStatements(rest); });
}

Ways StatementTypes::check(const ast::Stmt &stmt) {
  if (here.diagnostics.limitReached())
    return {};
  switch (stmt.kind) {
  case ast::Stmt::Kind::Let:
    checkLet(cast<ast::LetStmt>(stmt));
    return {};
  case ast::Stmt::Kind::Expression:
    (void)body.eval(*cast<ast::ExprStmt>(stmt).value);
    return {};
  case ast::Stmt::Kind::Assign:
    checkAssign(cast<ast::AssignStmt>(stmt));
    return {};
  case ast::Stmt::Kind::If:
    return checkIf(cast<ast::IfStmt>(stmt));
  case ast::Stmt::Kind::For:
    return checkFor(cast<ast::ForStmt>(stmt));
  case ast::Stmt::Kind::While:
    return checkWhile(cast<ast::WhileStmt>(stmt));
  case ast::Stmt::Kind::Return: {
    auto &returns = cast<ast::ReturnStmt>(stmt);
    Ways ways = Ways::leaving(&Ways::returns);
    if (returns.value && here.calls.empty())
      (void)body.undecided();
    else if (returns.value)
      ways.value = body.eval(*returns.value);
    return ways;
  }
  case ast::Stmt::Kind::Jump:
    return Ways::leaving(cast<ast::JumpStmt>(stmt).isBreak ? &Ways::breaks : &Ways::continues);
  }
  return {};
}

//===--- Declarations and assignments -------------------------------------===//

void StatementTypes::checkLet(const ast::LetStmt &stmt) {
  SemValue value = body.eval(*stmt.value);
  if (stmt.type)
    value = body.convertToDeclared(value, *stmt.type, stmt.value->range);
  if (value.kind == SemValue::Kind::Void)
    value = body.undecided();
  std::vector<SemValue> values = {value};
  if (stmt.pattern.isTuple) {
    values.assign(stmt.pattern.names.size(), SemValue::error());
    if (value.isTuple() && value.elements->size() == values.size())
      values = *value.elements;
    else if (!value.isError())
      (void)body.undecided();
  }
  for (size_t i = 0; i < values.size(); ++i) {
    SemValue &each = values[i];
    const ast::Ident &name = stmt.pattern.names[i];
    if (stmt.isVar && each.kind != SemValue::Kind::List && !each.isNumeric() && !each.isError())
      each = body.undecided();
    if (stmt.isVar)
      each = body.toData(each, stmt.value->range);
    each.isZeroPadded &= !stmt.isVar; // what is assigned later is not followed
    here.declare(name, each, stmt.isVar);
    if (Binding *binding = stmt.pattern.isTuple ? nullptr : here.findLocal(name.text)) {
      binding->initial = stmt.value.get();
      binding->keyword = {stmt.range.file, stmt.range.begin, stmt.range.begin + 3};
    }
  }
}

void StatementTypes::assignName(const ast::Expr &target, SemValue value, Range range) {
  const std::string &name = cast<ast::NameExpr>(target).text;
  if (name == "_")
    return;
  Binding *variable = here.findLocal(name);
  if (!variable || (!variable->isVar && !variable->value.isError())) {
    (void)body.undecided();
    return;
  }
  const SemValue &old = variable->value;
  if (value.kind == SemValue::Kind::List)
    value = body.listToTile(value, old.dtype, range);
  if (value.isError() || old.isError())
    return;
  bool widens = value.isData() && old.dtype == DType::Index && widensToIndex(value.dtype);
  bool fits = (isStorable(value, old.dtype) || widens) &&
              (value.rank() == 0 || value.shape() == old.shape());
  if (!fits)
    (void)body.undecided();
  else
    (void)body.becomes(value, old.dtype, range);
}

void StatementTypes::checkStore(const ast::AssignStmt &stmt, const ast::SubscriptExpr &target) {
  SemValue base = body.eval(*target.base);
  if (base.isError() || body.operands.refuseNone(base, target.base->range)) {
    (void)body.eval(*stmt.value);
    return;
  }
  if (!base.isView() || stmt.op) {
    (void)body.undecided();
    return;
  }
  Arg value = {body.eval(*stmt.value), stmt.value->range, ""};
  bool isFull = AccessTypes::isFull(base, target);
  if (!isFull && !value.value.isError())
    (void)body.undecided();
  if (!isFull)
    return; // the same mistake on both sides
  if (std::optional<AccessType> access = body.accesses.makeAccess(base, target))
    (void)body.accesses.store(*access, value);
}

void StatementTypes::checkAssign(const ast::AssignStmt &stmt) {
  if (auto *access = dyn_cast<ast::SubscriptExpr>(stmt.target.get()))
    return checkStore(stmt, *access);
  SemValue value = body.eval(*stmt.value);
  if (auto *tuple = dyn_cast<ast::TupleExpr>(stmt.target.get())) {
    bool fits = value.isTuple() && value.elements->size() == tuple->elements.size();
    if (stmt.op || (!value.isError() && !fits)) {
      (void)body.undecided();
      return;
    }
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      assignName(*tuple->elements[i], value.isError() ? value : (*value.elements)[i],
                 stmt.value->range);
    return;
  }
  if (stmt.op && !value.isError())
    value = body.binary(*stmt.op, body.eval(*stmt.target), value, stmt.target->range,
                        stmt.value->range, stmt.range, stmt.opRange);
  assignName(*stmt.target, value, stmt.op ? stmt.range : stmt.value->range);
}

//===--- Conditionals -----------------------------------------------------===//

SemValue StatementTypes::checkCondition(const ast::Expr &expr) {
  SemValue value = body.eval(expr);
  bool isBool =
      value.isBoolNumber() || (value.isData() && value.dtype == DType::Bool && value.rank() == 0);
  return isBool || value.isError() ? value : body.undecided();
}

Ways StatementTypes::checkIf(const ast::IfStmt &stmt) {
  if (stmt.isConst) {
    std::optional<bool> taken = body.evalConstCondition(*stmt.condition);
    if (taken && *taken)
      return checkBlock(stmt.thenBlock);
    return taken && stmt.elseBlock ? checkBlock(*stmt.elseBlock) : Ways();
  }
  ++body.effects;
  (void)checkCondition(*stmt.condition);
  (void)checkBlock(stmt.thenBlock);
  if (stmt.elseBlock)
    (void)checkBlock(*stmt.elseBlock);
  return {};
}

Ways StatementTypes::checkLeavingIf(const ast::IfStmt &stmt, ArrayRef<ast::StmtPtr> rest) {
  ++body.effects;
  (void)checkCondition(*stmt.condition);
  Ways ends[] = {checkBlock(stmt.thenBlock), {}};
  if (stmt.elseBlock)
    ends[1] = checkBlock(*stmt.elseBlock);
  bool isLast = rest.empty();
  if (!isLast && !(ends[0].falls && ends[1].falls)) {
    // What follows belongs to the branch that gets there.
    int side = ends[0].falls ? 0 : 1;
    if (++exitDepth > limits::exitDepth)
      (void)body.undecided();
    else
      ends[side] = checkRest(std::move(ends[side]), rest);
    --exitDepth;
    isLast = true;
  }
  Ways joined = join(ends[0], ends[1]);
  return isLast ? joined : checkRest(std::move(joined), rest);
}

Ways StatementTypes::checkUnlessLeft(const Ways &before, llvm::function_ref<Ways()> rest) {
  ++body.effects;
  Ways left = before, stayed;
  left.falls = false;
  std::vector<Ways::When Ways::*> ways;
  for (Ways::When Ways::*kind : {&Ways::breaks, &Ways::continues, &Ways::returns})
    if (before.*kind)
      ways.push_back(kind);
  if (ways.size() == 1) // there is no other way into this branch
    left.*ways[0] = Ways::Always;
  if (++exitDepth > limits::exitDepth)
    (void)body.undecided();
  else
    stayed = rest();
  --exitDepth;
  return join(left, stayed);
}

//===--- What is returned -------------------------------------------------===//

Ways StatementTypes::join(const Ways &a, const Ways &b) {
  Ways joined;
  joined.falls = a.falls || b.falls;
  for (Ways::When Ways::*kind : {&Ways::breaks, &Ways::continues, &Ways::returns})
    joined.*kind = a.*kind == b.*kind ? a.*kind : Ways::Sometimes;
  joined.value = joinReturns(a, b);
  return joined;
}

SemValue StatementTypes::joinReturns(const Ways &a, const Ways &b) {
  const SemValue *left = a.returns ? &a.value : nullptr, *right = b.returns ? &b.value : nullptr;
  if ((left && left->isError()) || (right && right->isError()))
    return SemValue::error();
  auto isVoid = [](const SemValue *value) { return !value || value->kind == SemValue::Kind::Void; };
  if (isVoid(left) && isVoid(right))
    return SemValue::ofVoid();
  if ((left && isVoid(left)) || (right && isVoid(right)))
    return body.undecided();
  return joinValues(left, right);
}

/// One of them may be null: its side gives no value.
SemValue StatementTypes::joinValues(const SemValue *a, const SemValue *b) {
  const SemValue &any = a ? *a : *b;
  std::vector<const SemValue *> values;
  for (const SemValue *value : {a, b})
    if (value)
      values.push_back(value);
  auto all = [&](auto &&holds) {
    return llvm::all_of(values, [&](const SemValue *value) { return holds(*value); });
  };
  if (any.isTuple()) {
    size_t count = any.elements->size();
    if (!all([&](const SemValue &x) { return x.isTuple() && x.elements->size() == count; }))
      return body.undecided();
    std::vector<SemValue> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(
          joinValues(a ? &(*a->elements)[i] : nullptr, b ? &(*b->elements)[i] : nullptr));
    return body.isDecided() ? SemValue::ofTuple(std::move(elements)) : SemValue::error();
  }
  if (!all([](const SemValue &value) { return value.isNumeric(); }))
    return body.undecided();
  std::vector<Arg> args;
  for (const SemValue *value : values)
    args.push_back({*value, Range(), ""});
  CommonDtype common = findCommonDtype(args);
  if (common.problem != CommonDtype::Problem::None)
    return body.undecided();
  ArrayRef<int64_t> shape;
  for (const SemValue *value : values) {
    bool fits = value->rank() == 0 || shape.empty() || value->shape() == shape;
    if (!fits || !body.becomes(*value, common.dtype, Range()))
      return body.undecided();
    shape = value->rank() ? value->shape() : shape;
  }
  return body.data(common.dtype, shape);
}
