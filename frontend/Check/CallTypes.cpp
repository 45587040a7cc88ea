// Calls, as LowerCall.cpp and LowerMath.cpp emit them.
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/Limits.h"

#include <utility>

using namespace tile;
using llvm::ArrayRef;
using llvm::dyn_cast;
using llvm::StringRef;

SemValue CallTypes::evalCall(const ast::CallExpr &expr) {
  if (auto *member = dyn_cast<ast::MemberExpr>(expr.callee.get())) {
    if (body.foreign.isForeignMember(*member))
      return body.foreign.reportPrefixed(*member, &expr);
    if (body.foreign.reportMethod(expr, *member))
      return SemValue::error();
  }
  SemValue callee = body.eval(*expr.callee);
  if (callee.isError())
    return callee;
  if (!callee.isFunction()) {
    body.foreign.reportUncallable(expr, callee);
    return SemValue::error();
  }
  const FunctionValue &function = *callee.function;
  if (function.builtin && function.builtin->family == Builtin::Family::Access)
    return body.accesses.callAccess(*function.builtin, expr);
  std::vector<Arg> args;
  bool failed = false;
  for (const ast::Argument &argument : expr.arguments) {
    args.push_back({body.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    failed = failed || args.back().value.isError();
  }
  if (failed)
    return SemValue::error();
  return function.decl ? callFunction(function, std::move(args), expr.range)
                       : callBuiltin(*function.builtin, std::move(args), expr.range);
}

//===--- Functions --------------------------------------------------------===//

/// In the frame of the call. False after an error.
bool CallTypes::declareParameters(const FunctionValue &function, ArrayRef<const Arg *> chosen,
                                  Range range) {
  const ast::FnDecl &decl = *function.decl;
  bool valid = true;
  for (size_t i = 0; i < decl.statics.size(); ++i) {
    const ast::StaticParam &param = decl.statics[i];
    SemValue value;
    if (i < function.statics.size())
      value = function.statics[i];
    else if (param.defaultValue)
      value = body.eval(*param.defaultValue);
    else
      return !body.undecided().isError();
    valid = valid && !value.isError() && body.checkKind(param, value, range);
    if (valid && param.set && !body.isInSet(value, *param.set, range))
      valid = false;
    here.declare(param.name, value);
  }
  for (size_t i = 0; valid && i < decl.params.size(); ++i) {
    const ast::FnParam &param = decl.params[i];
    SemValue value = chosen[i] ? chosen[i]->value : body.eval(*param.defaultValue);
    if (param.type && !value.isError())
      value = body.convertToDeclared(value, *param.type,
                                     chosen[i] ? chosen[i]->range : param.defaultValue->range);
    valid = !value.isError();
    here.declare(param.name, value);
  }
  return valid;
}

/// Whatever way it is left, the context is as before.
SemValue CallTypes::callFunction(const FunctionValue &function, std::vector<Arg> args,
                                 Range range) {
  const ast::FnDecl &decl = *function.decl;
  if (body.operands.refuseRecursion(decl, range))
    return SemValue::error();
  if (here.calls.size() >= limits::callDepth || ++inlinedCalls > limits::inlinedCalls)
    return body.undecided();
  std::optional<std::vector<const Arg *>> chosen = body.operands.matchArguments(decl, args, range);
  if (!chosen)
    return SemValue::error();
  here.frames.push_back({Scope()});
  const Module *outer = std::exchange(here.scope, &here.modules.get(decl.range.file));
  auto outerEnded = std::exchange(here.ended, {});
  here.calls.push_back({&decl, range});
  SemValue result;
  if (declareParameters(function, *chosen, range)) {
    unsigned errors = here.reported;
    Ways ways = body.statements.checkStatements(decl.body.statements);
    result = ways.returns ? ways.value : SemValue::ofVoid();
    bool hasValue = result.kind != SemValue::Kind::Void;
    if (ways.falls && hasValue && !result.isError())
      result = here.reported == errors ? body.undecided() : SemValue::error();
    else if (here.reported != errors && !hasValue)
      result = SemValue::error(); // a `return` may stand where there was an error
  }
  here.calls.pop_back();
  here.ended = std::move(outerEnded);
  here.scope = outer;
  here.frames.pop_back();
  return result;
}

//===--- Built-ins --------------------------------------------------------===//

SemValue CallTypes::callBuiltin(const Builtin &builtin, std::vector<Arg> args, Range range) {
  using Family = Builtin::Family;
  if (!body.checkBuiltinArguments(builtin, args, range))
    return SemValue::error();
  if (builtin.family <= Family::MinMax && !body.listsToTiles(args))
    return SemValue::error();
  switch (builtin.family) {
  case Family::Unary:
    return callUnary(builtin, args, range);
  case Family::Binary:
  case Family::Element:
    return callElement(builtin, args, range);
  case Family::Reduce:
    return body.tiles.callReduce(builtin, args);
  case Family::MinMax: {
    bool isElementWise = args.size() >= 2 && args[1].name.empty();
    if (isElementWise && args.size() > 2)
      return body.undecided();
    return isElementWise ? callElement(builtin, args, range) : body.tiles.callReduce(builtin, args);
  }
  case Family::Shape:
    return body.tiles.callShape(builtin, args);
  case Family::Scan:
    return body.tiles.callScan(builtin, args, range);
  case Family::Join:
    return body.tiles.callJoin(builtin, args, range);
  case Family::Order:
    return body.tiles.callOrder(builtin, args, range);
  case Family::Random:
    return body.tiles.callRandom(builtin, args, range);
  case Family::Range:
    return body.tiles.callRange(builtin, args, range);
  case Family::Other:
    return body.tiles.callOther(builtin, args, range);
  case Family::Debug:
    return callDebug(builtin, args, range);
  case Family::Access:
  case Family::Later:
    break;
  }
  return body.undecided();
}

/// A call whose arguments are all numbers gives one; none where it is not folded.
static std::optional<SemValue> fold(KernelContext &here, StringRef name, ArrayRef<Arg> args,
                                    Range range) {
  std::vector<Number> numbers;
  for (const Arg &arg : args) {
    if (!arg.value.isNumber())
      return std::nullopt;
    numbers.push_back(arg.value.number);
  }
  std::string why;
  if (std::optional<Number> result = foldCall(name, numbers, why))
    return SemValue::of(*result);
  if (why.empty())
    return std::nullopt;
  here.error(diag::constantArithmetic, range, why);
  return SemValue::error();
}

SemValue CallTypes::callUnary(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  if (std::optional<SemValue> folded = fold(here, builtin.name, args, range))
    return *folded;
  Arg &arg = args[0];
  std::string what = ("'" + StringRef(builtin.name) + "'").str();
  if (!arg.value.isNumeric()) {
    here.error(diag::wrongOperand, arg.range, what, "a number or tile", describe(arg.value));
    return SemValue::error();
  }
  if (arg.value.isInt())
    arg.value = SemValue::ofFloat(toDouble(arg.value.number));
  SemValue value = body.toData(arg.value, arg.range);
  if (value.isError() || body.operands.refuseStorage(value.dtype, arg.range, what))
    return SemValue::error();
  if (!isFloat(value.dtype)) {
    DiagnosticBuilder report =
        here.error(diag::needsFloat, arg.range, builtin.name, describe(arg.value));
    if (isInteger(value.dtype))
      body.foreign.addConversion(report, arg.range, DType::F32);
    return SemValue::error();
  }
  return body.data(resultOf(builtin.name, value.dtype), value.shape());
}

SemValue CallTypes::callElement(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "identity")
    return args[0].value;
  if (name == "where")
    return callWhere(args, range);
  if (std::optional<SemValue> folded = fold(here, name, args, range))
    return *folded;
  if (name == "pow")
    for (Arg &arg : args)
      if (arg.value.isInt())
        arg.value = SemValue::ofFloat(toDouble(arg.value.number));
  std::string what = ("'" + name + "'").str();
  if (!body.unifyDtypes(args, what, range))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  auto takesDtype = [&] {
    return !body.operands.refuseStorage(dtype, range, what) &&
           !body.operands.refuseDtype(name, dtype, range);
  };
  // Of two mistakes one is reported, and which depends on the family.
  bool meets = builtin.family == Builtin::Family::Element
                   ? body.unifyShapes(args, range) && takesDtype()
                   : takesDtype() && body.unifyShapes(args, range);
  return meets ? body.data(resultOf(name, dtype), args[0].value.shape()) : SemValue::error();
}

SemValue CallTypes::callWhere(std::vector<Arg> &args, Range range) {
  SemValue &condition = args[0].value;
  bool isBool = condition.isBoolNumber() || (condition.isData() && condition.dtype == DType::Bool);
  if (!isBool)
    return body.undecided();
  if (condition.isBoolNumber() && args[1].value.isNumber() && args[2].value.isNumber())
    return args[condition.getBool() ? 1 : 2].value;
  if (!body.unifyDtypes(llvm::MutableArrayRef(args).drop_front(), "'where'", range))
    return SemValue::error();
  condition = body.data(DType::Bool, condition.shape());
  return body.unifyShapes(args, range) ? body.data(args[1].value.dtype, args[1].value.shape())
                                       : SemValue::error();
}

SemValue CallTypes::callDebug(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  ++body.effects;
  if (name == "print") {
    std::vector<Arg> tiles;
    for (const Arg &arg : args) {
      if (arg.value.isData() && arg.value.rank())
        tiles.push_back(arg);
      else if (arg.value.kind != SemValue::Kind::String && !arg.value.isNumeric())
        return body.undecided();
    }
    return tiles.empty() || body.unifyShapes(tiles, range) ? SemValue::ofVoid() : SemValue::error();
  }
  const SemValue &condition = args[0].value;
  bool isBool = condition.isBoolNumber() || (condition.isData() && condition.dtype == DType::Bool);
  bool hasMessage = args.size() < 2 || args[1].value.kind == SemValue::Kind::String;
  return name == "assert" && isBool && hasMessage ? SemValue::ofVoid() : body.undecided();
}
