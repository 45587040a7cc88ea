// The built-in functions by name: how many arguments, which named ones, and which of them come
// later.
#ifndef TILE_FRONTEND_SEMA_BUILTINS_H
#define TILE_FRONTEND_SEMA_BUILTINS_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tile {

/// One built-in function.
struct Builtin {
  enum class Family {
    Unary,   // one float operand, element-wise, one operation of the math dialect
    Binary,  // two numeric operands, element-wise
    Element, // element-wise with rules of its own
    Reduce,  // one tile, axis: and keep:
    MinMax,  // Reduce with one positional argument, Binary with two
    Access,  // the first argument is an access x[...]
    Shape,   // makes or reshapes tiles
    Range,   // index ranges
    Scan,    // scans along an axis, and reduce with any function
    Join,    // concat, stack, repeat, flip
    Order,   // sort, topk, histogram
    Random,  // element-wise on positions, under a seed
    Other,   // dot, cast-like, static_assert
    Debug,   // print, assert, ptx
    Later    // refused with a message that says so
  };
  const char *name;
  Family family;
  unsigned minArgs, maxArgs; // positional; UINT_MAX: any number
  std::vector<const char *> named;
  /// What editors show: the arguments, separated by ' | ' where there are several forms, and one
  /// line about the result.
  const char *signature, *summary;
};

/// The built-in of that name, or null.
const Builtin *findBuiltin(llvm::StringRef name);
/// A call of it as an example for messages; empty where the name says all.
llvm::StringRef usageOf(llvm::StringRef builtin);
/// All names that are implemented, for suggestions, in a fixed order.
const std::vector<std::string> &builtinNames();

} // namespace tile

#endif
