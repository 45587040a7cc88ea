// Messages about operands. Lower and the checks of bodies report by them, so that a mistake is
// worded once.
#include "frontend/Sema/Operands.h"
#include "frontend/Sema/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tile;
using ast::BinaryOp;

bool Operands::refuseStorage(DType dtype, Range range, const Twine &what) {
  if (!isStorage(dtype))
    return false;
  StringRef name = dtypeSpelling(dtype);
  here.error(diag::storageDtype, range, what.str(), name)
      .note("convert it first: `x as " + Twine(isFloat8(dtype) ? "f32" : "i32") + "`");
  return true;
}

bool Operands::refuseNone(const SemValue &value, Range range) {
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

bool Operands::checkShape(ArrayRef<int64_t> shape, Range range) {
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

bool Operands::isIndex(const SemValue &value, Range range, const Twine &what) {
  if (value.isError())
    return false;
  bool valid = value.isInt() || (value.isData() && value.rank() == 0 && widensToIndex(value.dtype));
  if (valid)
    return true;
  DiagnosticBuilder report =
      here.error(diag::wrongOperand, range, what.str(), "an integer scalar", describe(value));
  if (value.isData() && value.dtype == DType::U64)
    report.note("u64 does not widen to index, which has a sign: convert it with `as index`");
  return false;
}

/// The usual cause of an index that meets a float: `var s = 0;`. Only for a literal in decimal, as
/// ".0" is put behind its text.
bool Operands::addVarFix(DiagnosticBuilder &report, const Arg &arg, DType wanted) {
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

void Operands::reportDtypes(const CommonDtype &common, ArrayRef<Arg> args, const Twine &what,
                            Range range) {
  using Problem = CommonDtype::Problem;
  if (common.problem == Problem::None || common.problem == Problem::Reported)
    return;
  const Arg &first = args[common.first], &arg = args[common.second];
  if (common.problem == Problem::NotNumeric) {
    here.error(diag::wrongOperand, arg.range, what.str(), "numbers or tiles", describe(arg.value));
    return;
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
      return;
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
    return;
  }
  if (common.problem == Problem::NotWhole) {
    DiagnosticBuilder report = here.error(diag::valueDoesNotFit, arg.range, describe(arg.value),
                                          dtypeSpelling(common.dtype));
    report.secondary(first.range, describe(first.value));
    if (foreign.isAssigned(first.range) ? !addVarFix(report, first, DType::F32) : false)
      report.note("declare it as a float, as in `var s = 0.0;`");
    else if (!foreign.isAssigned(first.range))
      foreign.addConversion(report, first.range, DType::F32);
    return;
  }
}

void Operands::reportShapes(const CommonShape &common, ArrayRef<Arg> args, Range range) {
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
}

void Operands::reportUnfit(const SemValue &value, DType dtype, Range range) {
  if (value.isData())
    here.error(diag::dtypeMismatch, range, "this", dtypeSpelling(dtype), describe(value))
        .note("convert it with `as " + dtypeSpelling(dtype) + "`");
  else if (value.isNumber())
    here.error(diag::valueDoesNotFit, range, describe(value), dtypeSpelling(dtype));
  else
    here.error(diag::wrongOperand, range, "this",
               "a number or tile of " + dtypeSpelling(dtype).str(), describe(value));
}

void Operands::reportCast(const SemValue &value, DType to, Range range) {
  DiagnosticBuilder report = here.error(diag::badCast, range, describe(value), dtypeSpelling(to));
  if (value.isNumeric() && to == DType::Bool)
    report.note("compare instead: `x != 0`");
  else if (value.isNumeric())
    report.note(dtypeSpelling(to) +
                " is only loaded and converted from, as tensors of it are `in` only");
}

void Operands::reportStore(const Arg &value, DType dtype, ArrayRef<int64_t> shape, Range access) {
  std::string target = dtypeSpelling(dtype).str() + (shape.empty() ? "" : describeShape(shape));
  DiagnosticBuilder report =
      here.error(diag::storeMismatch, value.range, describe(value.value), target);
  report.secondary(access, "this is " + target);
  if (!value.value.isData() || value.value.dtype == dtype)
    return;
  DType from = value.value.dtype;
  if (from == DType::Index && isFloat(dtype) && addVarFix(report, value, dtype))
    return;
  bool rounds = isFloat(from) && !isFloat(dtype); // there is more than one way to
  if (rounds || dtype == DType::Bool || isNibble(dtype))
    report.note("convert the value with `as " + dtypeSpelling(dtype) + "`");
  else
    foreign.addConversion(report, value.range, dtype);
}

bool Operands::refuseUnary(const ast::UnaryExpr &expr, const SemValue &operand) {
  std::string what = "'" + ast::spelling(expr.op).str() + "'";
  if (!operand.isData()) {
    here.error(diag::wrongOperand, expr.operand->range, what, "a number or tile",
               describe(operand));
    return true;
  }
  if (refuseStorage(operand.dtype, expr.operand->range, what))
    return true;
  if (const char *needs = neededBy(expr.op, operand.dtype)) {
    here.error(diag::wrongOperand, expr.operand->range, what, needs, describe(operand));
    return true;
  }
  return false;
}

void Operands::reportNoNumber(const SemValue &value, Range range, const Twine &what) {
  DiagnosticBuilder report =
      here.error(diag::wrongOperand, range, what.str(), "numbers or tiles", describe(value));
  if (value.isView())
    foreign.addViewHint(report, range);
  else if (value.isRange())
    report.note("a range's positions are the tile iota(r), which gather(x[...]) and "
                "scatter(x[...], v) take as a subscript; flip(x, axis: 0) reverses a tile");
}

void Operands::reportOperator(BinaryOp op, DType dtype, Range aRange, Range bRange, Range range,
                              Range opRange) {
  std::string what = "'" + ast::spelling(op).str() + "'";
  const char *needs = neededBy(op, dtype);
  DiagnosticBuilder report =
      here.error(diag::wrongOperand, range, what, needs, dtypeSpelling(dtype));
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
}

bool Operands::refuseDtype(StringRef builtin, DType dtype, Range range) {
  const char *needs = neededBy(builtin, dtype);
  if (needs)
    here.error(diag::wrongOperand, range, ("'" + builtin + "'").str(), needs, dtypeSpelling(dtype));
  return needs;
}

//===--- Memory -----------------------------------------------------------===//

bool Operands::refuseLoad(const ast::Param *param, Range range) {
  if (!param || param->access != ast::Access::out)
    return false;
  here.error(diag::readsOut, range, param->name.text).note(param->name.range, "declared here");
  return true;
}

bool Operands::refuseStore(const ast::Param *param, Range range) {
  if (!param || param->access != ast::Access::in)
    return false;
  here.error(diag::writesIn, range, param->name.text).note(param->name.range, "declared here");
  return true;
}

//===--- Calls ------------------------------------------------------------===//

/// Recursion would inline without an end, so it is refused even where a condition would stop it.
bool Operands::refuseRecursion(const ast::FnDecl &decl, Range range) {
  for (const CallSite &call : here.calls)
    if (call.function == &decl) {
      here.error(diag::recursion, range, decl.name.text).note(decl.name.range, "defined here");
      return true;
    }
  return false;
}

std::optional<std::vector<const Arg *>> Operands::matchArguments(const ast::FnDecl &decl,
                                                                 ArrayRef<Arg> args, Range range) {
  // Arguments by position, then by name.
  std::vector<const Arg *> chosen(decl.params.size());
  size_t positional = llvm::count_if(args, [](const Arg &arg) { return arg.name.empty(); });
  size_t least =
      llvm::count_if(decl.params, [](const ast::FnParam &param) { return !param.defaultValue; });
  bool countsMatch = args.size() >= least && args.size() <= decl.params.size();
  for (size_t i = 0; countsMatch && i < args.size(); ++i) {
    size_t slot = i;
    if (!args[i].name.empty()) {
      auto found = llvm::find_if(
          decl.params, [&](const ast::FnParam &param) { return param.name.text == args[i].name; });
      slot = found - decl.params.begin();
      if (found == decl.params.end() || slot < positional || chosen[slot]) {
        std::vector<std::string> names;
        for (const ast::FnParam &param : decl.params)
          names.push_back(param.name.text);
        here.reportArgument(args[i], decl.name.text, names, decl.name.range);
        return std::nullopt;
      }
    }
    chosen[slot] = &args[i];
  }
  for (auto [param, arg] : llvm::zip(decl.params, chosen))
    if (countsMatch && !arg && !param.defaultValue) { // a named argument stands for another
      here.error(diag::noArgument, range, decl.name.text, param.name.text)
          .note(param.range, "declared here");
      return std::nullopt;
    }
  if (!countsMatch) {
    here.error(diag::argumentCount, range, decl.name.text, countText(least, decl.params.size()),
               args.size())
        .note(decl.name.range, "defined here");
    return std::nullopt;
  }
  return chosen;
}
