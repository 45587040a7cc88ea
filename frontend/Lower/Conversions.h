// Brings operands to one dtype and one shape.
#ifndef TILE_FRONTEND_LOWER_CONVERSIONS_H
#define TILE_FRONTEND_LOWER_CONVERSIONS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class Conversions : LowerPart {
public:
  explicit Conversions(Lowering &lowering) : LowerPart(lowering) {}

  SemValue castTo(const SemValue &value, DType to, Range range);
  bool checkShape(llvm::ArrayRef<int64_t> shape, Range range) {
    return operands.checkShape(shape, range);
  }
  /// Reports that `what` does not take the dtype, if it is one that only stores. True if so.
  bool refuseStorage(DType dtype, Range range, const llvm::Twine &what) {
    return operands.refuseStorage(dtype, range, what);
  }
  /// A value as SSA: numbers without a dtype become index, f32 or bool. An error after an error.
  SemValue toData(const SemValue &value, Range range);
  /// A compile-time number at a dtype, or a value that has it already; integers widen to index.
  /// Null after an error.
  mlir::Value toDtype(const SemValue &value, DType dtype, Range range);
  /// An int or integer scalar as an index scalar. Null after an error, which names `what`.
  mlir::Value toIndex(const SemValue &value, Range range, const llvm::Twine &what);
  /// Brings numeric values to one dtype. False after an error.
  bool unifyDtypes(llvm::MutableArrayRef<Arg> args, const llvm::Twine &what, Range range);
  /// Brings SSA values to one shape. False after an error.
  bool unifyShapes(llvm::MutableArrayRef<Arg> args, Range range);
  /// Reports the use of a tensor that does not exist. True if so.
  bool refuseNone(const SemValue &value, Range range) { return operands.refuseNone(value, range); }
};

} // namespace tile

#endif
