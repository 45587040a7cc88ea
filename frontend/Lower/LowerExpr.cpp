// Expressions that need code: operators, casts, members, values at declared types.
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/AccessRules.h"
#include "frontend/Sema/Builtins.h"
#include "frontend/Sema/TypeRules.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;

Expressions::Expressions(const Modules &modules, const ast::KernelDecl &kernel,
                         const ElaborateOptions &options, DiagnosticEngine &diagnostics,
                         Lowering &lowering)
    : Evaluator(modules, kernel, options, diagnostics), LowerPart(lowering) {}

SemValue Expressions::evalSubscript(const ast::SubscriptExpr &expr) {
  return accesses.evalSubscript(expr);
}

SemValue Expressions::evalCall(const ast::CallExpr &expr) { return functions.evalCall(expr); }

SemValue Expressions::listToTile(const SemValue &list, std::optional<DType> dtype, Range range) {
  return tables.listToTile(list, dtype, range);
}

SemValue Expressions::unaryOfData(const ast::UnaryExpr &expr, SemValue operand) {
  if (operands.refuseUnary(expr, operand))
    return SemValue::error();
  Location location = emitter.loc(expr.range);
  mlir::Value x = ssaOf(operand);
  mlir::Value result;
  if (expr.op == UnaryOp::logicalNot)
    result = builder.createOrFold<arith::XOrIOp>(location, x,
                                                 emitter.constantLike(x.getType(), 1, location));
  else if (expr.op == UnaryOp::bitNot)
    result = builder.createOrFold<arith::XOrIOp>(location, x,
                                                 emitter.constantLike(x.getType(), -1, location));
  else if (isFloat(operand.dtype))
    result = builder.createOrFold<arith::NegFOp>(location, x);
  else
    result = builder.createOrFold<arith::SubIOp>(location,
                                                 emitter.constantLike(x.getType(), 0, location), x);
  return ofData(result, operand.dtype);
}

/// In this order: ranges, lists, operands that are no numbers, dtypes, the operator's demands,
/// shapes. Each check takes for granted that those before it passed.
SemValue Expressions::binaryOfData(BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                                   Range range, Range opRange) {
  // A mismatch is shown at the operator, so that the operands' own underlines stay visible.
  Range mismatch = opRange.isValid() ? opRange : range;
  if (a.isRange())
    return positions.shiftRange(op, a, b, bRange, range);
  if (b.isRange() && op == BinaryOp::add)
    return positions.shiftRange(op, b, a, aRange, range);
  if (Arg pair[] = {{a, aRange, ""}, {b, bRange, ""}};
      a.kind == SemValue::Kind::List || b.kind == SemValue::Kind::List) {
    if (!tables.listsToTiles(pair))
      return SemValue::error();
    a = pair[0].value;
    b = pair[1].value;
  }
  std::string what = "'" + ast::spelling(op).str() + "'";
  for (auto [value, where] : {std::pair(&a, aRange), std::pair(&b, bRange)})
    if (!value->isNumeric()) {
      operands.reportNoNumber(*value, where, what);
      return SemValue::error();
    }
  Arg args[] = {{a, aRange, ""}, {b, bRange, ""}};
  if (!conversions.unifyDtypes(args, what, mismatch))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  if (conversions.refuseStorage(dtype, a.isData() && a.dtype == dtype ? aRange : bRange, what))
    return SemValue::error();
  if (neededBy(op, dtype)) {
    operands.reportOperator(op, dtype, aRange, bRange, range, opRange);
    return SemValue::error();
  }
  if (!conversions.unifyShapes(args, mismatch))
    return SemValue::error();
  return ofData(
      emitter.emitBinary(op, ssaOf(args[0].value), ssaOf(args[1].value), dtype, emitter.loc(range)),
      resultOf(op, dtype));
}

SemValue Expressions::evalCast(const ast::CastExpr &expr) {
  SemValue value = eval(*expr.operand);
  std::optional<DType> target;
  if (expr.member && isForeignModule(expr.target.text) && !here.findLocal(expr.target.text)) {
    DiagnosticBuilder report =
        here.error(diag::unknownDtype, expr.targetRange, sources.text(expr.targetRange));
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
      here.error(diag::unknownMember, expr.targetRange, describe(owner), expr.member->text);
      return SemValue::error();
    }
  } else {
    target = resolveDtype(expr.target);
  }
  if (!target || value.isError())
    return SemValue::error();
  return conversions.castTo(value, *target, expr.range);
}

/// Imports and `target` first, which have no value (evalStaticMember).
SemValue Expressions::evalMember(const ast::MemberExpr &expr) {
  if (foreign.isForeignMember(expr))
    return foreign.reportPrefixed(expr, nullptr);
  if (std::optional<SemValue> value = evalStaticMember(expr))
    return *value;
  SemValue base = eval(*expr.base);
  const std::string &member = expr.member.text;
  if (base.isError() || conversions.refuseNone(base, expr.base->range))
    return SemValue::error();
  Location location = emitter.loc(expr.range);
  std::vector<std::string> known;
  if (base.isData() || base.isView()) {
    known = {"T", "dtype", "shape"};
    if (member == "dtype")
      return SemValue::ofDtype(base.dtype);
    int64_t rank = base.isView() ? int64_t(base.view->shape.size()) : base.rank();
    if (member == "T") {
      if (rank < 2) {
        here.error(diag::wrongOperand, expr.range, ".T", "at least two dimensions", describe(base));
        return SemValue::error();
      }
      return tileCalls.permuted(base, transposedOrder(rank), expr.range);
    }
    if (member == "shape") {
      std::vector<SemValue> extents;
      for (int64_t i = 0; i < rank; ++i)
        extents.push_back(base.isView() ? accesses.extentOf(*base.view, i, location)
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
      return positions.endOfRange(range, expr.range);
  }
  DiagnosticBuilder report =
      here.error(diag::unknownMember, expr.member.range, describe(base), member);
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

SemValue Expressions::convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                                    Range range) {
  if (value.kind == SemValue::Kind::List)
    value = tables.listToTile(value, dtype, range);
  if (value.isError())
    return value;
  if (value.isData() && !widensTo(value.dtype, dtype)) {
    here.error(diag::dtypeMismatch, range, "the declaration", dtypeSpelling(dtype),
               dtypeSpelling(value.dtype))
        .note(type.range, "declared here")
        .note("convert the value with `as " + dtypeSpelling(dtype) + "`");
    return SemValue::error();
  }
  mlir::Value converted = conversions.toDtype(value, dtype, range);
  if (!converted)
    return SemValue::error();
  SemValue result = ofData(converted, dtype);
  SmallVector<int64_t> shape;
  for (const ast::ExprPtr &dim : type.dims) {
    std::optional<int64_t> extent = evalInt(*dim, "an extent of a tile");
    if (!extent)
      return SemValue::error();
    shape.push_back(*extent);
  }
  bool isNumber = value.isNumber();
  if (isNumber && conversions.checkShape(shape, type.range))
    return ofData(emitter.emitBroadcast(converted, shape, emitter.loc(range)), dtype);
  if (result.shape() != ArrayRef<int64_t>(shape)) {
    here.error(diag::shapeMismatch, range, describeShape(shape), describeShape(result.shape()))
        .note(type.range, "declared here");
    return SemValue::error();
  }
  return result;
}

/// Folding makes a constant operation of all that is constant, so its operation tells.
std::optional<runtime::Constant> Expressions::constantOf(const SemValue &value, DType dtype,
                                                         Range range) {
  mlir::Value data = conversions.toDtype(value, dtype, range);
  if (!data)
    return std::nullopt;
  auto constant = data.getDefiningOp<arith::ConstantOp>();
  if (!constant) {
    here.error(diag::notConstant, range, "a default", describe(value));
    return std::nullopt;
  }
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return runtime::Constant(number.getValueAsDouble());
  auto integer = cast<IntegerAttr>(constant.getValue());
  if (dtype == DType::Bool)
    return runtime::Constant(!integer.getValue().isZero());
  return runtime::Constant(isUnsigned(dtype) ? int64_t(integer.getValue().getZExtValue())
                                             : integer.getValue().getSExtValue());
}
