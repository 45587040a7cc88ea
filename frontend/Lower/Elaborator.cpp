// Names and scopes, constants of the file, source locations.
#include "frontend/Lower/Elaborator.h"
#include "frontend/Diag/Suggest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile;

Elaborator::Elaborator(const ast::Program &program, const ast::KernelDecl &kernel, const ElaborateOptions &options,
                       DiagnosticEngine &diagnostics, ModuleOp module)
    : program(program), kernel(kernel), options(options), diagnostics(diagnostics), sources(diagnostics.sources()),
      module(module), context(module.getContext()), builder(context), scratch(std::make_unique<Block>()) {
  for (const ast::DeclPtr &decl : program.decls)
    if (isa<ast::ConstDecl, ast::FnDecl>(*decl))
      globals.emplace(decl->name.text, decl.get());
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
  std::string found = suggest(name, candidates);
  if (!found.empty())
    report.fixIt(range, found, "did you mean '" + found + "'?");
  return report;
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
  for (const auto &entry : globals)
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
  else if (auto global = globals.find(name.text); global != globals.end())
    earlier = global->second->name.range;
  else
    hides = false;
  if (hides) {
    DiagnosticBuilder report = error(diag::redefinition, name.range, name.text);
    if (earlier.isValid())
      report.note(earlier, "first defined here");
    return;
  }
  frames.back().back()[name.text] = {std::move(value), isVar, name.range};
}

SemValue Elaborator::evalName(StringRef name, Range range) {
  if (Binding *local = findLocal(name))
    return local->value;
  if (frames.size() == 1) {
    if (auto gone = dropped.find(name.str()); gone != dropped.end()) {
      error(diag::droppedParameter, range, name).note(gone->second, "it is passed only where this condition holds");
      return SemValue::error();
    }
  }
  if (auto global = globals.find(name.str()); global != globals.end()) {
    if (auto *function = dyn_cast<ast::FnDecl>(global->second)) {
      FunctionValue value;
      value.decl = function;
      return SemValue::of(std::move(value));
    }
    return evalConstant(*cast<ast::ConstDecl>(global->second));
  }
  if (name == "inf")
    return SemValue::ofFloat(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return SemValue::ofFloat(std::numeric_limits<double>::quiet_NaN());
  if (std::optional<tile::DType> dtype = findDtype(name))
    return SemValue::ofDtype(*dtype);
  if (const Builtin *builtin = findBuiltin(name)) {
    if (builtin->family == Builtin::Family::Later)
      return later(range, "the built-in '" + name + "'");
    FunctionValue value;
    value.builtin = builtin;
    return SemValue::of(std::move(value));
  }
  if (name == "target")
    return later(range, "'target'");
  // Parameters become locals of the body; before that, in the declaration, only integral scalars have a meaning.
  if (auto param = params.find(name.str()); param != params.end() && frames.size() == 1) {
    error(diag::notLaunchable, range, (param->second->access == ast::Access::none ? "the scalar '" : "the tensor '") + name.str() + "'")
        .note(param->second->name.range, "declared here");
    return SemValue::error();
  }
  DiagnosticBuilder report = error(diag::unknownName, range, name);
  addSuggestion(report, range, name, visibleNames());
  return SemValue::error();
}

SemValue Elaborator::evalConstant(const ast::ConstDecl &decl) {
  const std::string &name = decl.name.text;
  if (auto known = constants.find(name); known != constants.end())
    return known->second;
  if (!constantsInProgress.insert(name).second) {
    error(diag::constantArithmetic, decl.name.range, "the constant '" + name + "' is defined in terms of itself");
    return SemValue::error();
  }
  // A constant sees constants and functions, no locals.
  frames.push_back({Scope()});
  std::vector<CallSite> outerCalls;
  std::swap(calls, outerCalls);
  SemValue value = eval(*decl.value);
  if (!value.isError() && (value.kind == SemValue::Kind::List || (decl.type && decl.type->hasShape)))
    value = later(decl.range, "a constant tile");
  if (!value.isError() && decl.type)
    value = convertToDeclared(value, *decl.type, decl.value->range);
  // A declared dtype makes an SSA constant, which must not be kept: it lives in one region only.
  bool isScalar = value.isData() && value.rank() == 0 && value.ssa.getDefiningOp<arith::ConstantOp>();
  if (!value.isError() && !value.isConstant() && !isScalar) {
    error(diag::notConstant, decl.value->range, "the constant '" + name + "'", describe(value));
    value = SemValue::error();
  }
  std::swap(calls, outerCalls);
  frames.pop_back();
  constantsInProgress.erase(name);
  if (!isScalar)
    constants[name] = value;
  return value;
}

SemValue Elaborator::convertToDeclared(SemValue value, const ast::TypeSpec &type, Range range) {
  if (value.isError())
    return value;
  const std::string &name = type.name.text;
  bool isKind = !findLocal(name) && (name == "int" || name == "float" || name == "string" || name == "dtype" || name == "fn" ||
                                     (name == "bool" && value.isConstant()));
  if (isKind && !type.hasShape) {
    bool matches = name == "int"      ? value.isInt()
                   : name == "float"  ? value.isInt() || value.isFloatNumber()
                   : name == "bool"   ? value.isBoolNumber()
                   : name == "string" ? value.kind == SemValue::Kind::String
                   : name == "dtype"  ? value.isDtype()
                                      : value.isFunction();
    if (matches)
      return name == "float" ? SemValue::ofFloat(toDouble(value.number)) : value;
    error(diag::wrongOperand, range, "the declared kind " + name, "a compile-time " + name, describe(value));
    return SemValue::error();
  }
  std::optional<DType> dtype = resolveDtype(type.name);
  if (!dtype)
    return SemValue::error();
  if (value.isData() && value.dtype != *dtype && !(*dtype == DType::Index && widensToIndex(value.dtype))) {
    error(diag::dtypeMismatch, range, "the declaration", dtypeSpelling(*dtype), dtypeSpelling(value.dtype))
        .note(type.range, "declared here")
        .note("convert the value with `as " + dtypeSpelling(*dtype) + "`");
    return SemValue::error();
  }
  mlir::Value converted = toDtype(value, *dtype, range);
  if (!converted)
    return SemValue::error();
  SemValue result = SemValue::ofData(converted, *dtype);
  SmallVector<int64_t> shape;
  for (const ast::ExprPtr &dim : type.dims) {
    std::optional<int64_t> extent = evalInt(*dim, "an extent of a tile");
    if (!extent)
      return SemValue::error();
    shape.push_back(*extent);
  }
  bool isNumber = value.isNumber();
  if (isNumber && checkShape(shape, type.range))
    return SemValue::ofData(emitBroadcast(converted, shape, loc(range)), *dtype);
  if (result.shape() != ArrayRef<int64_t>(shape)) {
    error(diag::shapeMismatch, range, describeShape(shape), describeShape(result.shape())).note(type.range, "declared here");
    return SemValue::error();
  }
  return result;
}
