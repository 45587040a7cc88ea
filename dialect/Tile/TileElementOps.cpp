// Verifiers and folders of the tile dialect's element-wise operations.
#include "dialect/Tile/Float8.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tile;

LogicalResult LookupOp::verify() {
  ShapedType table = getTable().getShapedType();
  if (table.getRank() != 1 || table.getNumElements() < 1 || !isa<DenseElementsAttr>(getTable()))
    return emitOpError() << "needs a dense table of rank 1, found " << table;
  if (getElementTypeOrSelf(getType()) != table.getElementType())
    return emitOpError() << "of a table of " << table.getElementType()
                         << " makes elements of that type, found " << getType();
  return success();
}

LogicalResult RandomBitsOp::verify() {
  if (!getElementTypeOrSelf(getSeed().getType()).isInteger(64) ||
      !getElementTypeOrSelf(getPosition().getType()).isInteger(64))
    return emitOpError() << "takes a seed and positions of 64 bits, found " << getSeed().getType()
                         << " and " << getPosition().getType();
  if (!getElementTypeOrSelf(getType()).isInteger(32))
    return emitOpError() << "makes words of 32 bits, found " << getType();
  return success();
}

LogicalResult RoundFloat8Op::verify() {
  Type from = getElementTypeOrSelf(getSource().getType()),
       to = getElementTypeOrSelf(getResult().getType());
  if (!isFloat8Element(to))
    return emitOpError() << "makes a float of 8 bits with a sign and a negative zero, found " << to;
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(from))
    return emitOpError() << "takes f16, bf16, f32 or f64, found " << from;
  return success();
}

/// Formats of 8 bits without a sign or a negative zero (scales) are no elements of tiles.
bool tile::isFloat8Element(Type type) {
  auto element = dyn_cast<FloatType>(type);
  if (!element || element.getWidth() != 8)
    return false;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  return APFloat::semanticsHasSignedRepr(semantics) &&
         APFloat::getZero(semantics, /*Negative=*/true).isNegative();
}

/// Saturating, as instructions of GPUs are with .satfinite: infinity becomes the largest number,
/// NaN stays NaN.
APFloat tile::roundToFloat8(APFloat value, const llvm::fltSemantics &semantics) {
  bool wasNaN = value.isNaN(), isNegative = value.isNegative(), losesInfo;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return wasNaN || value.isFinite() ? value : APFloat::getLargest(semantics, isNegative);
}

/// As the conversion at run time: the same function of the same value (roundToFloat8), so that
/// folding changes no result.
OpFoldResult RoundFloat8Op::fold(FoldAdaptor adaptor) {
  Attribute source = adaptor.getSource();
  auto element = cast<FloatType>(getElementTypeOrSelf(getResult().getType()));
  auto rounded = [&](const APFloat &value) {
    return roundToFloat8(value, element.getFloatSemantics());
  };
  if (auto number = dyn_cast_or_null<FloatAttr>(source))
    return FloatAttr::get(element, rounded(number.getValue()));
  auto type = dyn_cast<ShapedType>(getResult().getType());
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(source); splat && type)
    return DenseElementsAttr::get(type, rounded(splat.getSplatValue<APFloat>()));
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(source);
  if (!elements || !type)
    return {};
  SmallVector<APFloat> values;
  for (const APFloat &value : elements.getValues<APFloat>())
    values.push_back(rounded(value));
  return DenseElementsAttr::get(type, values);
}
