// Evaluator: what declarations ask of compile-time values, dtypes, kinds, sets and formats.
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Evaluator.h"
#include "frontend/Sema/Limits.h"

#include "llvm/ADT/APFloat.h"

using namespace llvm;
using namespace tile;

std::optional<DType> Evaluator::resolveDtype(const ast::Ident &name) {
  if (Binding *local = here.findLocal(name.text)) {
    if (local->value.isDtype())
      return local->value.dtype;
    if (!local->value.isError())
      here.error(diag::unknownDtype, name.range, name.text)
          .note(local->declared, "'" + name.text + "' is " + describe(local->value));
    return std::nullopt;
  }
  if (std::optional<DType> dtype = findDtype(name.text))
    return dtype;
  DiagnosticBuilder report = here.error(diag::unknownDtype, name.range, name.text);
  addSuggestion(report, name.range, name.text, dtypeSpellings());
  return std::nullopt;
}

SemValue Evaluator::convertToDeclared(SemValue value, const ast::TypeSpec &type, Range range) {
  if (value.isError())
    return value;
  const std::string &name = type.name.text;
  // `bool` is a kind and a dtype: of a compile-time value it is the kind.
  bool isKind = !here.findLocal(name) &&
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
    here.error(diag::wrongOperand, range, "the declared kind " + name, "a compile-time " + name,
               describe(value));
    return SemValue::error();
  }
  std::optional<DType> dtype = resolveDtype(type.name);
  if (!dtype)
    return SemValue::error();
  return convertToType(std::move(value), type, *dtype, range);
}

const char *tile::describeKind(StringRef kind) {
  return kind == "int"      ? "an integer"
         : kind == "bool"   ? "true or false"
         : kind == "float"  ? "a float"
         : kind == "string" ? "a word"
         : kind == "dtype"  ? "a dtype"
                            : "a function's name";
}

/// Two integers are compared as such, since a double does not hold all of them; beside a float an
/// integer becomes one.
static bool isAtMost(const Number &a, const Number &b) {
  auto *left = std::get_if<int64_t>(&a), *right = std::get_if<int64_t>(&b);
  return left && right ? *left <= *right : toDouble(a) <= toDouble(b);
}

/// Are two compile-time values the same?
bool tile::isSame(const SemValue &a, const SemValue &b) {
  if (a.isNumber() && b.isNumber())
    return a.isBoolNumber() == b.isBoolNumber() && isAtMost(a.number, b.number) &&
           isAtMost(b.number, a.number);
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case SemValue::Kind::String:
    return a.text == b.text;
  case SemValue::Kind::DType:
    return a.dtype == b.dtype;
  case SemValue::Kind::Function:
    return a.function->decl == b.function->decl && a.function->builtin == b.function->builtin;
  default:
    return false;
  }
}

bool Evaluator::checkKind(const ast::StaticParam &param, SemValue &value, Range range) {
  const std::string &kind = param.type.text;
  bool known = kind == "int" || kind == "bool" || kind == "float" || kind == "string" ||
               kind == "dtype" || kind == "fn";
  if (!known) {
    DiagnosticBuilder report = here.error(
        diag::badParameter, param.type.range,
        "a compile-time parameter is of kind int, bool, float, string, dtype or fn, not " + kind);
    addSuggestion(report, param.type.range, kind,
                  {"int", "bool", "float", "string", "dtype", "fn"});
    return false;
  }
  if (value.isError())
    return false;
  bool fits = kind == "int"      ? value.isInt()
              : kind == "bool"   ? value.isBoolNumber()
              : kind == "float"  ? value.isFloatNumber() || value.isInt()
              : kind == "string" ? value.kind == SemValue::Kind::String
              : kind == "dtype"  ? value.isDtype()
                                 : value.isFunction();
  if (!fits) {
    here.error(diag::wrongOperand, range, "'" + param.name.text + "'", describeKind(kind),
               describe(value));
    return false;
  }
  if (kind == "float" && value.isInt())
    value = SemValue::ofFloat(toDouble(value.number));
  return true;
}

std::optional<std::vector<SemValue>> Evaluator::evalSet(const ast::ValueSet &set, Range range) {
  std::vector<SemValue> values;
  if (set.kind == ast::ValueSet::list) {
    for (const ast::ExprPtr &element : set.values) {
      SemValue value = eval(*element);
      if (value.isError())
        return std::nullopt;
      if (!value.isConstant()) {
        here.error(diag::notConstant, element->range, "a member of a set", describe(value));
        return std::nullopt;
      }
      values.push_back(std::move(value));
    }
    return values;
  }
  std::optional<int64_t> lo = evalInt(*set.lo, "the start of a set"),
                         hi = evalInt(*set.hi, "the end of a set"), step = evalStep(set);
  if (!lo || !hi || !step)
    return std::nullopt;
  if (*lo > *hi || (*lo == *hi && !set.inclusive)) {
    here.error(diag::badSet, set.range, "this set has no members");
    return std::nullopt;
  }
  // Without signs: the distance of two 64-bit integers may not fit in 63 bits. lo <= hi is known.
  uint64_t last = uint64_t(*hi) - uint64_t(*lo) - (set.inclusive ? 0 : 1),
           steps = last / uint64_t(*step);
  if (steps >= uint64_t(limits::setMembers)) {
    here.error(diag::tooLarge, set.range, "the members of a set", limits::setMembers,
               steps == UINT64_MAX ? "2^64" : std::to_string(steps + 1))
        .note("name the values that matter, as in {16, 64, 256}, or take larger steps");
    return std::nullopt;
  }
  for (uint64_t i = 0; i <= steps; ++i)
    values.push_back(SemValue::ofInt(int64_t(uint64_t(*lo) + i * uint64_t(*step))));
  return values;
}

std::optional<int64_t> Evaluator::evalStep(const ast::ValueSet &set) {
  if (!set.step)
    return 1;
  std::optional<int64_t> step = evalInt(*set.step, "the step of a set");
  if (step && *step < 1) {
    here.error(diag::badSet, set.step->range,
               "the step of a set is positive, found " + std::to_string(*step));
    return std::nullopt;
  }
  return step;
}

bool Evaluator::isInSet(const SemValue &value, const ast::ValueSet &set, Range range) {
  bool found = false;
  if (set.kind == ast::ValueSet::interval && value.isNumber()) {
    SemValue lo = eval(*set.lo), hi = eval(*set.hi);
    std::optional<int64_t> step = evalStep(set);
    if (!lo.isNumber() || !hi.isNumber() || !step)
      return false;
    found = isAtMost(lo.number, value.number) && isAtMost(value.number, hi.number) &&
            (set.inclusive || !isAtMost(hi.number, value.number));
    // A member is lo + i * step.
    if (found && value.isInt() && lo.isInt()) // the distance from lo is never negative here
      found = (uint64_t(value.getInt()) - uint64_t(lo.getInt())) % uint64_t(*step) == 0;
  } else {
    std::optional<std::vector<SemValue>> values = evalSet(set, range);
    if (!values)
      return false;
    found = llvm::any_of(*values, [&](const SemValue &each) { return isSame(each, value); });
  }
  if (!found)
    here.error(diag::notInSet, range.isValid() ? range : set.range, describe(value),
               here.sources.text(set.range))
        .note(set.range, "the allowed values");
  return found;
}

/// The format of a float; of others f64's, in which compile-time numbers are computed.
static const fltSemantics &semanticsOf(DType dtype) {
  switch (dtype) {
#define FLOAT(name, exponent, mantissa, infinity, semantics, ...)                                  \
  case DType::name:                                                                                \
    return APFloat::semantics();
#include "manifest/Dtypes.def"
  default:
    return APFloat::IEEEdouble();
  }
}

/// Floats take each float, rounded. An integer must be exact in a float's format: whoever writes an
/// integer means that one.
bool tile::fitsDtype(const Number &number, DType dtype) {
  if (std::holds_alternative<bool>(number))
    return dtype == DType::Bool;
  auto *integer = std::get_if<int64_t>(&number);
  if (!integer)
    return isFloat(dtype);
  if (isFloat(dtype)) {
    APFloat converted(semanticsOf(dtype));
    return converted.convertFromAPInt(APInt(64, uint64_t(*integer), true), true,
                                      APFloat::rmNearestTiesToEven) == APFloat::opOK;
  }
  unsigned bits = bitWidth(dtype);
  if (!isInteger(dtype) && !isNibble(dtype))
    return false;
  return isUnsigned(dtype) ? *integer >= 0 && isUIntN(bits, uint64_t(*integer))
                           : isIntN(bits, *integer);
}

std::optional<runtime::Constant> Evaluator::toConstant(const SemValue &value, DType dtype,
                                                       Range range) {
  if (!value.isNumber() && !value.isData()) {
    here.error(diag::wrongOperand, range, "a default", "a number", describe(value));
    return std::nullopt;
  }
  if (value.isData())
    return constantOf(value, dtype, range);
  if (!fitsDtype(value.number, dtype)) {
    here.error(diag::valueDoesNotFit, range, describe(value), dtypeSpelling(dtype));
    return std::nullopt;
  }
  if (isFloat(dtype)) // as written: the launcher rounds it once
    return runtime::Constant(toDouble(value.number));
  return value.isBoolNumber() ? runtime::Constant(value.getBool())
                              : runtime::Constant(value.getInt());
}
