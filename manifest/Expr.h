// Expressions over named dimensions, strides and scalar parameters: dims, grid extents and
// contracts of a kernel. All are integers, but for contracts over float scalars.
#ifndef TILE_MANIFEST_EXPR_H
#define TILE_MANIFEST_EXPR_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Operators that may stand in each other in an expression of a manifest. The launcher takes 60
/// (launch/ValidatorBuilder.cpp), sources 56 (frontend/Sema/Limits.h).
constexpr unsigned maxExprDepth = 64;

/// Values of names while an expression is evaluated.
using Bindings = std::map<std::string, int64_t, std::less<>>;

/// An integer, a name, or an operator with its operands. A value type: copies are deep.
class Expr {
public:
  enum class Op : uint8_t {
    Integer,
    Name,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    CeilDiv,
    Min,
    Max,
    NextPow2,
    Neg,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
    Float
  };

  /// The integer 0.
  Expr() = default;
  Expr(int64_t value) : integer(value) {}
  static Expr makeName(std::string name);
  /// A finite float; stands in contracts alone.
  static Expr makeFloat(double value);
  /// Operators take two operands, but `NextPow2`, `Neg` and `Not` one.
  static Expr make(Op op, std::vector<Expr> operands);
  static Expr make(Op op, Expr operand) { return make(op, std::vector<Expr>{std::move(operand)}); }
  static Expr make(Op op, Expr left, Expr right) {
    return make(op, std::vector<Expr>{std::move(left), std::move(right)});
  }

  /// True if any of the conditions is; as low a tree as can be, since depth has a limit.
  static Expr makeAny(std::vector<Expr> conditions);

  Op getOp() const { return op; }
  bool isInteger() const { return op == Op::Integer; }
  bool isName() const { return op == Op::Name; }
  bool isFloat() const { return op == Op::Float; }
  int64_t getInteger() const { return integer; }
  double getFloat() const { return number; }
  const std::string &getName() const { return name; }
  const std::vector<Expr> &getOperands() const { return operands; }
  /// How many operators stand in each other.
  unsigned getDepth() const;
  bool operator==(const Expr &other) const;
  bool operator!=(const Expr &other) const { return !(*this == other); }

  /// The value under `bindings`, in 64-bit signed arithmetic; conditions give 0 or 1, `x / 0` is 0
  /// and `x % 0` is x. None, with the reason in `error`, when a name has no value, an operation
  /// overflows or there are floats.
  std::optional<int64_t> evaluate(const Bindings &bindings, std::string &error) const;

  /// Source-like text, fully parenthesised below the top: "((M + 1) % 8) == 0".
  std::string toString() const;

private:
  Op op = Op::Integer;
  int64_t integer = 0;
  double number = 0;
  std::string name;
  std::vector<Expr> operands;
};

/// The manifest's spelling of an operator ("+", "cdiv", "=="); empty for Integer and Name.
std::string_view spelling(Expr::Op op);
/// The operator of that spelling and number of operands; "-" and "neg" both negate one operand.
std::optional<Expr::Op> operatorFromSpelling(std::string_view text, size_t operandCount);
/// `op` on one or two integers (`b` is ignored for one); None on overflow.
std::optional<int64_t> apply(Expr::Op op, int64_t a, int64_t b);
/// The same on floats, given and returned as their 64 bits; conditions give the integers 0 and 1.
/// None for an operator that floats do not have.
std::optional<int64_t> applyFloat(Expr::Op op, int64_t a, int64_t b);
/// The bits of a float, and back.
int64_t floatBits(double value);
double floatOfBits(int64_t bits);

} // namespace tile::runtime

#endif
