// Calls: user functions are inlined by walking their body; built-ins are dispatched by family.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/AccessRules.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Sema/Words.h"

#include <utility>

using namespace mlir;
using namespace tile;

/// All arguments are evaluated before the first error ends the call: each mistake is reported.
SemValue Calls::evalCall(const ast::CallExpr &expr) {
  if (auto *member = dyn_cast<ast::MemberExpr>(expr.callee.get())) {
    if (foreign.isForeignMember(*member))
      return foreign.reportPrefixed(*member, &expr);
    if (foreign.reportMethod(expr, *member))
      return SemValue::error();
  }
  SemValue callee = expressions.eval(*expr.callee);
  if (callee.isError())
    return callee;
  if (!callee.isFunction()) {
    foreign.reportUncallable(expr, callee);
    return SemValue::error();
  }
  const FunctionValue &function = *callee.function;
  if (function.builtin && function.builtin->family == Builtin::Family::Access)
    return callAccessForm(*function.builtin, expr);
  std::vector<Arg> args;
  bool failed = false;
  for (const ast::Argument &argument : expr.arguments) {
    args.push_back({expressions.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    failed = failed || args.back().value.isError();
  }
  if (failed)
    return SemValue::error();
  return function.decl ? callFunction(function, std::move(args), expr.range)
                       : callBuiltin(*function.builtin, &expr, std::move(args), expr.range);
}

/// Inlined: the body is walked with the parameters bound to the arguments' values, once for each
/// call. Whatever way this function is left behind the push of the frame, frames, scope, calls and
/// `ended` are as before.
SemValue Calls::callFunction(const FunctionValue &function, std::vector<Arg> args, Range range) {
  const ast::FnDecl &decl = *function.decl;
  if (operands.refuseRecursion(decl, range))
    return SemValue::error();
  constexpr size_t maxDepth = limits::callDepth, maxInlined = limits::inlinedCalls;
  if (here.calls.size() >= maxDepth || ++inlinedCalls > maxInlined) {
    // Said once: the calls that follow are silent.
    if (here.calls.size() >= maxDepth || inlinedCalls == maxInlined + 1)
      here.error(diag::tooManyCalls, range,
                 here.calls.size() >= maxDepth
                     ? "calls are nested more than 100 deep"
                     : "more than 10000 calls are inlined into one kernel");
    return SemValue::error();
  }
  std::optional<std::vector<const Arg *>> matched = operands.matchArguments(decl, args, range);
  if (!matched)
    return SemValue::error();
  const std::vector<const Arg *> &chosen = *matched;
  // A frame of its own: a function sees its parameters and the names of its file.
  here.frames.push_back({Scope()});
  const Module *outer = std::exchange(here.scope, &modules.get(decl.range.file));
  // Names that ended in the caller are none of the function's.
  auto outerEnded = std::exchange(here.ended, {});
  here.calls.push_back({&decl, range});
  SemValue result;
  bool valid = true;
  for (auto [i, param] : llvm::enumerate(decl.statics)) {
    SemValue value;
    if (i < function.statics.size())
      value = function.statics[i];
    else if (param.defaultValue)
      value = expressions.eval(*param.defaultValue);
    else
      here.error(diag::noValue, range, param.name.text, decl.name.text)
          .note(param.range, "declared here")
          .note("give it in brackets at the call, as in `" + decl.name.text + "[3](...)`");
    valid = valid && !value.isError() && expressions.checkKind(param, value, range);
    if (valid && param.set && !expressions.isInSet(value, *param.set, range))
      valid = false;
    here.declare(param.name, value);
  }
  for (size_t i = 0; valid && i < decl.params.size(); ++i) {
    const ast::FnParam &param = decl.params[i];
    // A default sees the compile-time parameters and the parameters before it.
    SemValue value = chosen[i] ? chosen[i]->value : expressions.eval(*param.defaultValue);
    if (param.type && !value.isError())
      value = expressions.convertToDeclared(
          value, *param.type, chosen[i] ? chosen[i]->range : param.defaultValue->range);
    valid = !value.isError();
    here.declare(decl.params[i].name, value);
  }
  if (valid) {
    unsigned errors = here.reported;
    // Whether a statement stands directly in the kernel's body decides if its loop may be split: a
    // call there counts as such a place.
    bool stands = control.standsInKernel;
    Flow flow = control.lowerStatements(decl.body.statements, FlowNeeds(), stands);
    control.standsInKernel = stands;
    result = flow.returns ? flow.value : SemValue::ofVoid();
    // A value on one way and none on another: the caller could not tell.
    if (flow.falls && result.kind != SemValue::Kind::Void && !result.isError()) {
      if (here.reported == errors)
        here.error(diag::badReturn, decl.name.range,
                   "'" + decl.name.text + "' does not return a value on every way through it")
            .note(flow.valueRange, "here it returns one")
            .note("end it with a `return`, too");
      result = SemValue::error();
    } else if (here.reported != errors && result.kind == SemValue::Kind::Void) {
      result = SemValue::error(); // a `return` may stand where there was an error
    }
  }
  here.calls.pop_back();
  here.ended = std::move(outerEnded);
  here.scope = outer;
  here.frames.pop_back();
  return result;
}

SemValue Calls::callBuiltin(const Builtin &builtin, const ast::CallExpr *expr,
                            std::vector<Arg> args, Range range) {
  if (!expressions.checkBuiltinArguments(builtin, args, range))
    return SemValue::error();
  bool takesTiles = builtin.family <= Builtin::Family::MinMax;
  if (takesTiles && !tables.listsToTiles(args))
    return SemValue::error();
  switch (builtin.family) {
  case Builtin::Family::Unary:
    return elementCalls.callUnary(builtin, args, range);
  case Builtin::Family::Binary:
    return elementCalls.callBinary(builtin, args, range);
  case Builtin::Family::Element:
    return elementCalls.callElement(builtin, args, range);
  case Builtin::Family::Reduce:
    return tileCalls.callReduce(builtin, args, range);
  case Builtin::Family::MinMax: {
    bool elementWise = args.size() >= 2 && args[1].name.empty();
    if (elementWise && args.size() > 2) {
      here.error(diag::argumentCount, range, builtin.name,
                 "2 arguments, or 1 with axis: and keep:", args.size());
      return SemValue::error();
    }
    return elementWise ? elementCalls.callBinary(builtin, args, range)
                       : tileCalls.callReduce(builtin, args, range);
  }
  case Builtin::Family::Shape:
    return tileCalls.callShape(builtin, args, range);
  case Builtin::Family::Scan:
    return scanCalls.callScan(builtin, args, range);
  case Builtin::Family::Join:
    return joinCalls.callJoin(builtin, args, range);
  case Builtin::Family::Order:
    return orderCalls.callOrder(builtin, args, range);
  case Builtin::Family::Random:
    return randomCalls.callRandom(builtin, args, range);
  case Builtin::Family::Range:
    return tileCalls.callRange(builtin, args, range);
  case Builtin::Family::Other:
    return tileCalls.callOther(builtin, args, range);
  case Builtin::Family::Access:
    here.error(diag::needsAccess, range, builtin.name);
    return SemValue::error();
  case Builtin::Family::Debug:
    return debugCalls.callDebug(builtin, args, range);
  case Builtin::Family::Later:
    break;
  }
  return here.reportUnsupported(range, "the built-in '" + Twine(builtin.name) + "'");
}

/// load(x[…], pad:, mask:, cache:), store(x[…], v, mask:, cache:), inside(x[…]), gather and
/// scatter, which are load and store with tiles of positions, and the atomics.
SemValue Calls::callAccessForm(const Builtin &builtin, const ast::CallExpr &expr) {
  if (expr.arguments.empty() || expr.arguments[0].name) {
    here.error(diag::needsAccess, expr.range, builtin.name);
    return SemValue::error();
  }
  StringRef name = builtin.name;
  bool isAtomic = name.starts_with("atomic_");
  std::optional<AccessSpec> access = accesses.evalAccessArgument(
      *expr.arguments[0].value, name, isAtomic || name == "gather" || name == "scatter");
  if (!access)
    return SemValue::error();
  std::vector<Arg> args = {{SemValue::ofVoid(), expr.arguments[0].value->range, ""}};
  for (size_t i = 1; i < expr.arguments.size(); ++i) {
    const ast::Argument &argument = expr.arguments[i];
    args.push_back({expressions.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    if (args.back().value.isError())
      return SemValue::error();
  }
  if (!expressions.checkBuiltinArguments(builtin, args, expr.range))
    return SemValue::error();
  mlir::Value pad, mask;
  StringAttr cache;
  for (const Arg &arg : args) {
    if (arg.name == "pad") {
      if (arg.value.rank() != 0) {
        here.error(diag::wrongOperand, arg.range, "pad:", "a scalar", describe(arg.value));
        return SemValue::error();
      }
      pad = conversions.toDtype(arg.value, access->view->dtype, arg.range);
      if (!pad)
        return SemValue::error();
    } else if (arg.name == "mask") {
      bool isBool =
          arg.value.isBoolNumber() || (arg.value.isData() && arg.value.dtype == DType::Bool);
      if (!isBool) {
        here.error(diag::wrongOperand, arg.range, "mask:", "a bool tile", describe(arg.value));
        return SemValue::error();
      }
      mask = conversions.toDtype(arg.value, DType::Bool, arg.range);
      // A mask may have fewer dimensions than the access, but not make it larger.
      Type wanted = accesses.accessType(*access, DType::Bool);
      Arg pair[] = {{ofData(emitter.constantLike(wanted, 1, emitter.loc(arg.range)), DType::Bool),
                     access->range, ""},
                    {ofData(mask, DType::Bool), arg.range, ""}};
      if (!conversions.unifyShapes(pair, arg.range))
        return SemValue::error();
      mask = ssaOf(pair[1].value);
      if (mask.getType() != wanted) {
        here.error(diag::shapeMismatch, arg.range, describeShape(access->shape),
                   describeShape(pair[1].value.shape()))
            .secondary(access->range, "the access has the shape " + describeShape(access->shape));
        return SemValue::error();
      }
    } else if (arg.name == "cache") {
      std::optional<size_t> word = findWord(arg.value, cacheHints);
      if (!word) {
        here.error(diag::wrongOperand, arg.range, "cache:", "\"default\", \"keep\" or \"stream\"",
                   describe(arg.value));
        return SemValue::error();
      }
      if (*word) // the first leaves it to the machine
        cache = builder.getStringAttr(cacheHints[*word]);
    }
  }
  if (isAtomic)
    return accesses.emitAtomic(builtin, *access, args, mask);
  if (name == "load" || name == "gather")
    return accesses.emitLoad(*access, pad, mask, cache);
  if (name == "store" || name == "scatter")
    return accesses.emitStore(*access, args[1], mask, cache) ? SemValue::ofVoid()
                                                             : SemValue::error();
  return ofData(InsideOp::create(builder, emitter.loc(expr.range),
                                 accesses.accessType(*access, DType::Bool), access->view->ssa,
                                 access->starts, access->ends,
                                 builder.getDenseI64ArrayAttr(access->sizes),
                                 builder.getDenseI64ArrayAttr(access->steps),
                                 builder.getDenseBoolArrayAttr(access->hasEnd),
                                 builder.getDenseBoolArrayAttr(access->inBounds)),
                DType::Bool);
}
