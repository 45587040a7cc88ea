// MLIR's types for dtypes; values around SSA values and views.
#include "frontend/Lower/Emitted.h"

using namespace mlir;
using namespace tile;

Type tile::toType(DType dtype, MLIRContext *context) {
  switch (dtype) {
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::Index:
    return IndexType::get(context);
  default:
    return IntegerType::get(context, bitWidth(dtype));
  }
}

SemValue tile::ofData(mlir::Value value, tile::DType dtype) {
  SemValue result;
  result.kind = SemValue::Kind::Data;
  result.dtype = dtype;
  result.emitted = value.getAsOpaquePointer();
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    result.extents = tensor.getShape(); // the type keeps it
  return result;
}

SemValue tile::ofView(ViewValue view) {
  SemValue result;
  result.kind = SemValue::Kind::View;
  result.dtype = view.dtype;
  result.view = std::make_shared<const ViewValue>(std::move(view));
  result.extents = result.view->shape;
  return result;
}

mlir::Attribute tile::toAttribute(const AttributeValue &attribute, Builder &builder) {
  struct {
    Builder &builder;
    mlir::Attribute operator()(std::monostate) { return builder.getUnitAttr(); }
    mlir::Attribute operator()(int64_t value) { return builder.getI64IntegerAttr(value); }
    mlir::Attribute operator()(const std::string &value) { return builder.getStringAttr(value); }
    mlir::Attribute operator()(const std::vector<int64_t> &value) {
      return builder.getDenseI64ArrayAttr(value);
    }
    mlir::Attribute operator()(const std::vector<std::string> &value) {
      return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(value));
    }
  } visitor{builder};
  return std::visit(visitor, attribute.value);
}
