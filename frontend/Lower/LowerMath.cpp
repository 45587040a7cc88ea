// Element-wise built-ins.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/TypeRules.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;

/// Folds a call whose arguments are all numbers.
/// None with an empty `why`: some argument is no number, or the function is not folded.
static std::optional<SemValue> foldNumbers(StringRef name, const std::vector<Arg> &args,
                                           std::string &why) {
  std::vector<Number> numbers;
  for (const Arg &arg : args) {
    if (!arg.value.isNumber())
      return std::nullopt;
    numbers.push_back(arg.value.number);
  }
  if (std::optional<Number> result = foldCall(name, numbers, why))
    return SemValue::of(*result);
  return std::nullopt;
}

SemValue ElementCalls::callUnary(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  std::string why;
  if (std::optional<SemValue> folded = foldNumbers(name, args, why))
    return *folded;
  if (!why.empty()) {
    here.error(diag::constantArithmetic, range, why);
    return SemValue::error();
  }
  Arg &arg = args[0];
  if (!arg.value.isNumeric()) {
    here.error(diag::wrongOperand, arg.range, ("'" + name + "'").str(), "a number or tile",
               describe(arg.value));
    return SemValue::error();
  }
  // `exp(2)`: an integer number becomes a float where only floats make sense.
  if (arg.value.isInt())
    arg.value = SemValue::ofFloat(toDouble(arg.value.number));
  SemValue data = conversions.toData(arg.value, arg.range);
  if (data.isError() || conversions.refuseStorage(data.dtype, arg.range, "'" + name + "'"))
    return SemValue::error();
  mlir::Value x = ssaOf(data);
  DType dtype = data.dtype;
  if (!isFloat(dtype)) {
    DiagnosticBuilder report = here.error(diag::needsFloat, arg.range, name, describe(arg.value));
    if (isInteger(dtype))
      foreign.addConversion(report, arg.range, DType::F32);
    return SemValue::error();
  }
  Location location = emitter.loc(range);
  auto compare = [&](arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return ofData(builder.createOrFold<arith::CmpFOp>(location, predicate, a, b),
                  resultOf(name, dtype));
  };
  if (name == "isnan")
    return compare(arith::CmpFPredicate::UNO, x, x);
  if (name == "isinf" || name == "isfinite") {
    mlir::Value magnitude = builder.createOrFold<math::AbsFOp>(location, x);
    mlir::Value infinity =
        emitter.constantLike(x.getType(), std::numeric_limits<double>::infinity(), location);
    return compare(name == "isinf" ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::OLT,
                   magnitude, infinity);
  }
  if (name == "sigmoid") {
    // 16-bit floats are computed in f32 and rounded once.
    bool isSmall = bitWidth(dtype) == 16;
    mlir::Value wide = isSmall ? emitter.emitCast(x, dtype, DType::F32, location) : x;
    mlir::Value one = emitter.constantLike(wide.getType(), 1, location);
    mlir::Value power = builder.createOrFold<math::ExpOp>(
        location, builder.createOrFold<arith::NegFOp>(location, wide));
    mlir::Value result = builder.createOrFold<arith::DivFOp>(
        location, one, builder.createOrFold<arith::AddFOp>(location, one, power));
    return ofData(isSmall ? emitter.emitCast(result, DType::F32, dtype, location) : result, dtype);
  }
  using Emit = mlir::Value (*)(OpBuilder &, Location, mlir::Value);
#define TILE_MATH(Op)                                                                              \
  [](OpBuilder &b, Location l, mlir::Value v) -> mlir::Value {                                     \
    return b.createOrFold<math::Op>(l, v);                                                         \
  }
  Emit emit = llvm::StringSwitch<Emit>(name)
                  .Case("exp", TILE_MATH(ExpOp))
                  .Case("exp2", TILE_MATH(Exp2Op))
                  .Case("expm1", TILE_MATH(ExpM1Op))
                  .Case("log", TILE_MATH(LogOp))
                  .Case("log2", TILE_MATH(Log2Op))
                  .Case("log1p", TILE_MATH(Log1pOp))
                  .Case("sqrt", TILE_MATH(SqrtOp))
                  .Case("rsqrt", TILE_MATH(RsqrtOp))
                  .Case("sin", TILE_MATH(SinOp))
                  .Case("cos", TILE_MATH(CosOp))
                  .Case("tan", TILE_MATH(TanOp))
                  .Case("tanh", TILE_MATH(TanhOp))
                  .Case("erf", TILE_MATH(ErfOp))
                  .Case("floor", TILE_MATH(FloorOp))
                  .Case("ceil", TILE_MATH(CeilOp))
                  .Case("round", TILE_MATH(RoundEvenOp))
                  .Case("trunc", TILE_MATH(TruncOp))
                  .Default(nullptr);
#undef TILE_MATH
  return emit ? ofData(emit(builder, location, x), dtype)
              : here.reportUnsupported(range, "the built-in '" + name + "'");
}

SemValue ElementCalls::callBinary(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  std::string why;
  if (std::optional<SemValue> folded = foldNumbers(name, args, why))
    return *folded;
  if (!why.empty()) {
    here.error(diag::constantArithmetic, range, why);
    return SemValue::error();
  }
  if (name == "pow")
    for (Arg &arg : args)
      if (arg.value.isInt())
        arg.value = SemValue::ofFloat(toDouble(arg.value.number));
  if (!conversions.unifyDtypes(args, "'" + name + "'", range))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  if (conversions.refuseStorage(dtype, range, "'" + name + "'"))
    return SemValue::error();
  bool floats = isFloat(dtype);
  if (operands.refuseDtype(name, dtype, range))
    return SemValue::error();
  if (!conversions.unifyShapes(args, range))
    return SemValue::error();
  mlir::Value a = ssaOf(args[0].value), b = ssaOf(args[1].value);
  Location location = emitter.loc(range);
  mlir::Value result;
  if ((name == "minnum" || name == "maxnum") && floats) {
    // arith.minnumf leaves the sign of a zero open, so that it differs between a loop's vector part
    // and its rest.
    auto isNan = [&](mlir::Value x) {
      return builder.createOrFold<arith::CmpFOp>(location, arith::CmpFPredicate::UNO, x, x);
    };
    result = emitter.emitMinMax(name == "maxnum", a, b, dtype, location);
    result = builder.createOrFold<arith::SelectOp>(location, isNan(b), a, result);
    result = builder.createOrFold<arith::SelectOp>(location, isNan(a), b, result);
  } else if (name.starts_with("min") || name.starts_with("max"))
    result = emitter.emitMinMax(name.starts_with("max"), a, b, dtype, location);
  else if (name == "pow")
    result = builder.createOrFold<math::PowFOp>(location, a, b);
  else if (name == "cdiv")
    result = emitter.emitCeilDivision(a, b, dtype, location);
  else
    result = emitter.emitMulHigh(a, b, dtype, location);
  return ofData(result, dtype);
}

SemValue ElementCalls::callElement(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  // The name of no operation: a parameter `ACT: fn = identity` needs one.
  if (name == "identity")
    return args[0].value;
  if (name == "where")
    return callWhere(args, range);
  std::string why;
  if (std::optional<SemValue> folded = foldNumbers(name, args, why))
    return *folded;
  if (!why.empty()) {
    here.error(diag::constantArithmetic, range, why);
    return SemValue::error();
  }
  if (!conversions.unifyDtypes(args, "'" + name + "'", range) ||
      !conversions.unifyShapes(args, range))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  if (conversions.refuseStorage(dtype, range, "'" + name + "'"))
    return SemValue::error();
  mlir::Value x = ssaOf(args[0].value);
  Type type = x.getType();
  Location location = emitter.loc(range);
  bool floats = isFloat(dtype), integers = isInteger(dtype);
  if (operands.refuseDtype(name, dtype, range))
    return SemValue::error();
  if (name == "abs") {
    if (isUnsigned(dtype))
      return args[0].value;
    if (floats)
      return ofData(builder.createOrFold<math::AbsFOp>(location, x), dtype);
    mlir::Value negative =
        builder.createOrFold<arith::SubIOp>(location, emitter.constantLike(type, 0, location), x);
    return ofData(builder.createOrFold<arith::MaxSIOp>(location, x, negative),
                  dtype); // the lowest stays itself
  }
  if (name == "sign") {
    mlir::Value zero = emitter.constantLike(type, 0, location),
                one = emitter.constantLike(type, 1, location),
                minus = emitter.constantLike(type, -1, location);
    if (integers) {
      mlir::Value raised =
          isUnsigned(dtype) ? x : builder.createOrFold<arith::MaxSIOp>(location, x, minus);
      return ofData(emitter.emitMinMax(/*isMax=*/false, raised, one, dtype, location), dtype);
    }
    mlir::Value positive = emitter.emitBinary(BinaryOp::gt, x, zero, dtype, location),
                negative = emitter.emitBinary(BinaryOp::lt, x, zero, dtype, location);
    mlir::Value inner =
        builder.createOrFold<arith::SelectOp>(location, negative, minus, x); // zeros and NaN stay
    return ofData(builder.createOrFold<arith::SelectOp>(location, positive, one, inner), dtype);
  }
  if (name == "clamp") {
    std::vector<Arg> inner = {args[0], args[1]};
    SemValue raised = callBinary(*findBuiltin("max"), inner, range);
    std::vector<Arg> outer = {{raised, range, ""}, args[2]};
    return callBinary(*findBuiltin("min"), outer, range);
  }
  if (name == "fma")
    return ofData(
        builder.createOrFold<math::FmaOp>(location, x, ssaOf(args[1].value), ssaOf(args[2].value)),
        dtype);
  if (name == "next_pow2")
    return ofData(emitter.emitNextPow2(x, dtype, location), dtype);
  bool isIndex = dtype == DType::Index;
  if (isIndex)
    x = emitter.emitCast(x, dtype, DType::I64, location);
  mlir::Value counted = name == "clz" ? builder.createOrFold<math::CountLeadingZerosOp>(location, x)
                                      : builder.createOrFold<math::CtPopOp>(location, x);
  return ofData(isIndex ? emitter.emitCast(counted, DType::I64, dtype, location) : counted, dtype);
}

SemValue ElementCalls::callWhere(std::vector<Arg> &args, Range range) {
  SemValue &condition = args[0].value;
  bool isBool = condition.isBoolNumber() || (condition.isData() && condition.dtype == DType::Bool);
  if (!isBool) {
    here.error(diag::wrongOperand, args[0].range, "the condition of 'where'", "a bool",
               describe(condition));
    return SemValue::error();
  }
  // All at compile time: the result stays a number.
  if (condition.isBoolNumber() && args[1].value.isNumber() && args[2].value.isNumber())
    return args[condition.getBool() ? 1 : 2].value;
  if (!conversions.unifyDtypes(MutableArrayRef(args).drop_front(), "'where'", range))
    return SemValue::error();
  // Both values are still checked and brought to one type, so that the result has the same type
  // whichever is taken.
  bool known = condition.isBoolNumber(), taken = known && condition.getBool();
  condition = ofData(conversions.toDtype(condition, DType::Bool, args[0].range), DType::Bool);
  if (!conversions.unifyShapes(args, range))
    return SemValue::error();
  if (known)
    return args[taken ? 1 : 2].value;
  return ofData(builder.createOrFold<arith::SelectOp>(emitter.loc(range), ssaOf(condition),
                                                      ssaOf(args[1].value), ssaOf(args[2].value)),
                args[1].value.dtype);
}
