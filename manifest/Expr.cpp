// Evaluation and text of manifest expressions.
//
// Expr::evaluate   the compiler, `tilec run`, shapes of outputs (runtime/src/Named.cpp)
// tk_eval          launches, by the library and by generated C: postfix code (launch/core/Value.c)
// _evaluate        Python's fake kernels, over symbolic sizes (python/tile/_torch.py)
//
// One arithmetic in three places, which must agree: apply() here, for compile-time evaluation and
// the validator; launch/core, in C; and the code that the compiler emits for a kernel. x / 0 is 0
// and x % 0 is x, quotients round toward zero; a result that overflows is none.
#include "manifest/Expr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tile::runtime {

namespace {
struct Spelled {
  Expr::Op op;
  std::string_view text;
  unsigned operands;
};
using Op = Expr::Op;
constexpr std::array<Spelled, 19> operators = {{
    {Op::Add, "+", 2},   {Op::Sub, "-", 2},   {Op::Mul, "*", 2},
    {Op::Div, "/", 2},   {Op::Rem, "%", 2},   {Op::CeilDiv, "cdiv", 2},
    {Op::Min, "min", 2}, {Op::Max, "max", 2}, {Op::NextPow2, "next_pow2", 1},
    {Op::Neg, "neg", 1}, {Op::Eq, "==", 2},   {Op::Ne, "!=", 2},
    {Op::Lt, "<", 2},    {Op::Le, "<=", 2},   {Op::Gt, ">", 2},
    {Op::Ge, ">=", 2},   {Op::And, "&&", 2},  {Op::Or, "||", 2},
    {Op::Not, "!", 1},
}};

bool isCall(Op op) {
  return op == Op::CeilDiv || op == Op::Min || op == Op::Max || op == Op::NextPow2;
}
} // namespace

Expr Expr::makeName(std::string name) {
  Expr expr;
  expr.op = Op::Name;
  expr.name = std::move(name);
  return expr;
}

Expr Expr::makeFloat(double value) {
  Expr expr;
  expr.op = Op::Float;
  expr.number = value;
  return expr;
}

Expr Expr::make(Op op, std::vector<Expr> operands) {
  Expr expr;
  expr.op = op;
  expr.operands = std::move(operands);
  return expr;
}

/// Recurses: expressions from outside are limited by maxExprDepth when they are read.
unsigned Expr::getDepth() const {
  unsigned depth = 0;
  for (const Expr &operand : operands)
    depth = std::max(depth, operand.getDepth() + 1);
  return depth;
}

/// A balanced tree: a chain of a thousand members would be too deep to be read again.
Expr Expr::makeAny(std::vector<Expr> conditions) {
  while (conditions.size() > 1) {
    std::vector<Expr> pairs;
    for (size_t i = 0; i + 1 < conditions.size(); i += 2)
      pairs.push_back(make(Op::Or, std::move(conditions[i]), std::move(conditions[i + 1])));
    if (conditions.size() % 2)
      pairs.push_back(std::move(conditions.back()));
    conditions = std::move(pairs);
  }
  return conditions.empty() ? Expr(0) : std::move(conditions[0]);
}

bool Expr::operator==(const Expr &other) const {
  return op == other.op && integer == other.integer && number == other.number &&
         name == other.name && operands == other.operands;
}

std::string_view spelling(Expr::Op op) {
  for (const Spelled &entry : operators)
    if (entry.op == op)
      return entry.text;
  return {};
}

std::optional<Expr::Op> operatorFromSpelling(std::string_view text, size_t operandCount) {
  if (text == "-" && operandCount == 1)
    return Op::Neg;
  for (const Spelled &entry : operators)
    if (entry.text == text && entry.operands == operandCount)
      return entry.op;
  return std::nullopt;
}

/// Comparisons of integers or floats; nothing for other operators.
template <typename T> static std::optional<int64_t> compare(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  case Op::Ge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> apply(Expr::Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case Op::Integer:
  case Op::Name:
  case Op::Float:
    return std::nullopt;
  case Op::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Op::Sub:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Op::Mul:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case Op::Div:
    if (b == 0)
      return 0;
    return a == INT64_MIN && b == -1 ? std::nullopt : std::optional(a / b);
  case Op::Rem:
    if (b == 0)
      return a;
    return b == -1 ? 0 : a % b;
  case Op::CeilDiv:
    if (b == 0)
      return 0;
    if (a == INT64_MIN && b == -1)
      return std::nullopt;
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
  case Op::Min:
    return a < b ? a : b;
  case Op::Max:
    return a > b ? a : b;
  case Op::NextPow2:
    if (a <= 1)
      return 1;
    if (a > int64_t(1) << 62)
      return std::nullopt;
    return int64_t(1) << (64 - __builtin_clzll(uint64_t(a - 1)));
  case Op::Neg:
    return a == INT64_MIN ? std::nullopt : std::optional(-a);
  case Op::And:
    return a && b;
  case Op::Or:
    return a || b;
  case Op::Not:
    return !a;
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    break;
  }
  return compare(op, a, b);
}

int64_t floatBits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double floatOfBits(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Floats travel as their bits, in the same cells as integers.
std::optional<int64_t> applyFloat(Expr::Op op, int64_t aBits, int64_t bBits) {
  double a = floatOfBits(aBits), b = floatOfBits(bBits);
  bool unordered = a != a || b != b;
  switch (op) {
  case Op::Add:
    return floatBits(a + b);
  case Op::Sub:
    return floatBits(a - b);
  case Op::Mul:
    return floatBits(a * b);
  case Op::Div:
    return floatBits(a / b);
  case Op::Neg:
    return floatBits(-a);
  case Op::Min: // NaN wins, and -0 is less than +0, as in a kernel
    return floatBits(unordered ? a + b : a < b || (a == b && std::signbit(a)) ? a : b);
  case Op::Max:
    return floatBits(unordered ? a + b : a > b || (a == b && !std::signbit(a)) ? a : b);
  default:
    return compare(op, a, b);
  }
}

std::optional<int64_t> Expr::evaluate(const Bindings &bindings, std::string &error) const {
  if (isInteger())
    return integer;
  if (isFloat()) {
    error = "'" + toString() + "' is no integer";
    return std::nullopt;
  }
  if (isName()) {
    auto found = bindings.find(name);
    if (found != bindings.end())
      return found->second;
    error = "'" + name + "' has no value";
    return std::nullopt;
  }
  int64_t values[2] = {0, 0};
  for (size_t i = 0; i < operands.size() && i < 2; ++i) {
    std::optional<int64_t> value = operands[i].evaluate(bindings, error);
    if (!value)
      return std::nullopt;
    values[i] = *value;
  }
  std::optional<int64_t> result = apply(op, values[0], values[1]);
  if (!result)
    error = "'" + toString() + "' overflows 64 bits";
  return result;
}

std::string Expr::toString() const {
  if (isInteger())
    return std::to_string(integer);
  if (isFloat()) {
    // The shortest text that reads back as the same number, always with a point or an exponent.
    char text[40];
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      double again = 0;
      if (std::sscanf(text, "%lf", &again) == 1 && again == number)
        break;
    }
    std::string result = text;
    return result.find_first_of(".en") == std::string::npos ? result + ".0" : result;
  }
  if (isName())
    return name;
  std::string text(spelling(op));
  if (isCall(op)) {
    text += "(";
    for (size_t i = 0; i < operands.size(); ++i)
      text += (i ? ", " : "") + operands[i].toString();
    return text + ")";
  }
  auto operand = [](const Expr &e) {
    bool atom = e.isName() || (e.isInteger() && e.integer >= 0) || (e.isFloat() && e.number >= 0) ||
                isCall(e.op);
    return atom ? e.toString() : "(" + e.toString() + ")";
  };
  if (operands.size() == 1)
    return (op == Op::Neg ? "-" : text) + operand(operands[0]);
  return operand(operands[0]) + " " + text + " " + operand(operands[1]);
}

} // namespace tile::runtime
