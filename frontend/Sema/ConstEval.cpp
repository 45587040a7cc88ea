// Folding of operators and functions on compile-time numbers.
//
// Three ways out of each function: a number; none with a reason, which the caller reports; none
// without one, if the operation is not for numbers and others may know it. Nothing wraps or
// saturates: a result that does not fit is an error.
#include "frontend/Sema/ConstEval.h"

#include "manifest/Expr.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;

double tile::toDouble(const Number &number) {
  return std::visit([](auto value) { return double(value); }, number);
}

std::string tile::toText(const Number &number) {
  if (auto *flag = std::get_if<bool>(&number))
    return *flag ? "true" : "false";
  if (auto *integer = std::get_if<int64_t>(&number))
    return std::to_string(*integer);
  double value = std::get<double>(number);
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // The shortest text that reads back as the same number.
  char text[40];
  for (int digits = 6; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, nullptr) == value)
      break;
  }
  llvm::StringRef found(text);
  return found.find_first_of(".e") == llvm::StringRef::npos ? found.str() + ".0" : found.str();
}

static std::optional<Number> overflow(std::string &error) {
  error = "the result does not fit in 64 bits";
  return std::nullopt;
}

/// A result of floats; an error where it is infinite, or no number, and no operand was.
/// Infinity and NaN that were written (`inf`) go on; those that a computation makes are mistakes.
static std::optional<Number> checked(double result, std::initializer_list<double> operands,
                                     std::string &error) {
  if (std::isfinite(result))
    return Number(result);
  for (double operand : operands)
    if (!std::isfinite(operand))
      return Number(result);
  error = std::isnan(result) ? "the result is no number at compile time"
                             : "the result is beyond the largest finite number of 64 bits";
  return std::nullopt;
}

static std::optional<Number> foldBools(BinaryOp op, bool a, bool b, std::string &error) {
  switch (op) {
  case BinaryOp::logicalAnd:
    return a && b;
  case BinaryOp::logicalOr:
    return a || b;
  case BinaryOp::eq:
    return a == b;
  case BinaryOp::ne:
    return a != b;
  default:
    error = ("'" + ast::spelling(op) + "' needs numbers, found bool").str();
    return std::nullopt;
  }
}

/// The operator of a launch's expressions (manifest/Expr.h) that computes the same: one arithmetic,
/// so that an expression has one value whether it is known now or at the launch.
static std::optional<runtime::Expr::Op> launchOperator(BinaryOp op) {
  using Op = runtime::Expr::Op;
  switch (op) {
  case BinaryOp::add:
    return Op::Add;
  case BinaryOp::sub:
    return Op::Sub;
  case BinaryOp::mul:
    return Op::Mul;
  case BinaryOp::div:
    return Op::Div;
  case BinaryOp::rem:
    return Op::Rem;
  case BinaryOp::eq:
    return Op::Eq;
  case BinaryOp::ne:
    return Op::Ne;
  case BinaryOp::lt:
    return Op::Lt;
  case BinaryOp::le:
    return Op::Le;
  case BinaryOp::gt:
    return Op::Gt;
  case BinaryOp::ge:
    return Op::Ge;
  default:
    return std::nullopt;
  }
}

static std::optional<Number> applyInts(runtime::Expr::Op op, int64_t a, int64_t b,
                                       std::string &error) {
  using Op = runtime::Expr::Op;
  if (b == 0 && (op == Op::Div || op == Op::Rem || op == Op::CeilDiv)) {
    error = "division by zero at compile time";
    return std::nullopt;
  }
  std::optional<int64_t> result = runtime::apply(op, a, b);
  if (!result)
    return overflow(error);
  return op >= Op::Eq && op <= Op::Ge ? Number(*result != 0) : Number(*result);
}

static std::optional<Number> foldInts(BinaryOp op, int64_t a, int64_t b, std::string &error) {
  if (std::optional<runtime::Expr::Op> shared = launchOperator(op))
    return applyInts(*shared, a, b, error);
  switch (op) {
  case BinaryOp::shl:
    if (b < 0 || b >= 63 || (a << b) >> b != a)
      return b >= 0 && a == 0 ? std::optional<Number>(int64_t(0)) : overflow(error);
    return Number(int64_t(a << b));
  case BinaryOp::shr:
    if (b < 0) {
      error = "a shift by a negative number";
      return std::nullopt;
    }
    return Number(int64_t(a >> (b > 63 ? 63 : b)));
  case BinaryOp::bitAnd:
    return Number(a & b);
  case BinaryOp::bitOr:
    return Number(a | b);
  case BinaryOp::bitXor:
    return Number(a ^ b);
  default:
    error = ("'" + ast::spelling(op) + "' needs bools, found an integer").str();
    return std::nullopt;
  }
}

static std::optional<Number> foldFloats(BinaryOp op, double a, double b, std::string &error) {
  switch (op) {
  case BinaryOp::add:
    return checked(a + b, {a, b}, error);
  case BinaryOp::sub:
    return checked(a - b, {a, b}, error);
  case BinaryOp::mul:
    return checked(a * b, {a, b}, error);
  case BinaryOp::div:
    if (b == 0) {
      error = "division by zero at compile time";
      return std::nullopt;
    }
    return checked(a / b, {a, b}, error);
  case BinaryOp::eq:
    return a == b;
  case BinaryOp::ne:
    return a != b;
  case BinaryOp::lt:
    return a < b;
  case BinaryOp::le:
    return a <= b;
  case BinaryOp::gt:
    return a > b;
  case BinaryOp::ge:
    return a >= b;
  default:
    error = ("'" + ast::spelling(op) + "' is not defined on floats").str();
    return std::nullopt;
  }
}

/// By the kinds of both operands: bools, then integers; an integer that meets a float becomes a
/// double.
std::optional<Number> tile::foldBinary(BinaryOp op, Number a, Number b, std::string &error) {
  if (std::holds_alternative<bool>(a) && std::holds_alternative<bool>(b))
    return foldBools(op, std::get<bool>(a), std::get<bool>(b), error);
  if (std::holds_alternative<bool>(a) || std::holds_alternative<bool>(b)) {
    error = ("'" + ast::spelling(op) + "' cannot mix a bool and a number").str();
    return std::nullopt;
  }
  if (std::holds_alternative<int64_t>(a) && std::holds_alternative<int64_t>(b))
    return foldInts(op, std::get<int64_t>(a), std::get<int64_t>(b), error);
  return foldFloats(op, toDouble(a), toDouble(b), error);
}

std::optional<Number> tile::foldUnary(UnaryOp op, Number a, std::string &error) {
  if (auto *flag = std::get_if<bool>(&a)) {
    if (op == UnaryOp::logicalNot)
      return !*flag;
    error = ("'" + ast::spelling(op) + "' needs a number, found bool").str();
    return std::nullopt;
  }
  if (auto *integer = std::get_if<int64_t>(&a)) {
    if (op == UnaryOp::neg)
      return foldInts(BinaryOp::sub, 0, *integer, error);
    if (op == UnaryOp::bitNot)
      return Number(~*integer);
  } else if (op == UnaryOp::neg) {
    return -std::get<double>(a);
  }
  error = ("'" + ast::spelling(op) + "' is not defined on " +
           (std::holds_alternative<int64_t>(a) ? "integers" : "floats"))
              .str();
  return std::nullopt;
}

static std::optional<Number> foldIntCall(llvm::StringRef name, llvm::ArrayRef<int64_t> args,
                                         std::string &error) {
  if (args.size() == 2) {
    int64_t a = args[0], b = args[1];
    if (name == "min" || name == "minnum")
      return applyInts(runtime::Expr::Op::Min, a, b, error);
    if (name == "max" || name == "maxnum")
      return applyInts(runtime::Expr::Op::Max, a, b, error);
    if (name == "cdiv")
      return applyInts(runtime::Expr::Op::CeilDiv, a, b, error);
  }
  if (args.size() == 3 && name == "clamp")
    return Number(std::min(std::max(args[0], args[1]), args[2]));
  if (args.size() != 1)
    return std::nullopt;
  int64_t a = args[0];
  if (name == "abs")
    return a < 0 ? foldInts(BinaryOp::sub, 0, a, error) : Number(a);
  if (name == "sign")
    return Number(int64_t(a > 0) - int64_t(a < 0));
  if (name == "next_pow2")
    return applyInts(runtime::Expr::Op::NextPow2, a, 1, error);
  return std::nullopt;
}

std::optional<Number> tile::foldCall(llvm::StringRef name, const std::vector<Number> &args,
                                     std::string &error) {
  bool allInts = !args.empty();
  for (const Number &arg : args) {
    if (std::holds_alternative<bool>(arg))
      return std::nullopt;
    allInts = allInts && std::holds_alternative<int64_t>(arg);
  }
  if (allInts) {
    std::vector<int64_t> ints;
    for (const Number &arg : args)
      ints.push_back(std::get<int64_t>(arg));
    // Integers stay integers where the function has a version for them; exp and the like take
    // doubles.
    if (std::optional<Number> result = foldIntCall(name, ints, error); result || !error.empty())
      return result;
  }
  if (args.size() == 2) {
    double a = toDouble(args[0]), b = toDouble(args[1]);
    bool anyNan = std::isnan(a) || std::isnan(b);
    if (name == "min" || name == "max") { // -0 is less than +0
      bool firstIsLess = a < b || (a == b && std::signbit(a));
      return anyNan ? Number(std::nan("")) : Number(firstIsLess == (name == "min") ? a : b);
    }
    if (name == "pow")
      return checked(std::pow(a, b), {a, b}, error);
    return std::nullopt;
  }
  if (args.size() != 1)
    return std::nullopt;
  static const struct {
    const char *name;
    double (*function)(double);
  } functions[] = {{"exp", std::exp},     {"exp2", std::exp2},      {"expm1", std::expm1},
                   {"log", std::log},     {"log2", std::log2},      {"log1p", std::log1p},
                   {"sqrt", std::sqrt},   {"sin", std::sin},        {"cos", std::cos},
                   {"tan", std::tan},     {"tanh", std::tanh},      {"erf", std::erf},
                   {"abs", std::fabs},    {"floor", std::floor},    {"ceil", std::ceil},
                   {"trunc", std::trunc}, {"round", std::nearbyint}};
  for (const auto &entry : functions)
    if (name == entry.name)
      return checked(entry.function(toDouble(args[0])), {toDouble(args[0])}, error);
  if (name == "rsqrt")
    return checked(1.0 / std::sqrt(toDouble(args[0])), {toDouble(args[0])}, error);
  return std::nullopt;
}

/// The distance of two numbers of 64 bits takes 64 bits without a sign; subtraction of uint64_t
/// wraps to just that distance. A loop `for i in lo..=hi` over all of them has 2^64 trips, the one
/// count that does not fit.
std::optional<uint64_t> tile::countTrips(int64_t low, int64_t high, int64_t step, bool inclusive) {
  if (step < 1 || low > high || (low == high && !inclusive))
    return 0;
  uint64_t quotient = (uint64_t(high) - !inclusive - uint64_t(low)) / uint64_t(step);
  return quotient == std::numeric_limits<uint64_t>::max() ? std::nullopt
                                                          : std::optional(quotient + 1);
}
