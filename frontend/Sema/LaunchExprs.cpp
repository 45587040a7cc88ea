// Expressions that the launcher computes: dimensions, grid extents and contracts, with their
// dtypes.
//
// A dtype of nothing stands for a number that is known at compile time: it has no dtype yet and
// takes the other operand's, 3 as well i32 as f32. Names have the dtype of their parameter; a
// dimension is an index. Each convert returns nothing after its report, and a caller must not
// report again.
#include "frontend/Sema/LaunchExprs.h"
#include "frontend/Sema/Limits.h"

#include <cmath>

using namespace llvm;
using namespace tile;
using LaunchExpr = runtime::Expr;
using LaunchOp = runtime::Expr::Op;

void tile::collectNames(const LaunchExpr &expr, std::set<std::string> &out) {
  if (expr.isName())
    out.insert(expr.getName());
  for (const LaunchExpr &operand : expr.getOperands())
    collectNames(operand, out);
}

/// An extent wants an integer, a contract a condition: floats and bools may stand inside of either
/// (`x < 0.5 && n > 3`), never at the top of an extent.
std::optional<LaunchExpr> LaunchExprs::convert(const ast::Expr &expr, bool isCondition) {
  std::optional<DType> dtype;
  std::optional<LaunchExpr> result = convert(expr, dtype);
  if (!result)
    return std::nullopt;
  bool isBool = dtype == DType::Bool;
  if (result->isFloat() || (dtype && isFloat(*dtype))) {
    here.error(diag::notLaunchable, expr.range, "a float");
    return std::nullopt;
  }
  if (isBool && !isCondition) {
    here.error(diag::notLaunchable, expr.range, "a bool");
    return std::nullopt;
  }
  if (!isBool && isCondition) {
    here.error(diag::notLaunchable, expr.range, "an integer is no condition, so it");
    return std::nullopt;
  }
  if (!checkDepth(*result, expr.range))
    return std::nullopt;
  return result;
}

/// Readers of a manifest walk the expression by recursion, so its depth has a limit that all agree
/// on.
bool LaunchExprs::checkDepth(const LaunchExpr &expr, Range range) {
  unsigned depth = expr.getDepth();
  if (depth > limits::launchOperators)
    here.error(diag::tooLarge, range, "the operators inside each other in what a launch computes",
               limits::launchOperators, depth)
        .note("divide a condition into several contracts, a long sum by brackets, `(a + b) + (c + "
              "d)`, or pass what it gives as a parameter");
  return depth <= limits::launchOperators;
}

/// Afterwards `a` is the dtype of both, or nothing where both adapt; `x` or `y` may have become a
/// float. The report underlines both operands.
bool LaunchExprs::unify(std::optional<DType> &a, LaunchExpr &x, Range aRange,
                        std::optional<DType> b, LaunchExpr &y, Range bRange, StringRef what,
                        Range range) {
  // Integers of every dtype are computed in 64 bits, and what is known at compile time adapts.
  auto family = [](std::optional<DType> dtype) {
    return dtype && isInteger(*dtype) ? std::optional(DType::Index) : dtype;
  };
  std::optional<DType> left = family(a), right = family(b);
  auto adapts = [](std::optional<DType> from, LaunchExpr &value, std::optional<DType> to) {
    if (from)
      return from == to;
    if (value.isFloat())
      return isFloat(*to);
    if (isFloat(*to))
      value = LaunchExpr::makeFloat(double(value.getInteger()));
    return *to != DType::Bool;
  };
  bool fits = (!left && !right) || (left ? adapts(right, y, left) : adapts(left, x, right));
  if (fits) {
    a = left ? a : b;
    return true;
  }
  auto spell = [](std::optional<DType> dtype, const LaunchExpr &value) {
    return dtype             ? dtypeSpelling(*dtype).str()
           : value.isFloat() ? std::string("a float")
                             : std::string("an integer");
  };
  here.error(diag::dtypeMismatch, range, "'" + what.str() + "'", spell(a, x), spell(b, y))
      .secondary(aRange, spell(a, x))
      .secondary(bRange, spell(b, y));
  return false;
}

std::optional<LaunchExpr> LaunchExprs::convertBinary(const ast::BinaryExpr &expr,
                                                     std::optional<DType> &dtype) {
  // In the order of ast::BinaryOp; nothing for an operator that a launch cannot compute.
  static const std::optional<LaunchOp> table[] = {LaunchOp::Or,
                                                  LaunchOp::And,
                                                  LaunchOp::Eq,
                                                  LaunchOp::Ne,
                                                  LaunchOp::Lt,
                                                  LaunchOp::Le,
                                                  LaunchOp::Gt,
                                                  LaunchOp::Ge,
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  LaunchOp::Add,
                                                  LaunchOp::Sub,
                                                  LaunchOp::Mul,
                                                  LaunchOp::Div,
                                                  LaunchOp::Rem};
  StringRef sign = ast::spelling(expr.op);
  std::optional<LaunchOp> op = table[size_t(expr.op)];
  if (!op) {
    here.error(diag::notLaunchable, expr.range, ("'" + sign + "'").str());
    return std::nullopt;
  }
  std::optional<DType> left, right;
  std::optional<LaunchExpr> lhs = convert(*expr.lhs, left), rhs = convert(*expr.rhs, right);
  if (!lhs || !rhs ||
      !unify(left, *lhs, expr.lhs->range, right, *rhs, expr.rhs->range, sign, expr.opRange))
    return std::nullopt;
  bool isLogical = *op == LaunchOp::Or || *op == LaunchOp::And,
       isEquality = *op == LaunchOp::Eq || *op == LaunchOp::Ne;
  bool isComparison = isEquality || (*op >= LaunchOp::Lt && *op <= LaunchOp::Ge);
  bool isBool = left == DType::Bool, isFloating = left && isFloat(*left);
  const char *needs = isLogical              ? (isBool ? nullptr : "bools")
                      : *op == LaunchOp::Rem ? (isBool || isFloating ? "integers" : nullptr)
                                             : (isBool && !isEquality ? "numbers" : nullptr);
  if (needs) {
    here.error(diag::wrongOperand, expr.range, ("'" + sign + "'").str(), needs,
               left ? dtypeSpelling(*left) : "numbers");
    return std::nullopt;
  }
  dtype = isLogical || isComparison ? std::optional(DType::Bool) : left;
  return LaunchExpr::make(*op, *lhs, *rhs);
}

std::optional<LaunchExpr> LaunchExprs::convert(const ast::Expr &expr, std::optional<DType> &dtype) {
  dtype = std::nullopt;
  auto refuse = [&](const Twine &what) -> std::optional<LaunchExpr> {
    here.error(diag::notLaunchable, expr.range, what.str());
    return std::nullopt;
  };
  // Whatever the compile time knows is computed now by the evaluator, with all of its built-ins;
  // only the rest becomes an expression of the manifest, whose operators are few.
  if (!here.usesLaunchNames(expr)) {
    SemValue value = evaluator.eval(expr);
    if (value.isInt())
      return LaunchExpr(value.getInt());
    if (value.isBoolNumber()) {
      dtype = DType::Bool;
      return LaunchExpr(int64_t(value.getBool()));
    }
    if (value.isFloatNumber() && std::isfinite(toDouble(value.number)))
      return LaunchExpr::makeFloat(toDouble(value.number));
    return value.isError() ? std::nullopt : refuse(describe(value));
  }
  if (auto *name = dyn_cast<ast::NameExpr>(&expr)) {
    dtype = here.launchNames[name->text].dtype;
    return LaunchExpr::makeName(name->text);
  }
  if (auto *unary = dyn_cast<ast::UnaryExpr>(&expr)) {
    if (unary->op == ast::UnaryOp::bitNot)
      return refuse("'~'");
    std::optional<LaunchExpr> operand = convert(*unary->operand, dtype);
    bool isNot = unary->op == ast::UnaryOp::logicalNot, isBool = dtype == DType::Bool;
    if (operand && isNot != isBool) {
      here.error(diag::wrongOperand, unary->operand->range,
                 ("'" + ast::spelling(unary->op) + "'").str(), isNot ? "a bool" : "a number",
                 dtype ? dtypeSpelling(*dtype) : "a number");
      return std::nullopt;
    }
    return operand
               ? std::optional(LaunchExpr::make(isNot ? LaunchOp::Not : LaunchOp::Neg, *operand))
               : std::nullopt;
  }
  if (auto *binary = dyn_cast<ast::BinaryExpr>(&expr))
    return convertBinary(*binary, dtype);
  auto *call = dyn_cast<ast::CallExpr>(&expr);
  auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee.get()) : nullptr;
  if (!callee || here.scope->names.count(callee->text))
    return refuse("this expression");
  StringRef name = callee->text;
  std::optional<LaunchOp> op = name == "cdiv"        ? std::optional(LaunchOp::CeilDiv)
                               : name == "min"       ? std::optional(LaunchOp::Min)
                               : name == "max"       ? std::optional(LaunchOp::Max)
                               : name == "next_pow2" ? std::optional(LaunchOp::NextPow2)
                                                     : std::nullopt;
  if (!op)
    return refuse("a call of '" + name + "'");
  size_t count = *op == LaunchOp::NextPow2 ? 1 : 2;
  if (call->arguments.size() != count) {
    here.error(diag::argumentCount, expr.range, name, std::to_string(count) + " arguments",
               call->arguments.size());
    return std::nullopt;
  }
  std::vector<LaunchExpr> operands;
  std::vector<std::optional<DType>> dtypes(count);
  for (size_t i = 0; i < count; ++i) {
    std::optional<LaunchExpr> operand = convert(*call->arguments[i].value, dtypes[i]);
    if (!operand)
      return std::nullopt;
    operands.push_back(*operand);
  }
  if (count == 2 && !unify(dtypes[0], operands[0], call->arguments[0].value->range, dtypes[1],
                           operands[1], call->arguments[1].value->range, name, expr.range))
    return std::nullopt;
  dtype = dtypes[0];
  bool takesFloats = *op == LaunchOp::Min || *op == LaunchOp::Max;
  if (dtype == DType::Bool || (dtype && isFloat(*dtype) && !takesFloats)) {
    here.error(diag::wrongOperand, expr.range, ("'" + name + "'").str(),
               takesFloats ? "numbers" : "integers", dtypeSpelling(*dtype));
    return std::nullopt;
  }
  return LaunchExpr::make(*op, std::move(operands));
}
