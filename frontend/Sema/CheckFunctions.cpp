// One walk over each function with the scopes of its blocks. What depends on a call's arguments is
// the elaborator's business, which reports the same mistakes by the same codes where a kernel calls
// the function.
//
// Without this walk a function that no kernel calls would never be checked. It knows no
// types and no values, so it reports only mistakes that every call has: unknown names, names
// defined twice, assignments to names that are no `var`, and the number of arguments.
#include "frontend/Sema/CheckFunctions.h"
#include "frontend/Ast/Stmt.h"
#include "frontend/Ast/Walk.h"
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Builtins.h"
#include "frontend/Sema/DTypes.h"
#include "frontend/Sema/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace tile;
using namespace tile::ast;
using llvm::cast;
using llvm::dyn_cast;

namespace {

class FunctionChecker {
public:
  FunctionChecker(const Module &module, const Modules &modules, DiagnosticEngine &diagnostics)
      : module(module), modules(modules), diagnostics(diagnostics) {}

  void check(const FnDecl &function);

private:
  struct Local {
    Range declared;
    bool isVar;
    bool isLet = false;
    Range keyword; // of a `let`
  };

  void declare(const Ident &name, bool isVar);
  const Local *find(llvm::StringRef name) const;
  bool isKnown(llvm::StringRef name) const;
  void checkName(llvm::StringRef name, Range range);
  void checkDtype(const Ident &name);
  void checkType(const std::optional<TypeSpec> &type);
  void check(const ExprPtr &expr) {
    if (expr)
      check(*expr);
  }
  void check(const Expr &expr);
  void checkCall(const CallExpr &call);
  void checkTarget(const Expr &target);
  void declareAssigned(const NameExpr &name);
  void check(const Block &block);
  void check(const Stmt &stmt);
  void checkAttributes(const std::vector<Attribute> &attributes);

  const Module &module;
  const Modules &modules;
  DiagnosticEngine &diagnostics;
  std::vector<std::map<std::string, Local>> scopes;
  const FnDecl *current = nullptr; // the function that is checked
};

} // namespace

const FunctionChecker::Local *FunctionChecker::find(llvm::StringRef name) const {
  for (const auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(name.str()); found != scope.end())
      return &found->second;
  return nullptr;
}

void FunctionChecker::declare(const Ident &name, bool isVar) {
  if (name.text == "_")
    return;
  const Local *local = find(name.text);
  auto global = module.names.find(name.text);
  if (local || global != module.names.end()) {
    diagnostics.report(diag::redefinition, name.range, name.text)
        .note(local ? local->declared : global->second->name.range, "first defined here");
    return;
  }
  scopes.back()[name.text] = {name.range, isVar, false, Range()};
}

bool FunctionChecker::isKnown(llvm::StringRef name) const {
  return find(name) || module.names.count(name.str()) || findBuiltin(name) || findDtype(name) ||
         name == "inf" || name == "nan";
}

void FunctionChecker::checkName(llvm::StringRef name, Range range) {
  if (isKnown(name))
    return;
  DiagnosticBuilder report = diagnostics.report(diag::unknownName, range, name);
  std::vector<std::string> names;
  for (const auto &scope : llvm::reverse(scopes))
    for (const auto &entry : scope)
      names.push_back(entry.first);
  for (const auto &entry : module.names)
    names.push_back(entry.first);
  llvm::append_range(names, builtinNames());
  llvm::append_range(names, dtypeSpellings());
  addSuggestion(report, range, name, names);
}

void FunctionChecker::checkDtype(const Ident &name) {
  static const std::vector<std::string> kinds = {"int", "float", "string", "dtype", "fn", "bool"};
  if (find(name.text) || findDtype(name.text) || llvm::is_contained(kinds, name.text))
    return;
  DiagnosticBuilder report = diagnostics.report(diag::unknownDtype, name.range, name.text);
  addSuggestion(report, name.range, name.text, dtypeSpellings());
}

void FunctionChecker::checkType(const std::optional<TypeSpec> &type) {
  if (!type)
    return;
  checkDtype(type->name);
  for (const ExprPtr &dim : type->dims)
    check(dim);
}

void FunctionChecker::checkCall(const CallExpr &call) {
  for (const Argument &argument : call.arguments)
    check(argument.value);
  auto *callee = dyn_cast<NameExpr>(call.callee.get());
  if (!callee) {
    check(call.callee);
    return;
  }
  checkName(callee->text, callee->range);
  auto global = module.names.find(callee->text);
  auto *function = global == module.names.end() ? nullptr : dyn_cast<FnDecl>(global->second);
  // A local name may be a parameter of kind `fn`, of which only a call knows the number of
  // parameters.
  if (find(callee->text) || !function)
    return;
  size_t most = function->params.size(), found = call.arguments.size();
  size_t least =
      llvm::count_if(function->params, [](const FnParam &param) { return !param.defaultValue; });
  if (found < least || found > most)
    diagnostics.report(diag::argumentCount, call.range, callee->text, countText(least, most), found)
        .note(function->name.range, "defined here");
}

void FunctionChecker::check(const Expr &expr) {
  if (auto *name = dyn_cast<NameExpr>(&expr)) {
    checkName(name->text, name->range);
  } else if (auto *unary = dyn_cast<UnaryExpr>(&expr)) {
    check(unary->operand);
  } else if (auto *binary = dyn_cast<BinaryExpr>(&expr)) {
    check(binary->lhs);
    check(binary->rhs);
  } else if (auto *conversion = dyn_cast<CastExpr>(&expr)) {
    check(conversion->operand);
    if (conversion->member && isForeignModule(conversion->target.text) &&
        !isKnown(conversion->target.text)) {
      DiagnosticBuilder report =
          diagnostics.report(diag::unknownDtype, conversion->targetRange,
                             diagnostics.sources().text(conversion->targetRange));
      addPrefixHint(report, conversion->targetRange, conversion->member->text, dtypeSpellings());
    } else if (conversion->member)
      checkName(conversion->target.text, conversion->target.range);
    else
      checkDtype(conversion->target);
  } else if (auto *subscript = dyn_cast<SubscriptExpr>(&expr)) {
    check(subscript->base);
    for (const Subscript &each : subscript->subscripts) {
      check(each.value);
      check(each.lo);
      check(each.hi);
    }
  } else if (auto *call = dyn_cast<CallExpr>(&expr)) {
    checkCall(*call);
  } else if (auto *member = dyn_cast<MemberExpr>(&expr)) {
    auto *base = dyn_cast<NameExpr>(member->base.get());
    auto global = base && !find(base->text) ? module.names.find(base->text) : module.names.end();
    auto *import = global == module.names.end() ? nullptr : dyn_cast<ImportDecl>(global->second);
    if (import) {
      const Module &imported = modules.get(import->program->range.file);
      if (imported.findDeclared(member->member.text))
        return;
      DiagnosticBuilder report = diagnostics.report(diag::unknownName, member->member.range,
                                                    base->text + "." + member->member.text);
      addSuggestion(report, member->member.range, member->member.text, imported.declaredNames());
    } else if (base && isForeignModule(base->text) && !isKnown(base->text)) {
      DiagnosticBuilder report = diagnostics.report(diag::unknownName, member->range,
                                                    diagnostics.sources().text(member->range));
      std::vector<std::string> names = builtinNames();
      llvm::append_range(names, dtypeSpellings());
      addPrefixHint(report, member->range, member->member.text, names);
      // `target.name` asks about the machine, and `target` alone is no name.
    } else if (!base || base->text != "target") {
      check(member->base);
    }
  } else if (auto *tuple = dyn_cast<TupleExpr>(&expr)) {
    for (const ExprPtr &element : tuple->elements)
      check(element);
  } else if (auto *list = dyn_cast<ListExpr>(&expr)) {
    for (const ExprPtr &element : list->elements)
      check(element);
  }
}

/// An assignment to a name that nothing declares; what follows takes it for declared.
void FunctionChecker::declareAssigned(const NameExpr &name) {
  std::vector<std::string> vars;
  for (const auto &scope : llvm::reverse(scopes))
    for (const auto &[each, local] : scope)
      if (local.isVar)
        vars.push_back(each);
  DiagnosticBuilder report = diagnostics.report(diag::unknownName, name.range, name.text);
  if (std::string near = suggest(name.text, vars); !near.empty()) {
    report.fixIt(name.range, near, "did you mean '" + near + "'?");
    return;
  }
  unsigned times = 0;
  walk(current->body, [&](const Stmt &stmt) {
    auto *assign = dyn_cast<AssignStmt>(&stmt);
    auto *other = assign ? dyn_cast<NameExpr>(assign->target.get()) : nullptr;
    if (other && other->text == name.text)
      // `x += 1` reads what it changes, so one of them is already a second assignment.
      times += assign->op ? 2 : 1;
  });
  std::string word = times > 1 ? "var" : "let";
  report.fixIt(name.range.atBegin(), word + " ", "a name is declared by `" + word + "`");
  scopes.back()[name.text] = {name.range, times > 1, false, Range()};
}

void FunctionChecker::checkTarget(const Expr &target) {
  if (auto *tuple = dyn_cast<TupleExpr>(&target)) {
    for (const ExprPtr &element : tuple->elements)
      checkTarget(*element);
    return;
  }
  auto *name = dyn_cast<NameExpr>(&target);
  if (!name) {
    check(target);
    return;
  }
  const Local *local = find(name->text);
  if (name->text == "_" || (local && local->isVar))
    return;
  if (!isKnown(name->text)) {
    declareAssigned(*name);
    return;
  }
  DiagnosticBuilder report = diagnostics.report(diag::notAVariable, name->range, name->text);
  if (local)
    report.note(local->declared, "declared here, not as a `var`");
  if (local && local->isLet)
    report.fixIt(local->keyword, "var", "a name that changes is declared by `var`");
}

void FunctionChecker::check(const Block &block) {
  scopes.emplace_back();
  for (const StmtPtr &stmt : block.statements)
    check(*stmt);
  scopes.pop_back();
}

void FunctionChecker::checkAttributes(const std::vector<Attribute> &attributes) {
  for (const Attribute &attribute : attributes)
    for (const Argument &argument : attribute.arguments)
      check(argument.value);
}

void FunctionChecker::check(const Stmt &stmt) {
  if (diagnostics.limitReached())
    return;
  if (auto *let = dyn_cast<LetStmt>(&stmt)) {
    check(let->value);
    checkType(let->type);
    for (const Ident &name : let->pattern.names) {
      declare(name, let->isVar);
      auto local = scopes.back().find(name.text);
      if (local == scopes.back().end() || let->isVar || let->pattern.isTuple)
        continue;
      local->second.isLet = true;
      local->second.keyword = {let->range.file, let->range.begin, let->range.begin + 3};
    }
  } else if (auto *expression = dyn_cast<ExprStmt>(&stmt)) {
    check(expression->value);
  } else if (auto *assign = dyn_cast<AssignStmt>(&stmt)) {
    check(assign->value);
    checkTarget(*assign->target);
  } else if (auto *branch = dyn_cast<IfStmt>(&stmt)) {
    check(branch->condition);
    if (branch->isConst) // a branch that is not taken is not checked (F2.7)
      return;
    check(branch->thenBlock);
    if (branch->elseBlock)
      check(*branch->elseBlock);
  } else if (auto *loop = dyn_cast<ForStmt>(&stmt)) {
    for (const ExprPtr *part : {&loop->over, &loop->lo, &loop->hi, &loop->step})
      check(*part);
    checkAttributes(loop->attributes);
    scopes.emplace_back();
    declare(loop->variable, false);
    check(loop->body);
    scopes.pop_back();
  } else if (auto *loop = dyn_cast<WhileStmt>(&stmt)) {
    check(loop->condition);
    checkAttributes(loop->attributes);
    check(loop->body);
  } else if (auto *result = dyn_cast<ReturnStmt>(&stmt)) {
    check(result->value);
  }
}

void FunctionChecker::check(const FnDecl &function) {
  current = &function;
  scopes.assign(1, {});
  for (const StaticParam &param : function.statics) {
    check(param.defaultValue);
    declare(param.name, false);
  }
  for (const FnParam &param : function.params) {
    checkType(param.type);
    check(param.defaultValue);
    declare(param.name, false);
  }
  scopes.emplace_back();
  for (const StmtPtr &stmt : function.body.statements)
    check(*stmt);
}

void tile::checkFunctions(const Program &program, const Modules &modules,
                          DiagnosticEngine &diagnostics) {
  const Module &module = modules.get(program.range.file);
  for (const DeclPtr &decl : program.decls)
    if (auto *function = dyn_cast<FnDecl>(decl.get()))
      FunctionChecker(module, modules, diagnostics).check(*function);
}
