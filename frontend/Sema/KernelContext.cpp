// Names in scope, and reports about them.
//
//   frames   [kernel's] [f's] [g's]      a call pushes one; only the last can be seen
//   frame    [parameters] [block] [block inside]      a block pushes a scope; all can be seen
//
// References to bindings are good until a name is declared in the same scope, or the scope ends.
#include "frontend/Sema/KernelContext.h"
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"

using namespace llvm;
using namespace tile;

KernelContext::KernelContext(const Modules &modules, const ast::KernelDecl &kernel,
                             const SemaOptions &options, DiagnosticEngine &diagnostics)
    : modules(modules), kernel(kernel), options(options), diagnostics(diagnostics),
      sources(diagnostics.sources()), scope(&modules.getMain()), frames{Frame{Scope()}} {}

const Binding *KernelContext::findLocal(StringRef name) const {
  const Frame &frame = frames.back();
  for (auto scope = frame.rbegin(); scope != frame.rend(); ++scope)
    if (auto found = scope->find(name.str()); found != scope->end())
      return &found->second;
  return nullptr;
}

Binding *KernelContext::findLocal(StringRef name) {
  return const_cast<Binding *>(std::as_const(*this).findLocal(name));
}

/// Names that end are remembered for one message: "this 'x' ended with its block".
void KernelContext::leaveBlock() {
  for (const auto &[name, binding] : frames.back().back())
    ended[name] = binding.declared;
  frames.back().pop_back();
}

std::vector<std::string> KernelContext::visibleNames() const {
  std::vector<std::string> names;
  for (auto scope = frames.back().rbegin(); scope != frames.back().rend(); ++scope)
    for (const auto &entry : *scope)
      names.push_back(entry.first);
  for (const auto &entry : launchNames)
    names.push_back(entry.first);
  for (const auto &entry : scope->names)
    names.push_back(entry.first);
  for (const std::string &name : builtinNames())
    names.push_back(name);
  for (const std::string &name : dtypeSpellings())
    names.push_back(name);
  return names;
}

/// A local hides nothing but built-ins and dtypes: a name means one thing in one place. `_`
/// declares nothing. After the report the earlier meaning stays.
void KernelContext::declare(const ast::Ident &name, SemValue value, bool isVar) {
  if (name.text == "_")
    return;
  Range earlier;
  bool hides = true;
  if (Binding *local = findLocal(name.text))
    earlier = local->declared;
  else if (auto global = scope->names.find(name.text); global != scope->names.end())
    earlier = global->second->name.range;
  else
    hides = false;
  if (hides) {
    DiagnosticBuilder report = error(diag::redefinition, name.range, name.text);
    if (earlier.isValid())
      report.note(earlier, "first defined here");
    return;
  }
  if (options.observer)
    options.observer->onValue(name.range, value);
  if (onDeclare)
    onDeclare(name.text, value, name.range);
  frames.back().back()[name.text] = {std::move(value), isVar, name.range};
}

const Module *KernelContext::findImport(const ast::Expr &expr) const {
  auto *name = dyn_cast<ast::NameExpr>(&expr);
  if (!name || findLocal(name->text))
    return nullptr;
  auto global = scope->names.find(name->text);
  auto *import = global == scope->names.end() ? nullptr : dyn_cast<ast::ImportDecl>(global->second);
  return import ? &modules.get(import->program->range.file) : nullptr;
}

std::optional<FunctionValue> KernelContext::findFunction(StringRef name) const {
  FunctionValue function;
  auto [first, second] = name.split('.');
  auto global = scope->names.find(first.str());
  const ast::Decl *decl = global == scope->names.end() ? nullptr : global->second;
  if (auto *import = dyn_cast_or_null<ast::ImportDecl>(decl))
    decl = modules.get(import->program->range.file).findDeclared(second);
  else if (!second.empty())
    return std::nullopt;
  function.decl = dyn_cast_or_null<ast::FnDecl>(decl);
  if (!decl)
    function.builtin = findBuiltin(name);
  return function.decl || function.builtin ? std::optional(function) : std::nullopt;
}

//===--- Names that expressions use ---------------------------------------===//

/// The names that an expression uses, in order.
/// Members, subscripts and tuples have none that matter here: a signature does not use them.
void tile::collectNames(const ast::Expr &expr, std::vector<const ast::NameExpr *> &out) {
  if (auto *name = dyn_cast<ast::NameExpr>(&expr)) {
    out.push_back(name);
  } else if (auto *unary = dyn_cast<ast::UnaryExpr>(&expr)) {
    collectNames(*unary->operand, out);
  } else if (auto *binary = dyn_cast<ast::BinaryExpr>(&expr)) {
    collectNames(*binary->lhs, out);
    collectNames(*binary->rhs, out);
  } else if (auto *call = dyn_cast<ast::CallExpr>(&expr)) {
    for (const ast::Argument &argument : call->arguments)
      collectNames(*argument.value, out);
  } else if (auto *cast = dyn_cast<ast::CastExpr>(&expr)) {
    collectNames(*cast->operand, out);
  }
}

bool KernelContext::isFreeName(const ast::NameExpr &name) const {
  return !findLocal(name.text) && !launchNames.count(name.text) && !scope->names.count(name.text);
}

bool KernelContext::usesLaunchNames(const ast::Expr &expr) const {
  std::vector<const ast::NameExpr *> names;
  collectNames(expr, names);
  return llvm::any_of(
      names, [&](const ast::NameExpr *name) { return launchNames.count(name->text) != 0; });
}

bool KernelContext::usesDropped(const ast::Expr &expr) const {
  std::vector<const ast::NameExpr *> names;
  collectNames(expr, names);
  return llvm::any_of(names,
                      [&](const ast::NameExpr *name) { return dropped.count(name->text) != 0; });
}

bool KernelContext::usesStatics(const ast::Expr &expr) const {
  std::vector<const ast::NameExpr *> names;
  collectNames(expr, names);
  return llvm::any_of(names, [&](const ast::NameExpr *name) {
    return llvm::any_of(kernel.statics, [&](const ast::StaticParam &param) {
      return param.name.text == name->text;
    });
  });
}

//===--- Reports ----------------------------------------------------------===//

/// The name of an argument `name: value`, which stands before its value.
/// The AST keeps no range of the name; it is the last occurrence before the value.
Range KernelContext::argumentName(const Arg &arg) const {
  StringRef text = sources.text(arg.range.file).take_front(arg.range.begin);
  size_t at = text.rfind(arg.name);
  if (at == StringRef::npos)
    return arg.range;
  return {arg.range.file, uint32_t(at), uint32_t(at + arg.name.size())};
}

/// Reports a named argument that the callee does not have, or has already.
void KernelContext::reportArgument(const Arg &arg, const Twine &callee,
                                   const std::vector<std::string> &names, Range declared) {
  Range place = argumentName(arg);
  DiagnosticBuilder report = error(diag::unknownArgument, place, callee.str(), arg.name);
  if (!names.empty())
    report.note(declared, "it takes " + joinWords(names, "and"));
  else if (StringRef usage = declared.isValid() ? "" : usageOf(callee.str()); !usage.empty()) {
    report.note("write it as in `" + usage + "`");
    return;
  }
  if (const Alias *alias = findAlias(arg.name + ":")) {
    if (llvm::is_contained(names, alias->replacement))
      report.fixIt(place, alias->replacement, "here it is called '" + alias->replacement + "'");
    else if (!alias->note.empty())
      report.note(alias->note);
  } else if (std::string found = suggest(arg.name, names); !found.empty()) {
    report.fixIt(place, found, "did you mean '" + found + "'?");
  }
}
