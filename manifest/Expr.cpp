// Evaluation and text of manifest expressions.
//
// Expr::evaluate   the compiler, `tilec run`, shapes of outputs (runtime/src/Named.cpp)
// tk_eval          launches, by the library and by generated C: postfix code (launch/core/Value.c)
// _evaluate        Python's fake kernels, over symbolic sizes (python/tile_compiler/_torch.py)
//
// All but Python's have one arithmetic, manifest/Arithmetic.h; the code that the compiler emits for
// a kernel agrees with it.
#include "manifest/Expr.h"
#include "manifest/Arithmetic.h"

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

static_assert(int(Op::NextPow2) == TK_NEXT_POW2 && int(Op::Eq) == TK_EQ &&
                  int(Op::Float) == TK_FLOAT,
              "operators have one order");

std::optional<int64_t> apply(Expr::Op op, int64_t a, int64_t b) {
  int overflow = 0;
  int64_t result = tk_apply(int(op), a, b, &overflow);
  return overflow ? std::nullopt : std::optional(result);
}

int64_t floatBits(double value) { return tk_float_bits(value); }
double floatOfBits(int64_t bits) { return tk_float(bits); }

std::optional<int64_t> applyFloat(Expr::Op op, int64_t a, int64_t b) {
  int unknown = 0;
  int64_t result = tk_apply_floats(int(op), a, b, &unknown);
  return unknown ? std::nullopt : std::optional(result);
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
