// Evaluates expressions at compile time. What needs code, a tile or a scalar with a dtype, is left
// to those who can emit it: they derive from Evaluator. On its own it computes with numbers,
// dtypes, strings and functions, and reports all else as not constant.
#ifndef TILE_FRONTEND_SEMA_EVALUATOR_H
#define TILE_FRONTEND_SEMA_EVALUATOR_H

#include "frontend/Sema/KernelContext.h"
#include "manifest/Manifest.h"

namespace tile {

class Evaluator {
public:
  Evaluator(const Modules &modules, const ast::KernelDecl &kernel, const SemaOptions &options,
            DiagnosticEngine &diagnostics);
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator &) = delete;

  SemValue eval(const ast::Expr &expr);
  SemValue evalName(llvm::StringRef name, Range range);
  SemValue evalConstant(const ast::ConstDecl &decl);
  SemValue binary(ast::BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange, Range range,
                  Range opRange = Range());

  std::optional<int64_t> evalInt(const ast::Expr &expr, const llvm::Twine &what);
  /// The position of a member of a tuple or an array of tensors.
  std::optional<int64_t> evalPosition(const SemValue &base, const ast::Expr &position);
  std::optional<int64_t> constInt(const SemValue &value, Range range, const llvm::Twine &what);
  std::optional<bool> evalConstBool(const ast::Expr &expr, const llvm::Twine &what);
  /// Of a `const if`: a compile-time bool, or whether a tensor exists.
  std::optional<bool> evalConstCondition(const ast::Expr &expr);
  std::optional<DType> resolveDtype(const ast::Ident &name);
  /// A value at a declared type `f32`, `int`, `f32[BM, BN]`.
  SemValue convertToDeclared(SemValue value, const ast::TypeSpec &type, Range range);

  /// Is the value of the kind that the parameter declares? An int becomes a float where one is
  /// wanted.
  bool checkKind(const ast::StaticParam &param, SemValue &value, Range range);
  /// The values of a set of compile-time values; an interval gives each of its integers.
  std::optional<std::vector<SemValue>> evalSet(const ast::ValueSet &set, Range range);
  bool isInSet(const SemValue &value, const ast::ValueSet &set, Range range);
  /// A default or fill value as the manifest holds it. None after an error.
  std::optional<runtime::Constant> toConstant(const SemValue &value, DType dtype, Range range);
  bool checkBuiltinArguments(const Builtin &builtin, const std::vector<Arg> &args, Range range);

  KernelContext here;

protected:
  // What may need code.
  virtual SemValue unaryOfData(const ast::UnaryExpr &expr, SemValue operand);
  virtual SemValue binaryOfData(ast::BinaryOp op, SemValue a, SemValue b, Range aRange,
                                Range bRange, Range range, Range opRange);
  virtual SemValue evalCast(const ast::CastExpr &expr);
  virtual SemValue evalSubscript(const ast::SubscriptExpr &expr);
  virtual SemValue evalCall(const ast::CallExpr &expr);
  virtual SemValue evalMember(const ast::MemberExpr &expr);
  /// A value at a declared dtype and shape.
  virtual SemValue convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                                 Range range);
  /// A list of numbers, perhaps nested, as a constant tile. Without `dtype` floats are f32, ints
  /// index. An error after one.
  virtual SemValue listToTile(const SemValue &list, std::optional<DType> dtype, Range range);
  /// The number that a scalar with a dtype is known to be.
  virtual std::optional<runtime::Constant> constantOf(const SemValue &value, DType dtype,
                                                      Range range);

  /// `target.kind`, or the member of an import; none for any other expression.
  std::optional<SemValue> evalStaticMember(const ast::MemberExpr &expr);

private:
  SemValue evalAny(const ast::Expr &expr);
  SemValue evalUnary(const ast::UnaryExpr &expr);
  SemValue evalDecl(const ast::Decl &decl, Range range);
  SemValue evalImported(const Module &imported, const ast::MemberExpr &expr);
  SemValue evalTarget(const ast::MemberExpr &expr);
  std::optional<bool> constBool(const SemValue &value, const ast::Expr &expr,
                                const llvm::Twine &what);
  std::optional<int64_t> evalStep(const ast::ValueSet &set);
  SemValue reportNotConstant(Range range, const llvm::Twine &found);

  std::map<const ast::ConstDecl *, SemValue> constants; // looked up only
  std::set<const ast::ConstDecl *> constantsInProgress;
};

/// Are two compile-time values the same?
bool isSame(const SemValue &a, const SemValue &b);
/// Can a compile-time number be a value of the dtype? Floats round.
bool fitsDtype(const Number &number, DType dtype);
/// The kinds of compile-time parameters in words: "an integer" for "int".
const char *describeKind(llvm::StringRef kind);

/// A part of the checks of one kernel.
class SemaPart {
protected:
  explicit SemaPart(Evaluator &evaluator)
      : evaluator(evaluator), here(evaluator.here), kernel(here.kernel), options(here.options),
        diagnostics(here.diagnostics), sources(here.sources) {}

  Evaluator &evaluator;
  KernelContext &here;
  const ast::KernelDecl &kernel;
  const SemaOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceManager &sources;
};

} // namespace tile

#endif
