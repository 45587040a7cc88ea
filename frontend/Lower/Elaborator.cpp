// Names and scopes, constants of the file, source locations.
#include "frontend/Lower/Elaborator.h"
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "target/Target.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;
using namespace tile;

Elaborator::Elaborator(const Modules &modules, const ast::KernelDecl &kernel,
                       const ElaborateOptions &options, DiagnosticEngine &diagnostics,
                       ModuleOp module)
    : modules(modules), kernel(kernel), options(options), diagnostics(diagnostics),
      sources(diagnostics.sources()), module(module), context(module.getContext()),
      builder(context), scratch(std::make_unique<Block>()), scope(&modules.getMain()) {
  frames.push_back({Scope()});
  entry = scratch.get();
  builder.setInsertionPointToEnd(entry);
}

Elaborator::~Elaborator() {
  // What was emitted here was only looked at: drop uses before definitions.
  scratch->dropAllReferences();
  scratch->clear();
}

Location Elaborator::loc(Range range) {
  auto at = [&](Range place) -> Location {
    if (!place.isValid())
      return UnknownLoc::get(context);
    LineColumn position = sources.begin(place);
    return FileLineColLoc::get(context, sources.name(place.file), position.line, position.column);
  };
  Location result = at(range);
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    result = CallSiteLoc::get(result, at(call->call));
  return result;
}

DiagnosticBuilder &Elaborator::addSuggestion(DiagnosticBuilder &report, Range range, StringRef name,
                                             const std::vector<std::string> &candidates) {
  tile::addSuggestion(report, range, name, candidates);
  return report;
}

/// The name of an argument `name: value`, which stands before its value.
tile::Range Elaborator::argumentName(const Arg &arg) const {
  StringRef text = sources.text(arg.range.file).take_front(arg.range.begin);
  size_t at = text.rfind(arg.name);
  if (at == StringRef::npos)
    return arg.range;
  return {arg.range.file, uint32_t(at), uint32_t(at + arg.name.size())};
}

/// Reports a named argument that the callee does not have, or has already.
void Elaborator::reportArgument(const Arg &arg, const Twine &callee,
                                const std::vector<std::string> &names, tile::Range declared) {
  tile::Range place = argumentName(arg);
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

Elaborator::Binding *Elaborator::findLocal(StringRef name) {
  Frame &frame = frames.back();
  for (auto scope = frame.rbegin(); scope != frame.rend(); ++scope)
    if (auto found = scope->find(name.str()); found != scope->end())
      return &found->second;
  return nullptr;
}

std::vector<std::string> Elaborator::visibleNames() const {
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

void Elaborator::declare(const ast::Ident &name, SemValue value, bool isVar) {
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
  probe(name.text, value, name.range);
  frames.back().back()[name.text] = {std::move(value), isVar, name.range};
}

SemValue Elaborator::evalName(StringRef name, Range range) {
  if (Binding *local = findLocal(name))
    return local->value;
  if (frames.size() == 1) {
    if (auto gone = dropped.find(name.str()); gone != dropped.end()) {
      error(diag::droppedParameter, range, name)
          .note(gone->second, "it is passed only where this condition holds");
      return SemValue::error();
    }
  }
  if (auto global = scope->names.find(name.str()); global != scope->names.end())
    return evalDecl(*global->second, range);
  if (name == "inf")
    return SemValue::ofFloat(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return SemValue::ofFloat(std::numeric_limits<double>::quiet_NaN());
  if (std::optional<tile::DType> dtype = findDtype(name))
    return SemValue::ofDtype(*dtype);
  if (const Builtin *builtin = findBuiltin(name)) {
    if (builtin->family == Builtin::Family::Later)
      return reportUnsupported(range, "the built-in '" + name + "'");
    FunctionValue value;
    value.builtin = builtin;
    return SemValue::of(std::move(value));
  }
  // Parameters become locals of the body; before that, in the declaration, only integral scalars
  // have a meaning.
  if (auto param = params.find(name.str()); param != params.end() && frames.size() == 1) {
    error(diag::notLaunchable, range,
          (param->second->access == ast::Access::none ? "the scalar '" : "the tensor '") +
              name.str() + "'")
        .note(param->second->name.range, "declared here");
    return SemValue::error();
  }
  // `blockIdx.x * blockDim.x + threadIdx.x` is one mistake.
  bool isThread = name == "blockIdx" || name == "blockDim" || name == "threadIdx";
  if (isThread && !diagnostics.all().empty()) {
    const Diagnostic &last = diagnostics.all().back();
    bool isSame = last.id == diag::unknownName && last.range.file == range.file &&
                  sources.begin(last.range).line == sources.begin(range).line &&
                  StringRef(last.message).contains("block");
    if (isSame)
      return SemValue::error();
  }
  DiagnosticBuilder report = error(diag::unknownName, range, name);
  if (auto gone = ended.find(name.str()); gone != ended.end())
    report.note(gone->second, "this '" + name +
                                  "' ended with its block: declare a `var` before the block, and "
                                  "assign it there");
  else
    addSuggestion(report, range, name, visibleNames());
  return SemValue::error();
}

void Elaborator::leaveBlock() {
  for (const auto &[name, binding] : frames.back().back())
    ended[name] = binding.declared;
  frames.back().pop_back();
}

SemValue Elaborator::evalDecl(const ast::Decl &decl, Range range) {
  if (auto *constant = dyn_cast<ast::ConstDecl>(&decl))
    return evalConstant(*constant);
  if (auto *function = dyn_cast<ast::FnDecl>(&decl)) {
    FunctionValue value;
    value.decl = function;
    return SemValue::of(std::move(value));
  }
  error(diag::importAlias, range, decl.name.text).note(decl.range, "imported here");
  return SemValue::error();
}

const Module *Elaborator::findImport(const ast::Expr &expr) {
  auto *name = dyn_cast<ast::NameExpr>(&expr);
  if (!name || findLocal(name->text))
    return nullptr;
  auto global = scope->names.find(name->text);
  auto *import = global == scope->names.end() ? nullptr : dyn_cast<ast::ImportDecl>(global->second);
  return import ? &modules.get(import->program->range.file) : nullptr;
}

SemValue Elaborator::evalImported(const Module &imported, const ast::MemberExpr &expr) {
  if (const ast::Decl *decl = imported.findDeclared(expr.member.text))
    return evalDecl(*decl, expr.range);
  std::string name = (sources.text(expr.base->range) + "." + expr.member.text).str();
  DiagnosticBuilder report = error(diag::unknownName, expr.member.range, name);
  addSuggestion(report, expr.member.range, expr.member.text, imported.declaredNames());
  return SemValue::error();
}

std::optional<FunctionValue> Elaborator::findFunction(StringRef name) {
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

SemValue Elaborator::evalTarget(const ast::MemberExpr &expr) {
  const GPUTarget *target = findGPUTarget(options.target); // null: the CPU
  if (expr.member.text == "kind")
    return SemValue::ofString(target ? "gpu" : "cpu");
  if (expr.member.text == "arch")
    return SemValue::ofInt(target ? target->capability() : 0);
  DiagnosticBuilder report =
      error(diag::unknownMember, expr.member.range, "'target'", expr.member.text);
  addSuggestion(report, expr.member.range, expr.member.text, {"kind", "arch"});
  report.note("its members are kind (\"cpu\" or \"gpu\") and arch (90 for capability 9.0, 0 for "
              "the CPU)");
  return SemValue::error();
}

SemValue Elaborator::evalConstant(const ast::ConstDecl &decl) {
  const std::string &name = decl.name.text;
  if (auto known = constants.find(&decl); known != constants.end())
    return known->second;
  if (!constantsInProgress.insert(&decl).second) {
    error(diag::constantArithmetic, decl.name.range,
          "the constant '" + name + "' is defined in terms of itself");
    return SemValue::error();
  }
  // A constant sees constants and functions, no locals.
  frames.push_back({Scope()});
  const Module *outer = std::exchange(scope, &modules.get(decl.range.file));
  std::vector<CallSite> outerCalls;
  std::swap(calls, outerCalls);
  SemValue value = eval(*decl.value);
  if (!value.isError() && decl.type)
    value = convertToDeclared(value, *decl.type, decl.value->range);
  else if (value.kind == SemValue::Kind::List)
    value = listToTile(value, std::nullopt, decl.value->range);
  // A declared dtype makes an SSA value, which must not be kept: it lives in one region only. All
  // that a constant sees is constant, so whatever it computes is.
  bool isData = value.isData();
  if (!value.isError() && !value.isConstant() && !isData) {
    error(diag::notConstant, decl.value->range, "the constant '" + name + "'", describe(value));
    value = SemValue::error();
  }
  std::swap(calls, outerCalls);
  scope = outer;
  frames.pop_back();
  constantsInProgress.erase(&decl);
  if (!isData)
    constants[&decl] = value;
  return value;
}

SemValue Elaborator::convertToDeclared(SemValue value, const ast::TypeSpec &type, Range range) {
  if (value.isError())
    return value;
  const std::string &name = type.name.text;
  bool isKind = !findLocal(name) &&
                (name == "int" || name == "float" || name == "string" || name == "dtype" ||
                 name == "fn" || (name == "bool" && value.isConstant()));
  if (isKind && !type.hasShape) {
    bool matches = name == "int"      ? value.isInt()
                   : name == "float"  ? value.isInt() || value.isFloatNumber()
                   : name == "bool"   ? value.isBoolNumber()
                   : name == "string" ? value.kind == SemValue::Kind::String
                   : name == "dtype"  ? value.isDtype()
                                      : value.isFunction();
    if (matches)
      return name == "float" ? SemValue::ofFloat(toDouble(value.number)) : value;
    error(diag::wrongOperand, range, "the declared kind " + name, "a compile-time " + name,
          describe(value));
    return SemValue::error();
  }
  std::optional<DType> dtype = resolveDtype(type.name);
  if (!dtype)
    return SemValue::error();
  if (value.kind == SemValue::Kind::List)
    value = listToTile(value, dtype, range);
  if (value.isError())
    return value;
  if (value.isData() && value.dtype != *dtype &&
      !(*dtype == DType::Index && widensToIndex(value.dtype))) {
    error(diag::dtypeMismatch, range, "the declaration", dtypeSpelling(*dtype),
          dtypeSpelling(value.dtype))
        .note(type.range, "declared here")
        .note("convert the value with `as " + dtypeSpelling(*dtype) + "`");
    return SemValue::error();
  }
  mlir::Value converted = toDtype(value, *dtype, range);
  if (!converted)
    return SemValue::error();
  SemValue result = ofData(converted, *dtype);
  SmallVector<int64_t> shape;
  for (const ast::ExprPtr &dim : type.dims) {
    std::optional<int64_t> extent = evalInt(*dim, "an extent of a tile");
    if (!extent)
      return SemValue::error();
    shape.push_back(*extent);
  }
  bool isNumber = value.isNumber();
  if (isNumber && checkShape(shape, type.range))
    return ofData(emitBroadcast(converted, shape, loc(range)), *dtype);
  if (result.shape() != ArrayRef<int64_t>(shape)) {
    error(diag::shapeMismatch, range, describeShape(shape), describeShape(result.shape()))
        .note(type.range, "declared here");
    return SemValue::error();
  }
  return result;
}
