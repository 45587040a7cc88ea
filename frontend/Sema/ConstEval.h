// Arithmetic on compile-time numbers: 64-bit integers and doubles without a dtype, and bools.
#ifndef TILE_FRONTEND_SEMA_CONSTEVAL_H
#define TILE_FRONTEND_SEMA_CONSTEVAL_H

#include "frontend/Ast/Expr.h"

#include <optional>
#include <string>
#include <variant>

namespace tile {

/// A compile-time bool, integer or float.
using Number = std::variant<bool, int64_t, double>;

/// `a op b`. An int that meets a float becomes one. None, with the reason in `error`: an operation
/// that the kinds do not have, overflow, division by zero.
std::optional<Number> foldBinary(ast::BinaryOp op, Number a, Number b, std::string &error);
std::optional<Number> foldUnary(ast::UnaryOp op, Number a, std::string &error);

/// A built-in function of numbers (min, cdiv, exp, ...) by name. None with an empty `error`: not
/// foldable here.
std::optional<Number> foldCall(llvm::StringRef name, const std::vector<Number> &args,
                               std::string &error);

/// Trips of a loop over constants; nothing where they are 2^64.
std::optional<uint64_t> countTrips(int64_t low, int64_t high, int64_t step, bool inclusive);

/// "42", "1.5", "true".
std::string toText(const Number &number);
double toDouble(const Number &number);

} // namespace tile

#endif
