// The value of an expression: a compile-time number, dtype or function in full, a tile, scalar or
// view by its type. Code that computes the latter is Lower's affair.
#ifndef TILE_FRONTEND_SEMA_SEMVALUE_H
#define TILE_FRONTEND_SEMA_SEMVALUE_H

#include "frontend/Ast/Decl.h"
#include "frontend/Sema/Builtins.h"
#include "frontend/Sema/ConstEval.h"
#include "frontend/Sema/DTypes.h"

#include "llvm/ADT/ArrayRef.h"

#include <limits>
#include <memory>

namespace tile {

struct SemValue;

/// An extent that is known at launch only.
constexpr int64_t unknownExtent = std::numeric_limits<int64_t>::min();

/// An index range: `size` positions from `start`, `step` apart; those at or past `end` do not
/// exist.
struct RangeValue;
/// A tensor parameter or a part of one, as Lower emits it (Lower/Emitted.h).
struct ViewValue;
/// A function, with the compile-time arguments given to it so far.
struct FunctionValue;

/// A value. Copies are cheap; payloads are shared and never change.
struct SemValue {
  enum class Kind {
    Error,    // something was wrong and has been reported: whatever is computed from it is silent
    Void,     // the result of a statement-like call
    None,     // in the place of a tensor: there is none; `text` is the parameter's name, if any
    Number,   // a compile-time bool, int or float
    String,   // a compile-time string
    DType,    // a dtype
    Function, // a function or built-in
    Data,     // a scalar or tile that the kernel computes
    Range,
    View,
    Tuple,
    List
  };

  Kind kind = Kind::Error;
  Number number;
  std::string text;
  DType dtype = DType::F32; // of DType, Data and View
  /// Of Data, empty for a scalar, and of View. Whoever makes the value keeps the numbers for as
  /// long as there are values.
  llvm::ArrayRef<int64_t> extents;
  /// Of Data: the operation's result that holds it. Lower alone looks inside (Lower/Emitted.h).
  const void *emitted = nullptr;
  const ast::Param *param = nullptr; // of a View: the parameter that it is, or is a part of
  bool isPart = false;               // of a View: it is not the parameter as it was passed
  /// Of a tile, in checks: lanes that do not exist hold 0, so that a sum need not be looked at.
  bool isZeroPadded = false;
  std::shared_ptr<const RangeValue> range;
  std::shared_ptr<const ViewValue> view;
  std::shared_ptr<const FunctionValue> function;
  std::shared_ptr<const std::vector<SemValue>> elements; // of Tuple and List

  static SemValue error() { return {}; }
  static SemValue ofVoid();
  static SemValue ofNone(std::string name = "");
  static SemValue of(Number number);
  static SemValue ofInt(int64_t value) { return of(Number(value)); }
  static SemValue ofBool(bool value) { return of(Number(value)); }
  static SemValue ofFloat(double value) { return of(Number(value)); }
  static SemValue ofString(std::string text);
  static SemValue ofDtype(DType dtype);
  static SemValue of(RangeValue range);
  static SemValue of(FunctionValue function);
  static SemValue ofTuple(std::vector<SemValue> elements, Kind kind = Kind::Tuple);

  bool isError() const { return kind == Kind::Error; }
  bool isNone() const { return kind == Kind::None; }
  bool isNumber() const { return kind == Kind::Number; }
  bool isInt() const { return isNumber() && std::holds_alternative<int64_t>(number); }
  bool isFloatNumber() const { return isNumber() && std::holds_alternative<double>(number); }
  bool isBoolNumber() const { return isNumber() && std::holds_alternative<bool>(number); }
  int64_t getInt() const { return std::get<int64_t>(number); }
  bool getBool() const { return std::get<bool>(number); }
  bool isData() const { return kind == Kind::Data; }
  bool isRange() const { return kind == Kind::Range; }
  bool isView() const { return kind == Kind::View; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isDtype() const { return kind == Kind::DType; }
  bool isFunction() const { return kind == Kind::Function; }
  /// A number, scalar or tile: what operators and element-wise functions take.
  bool isNumeric() const { return isNumber() || isData(); }
  /// Known at compile time.
  bool isConstant() const;

  /// Shape of a numeric value; empty for scalars and numbers.
  llvm::ArrayRef<int64_t> shape() const {
    return kind == Kind::Data ? extents : llvm::ArrayRef<int64_t>();
  }
  int64_t rank() const { return int64_t(shape().size()); }
};

struct RangeValue {
  SemValue start; // an int or an index scalar
  int64_t size = 0;
  int64_t step = 1;
  std::optional<SemValue> end; // likewise
};

struct FunctionValue {
  const ast::FnDecl *decl = nullptr;
  const Builtin *builtin = nullptr;
  std::vector<SemValue> statics;
  std::string name() const { return decl ? decl->name.text : builtin->name; }
};

/// "f32[128, 64]", "f32 scalar", "compile-time int 5", "index range of 64": how messages name a
/// value's type.
std::string describe(const SemValue &value);
/// "[128, 64]".
std::string describeShape(llvm::ArrayRef<int64_t> shape);

} // namespace tile

#endif
