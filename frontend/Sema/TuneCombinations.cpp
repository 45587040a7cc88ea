// Every combination of the sets of a `tune` clause that its conditions let through.
//
//   BM in {64, 128}; BN in {64, 128}; warps in {4, 8}; where BM >= BN; where BM >= 16 * warps
//
//   BM   BN   warps
//   64   64   4        BM >= BN is asked when BN has a value: 64 with 128 is never asked about
//   warps 64   128  - 128  64   4, 8
//
// A clause of a product has ten thousand combinations, of which a tenth are let through.
//
// Conditions are asked in the source's order where one might be an error, since an earlier one may
// rule that out, as `where N != 0; where M % N == 0`.
#include "frontend/Ast/Walk.h"
#include "frontend/Sema/Attributes.h"
#include "frontend/Sema/TuneClause.h"

#include <set>

using namespace llvm;
using namespace tile;

/// True of conditions that have a value whatever their names stand for.
static bool hasValue(const ast::Expr &condition) {
  bool found = true;
  ast::walk(condition, [&](const ast::Expr &expr) {
    auto *binary = dyn_cast<ast::BinaryExpr>(&expr);
    if (!binary) {
      found &= isa<ast::IntLiteral, ast::BoolLiteral, ast::NameExpr>(expr);
      return;
    }
    switch (binary->op) {
    case ast::BinaryOp::logicalOr:
    case ast::BinaryOp::logicalAnd:
    case ast::BinaryOp::eq:
    case ast::BinaryOp::ne:
    case ast::BinaryOp::lt:
    case ast::BinaryOp::le:
    case ast::BinaryOp::gt:
    case ast::BinaryOp::ge:
    case ast::BinaryOp::add:
    case ast::BinaryOp::sub:
    case ast::BinaryOp::mul:
      return;
    case ast::BinaryOp::div:
    case ast::BinaryOp::rem: {
      auto *divisor = dyn_cast<ast::IntLiteral>(binary->rhs.get());
      found &= divisor && divisor->value != 0;
      return;
    }
    default:
      found = false;
    }
  });
  return found;
}

/// What a parameter that is in no set gets its value from; null: from the command line, or nowhere.
const ast::Expr *TuneClause::Combinations::findDefault(const ast::StaticParam &param) const {
  StaticParams &statics = clause.statics;
  if (statics.findDefine(param.name.text) || statics.findPinned(param.name.text))
    return nullptr;
  if (const ast::TuneItem *chosen = statics.chooseConfig())
    for (const ast::TuneItem::Setting &setting : chosen->settings)
      if (setting.name.text == param.name.text)
        return setting.value.get();
  return param.defaultValue.get();
}

/// How many sets, from the first on, have a value where the expression has one: defaults of its
/// names count as well.
size_t TuneClause::Combinations::countSets(const ast::Expr &expr) const {
  size_t count = 0;
  std::vector<const ast::Expr *> open{&expr};
  std::set<StringRef> seen;
  auto visitName = [&](StringRef name) {
    for (auto [i, item] : llvm::enumerate(sets))
      if (item->name->text == name) {
        count = std::max(count, i + 1);
        return;
      }
    for (const ast::StaticParam &param : clause.kernel.statics)
      if (param.name.text == name)
        if (const ast::Expr *value = findDefault(param))
          open.push_back(value);
  };
  while (!open.empty()) {
    const ast::Expr *next = open.back();
    open.pop_back();
    ast::walk(*next, [&](const ast::Expr &each) {
      auto *name = dyn_cast<ast::NameExpr>(&each);
      if (name && seen.insert(name->text).second)
        visitName(name->text);
    });
  }
  return count;
}

TuneClause::Combinations::Combinations(TuneClause &clause, std::vector<const ast::TuneItem *> own,
                                       std::vector<std::vector<SemValue>> choices,
                                       ArrayRef<const ast::TuneItem *> conditions)
    : clause(clause), sets(std::move(own)), choices(std::move(choices)), levels(sets.size() + 1),
      values(sets.size()), errors(clause.here.reported) {
  for (const ast::TuneItem *item : sets)
    names.push_back(&*item->name);
  for (const ast::StaticParam &param : clause.kernel.statics) {
    auto set =
        llvm::find_if(names, [&](const ast::Ident *name) { return name->text == param.name.text; });
    if (set != names.end()) {
      *set = &param.name;
      continue;
    }
    const ast::Expr *value = findDefault(param);
    levels[value ? countSets(*value) : 0].params.push_back(&param);
  }
  size_t behind = 0;
  for (const ast::TuneItem *item : conditions) {
    size_t count = countSets(*item->condition);
    behind = std::max(behind, count);
    levels[hasValue(*item->condition) ? count : behind].conditions.push_back(item->condition.get());
  }
}

/// Declares what is known here and asks the conditions. A condition on what stays unknown cannot be
/// asked; a combination whose defaults cannot be evaluated is no candidate, and an error for the
/// caller.
bool TuneClause::Combinations::isAllowed(const Level &level) {
  for (const ast::StaticParam *param : level.params)
    if (std::optional<SemValue> bound = clause.bindSetting(*param, nullptr);
        bound && !bound->isError())
      clause.here.declare(param->name, *bound);
  for (const ast::Expr *condition : level.conditions) {
    if (clause.here.reported != errors)
      return false;
    if (!clause.evaluator.evalConstBool(*condition, "a condition of `tune`").value_or(false))
      return false;
  }
  return clause.here.reported == errors;
}

void TuneClause::Combinations::visitFrom(size_t count,
                                         function_ref<void(ArrayRef<const SemValue *>)> found) {
  clause.here.frames.back().emplace_back();
  if (count > 0)
    clause.here.declare(*names[count - 1], *values[count - 1]);
  if (isAllowed(levels[count])) {
    if (count == sets.size())
      found(values);
    else
      for (const SemValue &value : choices[count]) {
        values[count] = &value;
        visitFrom(count + 1, found);
        if (clause.here.reported != errors)
          break;
      }
  }
  clause.here.frames.back().pop_back();
}

bool TuneClause::Combinations::visit(function_ref<void(ArrayRef<const SemValue *>)> found) {
  visitFrom(0, found);
  return clause.here.reported == errors;
}
