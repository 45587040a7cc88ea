// convert-tile-to-linalg, tile.lookup and tile.random_bits: element by element.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Convert/Philox.h"
#include "passes/Convert/Table.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;

/// `body` on scalars, or on each element of tiles of one shape.
/// Operands are read as they are: each of them has the shape of the result, by the verifier.
static Value mapElements(OpBuilder &b, Operation *op,
                         function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return body(b, op->getOperands());
  Location loc = op->getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(op->getNumOperands() + 1, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(b, loc, TypeRange(type), op->getOperands(), ValueRange(empty), maps,
                                iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
                                  linalg::YieldOp::create(b, loc, body(b, args.drop_back()));
                                });
  return generic.getResult(0);
}

Value KernelLowering::lowerLookup(LookupOp op) {
  auto table = cast<DenseElementsAttr>(op.getTable());
  Value address =
      getTableAddress(b, op.getLoc(), op->getParentOfType<ModuleOp>(), table, /*addressSpace=*/0);
  return mapElements(b, op, [&](OpBuilder &b, ValueRange args) {
    return readTable(b, op.getLoc(), address, args[0], table);
  });
}

Value KernelLowering::lowerRandomBits(RandomBitsOp op) {
  return mapElements(b, op, [&](OpBuilder &b, ValueRange args) {
    return expandPhilox(b, op.getLoc(), args[0], args[1]);
  });
}
