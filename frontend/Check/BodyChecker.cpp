// Operators, conversions and members of values that have types alone, and the entry of a body.
//
// Each function goes the way of the one in Lower that emits, and asks the same rules (TypeRules,
// AccessRules); where that one would report what only elaboration words, it is undecided.
#include "frontend/Check/BodyChecker.h"
#include "frontend/Diag/Aliases.h"
#include "frontend/Sema/AccessRules.h"

using namespace tile;
using ast::BinaryOp;
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::MutableArrayRef;
using llvm::StringRef;

BodyPart::BodyPart(BodyChecker &body) : body(body), here(body.here) {}

const Arg *tile::findNamed(ArrayRef<Arg> args, StringRef name) {
  auto found = llvm::find_if(args, [&](const Arg &arg) { return arg.name == name; });
  return found == args.end() ? nullptr : found;
}

BodyChecker::BodyChecker(const Modules &modules, const ast::KernelDecl &kernel,
                         const SemaOptions &options, DiagnosticEngine &diagnostics)
    : Evaluator(modules, kernel, options, diagnostics), foreign(*this), operands(*this, foreign),
      accesses(*this), calls(*this), tiles(*this), statements(*this), sema(*this) {}

SemValue BodyChecker::undecided() {
  decided = false;
  return SemValue::error();
}

//===--- Values -----------------------------------------------------------===//

SemValue BodyChecker::data(DType dtype, ArrayRef<int64_t> shape) {
  SemValue result;
  result.kind = SemValue::Kind::Data;
  result.dtype = dtype;
  result.extents = *shapes.insert(shape.vec()).first;
  effects += !shape.empty();
  return result;
}

SemValue BodyChecker::dataLike(const SemValue &value, DType dtype, ArrayRef<int64_t> shape) {
  SemValue result = data(dtype, shape);
  result.isZeroPadded = value.isZeroPadded;
  return result;
}

SemValue BodyChecker::view(DType dtype, ArrayRef<int64_t> shape, const ast::Param *param,
                           bool isPart) {
  SemValue result = data(dtype, shape);
  result.kind = SemValue::Kind::View;
  result.param = param;
  result.isPart = isPart;
  return result;
}

bool BodyChecker::becomes(const SemValue &value, DType dtype, Range range) {
  if (value.isError())
    return false;
  if (value.kind == SemValue::Kind::List)
    return !listToTile(value, dtype, range).isError();
  bool fits = value.isData()     ? widensTo(value.dtype, dtype)
              : value.isNumber() ? fitsDtype(value.number, dtype)
                                 : false;
  if (!fits)
    operands.reportUnfit(value, dtype, range);
  return fits;
}

SemValue BodyChecker::toData(const SemValue &value, Range range) {
  if (value.isData() || value.isError())
    return value;
  if (value.kind == SemValue::Kind::List)
    return listToTile(value, std::nullopt, range);
  DType dtype = dtypeOfNumber(value);
  return becomes(value, dtype, range) ? data(dtype) : SemValue::error();
}

bool BodyChecker::isIndex(const SemValue &value) {
  if (value.isError())
    return false;
  bool valid = value.isInt() || (value.isData() && value.rank() == 0 && widensToIndex(value.dtype));
  return valid || !undecided().isError();
}

bool BodyChecker::isShape(ArrayRef<int64_t> shape) {
  return problemOf(shape) == ShapeProblem::None || !undecided().isError();
}

bool BodyChecker::unifyDtypes(MutableArrayRef<Arg> args, const llvm::Twine &what, Range range) {
  CommonDtype common = findCommonDtype(args);
  if (common.problem != CommonDtype::Problem::None) {
    operands.reportDtypes(common, args, what, range);
    return false;
  }
  for (Arg &each : args) {
    if (!becomes(each.value, common.dtype, each.range))
      return false;
    each.value = dataLike(each.value, common.dtype, each.value.shape());
  }
  return true;
}

bool BodyChecker::unifyShapes(MutableArrayRef<Arg> args, Range range) {
  CommonShape common = findCommonShape(args);
  if (!common.shape) {
    operands.reportShapes(common, args, range);
    return false;
  }
  if (!operands.checkShape(*common.shape, range))
    return false;
  for (Arg &arg : args)
    arg.value = dataLike(arg.value, arg.value.dtype, *common.shape);
  return true;
}

//===--- Constant tiles ---------------------------------------------------===//

static bool listShape(const SemValue &list, Shape &shape) {
  if (list.kind != SemValue::Kind::List)
    return list.isNumber();
  Shape first;
  for (size_t i = 0; i < list.elements->size(); ++i) {
    Shape inner;
    if (!listShape((*list.elements)[i], inner) || (i > 0 && inner != first))
      return false;
    first = inner;
  }
  shape.push_back(int64_t(list.elements->size()));
  shape.append(first);
  return true;
}

template <typename Visit> static void forEachNumber(const SemValue &list, Visit &&visit) {
  if (list.kind != SemValue::Kind::List)
    return visit(list);
  for (const SemValue &element : *list.elements)
    forEachNumber(element, visit);
}

/// Of numbers alone: whether a scalar with a dtype is a constant, only folding tells.
SemValue BodyChecker::listToTile(const SemValue &list, std::optional<DType> dtype, Range range) {
  Shape shape;
  if (!listShape(list, shape))
    return undecided();
  if (!operands.checkShape(shape, range))
    return SemValue::error();
  if (!dtype) {
    bool anyFloat = false;
    std::optional<SemValue> first;
    forEachNumber(list, [&](const SemValue &number) {
      anyFloat |= number.isFloatNumber();
      first = first ? first : number;
    });
    dtype = anyFloat ? DType::F32 : first->isBoolNumber() ? DType::Bool : DType::Index;
  }
  bool fits = !isStorage(*dtype);
  forEachNumber(list, [&](const SemValue &number) { fits &= fitsDtype(number.number, *dtype); });
  return fits ? data(*dtype, shape) : undecided();
}

bool BodyChecker::listsToTiles(MutableArrayRef<Arg> args) {
  const Arg *typed = llvm::find_if(args, [](const Arg &arg) { return arg.value.isData(); });
  std::optional<DType> dtype;
  if (typed != args.end() && !isStorage(typed->value.dtype))
    dtype = typed->value.dtype;
  for (Arg &arg : args)
    if (arg.value.kind == SemValue::Kind::List) {
      arg.value = listToTile(arg.value, dtype, arg.range);
      if (arg.value.isError())
        return false;
    }
  return true;
}

//===--- Expressions ------------------------------------------------------===//

SemValue BodyChecker::evalSubscript(const ast::SubscriptExpr &expr) {
  return accesses.evalSubscript(expr);
}

SemValue BodyChecker::evalCall(const ast::CallExpr &expr) { return calls.evalCall(expr); }

SemValue BodyChecker::unaryOfData(const ast::UnaryExpr &expr, SemValue operand) {
  return operands.refuseUnary(expr, operand) ? SemValue::error()
                                             : data(operand.dtype, operand.shape());
}

SemValue BodyChecker::binaryOfData(BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                                   Range range, Range opRange) {
  if (a.isRange())
    return shiftRange(op, a, b, bRange, range);
  if (b.isRange() && op == BinaryOp::add)
    return shiftRange(op, b, a, aRange, range);
  Arg args[] = {{a, aRange, ""}, {b, bRange, ""}};
  if (!listsToTiles(args))
    return SemValue::error();
  std::string what = "'" + ast::spelling(op).str() + "'";
  for (const Arg &arg : args)
    if (!arg.value.isNumeric()) {
      operands.reportNoNumber(arg.value, arg.range, what);
      return SemValue::error();
    }
  // A mismatch is shown at the operator, so that the operands' own underlines stay visible.
  Range mismatch = opRange.isValid() ? opRange : range;
  bool isOfFirst = args[0].value.isData();
  DType first = args[0].value.dtype;
  if (!unifyDtypes(args, what, mismatch))
    return SemValue::error();
  DType dtype = args[0].value.dtype;
  if (operands.refuseStorage(dtype, isOfFirst && first == dtype ? aRange : bRange, what))
    return SemValue::error();
  if (neededBy(op, dtype)) {
    operands.reportOperator(op, dtype, aRange, bRange, range, opRange);
    return SemValue::error();
  }
  if (!unifyShapes(args, mismatch))
    return SemValue::error();
  SemValue result = data(resultOf(op, dtype), args[0].value.shape());
  bool keepsZero = op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul;
  result.isZeroPadded = keepsZero && args[0].value.isZeroPadded && args[1].value.isZeroPadded;
  return result;
}

SemValue BodyChecker::evalCast(const ast::CastExpr &expr) {
  SemValue value = eval(*expr.operand);
  std::optional<DType> target;
  if (expr.member && isForeignModule(expr.target.text) && !here.findLocal(expr.target.text))
    return undecided();
  if (expr.member) {
    SemValue owner = evalName(expr.target.text, expr.target.range);
    if (owner.isError())
      return owner;
    if (expr.member->text != "dtype" || !(owner.isData() || owner.isView()))
      return undecided();
    target = owner.dtype;
  } else {
    target = resolveDtype(expr.target);
  }
  if (!target || value.isError())
    return SemValue::error();
  if (value.kind == SemValue::Kind::List)
    value = listToTile(value, std::nullopt, expr.range);
  if (value.isError())
    return value;
  if (isCastable(value, *target))
    return dataLike(value, *target, value.shape());
  operands.reportCast(value, *target, expr.range);
  return SemValue::error();
}

SemValue BodyChecker::evalMember(const ast::MemberExpr &expr) {
  if (foreign.isForeignMember(expr))
    return foreign.reportPrefixed(expr, nullptr);
  if (std::optional<SemValue> value = evalStaticMember(expr))
    return *value;
  SemValue base = eval(*expr.base);
  const std::string &member = expr.member.text;
  if (base.isError() || operands.refuseNone(base, expr.base->range))
    return SemValue::error();
  if (base.isData() || base.isView()) {
    if (member == "dtype")
      return SemValue::ofDtype(base.dtype);
    int64_t rank = int64_t(base.extents.size());
    if (member == "T")
      return rank < 2 ? undecided() : tiles.permuted(base, transposedOrder(rank));
    if (member == "shape") {
      std::vector<SemValue> extents;
      for (int64_t extent : base.extents)
        extents.push_back(extent == unknownExtent ? data(DType::Index) : SemValue::ofInt(extent));
      return SemValue::ofTuple(std::move(extents));
    }
  } else if (base.isRange()) {
    if (member == "start")
      return base.range->start;
    if (member == "size")
      return SemValue::ofInt(base.range->size);
    if (member == "end")
      return endOfRange(*base.range, expr.range);
  }
  return undecided();
}

SemValue BodyChecker::convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                                    Range range) {
  if (value.kind == SemValue::Kind::List)
    value = listToTile(value, dtype, range);
  if (value.isData() && !widensTo(value.dtype, dtype))
    return undecided();
  if (value.isError() || !becomes(value, dtype, range))
    return SemValue::error();
  Shape shape;
  for (const ast::ExprPtr &dim : type.dims) {
    std::optional<int64_t> extent = evalInt(*dim, "an extent of a tile");
    if (!extent)
      return SemValue::error();
    shape.push_back(*extent);
  }
  if (value.isNumber())
    return operands.checkShape(shape, type.range) ? data(dtype, shape) : SemValue::error();
  return value.shape() == ArrayRef<int64_t>(shape) ? data(dtype, shape) : undecided();
}

/// Only folding tells which number a scalar with a dtype is.
std::optional<runtime::Constant> BodyChecker::constantOf(const SemValue &, DType, Range) {
  (void)undecided();
  return std::nullopt;
}

//===--- Index ranges -----------------------------------------------------===//

SemValue BodyChecker::movePosition(BinaryOp op, const SemValue &position, const SemValue &by,
                                   Range byRange, Range place) {
  if (position.isInt() && by.isInt())
    return binary(op, position, by, place, byRange, place);
  return isIndex(position) && isIndex(by) ? data(DType::Index) : SemValue::error();
}

SemValue BodyChecker::shiftRange(BinaryOp op, const SemValue &range, const SemValue &by,
                                 Range byRange, Range place) {
  if ((op != BinaryOp::add && op != BinaryOp::sub) || by.isRange())
    return undecided();
  if (!isIndex(by))
    return SemValue::error();
  RangeValue moved = *range.range;
  moved.start = movePosition(op, moved.start, by, byRange, place);
  if (moved.end)
    moved.end = movePosition(op, *moved.end, by, byRange, place);
  if (moved.start.isError() || (moved.end && moved.end->isError()))
    return SemValue::error();
  return SemValue::of(std::move(moved));
}

/// One past the last position; a number where start and end are.
SemValue BodyChecker::endOfRange(const RangeValue &range, Range place) {
  constexpr int64_t farthest = (int64_t(1) << 62) - 2; // as Lower bounds positions
  int64_t extent;
  if (__builtin_mul_overflow(range.size - 1, range.step, &extent) || extent > farthest)
    extent = farthest;
  SemValue last =
      movePosition(BinaryOp::add, range.start, SemValue::ofInt(extent + 1), place, place);
  if (!range.end || last.isError())
    return last;
  return calls.callBuiltin(*findBuiltin("min"), {{last, place, ""}, {*range.end, place, ""}},
                           place);
}

//===--- The body ---------------------------------------------------------===//

/// Names of the signature, as KernelEmission::emitBody gives them values.
void BodyChecker::enterBody(const CheckedKernel &checked) {
  Scope &names = here.frames.front().front();
  for (const std::string &name : checked.dimensions)
    names[name] = {data(DType::Index), false, here.launchNames[name].declared};
  std::map<std::string, std::vector<SemValue>> arrays;
  for (const runtime::Param &param : checked.record.params) {
    const ast::Param &decl = sema.getSignature().declOf(param);
    DType dtype = *findDtype(runtime::dtypeName(param.dtype));
    SemValue value = data(dtype);
    if (param.kind == runtime::Param::Kind::Tensor) {
      Shape shape;
      for (const runtime::Expr &dim : param.dims)
        shape.push_back(dim.isInteger() ? dim.getInteger() : unknownExtent);
      value = view(dtype, shape, &decl, /*isPart=*/false);
    }
    if (decl.count) { // an array is a tuple of its tensors
      std::vector<SemValue> &tensors = arrays[decl.name.text];
      tensors.push_back(value);
      value = SemValue::ofTuple(tensors);
    }
    names[decl.name.text] = {value, false, decl.name.range};
  }
  for (const ast::Param &param : here.kernel.params)
    if (param.access != ast::Access::none && here.dropped.count(param.name.text))
      names[param.name.text] = {SemValue::ofNone(param.name.text), false, param.name.range};
  if (auto *grid = here.kernel.clause<ast::GridClause>())
    for (const ast::GridAxis &axis : grid->axes)
      here.declare(axis.name, data(DType::Index));
}

BodyChecker::Outcome BodyChecker::check(const Instance &instance, const Variant &variant,
                                        runtime::Kernel &record) {
  unsigned errors = here.reported;
  std::optional<CheckedKernel> version = sema.check(instance, variant);
  if (!decided)
    return Outcome::Undecided;
  if (!version)
    return sema.isRuledOut() ? Outcome::RuledOut : Outcome::Wrong;
  record = version->record;
  enterBody(*version);
  (void)statements.checkBlock(here.kernel.body);
  if (!decided)
    return Outcome::Undecided;
  return here.reported == errors ? Outcome::Right : Outcome::Wrong;
}
