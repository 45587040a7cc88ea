// Verifiers of the tile dialect's element-wise operations.
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
