// Checks of a kernel's body without code: values have types, and nothing emits.
//
// A checker that meets what it has no rule for says so (undecided), and is then believed in
// nothing: whoever asked elaborates. So it may know little, but never says what elaboration would
// not.
#ifndef TILE_FRONTEND_CHECK_BODYCHECKER_H
#define TILE_FRONTEND_CHECK_BODYCHECKER_H

#include "frontend/Check/AccessTypes.h"
#include "frontend/Check/CallTypes.h"
#include "frontend/Check/StatementTypes.h"
#include "frontend/Check/TileTypes.h"
#include "frontend/Sema/KernelSema.h"
#include "frontend/Sema/Operands.h"
#include "frontend/Sema/TypeRules.h"

namespace tile {

/// What a version of a kernel does, as far as its statements were looked at.
struct BodyFacts {
  std::set<const ast::Param *> written; // stored to, or meant to be
  /// Brings elements of tiles together where padding may count.
  bool reduces = false;
};

class BodyChecker : public Evaluator {
public:
  BodyChecker(const Modules &modules, const ast::KernelDecl &kernel, const SemaOptions &options,
              DiagnosticEngine &diagnostics);

  enum class Outcome { Right, Wrong, RuledOut, Undecided };
  /// Checks one version and fills `record`. What is wrong has been reported, unless undecided.
  Outcome check(const Instance &instance, const Variant &variant, runtime::Kernel &record);
  KernelSema &getSema() { return sema; }
  const BodyFacts &getFacts() const { return facts; }
  bool isDecided() const { return decided; }

  // What the parts ask for.
  /// There is no rule here for what comes next, or it is a mistake that elaboration words.
  SemValue undecided();
  /// A scalar or tile.
  SemValue data(DType dtype, llvm::ArrayRef<int64_t> shape = {});
  /// The elements of a tile, or numbers that 0 stands for in the same places, under another type.
  SemValue dataLike(const SemValue &value, DType dtype, llvm::ArrayRef<int64_t> shape);
  SemValue view(DType dtype, llvm::ArrayRef<int64_t> shape, const ast::Param *param, bool isPart);
  /// A value with a dtype: numbers become index, f32 or bool.
  SemValue toData(const SemValue &value, Range range);
  /// Does a value become one of the dtype without `as`? False after a report.
  bool becomes(const SemValue &value, DType dtype, Range range);
  /// Is it an integer scalar? Undecided if not.
  bool isIndex(const SemValue &value);
  /// May a tile have the shape? Undecided if not.
  bool isShape(llvm::ArrayRef<int64_t> shape);
  bool unifyDtypes(llvm::MutableArrayRef<Arg> args, const llvm::Twine &what, Range range);
  bool unifyShapes(llvm::MutableArrayRef<Arg> args, Range range);
  bool listsToTiles(llvm::MutableArrayRef<Arg> args);
  SemValue listToTile(const SemValue &list, std::optional<DType> dtype, Range range) override;

  BodyFacts facts;
  ForeignCode foreign;
  Operands operands;
  /// Grows with each operation that is not element-wise on scalars.
  unsigned effects = 0;
  AccessTypes accesses;
  CallTypes calls;
  TileTypes tiles;
  StatementTypes statements;
  KernelSema sema;

protected:
  SemValue unaryOfData(const ast::UnaryExpr &expr, SemValue operand) override;
  SemValue binaryOfData(ast::BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                        Range range, Range opRange) override;
  SemValue evalCast(const ast::CastExpr &expr) override;
  SemValue evalSubscript(const ast::SubscriptExpr &expr) override;
  SemValue evalCall(const ast::CallExpr &expr) override;
  SemValue evalMember(const ast::MemberExpr &expr) override;
  SemValue convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                         Range range) override;
  std::optional<runtime::Constant> constantOf(const SemValue &value, DType dtype,
                                              Range range) override;

private:
  SemValue shiftRange(ast::BinaryOp op, const SemValue &range, const SemValue &by, Range byRange,
                      Range place);
  SemValue movePosition(ast::BinaryOp op, const SemValue &position, const SemValue &by,
                        Range byRange, Range place);
  SemValue endOfRange(const RangeValue &range, Range place);
  void enterBody(const CheckedKernel &checked);

  bool decided = true;
  std::set<std::vector<int64_t>> shapes; // those of values, which refer to them
};

} // namespace tile

#endif
