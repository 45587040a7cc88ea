// What the values of the front end are in MLIR: types, SSA values, views.
#ifndef TILE_FRONTEND_LOWER_EMITTED_H
#define TILE_FRONTEND_LOWER_EMITTED_H

#include "frontend/Sema/AttributeValue.h"
#include "frontend/Sema/SemValue.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tile {

static_assert(unknownExtent == mlir::ShapedType::kDynamic);

/// A part lo..hi of a dimension, clamped into it at run time.
struct Window {
  mlir::Value low, high;
  /// What it is a part of: an extent known at compile time, else one at run time, else a window.
  int64_t extent = mlir::ShapedType::kDynamic;
  mlir::Value limit;
  std::shared_ptr<const Window> parent;
};

struct ViewValue {
  mlir::Value ssa;
  DType dtype = DType::F32;
  const ast::Param *param = nullptr;
  /// For each dimension its extent where that is static, else ShapedType::kDynamic.
  std::vector<int64_t> shape;
  /// For each dimension a value that its extent never exceeds (the parent's extent), an index
  /// scalar.
  std::vector<mlir::Value> limits;
  /// For each dimension the window that it is, or null.
  std::vector<std::shared_ptr<const Window>> windows;
  /// An integer among the subscripts may lie out of bounds, and no element exist.
  bool mayBeEmptied = false;
};

/// The type of one element.
mlir::Type toType(DType dtype, mlir::MLIRContext *context);

/// A scalar or tile. The type of `value` does not tell the dtype: u8 and i8 are both i8 there.
SemValue ofData(mlir::Value value, DType dtype);
SemValue ofView(ViewValue view);

/// The SSA value of Data.
inline mlir::Value ssaOf(const SemValue &value) {
  return mlir::Value::getFromOpaquePointer(value.emitted);
}

mlir::Attribute toAttribute(const AttributeValue &attribute, mlir::Builder &builder);

} // namespace tile

#endif
