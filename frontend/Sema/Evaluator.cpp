// Compile-time evaluation: literals, names, constants, operators on numbers. ValueKinds.cpp has
// what declarations ask of values.
//
// An error value (SemValue::error) has been reported by whoever made it: whoever meets one passes
// it on and says nothing. So one mistake is one message, however far its value goes.
#include "frontend/Sema/Evaluator.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "target/Target.h"

#include <utility>

using namespace llvm;
using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;

Evaluator::Evaluator(const Modules &modules, const ast::KernelDecl &kernel,
                     const SemaOptions &options, DiagnosticEngine &diagnostics)
    : here(modules, kernel, options, diagnostics) {}

/// The observer sees each value at its place. Where it has seen enough, evaluation ends with errors
/// that nobody reported: the language server drops all that follows from them.
SemValue Evaluator::eval(const ast::Expr &expr) {
  if (!here.options.observer)
    return evalAny(expr);
  if (here.options.observer->isEnough())
    return SemValue::error();
  SemValue value = evalAny(expr);
  here.options.observer->onValue(expr.range, value);
  return value;
}

SemValue Evaluator::evalAny(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::Expr::Kind::IntLiteral: {
    uint64_t value = cast<ast::IntLiteral>(expr).value;
    if (value > uint64_t(std::numeric_limits<int64_t>::max())) {
      here.error(diag::constantArithmetic, expr.range,
                 "the integer " + std::to_string(value) + " does not fit in 64 bits with a sign");
      return SemValue::error();
    }
    return SemValue::ofInt(int64_t(value));
  }
  case ast::Expr::Kind::FloatLiteral:
    return SemValue::ofFloat(cast<ast::FloatLiteral>(expr).value);
  case ast::Expr::Kind::StringLiteral:
    return SemValue::ofString(cast<ast::StringLiteral>(expr).value);
  case ast::Expr::Kind::NoneLiteral:
    return SemValue::ofNone();
  case ast::Expr::Kind::BoolLiteral:
    return SemValue::ofBool(cast<ast::BoolLiteral>(expr).value);
  case ast::Expr::Kind::Name:
    return evalName(cast<ast::NameExpr>(expr).text, expr.range);
  case ast::Expr::Kind::Unary:
    return evalUnary(cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary: {
    auto &operation = cast<ast::BinaryExpr>(expr);
    SemValue a = eval(*operation.lhs), b = eval(*operation.rhs);
    return binary(operation.op, std::move(a), std::move(b), operation.lhs->range,
                  operation.rhs->range, expr.range, operation.opRange);
  }
  case ast::Expr::Kind::Cast:
    return evalCast(cast<ast::CastExpr>(expr));
  case ast::Expr::Kind::Subscript:
    return evalSubscript(cast<ast::SubscriptExpr>(expr));
  case ast::Expr::Kind::Call:
    return evalCall(cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Member:
    return evalMember(cast<ast::MemberExpr>(expr));
  case ast::Expr::Kind::Tuple:
  case ast::Expr::Kind::List: {
    bool isTuple = expr.kind == ast::Expr::Kind::Tuple;
    std::vector<SemValue> elements;
    for (const ast::ExprPtr &element :
         isTuple ? cast<ast::TupleExpr>(expr).elements : cast<ast::ListExpr>(expr).elements) {
      elements.push_back(eval(*element));
      if (elements.back().isError())
        return SemValue::error();
    }
    return SemValue::ofTuple(std::move(elements),
                             isTuple ? SemValue::Kind::Tuple : SemValue::Kind::List);
  }
  }
  return SemValue::error();
}

SemValue Evaluator::evalUnary(const ast::UnaryExpr &expr) {
  SemValue operand = eval(*expr.operand);
  if (operand.isError())
    return operand;
  if (operand.isNumber()) {
    std::string why;
    if (std::optional<Number> result = foldUnary(expr.op, operand.number, why))
      return SemValue::of(*result);
    here.error(diag::constantArithmetic, expr.range, why);
    return SemValue::error();
  }
  return unaryOfData(expr, std::move(operand));
}

/// Numbers without a dtype are computed here, by the rules of a launch; all that has a dtype is the
/// business of whoever can emit code (binaryOfData).
SemValue Evaluator::binary(BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                           Range range, Range opRange) {
  if (a.isError() || b.isError())
    return SemValue::error();
  if (a.isNumber() && b.isNumber()) {
    std::string why;
    if (std::optional<Number> result = foldBinary(op, a.number, b.number, why))
      return SemValue::of(*result);
    here.error(diag::constantArithmetic, range, why);
    return SemValue::error();
  }
  // Strings, dtypes and functions compare at compile time.
  bool isEquality = op == BinaryOp::eq || op == BinaryOp::ne;
  if (isEquality && a.kind == b.kind && a.isConstant() && !a.isTuple() &&
      a.kind != SemValue::Kind::List) {
    bool equal = a.kind == SemValue::Kind::String  ? a.text == b.text
                 : a.kind == SemValue::Kind::DType ? a.dtype == b.dtype
                                                   : a.function->decl == b.function->decl &&
                                                         a.function->builtin == b.function->builtin;
    return SemValue::ofBool(equal == (op == BinaryOp::eq));
  }
  return binaryOfData(op, std::move(a), std::move(b), aRange, bRange, range, opRange);
}

//===--- Names ------------------------------------------------------------===//

/// Looked up in this order:
///
///   1. locals of the function at hand      4. inf, nan; dtypes; built-ins
///   2. (parameters that were dropped)      5. (parameters, in the declaration: not usable there)
///   3. declarations and imports of the file
///
/// The parenthesised are errors that say more than "unknown".
SemValue Evaluator::evalName(StringRef name, Range range) {
  if (Binding *local = here.findLocal(name))
    return local->value;
  // In the kernel itself: functions do not see its parameters.
  if (here.frames.size() == 1) {
    if (auto gone = here.dropped.find(name.str()); gone != here.dropped.end()) {
      here.error(diag::droppedParameter, range, name)
          .note(gone->second, "it is passed only where this condition holds");
      return SemValue::error();
    }
  }
  if (auto global = here.scope->names.find(name.str()); global != here.scope->names.end())
    return evalDecl(*global->second, range);
  if (name == "inf")
    return SemValue::ofFloat(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return SemValue::ofFloat(std::numeric_limits<double>::quiet_NaN());
  if (std::optional<DType> dtype = findDtype(name))
    return SemValue::ofDtype(*dtype);
  if (const Builtin *builtin = findBuiltin(name)) {
    if (builtin->family == Builtin::Family::Later)
      return here.reportUnsupported(range, "the built-in '" + name + "'");
    FunctionValue value;
    value.builtin = builtin;
    return SemValue::of(std::move(value));
  }
  // Parameters become locals of the body; before that, in the declaration, only integral scalars
  // have a meaning.
  if (auto param = here.params.find(name.str());
      param != here.params.end() && here.frames.size() == 1) {
    here.error(diag::notLaunchable, range,
               (param->second->access == ast::Access::none ? "the scalar '" : "the tensor '") +
                   name.str() + "'")
        .note(param->second->name.range, "declared here");
    return SemValue::error();
  }
  // `blockIdx.x * blockDim.x + threadIdx.x` is one mistake.
  bool isThread = name == "blockIdx" || name == "blockDim" || name == "threadIdx";
  if (isThread && !here.diagnostics.all().empty()) {
    const Diagnostic &last = here.diagnostics.all().back();
    bool isSame = last.id == diag::unknownName && last.range.file == range.file &&
                  here.sources.begin(last.range).line == here.sources.begin(range).line &&
                  StringRef(last.message).contains("block");
    if (isSame)
      return SemValue::error();
  }
  DiagnosticBuilder report = here.error(diag::unknownName, range, name);
  if (auto gone = here.ended.find(name.str()); gone != here.ended.end())
    report.note(gone->second, "this '" + name +
                                  "' ended with its block: declare a `var` before the block, and "
                                  "assign it there");
  else
    addSuggestion(report, range, name, here.visibleNames());
  return SemValue::error();
}

SemValue Evaluator::evalDecl(const ast::Decl &decl, Range range) {
  if (auto *constant = dyn_cast<ast::ConstDecl>(&decl))
    return evalConstant(*constant);
  if (auto *function = dyn_cast<ast::FnDecl>(&decl)) {
    FunctionValue value;
    value.decl = function;
    return SemValue::of(std::move(value));
  }
  here.error(diag::importAlias, range, decl.name.text).note(decl.range, "imported here");
  return SemValue::error();
}

SemValue Evaluator::evalImported(const Module &imported, const ast::MemberExpr &expr) {
  if (const ast::Decl *decl = imported.findDeclared(expr.member.text))
    return evalDecl(*decl, expr.range);
  std::string name = (here.sources.text(expr.base->range) + "." + expr.member.text).str();
  DiagnosticBuilder report = here.error(diag::unknownName, expr.member.range, name);
  addSuggestion(report, expr.member.range, expr.member.text, imported.declaredNames());
  return SemValue::error();
}

SemValue Evaluator::evalTarget(const ast::MemberExpr &expr) {
  const GPUTarget *target = findGPUTarget(here.options.target); // null: the CPU
  if (expr.member.text == "kind")
    return SemValue::ofString(target ? "gpu" : "cpu");
  if (expr.member.text == "arch")
    return SemValue::ofInt(target ? target->capability() : 0);
  DiagnosticBuilder report =
      here.error(diag::unknownMember, expr.member.range, "'target'", expr.member.text);
  addSuggestion(report, expr.member.range, expr.member.text, {"kind", "arch"});
  report.note(
      "its members are kind (\"cpu\" or \"gpu\") and arch (90 for capability 9.0, 0 for the CPU)");
  return SemValue::error();
}

std::optional<SemValue> Evaluator::evalStaticMember(const ast::MemberExpr &expr) {
  if (const Module *imported = here.findImport(*expr.base))
    return evalImported(*imported, expr);
  if (auto *name = dyn_cast<ast::NameExpr>(expr.base.get()); name && name->text == "target" &&
                                                             !here.findLocal("target") &&
                                                             !here.scope->names.count("target"))
    return evalTarget(expr);
  return std::nullopt;
}

/// A constant is evaluated when it is used first, as if it stood alone: with the names of its own
/// file, no locals and no calls around it; then it is remembered. `constantsInProgress` finds
/// definitions that go in a circle.
SemValue Evaluator::evalConstant(const ast::ConstDecl &decl) {
  const std::string &name = decl.name.text;
  if (auto known = constants.find(&decl); known != constants.end())
    return known->second;
  if (!constantsInProgress.insert(&decl).second) {
    here.error(diag::constantArithmetic, decl.name.range,
               "the constant '" + name + "' is defined in terms of itself");
    return SemValue::error();
  }
  // A constant sees constants and functions, no locals.
  here.frames.push_back({Scope()});
  const Module *outer = std::exchange(here.scope, &here.modules.get(decl.range.file));
  std::vector<CallSite> outerCalls;
  // A mistake in a constant is reported at its declaration, without notes of the calls that
  // happened to use it first.
  std::swap(here.calls, outerCalls);
  SemValue value = eval(*decl.value);
  if (!value.isError() && decl.type)
    value = convertToDeclared(value, *decl.type, decl.value->range);
  else if (value.kind == SemValue::Kind::List)
    value = listToTile(value, std::nullopt, decl.value->range);
  // A declared dtype makes an SSA value, which must not be kept: it lives in one region only. All
  // that a constant sees is constant, so whatever it computes is.
  bool isData = value.isData();
  if (!value.isError() && !value.isConstant() && !isData) {
    here.error(diag::notConstant, decl.value->range, "the constant '" + name + "'",
               describe(value));
    value = SemValue::error();
  }
  std::swap(here.calls, outerCalls);
  here.scope = outer;
  here.frames.pop_back();
  constantsInProgress.erase(&decl);
  if (!isData)
    constants[&decl] = value;
  return value;
}

//===--- Compile-time values ----------------------------------------------===//

/// `what` is the subject of the message: "the step of a set".
std::optional<int64_t> Evaluator::constInt(const SemValue &value, Range range, const Twine &what) {
  if (value.isInt())
    return value.getInt();
  if (value.isError())
    return std::nullopt;
  if (value.isNumber())
    here.error(diag::wrongOperand, range, what.str(), "an integer", describe(value));
  else {
    DiagnosticBuilder report = here.error(diag::notConstant, range, what.str(), describe(value));
    if (value.isData())
      report.note("a dimension is known at launch, a compile-time parameter such as [B: int = 64] "
                  "when the kernel is compiled; `for n in blocks(N, 64)` goes over a dimension of "
                  "any length");
  }
  return std::nullopt;
}

std::optional<int64_t> Evaluator::evalInt(const ast::Expr &expr, const Twine &what) {
  return constInt(eval(expr), expr.range, what);
}

std::optional<int64_t> Evaluator::evalPosition(const SemValue &base, const ast::Expr &position) {
  SemValue value = eval(position);
  if (value.isData() && !base.elements->empty() && base.elements->front().isView()) {
    here.error(diag::notConstant, position.range, "the index of an array of tensors",
               describe(value))
        .note("to choose by a number of the run, pass one tensor: with a dimension more where the "
              "extents are equal, else flat, and view(a, start, [M, N])");
    return std::nullopt;
  }
  return constInt(value, position.range, "the position in a tuple");
}

/// A tensor parameter with a condition is either a view or None: `const if (bias)` asks which.
std::optional<bool> Evaluator::evalConstCondition(const ast::Expr &expr) {
  SemValue value = eval(expr);
  if (value.isView() || value.isNone())
    return value.isView();
  return constBool(value, expr, "the condition of `const if`");
}

std::optional<bool> Evaluator::evalConstBool(const ast::Expr &expr, const Twine &what) {
  return constBool(eval(expr), expr, what);
}

std::optional<bool> Evaluator::constBool(const SemValue &value, const ast::Expr &expr,
                                         const Twine &what) {
  if (value.isBoolNumber())
    return value.getBool();
  if (value.isNumber())
    here.error(diag::wrongOperand, expr.range, what.str(), "a bool", describe(value));
  else if (!value.isError())
    here.error(diag::notConstant, expr.range, what.str(), describe(value));
  return std::nullopt;
}

//===--- Calls of built-ins -----------------------------------------------===//

/// Names and numbers of arguments alone; which values they take each built-in checks itself.
bool Evaluator::checkBuiltinArguments(const Builtin &builtin, const std::vector<Arg> &args,
                                      Range range) {
  unsigned positional = 0;
  std::set<std::string> seen;
  for (const Arg &arg : args) {
    if (arg.name.empty()) {
      ++positional;
      continue;
    }
    bool known = llvm::any_of(builtin.named, [&](const char *name) { return arg.name == name; });
    if (!known || !seen.insert(arg.name).second) {
      here.reportArgument(arg, builtin.name, {builtin.named.begin(), builtin.named.end()}, Range());
      return false;
    }
  }
  if (positional >= builtin.minArgs && positional <= builtin.maxArgs)
    return true;
  DiagnosticBuilder report = here.error(diag::argumentCount, range, builtin.name,
                                        countText(builtin.minArgs, builtin.maxArgs), positional);
  bool hasAxis = llvm::any_of(builtin.named, [](StringRef name) { return name == "axis"; });
  if (hasAxis && positional == builtin.maxArgs + 1 && args[positional - 1].value.isInt())
    report.fixIt(args[positional - 1].range.atBegin(), "axis: ", "an axis is named");
  else if (StringRef name = builtin.name; positional == 3 && (name == "max" || name == "min"))
    report.note("of three write " + name + "(" + name + "(a, b), c)");
  else if (StringRef usage = usageOf(builtin.name); !usage.empty())
    report.note("write it as in `" + usage + "`");
  return false;
}

//===--- Code, where nobody emits it --------------------------------------===//

SemValue Evaluator::reportNotConstant(Range range, const Twine &found) {
  here.error(diag::notConstant, range, "this", found.str());
  return SemValue::error();
}

SemValue Evaluator::unaryOfData(const ast::UnaryExpr &expr, SemValue operand) {
  return reportNotConstant(expr.operand->range, describe(operand));
}

SemValue Evaluator::binaryOfData(BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                                 Range range, Range opRange) {
  return a.isNumber() ? reportNotConstant(bRange, describe(b))
                      : reportNotConstant(aRange, describe(a));
}

SemValue Evaluator::evalCast(const ast::CastExpr &expr) {
  return reportNotConstant(expr.range, "a conversion");
}

SemValue Evaluator::evalSubscript(const ast::SubscriptExpr &expr) {
  return reportNotConstant(expr.range, "an access");
}

SemValue Evaluator::evalCall(const ast::CallExpr &expr) {
  SemValue callee = eval(*expr.callee);
  if (callee.isError())
    return callee;
  if (!callee.isFunction()) {
    here.error(diag::notAFunction, expr.callee->range, describe(callee));
    return SemValue::error();
  }
  std::vector<Arg> args;
  std::vector<Number> numbers;
  for (const ast::Argument &argument : expr.arguments) {
    args.push_back(
        {eval(*argument.value), argument.value->range, argument.name ? argument.name->text : ""});
    if (args.back().value.isError())
      return SemValue::error();
    if (args.back().value.isNumber())
      numbers.push_back(args.back().value.number);
  }
  const Builtin *builtin = callee.function->builtin;
  if (builtin && !checkBuiltinArguments(*builtin, args, expr.range))
    return SemValue::error();
  if (builtin && numbers.size() == args.size()) {
    std::string why;
    if (std::optional<Number> result = foldCall(builtin->name, numbers, why))
      return SemValue::of(*result);
    if (!why.empty()) {
      here.error(diag::constantArithmetic, expr.range, why);
      return SemValue::error();
    }
  }
  return reportNotConstant(expr.range, "a call of '" + callee.function->name() + "'");
}

SemValue Evaluator::evalMember(const ast::MemberExpr &expr) {
  if (std::optional<SemValue> value = evalStaticMember(expr))
    return *value;
  SemValue base = eval(*expr.base);
  if (!base.isError())
    here.error(diag::unknownMember, expr.member.range, describe(base), expr.member.text);
  return SemValue::error();
}

SemValue Evaluator::convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                                  Range range) {
  if (!value.isNumber() || type.hasShape)
    return reportNotConstant(range, describe(value));
  if (!fitsDtype(value.number, dtype)) {
    here.error(diag::valueDoesNotFit, range, describe(value), dtypeSpelling(dtype));
    return SemValue::error();
  }
  value.kind = SemValue::Kind::Data; // which keeps its number
  value.dtype = dtype;
  return value;
}

SemValue Evaluator::listToTile(const SemValue &list, std::optional<DType> dtype, Range range) {
  return reportNotConstant(range, describe(list));
}

std::optional<runtime::Constant> Evaluator::constantOf(const SemValue &value, DType dtype,
                                                       Range range) {
  if (value.dtype == dtype)
    return toConstant(SemValue::of(value.number), dtype, range);
  here.error(diag::dtypeMismatch, range, "this", dtypeSpelling(dtype), describe(value))
      .note("convert it with `as " + dtypeSpelling(dtype) + "`");
  return std::nullopt;
}
