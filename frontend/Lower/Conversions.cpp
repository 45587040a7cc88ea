// Conversions of operands: to a dtype, to one dtype and shape with others.
//
//   1.5 * x, x of f16     a number has no dtype: it takes that of what it meets, if it fits
//   let y = 1.5           alone it becomes f32, an integer index (toData)
//   i32 + index           widens to index, since nothing is lost
//   f16 * f32             refused, with a note: `as` converts
//
// Each function returns a null value, an error value or false after it has reported the reason.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/TypeRules.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace tile;

bool Conversions::refuseStorage(DType dtype, Range range, const Twine &what) {
  if (!isStorage(dtype))
    return false;
  StringRef name = dtypeSpelling(dtype);
  here.error(diag::storageDtype, range, what.str(), name)
      .note("convert it first: `x as " + Twine(isFloat8(dtype) ? "f32" : "i32") + "`");
  return true;
}

/// `value` rounded once to the nearest even of `type`; 8-bit floats saturate to finite.
/// Once: a number in the source has the precision of a double, and rounding it to f32 first would
/// round f16 twice.
static llvm::APFloat roundTo(llvm::APFloat value, FloatType type) {
  if (type.getWidth() == 8)
    return roundToFloat8(value, type.getFloatSemantics());
  bool losesInfo;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

mlir::Value Conversions::toDtype(const SemValue &value, DType dtype, Range range) {
  if (value.isError())
    return {};
  if (value.isData()) {
    if (widensTo(value.dtype, dtype))
      return emitter.emitCast(ssaOf(value), value.dtype, dtype, emitter.loc(range));
    DiagnosticBuilder report =
        here.error(diag::dtypeMismatch, range, "this", dtypeSpelling(dtype), describe(value));
    report.note("convert it with `as " + dtypeSpelling(dtype) + "`");
    return {};
  }
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = tables.listToTile(value, dtype, range);
    return tile.isError() ? mlir::Value() : ssaOf(tile);
  }
  if (!value.isNumber()) {
    here.error(diag::wrongOperand, range, "this",
               "a number or tile of " + dtypeSpelling(dtype).str(), describe(value));
    return {};
  }
  if (!fitsDtype(value.number, dtype)) {
    here.error(diag::valueDoesNotFit, range, describe(value), dtypeSpelling(dtype));
    return {};
  }
  Location location = emitter.loc(range);
  Type type = toType(dtype, context);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat number(floatType.getFloatSemantics());
    if (value.isInt())
      number.convertFromAPInt(APInt(64, uint64_t(value.getInt()), true), true,
                              llvm::APFloat::rmNearestTiesToEven);
    else
      number = roundTo(llvm::APFloat(std::get<double>(value.number)), floatType);
    return emitter.constant(FloatAttr::get(floatType, number), location);
  }
  int64_t integer = value.isInt() ? value.getInt() : value.getBool();
  return emitter.constant(
      IntegerAttr::get(type, APInt(64, uint64_t(integer), true).trunc(bitWidth(dtype))), location);
}

SemValue Conversions::toData(const SemValue &value, Range range) {
  if (value.isData() || value.isError())
    return value;
  if (value.kind == SemValue::Kind::List)
    return tables.listToTile(value, std::nullopt, range);
  DType dtype = dtypeOfNumber(value);
  mlir::Value data = toDtype(value, dtype, range);
  return data ? ofData(data, dtype) : SemValue::error();
}

mlir::Value Conversions::toIndex(const SemValue &value, Range range, const Twine &what) {
  if (value.isError())
    return {};
  bool valid = value.isInt() || (value.isData() && value.rank() == 0 && widensToIndex(value.dtype));
  if (valid)
    return toDtype(value, DType::Index, range);
  DiagnosticBuilder report =
      here.error(diag::wrongOperand, range, what.str(), "an integer scalar", describe(value));
  if (value.isData() && value.dtype == DType::U64)
    report.note("u64 does not widen to index, which has a sign: convert it with `as index`");
  return {};
}

/// The usual cause of an index that meets a float: `var s = 0;`. Only for a literal in decimal, as
/// ".0" is put behind its text.
bool Conversions::addVarFix(DiagnosticBuilder &report, const Arg &arg, DType wanted) {
  Binding *variable = here.findLocal(sources.text(arg.range));
  if (!variable || !variable->isVar || !variable->initial ||
      !isa<ast::IntLiteral>(variable->initial))
    return false;
  std::string name = sources.text(arg.range).str(),
              value = sources.text(variable->initial->range).str() + ".0";
  if (!llvm::all_of(StringRef(value).drop_back(2), llvm::isDigit)) // 0x10, 1_000
    return false;
  if (wanted != DType::F32)
    value += " as " + dtypeSpelling(wanted).str();
  report.note(variable->declared, "'" + name + "' began as an integer, which makes it an index")
      .fixIt(variable->initial->range, value, "begin with a float");
  return true;
}

bool Conversions::unifyDtypes(MutableArrayRef<Arg> args, const Twine &what, Range range) {
  using Problem = CommonDtype::Problem;
  CommonDtype common = findCommonDtype(args);
  if (common.problem == Problem::Reported)
    return false;
  const Arg &first = args[common.first], &arg = args[common.second];
  if (common.problem == Problem::NotNumeric) {
    here.error(diag::wrongOperand, arg.range, what.str(), "numbers or tiles", describe(arg.value));
    return false;
  }
  if (common.problem == Problem::Differ) {
    DType a = first.value.dtype, b = arg.value.dtype;
    DiagnosticBuilder report =
        here.error(diag::dtypeMismatch, range, what.str(), dtypeSpelling(a), dtypeSpelling(b));
    report.secondary(first.range, describe(first.value)).secondary(arg.range, describe(arg.value));
    // Which one a fix converts to: the float of both, else the wider one.
    DType better = isFloat(a) != isFloat(b)     ? (isFloat(a) ? a : b)
                   : bitWidth(a) >= bitWidth(b) ? a
                                                : b;
    const Arg &narrow = first.value.dtype == better ? arg : first;
    StringRef text = sources.text(narrow.range);
    if (narrow.value.dtype == DType::Index && isFloat(better) && addVarFix(report, narrow, better))
      return false;
    bool isTarget = foreign.isAssigned(narrow.range); // of `acc += v`, which cannot be converted
    if (isTarget && isFloat(narrow.value.dtype) && isFloat(better))
      foreign.addAccumulatorFix(report, narrow, better);
    else if (isFloat(narrow.value.dtype) && (text.starts_with("sum(") || text.starts_with("prod(")))
      report.note("convert before it is added up, not the rounded result: `" +
                  text.take_until([](char c) { return c == '('; }) + "(x as " +
                  dtypeSpelling(better) + ")`");
    else if (isFloat(narrow.value.dtype) && text.starts_with("dot("))
      report.note("give the sum to the product, which then adds in its dtype: `dot(a, b, acc)`");
    else if (isFloat(better) && !isTarget)
      foreign.addConversion(report, narrow.range, better);
    else
      report.note("convert one of them with `as " + dtypeSpelling(better) + "`");
    return false;
  }
  if (common.problem == Problem::NotWhole) {
    DiagnosticBuilder report = here.error(diag::valueDoesNotFit, arg.range, describe(arg.value),
                                          dtypeSpelling(common.dtype));
    report.secondary(first.range, describe(first.value));
    if (foreign.isAssigned(first.range) ? !addVarFix(report, first, DType::F32) : false)
      report.note("declare it as a float, as in `var s = 0.0;`");
    else if (!foreign.isAssigned(first.range))
      foreign.addConversion(report, first.range, DType::F32);
    return false;
  }
  for (Arg &each : args) {
    mlir::Value converted = toDtype(each.value, common.dtype, each.range);
    if (!converted)
      return false;
    each.value = ofData(converted, common.dtype);
  }
  return true;
}

/// Scalars count as shape []: they are repeated to any other.
bool Conversions::unifyShapes(MutableArrayRef<Arg> args, Range range) {
  CommonShape common = findCommonShape(args);
  if (!common.shape) {
    size_t other = common.first, i = common.second;
    DiagnosticBuilder report =
        here.error(diag::shapeMismatch, range, describeShape(args[other].value.shape()),
                   describeShape(args[i].value.shape()));
    report.secondary(args[other].range, describe(args[other].value))
        .secondary(args[i].range, describe(args[i].value));
    // A column against a matrix, as in x[m, n] * s[m].
    const Arg &longer = args[other].value.rank() >= args[i].value.rank() ? args[other] : args[i];
    const Arg &shorter = &longer == &args[i] ? args[other] : args[i];
    Shape column(shorter.value.shape()), joined(longer.value.shape());
    column.push_back(1);
    if (shorter.value.rank() < longer.value.rank() && joinShapes(joined, column))
      report.note("shapes are aligned at the right: make the shorter one a column with `" +
                  (sources.text(shorter.range).size() <= 20 ? sources.text(shorter.range).str()
                                                            : std::string("x")) +
                  "[:, None]`");
    return false;
  }
  if (!checkShape(*common.shape, range))
    return false;
  for (Arg &arg : args)
    arg.value =
        ofData(emitter.emitBroadcast(ssaOf(arg.value), *common.shape, emitter.loc(arg.range)),
               arg.value.dtype);
  return true;
}

bool Conversions::checkShape(ArrayRef<int64_t> shape, Range range) {
  switch (problemOf(shape)) {
  case ShapeProblem::None:
    return true;
  case ShapeProblem::Empty:
    here.error(diag::emptyTile, range,
               *llvm::find_if(shape, [](int64_t each) { return each < 1; }));
    return false;
  case ShapeProblem::TooLarge:
    here.error(diag::tileTooLarge, range, describeShape(shape));
    return false;
  }
  return false;
}

SemValue Conversions::castTo(const SemValue &value, DType to, Range range) {
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = tables.listToTile(value, std::nullopt, range);
    return tile.isError() ? tile : castTo(tile, to, range);
  }
  // Folded here, with the rules of the conversion of a value: numbers have no SSA value yet.
  if (value.isNumber()) {
    // A number converts as a value of its own kind: rounded, truncated and saturated like any
    // other.
    Location location = emitter.loc(range);
    if (value.isBoolNumber() || (value.isInt() && isInteger(to))) {
      int64_t integer = value.isInt() ? value.getInt() : value.getBool();
      if (value.isBoolNumber() && to == DType::Bool)
        return ofData(
            emitter.constant(builder.getIntegerAttr(toType(to, context), integer), location), to);
      if (isInteger(to))
        return ofData(emitter.constant(
                          IntegerAttr::get(toType(to, context),
                                           APInt(64, uint64_t(integer), true).trunc(bitWidth(to))),
                          location),
                      to);
    }
    if (auto type = dyn_cast<FloatType>(toType(to, context))) {
      // Every 64-bit integer is exact in 128 bits.
      llvm::APFloat exact(llvm::APFloat::IEEEquad());
      int64_t integer = value.isInt() ? value.getInt() : value.isBoolNumber() ? value.getBool() : 0;
      exact.convertFromAPInt(APInt(64, uint64_t(integer), true), true,
                             llvm::APFloat::rmNearestTiesToEven);
      if (value.isFloatNumber())
        exact = llvm::APFloat(std::get<double>(value.number));
      return ofData(emitter.constant(FloatAttr::get(type, roundTo(exact, type)), location), to);
    }
    if (value.isFloatNumber() && isInteger(to)) {
      unsigned bits = bitWidth(to);
      llvm::APSInt integer(bits, isUnsigned(to));
      bool exact;
      llvm::APFloat number(std::get<double>(value.number));
      if (!number.isNaN())
        number.convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact); // saturates
      return ofData(
          emitter.constant(IntegerAttr::get(toType(to, context), llvm::APInt(integer)), location),
          to);
    }
  }
  if (!isCastable(value, to)) {
    DiagnosticBuilder report = here.error(diag::badCast, range, describe(value), dtypeSpelling(to));
    if (value.isNumeric() && to == DType::Bool)
      report.note("compare instead: `x != 0`");
    else if (value.isNumeric())
      report.note(dtypeSpelling(to) +
                  " is only loaded and converted from, as tensors of it are `in` only");
    return SemValue::error();
  }
  return ofData(emitter.emitCast(ssaOf(value), value.dtype, to, emitter.loc(range)), to);
}

bool Conversions::refuseNone(const SemValue &value, Range range) {
  if (!value.isNone())
    return false;
  DiagnosticBuilder report =
      value.text.empty() ? here.error(diag::wrongOperand, range, "an access", "a tensor", "None")
                         : here.error(diag::droppedParameter, range, value.text);
  if (auto gone = here.dropped.find(value.text); gone != here.dropped.end())
    report.note(gone->second, "it is passed only where this condition holds");
  report.note("use it under a `const if` that has the tensor itself as its condition");
  return true;
}
