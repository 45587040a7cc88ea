// Expressions: literals, names, operators, casts, members.
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Sema/Builtins.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;

SemValue Elaborator::eval(const ast::Expr &expr) {
  if (!options.observer)
    return evalAny(expr);
  if (options.observer->isEnough())
    return SemValue::error();
  SemValue value = evalAny(expr);
  options.observer->onValue(expr.range, value);
  return value;
}

SemValue Elaborator::evalAny(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::Expr::Kind::IntLiteral: {
    uint64_t value = cast<ast::IntLiteral>(expr).value;
    if (value > uint64_t(std::numeric_limits<int64_t>::max())) {
      error(diag::constantArithmetic, expr.range,
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
  case ast::Expr::Kind::Binary:
    return evalBinary(cast<ast::BinaryExpr>(expr));
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

SemValue Elaborator::evalUnary(const ast::UnaryExpr &expr) {
  SemValue operand = eval(*expr.operand);
  if (operand.isError())
    return operand;
  if (operand.isNumber()) {
    std::string why;
    if (std::optional<Number> result = foldUnary(expr.op, operand.number, why))
      return SemValue::of(*result);
    error(diag::constantArithmetic, expr.range, why);
    return SemValue::error();
  }
  std::string what = "'" + ast::spelling(expr.op).str() + "'";
  if (!operand.isData()) {
    error(diag::wrongOperand, expr.operand->range, what, "a number or tile", describe(operand));
    return SemValue::error();
  }
  if (refuseStorage(operand.dtype, expr.operand->range, what))
    return SemValue::error();
  Location location = loc(expr.range);
  mlir::Value x = ssaOf(operand);
  bool valid = expr.op == UnaryOp::logicalNot ? operand.dtype == DType::Bool
               : expr.op == UnaryOp::neg      ? operand.dtype != DType::Bool
                                              : isInteger(operand.dtype);
  if (!valid) {
    error(diag::wrongOperand, expr.operand->range, what,
          expr.op == UnaryOp::logicalNot ? "bool"
          : expr.op == UnaryOp::neg      ? "numbers"
                                         : "integers",
          describe(operand));
    return SemValue::error();
  }
  mlir::Value result;
  if (expr.op == UnaryOp::logicalNot)
    result =
        builder.createOrFold<arith::XOrIOp>(location, x, constantLike(x.getType(), 1, location));
  else if (expr.op == UnaryOp::bitNot)
    result =
        builder.createOrFold<arith::XOrIOp>(location, x, constantLike(x.getType(), -1, location));
  else if (isFloat(operand.dtype))
    result = builder.createOrFold<arith::NegFOp>(location, x);
  else
    result =
        builder.createOrFold<arith::SubIOp>(location, constantLike(x.getType(), 0, location), x);
  return ofData(result, operand.dtype);
}

SemValue Elaborator::evalBinary(const ast::BinaryExpr &expr) {
  SemValue a = eval(*expr.lhs), b = eval(*expr.rhs);
  return binary(expr.op, std::move(a), std::move(b), expr.lhs->range, expr.rhs->range, expr.range,
                expr.opRange);
}

SemValue Elaborator::binary(BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                            Range range, Range opRange) {
  // A mismatch is shown at the operator, so that the operands' own underlines stay visible.
  Range mismatch = opRange.isValid() ? opRange : range;
  if (a.isError() || b.isError())
    return SemValue::error();
  if (a.isNumber() && b.isNumber()) {
    std::string why;
    if (std::optional<Number> result = foldBinary(op, a.number, b.number, why))
      return SemValue::of(*result);
    error(diag::constantArithmetic, range, why);
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
  if (a.isRange())
    return shiftRange(op, a, b, bRange, range);
  if (b.isRange() && op == BinaryOp::add)
    return shiftRange(op, b, a, aRange, range);
  if (Arg pair[] = {{a, aRange, ""}, {b, bRange, ""}};
      a.kind == SemValue::Kind::List || b.kind == SemValue::Kind::List) {
    if (!listsToTiles(pair))
      return SemValue::error();
    a = pair[0].value;
    b = pair[1].value;
  }
  std::string what = "'" + ast::spelling(op).str() + "'";
  for (auto [value, where] : {std::pair(&a, aRange), std::pair(&b, bRange)})
    if (!value->isNumeric()) {
      DiagnosticBuilder report =
          error(diag::wrongOperand, where, what, "numbers or tiles", describe(*value));
      if (value->isView())
        addViewHint(report, where);
      return SemValue::error();
    }
  Arg args[] = {{a, aRange, ""}, {b, bRange, ""}};
  if (!unifyDtypes(args, what, mismatch))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  if (refuseStorage(dtype, a.isData() && a.dtype == dtype ? aRange : bRange, what))
    return SemValue::error();
  const char *needs = nullptr;
  switch (op) {
  case BinaryOp::logicalAnd:
  case BinaryOp::logicalOr:
    needs = dtype == DType::Bool ? nullptr : "bools";
    break;
  case BinaryOp::bitAnd:
  case BinaryOp::bitOr:
  case BinaryOp::bitXor:
  case BinaryOp::shl:
  case BinaryOp::shr:
  case BinaryOp::rem:
    needs = isInteger(dtype) ? nullptr : "integers";
    break;
  case BinaryOp::eq:
  case BinaryOp::ne:
    break;
  default:
    needs = dtype != DType::Bool ? nullptr : "numbers";
  }
  if (needs) {
    DiagnosticBuilder report = error(diag::wrongOperand, range, what, needs, dtypeSpelling(dtype));
    bool isBit = op == BinaryOp::bitAnd || op == BinaryOp::bitOr;
    if (op == BinaryOp::bitXor && isFloat(dtype))
      report.fixIt(range, "pow(" + sources.text(aRange) + ", " + sources.text(bRange) + ")",
                   "a power is written pow(x, y)");
    else if (isBit && dtype == DType::Bool && opRange.isValid())
      report.fixIt(opRange, op == BinaryOp::bitAnd ? "&&" : "||", "truth values are joined so");
    else if (op == BinaryOp::bitXor && dtype == DType::Bool && opRange.isValid())
      report.note("of truth values write `a != b`");
    else if (op == BinaryOp::rem && isFloat(dtype))
      report.note("of floats write `a - trunc(a / b) * b` for C's fmod, `a - floor(a / b) * b` for "
                  "Python's %");
    else if (op == BinaryOp::logicalAnd || op == BinaryOp::logicalOr)
      report.note("compare first, as in `x != 0`");
    return SemValue::error();
  }
  if (!unifyShapes(args, mismatch))
    return SemValue::error();
  bool isComparison = op >= BinaryOp::eq && op <= BinaryOp::ge;
  return ofData(emitBinary(op, ssaOf(args[0].value), ssaOf(args[1].value), dtype, loc(range)),
                          isComparison ? DType::Bool : dtype);
}

bool Elaborator::refuseStorage(DType dtype, Range range, const Twine &what) {
  if (!isStorage(dtype))
    return false;
  StringRef name = dtypeSpelling(dtype);
  error(diag::storageDtype, range, what.str(), name)
      .note("convert it first: `x as " + Twine(isFloat8(dtype) ? "f32" : "i32") + "`");
  return true;
}

//===--- Dtypes and shapes of operands ------------------------------------===//

/// `value` rounded once to the nearest even of `type`; 8-bit floats saturate to finite.
static llvm::APFloat roundTo(llvm::APFloat value, FloatType type) {
  if (type.getWidth() == 8)
    return roundToFloat8(value, type.getFloatSemantics());
  bool losesInfo;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

mlir::Value Elaborator::toDtype(const SemValue &value, DType dtype, Range range) {
  if (value.isError())
    return {};
  if (value.isData()) {
    if (value.dtype == dtype)
      return ssaOf(value);
    if (dtype == DType::Index && widensToIndex(value.dtype))
      return emitCast(ssaOf(value), value.dtype, dtype, loc(range));
    DiagnosticBuilder report =
        error(diag::dtypeMismatch, range, "this", dtypeSpelling(dtype), describe(value));
    report.note("convert it with `as " + dtypeSpelling(dtype) + "`");
    return {};
  }
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = listToTile(value, dtype, range);
    return tile.isError() ? mlir::Value() : ssaOf(tile);
  }
  if (!value.isNumber()) {
    error(diag::wrongOperand, range, "this", "a number or tile of " + dtypeSpelling(dtype).str(),
          describe(value));
    return {};
  }
  Location location = loc(range);
  Type type = toType(dtype, context);
  if (auto *flag = std::get_if<bool>(&value.number)) {
    if (dtype == DType::Bool)
      return constant(IntegerAttr::get(type, *flag), location);
  } else if (auto *integer = std::get_if<int64_t>(&value.number)) {
    if (auto floatType = dyn_cast<FloatType>(type)) {
      llvm::APFloat converted(floatType.getFloatSemantics());
      if (converted.convertFromAPInt(llvm::APInt(64, uint64_t(*integer), true), true,
                                     llvm::APFloat::rmNearestTiesToEven) == llvm::APFloat::opOK)
        return constant(FloatAttr::get(floatType, converted), location);
    } else if (isInteger(dtype) || isNibble(dtype)) {
      unsigned bits = bitWidth(dtype);
      bool fits = isUnsigned(dtype) ? *integer >= 0 && llvm::isUIntN(bits, uint64_t(*integer))
                                    : llvm::isIntN(bits, *integer);
      if (fits)
        return constant(IntegerAttr::get(type, APInt(64, uint64_t(*integer), true).trunc(bits)),
                        location);
    }
  } else if (auto floatType = dyn_cast<FloatType>(type)) {
    return constant(FloatAttr::get(floatType, roundTo(llvm::APFloat(std::get<double>(value.number)),
                                                      floatType)),
                    location);
  }
  error(diag::valueDoesNotFit, range, describe(value), dtypeSpelling(dtype));
  return {};
}

SemValue Elaborator::toData(const SemValue &value, Range range) {
  if (value.isData() || value.isError())
    return value;
  if (value.kind == SemValue::Kind::List)
    return listToTile(value, std::nullopt, range);
  DType dtype = value.isInt() ? DType::Index : value.isBoolNumber() ? DType::Bool : DType::F32;
  mlir::Value data = toDtype(value, dtype, range);
  return data ? ofData(data, dtype) : SemValue::error();
}

mlir::Value Elaborator::toIndex(const SemValue &value, Range range, const Twine &what) {
  if (value.isError())
    return {};
  bool valid = value.isInt() || (value.isData() && value.rank() == 0 && widensToIndex(value.dtype));
  if (valid)
    return toDtype(value, DType::Index, range);
  DiagnosticBuilder report =
      error(diag::wrongOperand, range, what.str(), "an integer scalar", describe(value));
  if (value.isData() && value.dtype == DType::U64)
    report.note("u64 does not widen to index, which has a sign: convert it with `as index`");
  return {};
}

bool Elaborator::addVarFix(DiagnosticBuilder &report, const Arg &arg, DType wanted) {
  Binding *variable = findLocal(sources.text(arg.range));
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

bool Elaborator::unifyDtypes(MutableArrayRef<Arg> args, const Twine &what, Range range) {
  // The dtype of the values that have one; index wins over other integers.
  const Arg *chosen = nullptr;
  for (const Arg &arg : args) {
    if (arg.value.isError())
      return false;
    if (!arg.value.isNumeric()) {
      error(diag::wrongOperand, arg.range, what.str(), "numbers or tiles", describe(arg.value));
      return false;
    }
    if (!arg.value.isData() || (chosen && chosen->value.dtype == arg.value.dtype))
      continue;
    bool widens = chosen && widensToIndex(chosen->value.dtype) && widensToIndex(arg.value.dtype) &&
                  (chosen->value.dtype == DType::Index || arg.value.dtype == DType::Index);
    if (chosen && !widens) {
      DType a = chosen->value.dtype, b = arg.value.dtype;
      DiagnosticBuilder report =
          error(diag::dtypeMismatch, range, what.str(), dtypeSpelling(a), dtypeSpelling(b));
      report.secondary(chosen->range, describe(chosen->value))
          .secondary(arg.range, describe(arg.value));
      DType better = isFloat(a) != isFloat(b)     ? (isFloat(a) ? a : b)
                     : bitWidth(a) >= bitWidth(b) ? a
                                                  : b;
      const Arg &narrow = chosen->value.dtype == better ? arg : *chosen;
      StringRef text = sources.text(narrow.range);
      if (narrow.value.dtype == DType::Index && isFloat(better) &&
          addVarFix(report, narrow, better))
        return false;
      bool isTarget = isAssigned(narrow.range); // of `acc += v`, which cannot be converted
      if (isTarget && isFloat(narrow.value.dtype) && isFloat(better))
        addAccumulatorFix(report, narrow, better);
      else if (isFloat(narrow.value.dtype) &&
               (text.starts_with("sum(") || text.starts_with("prod(")))
        report.note("convert before it is added up, not the rounded result: `" +
                    text.take_until([](char c) { return c == '('; }) + "(x as " +
                    dtypeSpelling(better) + ")`");
      else if (isFloat(narrow.value.dtype) && text.starts_with("dot("))
        report.note("give the sum to the product, which then adds in its dtype: `dot(a, b, acc)`");
      else if (isFloat(better) && !isTarget)
        addConversion(report, narrow.range, better);
      else
        report.note("convert one of them with `as " + dtypeSpelling(better) + "`");
      return false;
    }
    if (!chosen || arg.value.dtype == DType::Index)
      chosen = &arg;
  }
  DType dtype;
  if (chosen) {
    dtype = chosen->value.dtype;
  } else {
    bool anyFloat = llvm::any_of(args, [](const Arg &arg) { return arg.value.isFloatNumber(); });
    bool anyBool = llvm::any_of(args, [](const Arg &arg) { return arg.value.isBoolNumber(); });
    dtype = anyFloat ? DType::F32 : anyBool ? DType::Bool : DType::Index;
  }
  for (const Arg &arg : args) {
    if (!chosen || !arg.value.isFloatNumber() || isFloat(dtype) || dtype == DType::Bool)
      continue;
    DiagnosticBuilder report =
        error(diag::valueDoesNotFit, arg.range, describe(arg.value), dtypeSpelling(dtype));
    report.secondary(chosen->range, describe(chosen->value));
    if (isAssigned(chosen->range) ? !addVarFix(report, *chosen, DType::F32) : false)
      report.note("declare it as a float, as in `var s = 0.0;`");
    else if (!isAssigned(chosen->range))
      addConversion(report, chosen->range, DType::F32);
    return false;
  }
  for (Arg &arg : args) {
    mlir::Value converted = toDtype(arg.value, dtype, arg.range);
    if (!converted)
      return false;
    arg.value = ofData(converted, dtype);
  }
  return true;
}

/// NumPy's rule; false if the shapes do not fit.
static bool joinShapes(SmallVector<int64_t> &shape, ArrayRef<int64_t> other) {
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t &mine = shape[shape.size() - 1 - i], theirs = other[other.size() - 1 - i];
    if (mine != theirs && mine != 1 && theirs != 1)
      return false;
    mine = std::max(mine, theirs);
  }
  return true;
}

bool Elaborator::unifyShapes(MutableArrayRef<Arg> args, Range range) {
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < args.size(); ++i) {
    SmallVector<int64_t> before = shape;
    if (joinShapes(shape, args[i].value.shape()))
      continue;
    size_t other = 0; // the first operand that this one does not fit
    for (size_t j = 0; j < i; ++j) {
      SmallVector<int64_t> pair(args[j].value.shape());
      if (!joinShapes(pair, args[i].value.shape())) {
        other = j;
        break;
      }
    }
    DiagnosticBuilder report =
        error(diag::shapeMismatch, range, describeShape(args[other].value.shape()),
              describeShape(args[i].value.shape()));
    report.secondary(args[other].range, describe(args[other].value))
        .secondary(args[i].range, describe(args[i].value));
    // A column against a matrix, as in x[m, n] * s[m].
    const Arg &longer = args[other].value.rank() >= args[i].value.rank() ? args[other] : args[i];
    const Arg &shorter = &longer == &args[i] ? args[other] : args[i];
    SmallVector<int64_t> column(shorter.value.shape()), joined(longer.value.shape());
    column.push_back(1);
    if (shorter.value.rank() < longer.value.rank() && joinShapes(joined, column))
      report.note("shapes are aligned at the right: make the shorter one a column with `" +
                  (sources.text(shorter.range).size() <= 20 ? sources.text(shorter.range).str()
                                                            : std::string("x")) +
                  "[:, None]`");
    return false;
  }
  if (!checkShape(shape, range))
    return false;
  for (Arg &arg : args)
    arg.value =
        ofData(emitBroadcast(ssaOf(arg.value), shape, loc(arg.range)), arg.value.dtype);
  return true;
}

bool Elaborator::checkShape(ArrayRef<int64_t> shape, Range range) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1) {
      error(diag::emptyTile, range, extent);
      return false;
    }
    elements = extent > (int64_t(1) << 20) ? (int64_t(1) << 21)
                                           : std::min(elements * extent, int64_t(1) << 21);
  }
  if (elements <= int64_t(1) << 20)
    return true;
  error(diag::tileTooLarge, range, describeShape(shape));
  return false;
}

//===--- Compile-time values ----------------------------------------------===//

std::optional<int64_t> Elaborator::constInt(const SemValue &value, Range range, const Twine &what) {
  if (value.isInt())
    return value.getInt();
  if (value.isError())
    return std::nullopt;
  if (value.isNumber())
    error(diag::wrongOperand, range, what.str(), "an integer", describe(value));
  else {
    DiagnosticBuilder report = error(diag::notConstant, range, what.str(), describe(value));
    if (value.isData())
      report.note("a dimension is known at launch, a compile-time parameter such as [B: int = 64] "
                  "when the kernel is compiled");
  }
  return std::nullopt;
}

std::optional<int64_t> Elaborator::evalInt(const ast::Expr &expr, const Twine &what) {
  return constInt(eval(expr), expr.range, what);
}

std::optional<bool> Elaborator::evalConstCondition(const ast::Expr &expr) {
  SemValue value = eval(expr);
  if (value.isView() || value.isNone())
    return value.isView();
  return constBool(value, expr, "the condition of `const if`");
}

std::optional<bool> Elaborator::evalConstBool(const ast::Expr &expr, const Twine &what) {
  return constBool(eval(expr), expr, what);
}

std::optional<bool> Elaborator::constBool(const SemValue &value, const ast::Expr &expr,
                                          const Twine &what) {
  if (value.isBoolNumber())
    return value.getBool();
  if (value.isNumber())
    error(diag::wrongOperand, expr.range, what.str(), "a bool", describe(value));
  else if (!value.isError())
    error(diag::notConstant, expr.range, what.str(), describe(value));
  return std::nullopt;
}

//===--- Casts and members ------------------------------------------------===//

std::optional<DType> Elaborator::resolveDtype(const ast::Ident &name) {
  if (Binding *local = findLocal(name.text)) {
    if (local->value.isDtype())
      return local->value.dtype;
    if (!local->value.isError())
      error(diag::unknownDtype, name.range, name.text)
          .note(local->declared, "'" + name.text + "' is " + describe(local->value));
    return std::nullopt;
  }
  if (std::optional<DType> dtype = findDtype(name.text))
    return dtype;
  DiagnosticBuilder report = error(diag::unknownDtype, name.range, name.text);
  addSuggestion(report, name.range, name.text, dtypeSpellings());
  return std::nullopt;
}

SemValue Elaborator::evalCast(const ast::CastExpr &expr) {
  SemValue value = eval(*expr.operand);
  std::optional<DType> target;
  if (expr.member && isForeignModule(expr.target.text) && !findLocal(expr.target.text)) {
    DiagnosticBuilder report =
        error(diag::unknownDtype, expr.targetRange, sources.text(expr.targetRange));
    addPrefixHint(report, expr.targetRange, expr.member->text, dtypeSpellings());
    return SemValue::error();
  }
  if (expr.member) {
    SemValue owner = evalName(expr.target.text, expr.target.range);
    if (owner.isError())
      return owner;
    if (expr.member->text == "dtype" && (owner.isData() || owner.isView())) {
      target = owner.dtype;
    } else {
      error(diag::unknownMember, expr.targetRange, describe(owner), expr.member->text);
      return SemValue::error();
    }
  } else {
    target = resolveDtype(expr.target);
  }
  if (!target || value.isError())
    return SemValue::error();
  return castTo(value, *target, expr.range);
}

SemValue Elaborator::castTo(const SemValue &value, DType to, Range range) {
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = listToTile(value, std::nullopt, range);
    return tile.isError() ? tile : castTo(tile, to, range);
  }
  if (value.isNumber()) {
    // A number converts as a value of its own kind: rounded, truncated and saturated like any
    // other.
    Location location = loc(range);
    if (value.isBoolNumber() || (value.isInt() && isInteger(to))) {
      int64_t integer = value.isInt() ? value.getInt() : value.getBool();
      if (value.isBoolNumber() && to == DType::Bool)
        return ofData(
            constant(builder.getIntegerAttr(toType(to, context), integer), location), to);
      if (isInteger(to))
        return ofData(
            constant(IntegerAttr::get(toType(to, context),
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
      return ofData(constant(FloatAttr::get(type, roundTo(exact, type)), location), to);
    }
    if (value.isFloatNumber() && isInteger(to)) {
      unsigned bits = bitWidth(to);
      llvm::APSInt integer(bits, isUnsigned(to));
      bool exact;
      llvm::APFloat number(std::get<double>(value.number));
      if (!number.isNaN())
        number.convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact); // saturates
      return ofData(
          constant(IntegerAttr::get(toType(to, context), llvm::APInt(integer)), location), to);
    }
  }
  bool refused = to == DType::Bool || isNibble(to);
  if (!value.isNumeric() || (refused && !(value.isData() && value.dtype == to))) {
    DiagnosticBuilder report = error(diag::badCast, range, describe(value), dtypeSpelling(to));
    if (value.isNumeric() && to == DType::Bool)
      report.note("compare instead: `x != 0`");
    else if (value.isNumeric())
      report.note(dtypeSpelling(to) +
                  " is only loaded and converted from, as tensors of it are `in` only");
    return SemValue::error();
  }
  return ofData(emitCast(ssaOf(value), value.dtype, to, loc(range)), to);
}

SemValue Elaborator::evalMember(const ast::MemberExpr &expr) {
  if (isForeignMember(expr))
    return reportPrefixed(expr, nullptr);
  if (const Module *imported = findImport(*expr.base))
    return evalImported(*imported, expr);
  if (auto *name = dyn_cast<ast::NameExpr>(expr.base.get());
      name && name->text == "target" && !findLocal("target") && !scope->names.count("target"))
    return evalTarget(expr);
  SemValue base = eval(*expr.base);
  const std::string &member = expr.member.text;
  if (base.isError() || refuseNone(base, expr.base->range))
    return SemValue::error();
  Location location = loc(expr.range);
  std::vector<std::string> known;
  if (base.isData() || base.isView()) {
    known = {"T", "dtype", "shape"};
    if (member == "dtype")
      return SemValue::ofDtype(base.dtype);
    int64_t rank = base.isView() ? int64_t(base.view->shape.size()) : base.rank();
    if (member == "T") {
      if (rank < 2) {
        error(diag::wrongOperand, expr.range, ".T", "at least two dimensions", describe(base));
        return SemValue::error();
      }
      SmallVector<int64_t> permutation;
      for (int64_t i = 0; i < rank; ++i)
        permutation.push_back(i < rank - 2 ? i : i == rank - 2 ? rank - 1 : rank - 2);
      return permuted(base, permutation, expr.range);
    }
    if (member == "shape") {
      std::vector<SemValue> extents;
      for (int64_t i = 0; i < rank; ++i)
        extents.push_back(base.isView() ? extentOf(*base.view, i, location)
                                        : SemValue::ofInt(base.shape()[i]));
      return SemValue::ofTuple(std::move(extents));
    }
  } else if (base.isRange()) {
    known = {"start", "size", "end"};
    const RangeValue &range = *base.range;
    if (member == "start")
      return range.start;
    if (member == "size")
      return SemValue::ofInt(range.size);
    if (member == "end")
      return endOfRange(range, expr.range);
  }
  DiagnosticBuilder report = error(diag::unknownMember, expr.member.range, describe(base), member);
  if (std::optional<DType> dtype = findDtype(member))
    report.note("convert with `as`: x as " + dtypeSpelling(*dtype));
  else if (member == "max" || member == "min")
    report.note("functions take what they work on as an argument: `" + member +
                "(x, axis: 1)` goes along an axis, `" + member + "(x, y)` compares");
  else if (const Builtin *builtin = findBuiltin(member); builtin && !findAlias(member))
    report.note("functions take what they work on as an argument: " + member + "(x)");
  else
    addSuggestion(report, expr.member.range, member, known);
  return SemValue::error();
}
