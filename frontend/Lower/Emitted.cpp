// MLIR's types for dtypes; values around SSA values and views.
#include "frontend/Lower/Emitted.h"

using namespace mlir;
using namespace tile;

Type tile::toType(DType dtype, MLIRContext *context) {
  switch (dtype) {
#define FLOAT(name, exponent, mantissa, infinity, semantics, type)                                 \
  case DType::name:                                                                                \
    return type##Type::get(context);
#include "manifest/Dtypes.def"
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
  result.param = view.param;
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
