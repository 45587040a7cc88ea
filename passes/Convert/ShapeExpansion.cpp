// Slices, concatenations and other moves of elements as takes and selections, which have layouts.
//
// Nothing moves where a dimension is one of few equal powers of two and a thread holds all of them,
// as with pairs and halves; elsewhere what is wanted is read at computed positions.
#include "passes/Convert/ShapeExpansion.h"
#include "dialect/SelectionNames.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// As many parts as may be selected from by comparing each one's position; more are cheaper through
/// shared memory.
static constexpr int64_t maxParts = 8;

namespace {

/// Builds tiles at one place of the program.
/// Everything is made where the operation stood; CSE joins equal positions.
class Shapes {
public:
  Shapes(Operation *op) : b(op), loc(op->getLoc()) {}

  Value reshape(Value tile, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(tile.getType());
    return b.createOrFold<ReshapeOp>(loc, type.clone(shape), tile);
  }
  Value broadcast(Value tile, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(tile.getType());
    return b.createOrFold<BroadcastOp>(loc, type.clone(shape), tile);
  }
  Value filled(ArrayRef<int64_t> shape, int64_t value) {
    auto type = RankedTensorType::get(shape, b.getI32Type());
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, Attribute(b.getI32IntegerAttr(value))));
  }
  /// 0, 1, 2, ... along `axis` of a tile of that shape, i32.
  /// In i32: tiles have fewer than 2^31 elements.
  Value positions(ArrayRef<int64_t> shape, int64_t axis) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value line = IotaOp::create(b, loc, RankedTensorType::get({shape[axis]}, b.getIndexType()),
                                zero, b.getI64IntegerAttr(1));
    line = arith::IndexCastOp::create(b, loc, RankedTensorType::get({shape[axis]}, b.getI32Type()),
                                      line);
    SmallVector<int64_t> lined(shape.size(), 1);
    lined[axis] = shape[axis];
    return broadcast(reshape(line, lined), shape);
  }
  Value compare(arith::CmpIPredicate predicate, Value positions, int64_t value) {
    Value number = filled(cast<RankedTensorType>(positions.getType()).getShape(), value);
    return arith::CmpIOp::create(b, loc, predicate, positions, number);
  }
  Value takeOne(Value tile, Value position, int64_t axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    Type result = shape.empty() ? type.getElementType() : Type(type.clone(shape));
    return TakeOp::create(b, loc, result, tile, position, axis);
  }
  /// `size` elements along `axis` from `offset` on, as many as the result has; those outside repeat
  /// the last or first.
  /// TakeOp clamps positions to the axis, so that parts beside the offset may name what they like:
  /// a selection leaves them out.
  Value takeFrom(Value tile, int64_t offset, int64_t size, int64_t axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = size;
    Value at = positions(shape, axis);
    if (offset)
      at = arith::AddIOp::create(b, loc, at, filled(shape, offset));
    return TakeOp::create(b, loc, type.clone(shape), tile, at, axis);
  }
  /// The slice at `position` along `axis`, which is dropped, selected where it lies.
  /// A reduction along the axis by a function that keeps the flagged value: layouts let a thread
  /// that holds the whole axis do it in registers.
  Value selectOne(Value tile, int64_t position, int64_t axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    Value isHere = compare(arith::CmpIPredicate::eq, positions(shape, axis), position);
    shape.erase(shape.begin() + axis);
    Type flag = b.getI1Type(), element = type.getElementType();
    auto typed = [&](Type each) {
      return shape.empty() ? each : Type(RankedTensorType::get(shape, each));
    };
    auto op = ReduceByOp::create(b, loc, TypeRange{typed(element), typed(flag)},
                                 ValueRange{tile, isHere}, axis);
    op->setAttr(selectsOneName, b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    // (value, flag) pairs, associative: the flagged one wins, whichever side it is on.
    Block *block = b.createBlock(&op.getCombiner(), {}, {element, flag, element, flag},
                                 SmallVector<Location>(4, loc));
    Value chosen = arith::SelectOp::create(b, loc, block->getArgument(1), block->getArgument(0),
                                           block->getArgument(2));
    Value any = arith::OrIOp::create(b, loc, block->getArgument(1), block->getArgument(3));
    ScanYieldOp::create(b, loc, ValueRange{chosen, any});
    return op.getResult(0);
  }

  OpBuilder b;
  Location loc;
};

} // namespace

/// Not so 8-bit floats and integers of 4 bits, which are stored and converted only.
/// Selection and comparison have no instructions for these.
static bool isSelectable(Type element) {
  return !element.isInteger(4) && (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() > 8);
}

static LogicalResult expand(tensor::ExtractSliceOp slice) {
  auto type = cast<RankedTensorType>(slice.getSource().getType());
  ArrayRef<int64_t> offsets = slice.getStaticOffsets(), sizes = slice.getStaticSizes();
  bool isStatic = !ShapedType::isDynamicShape(offsets) && !ShapedType::isDynamicShape(sizes) &&
                  slice.hasUnitStride();
  if (!isStatic)
    return slice.emitError("internal: a slice of a tile at positions of the run");
  Shapes shapes(slice);
  // One dimension after the other, each on what the last left.
  Value part = slice.getSource();
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int64_t extent = shape[d], size = sizes[d], offset = offsets[d];
    if (size == extent)
      continue;
    shape[d] = size;
    // A slice that is one of equal powers of two: the axis is split in two, and the part selected.
    //
    //   [.., 8, ..], 2 elements from 4 on     reshape to [.., 4, 2, ..], part 2
    bool divides = llvm::isPowerOf2_64(extent) && llvm::isPowerOf2_64(size) && offset % size == 0;
    if (divides && extent / size <= maxParts && isSelectable(type.getElementType())) {
      SmallVector<int64_t> parts(shape);
      parts.insert(parts.begin() + d, extent / size);
      part = shapes.selectOne(shapes.reshape(part, parts), offset / size, d);
    } else if (size == 1) {
      Value position = arith::ConstantIndexOp::create(shapes.b, shapes.loc, offset);
      Value one = shapes.takeOne(part, position, d);
      part =
          isa<RankedTensorType>(one.getType())
              ? shapes.reshape(one, shape)
              : tensor::SplatOp::create(shapes.b, shapes.loc,
                                        RankedTensorType::get(shape, type.getElementType()), one);
    } else {
      part = shapes.takeFrom(part, offset, size, d);
    }
  }
  ArrayRef<int64_t> wanted = cast<RankedTensorType>(slice.getType()).getShape();
  slice.getResult().replaceAllUsesWith(shapes.reshape(part, wanted));
  slice.erase();
  return success();
}

static LogicalResult expand(tensor::ExtractOp extract) {
  Shapes shapes(extract);
  Value part = extract.getTensor();
  auto type = cast<RankedTensorType>(part.getType());
  // A reduction of one element hands it to all threads.
  if (type.getNumElements() == 1) // every thread has it
    part = ReduceOp::create(shapes.b, shapes.loc, type.getElementType(), ReduceKind::Sum, part,
                            IntegerAttr());
  else
    for (Value position : extract.getIndices())
      part = shapes.takeOne(part, position, 0);
  extract.getResult().replaceAllUsesWith(part);
  extract.erase();
  return success();
}

/// Equal powers of two become parts of a new axis, by selection; else each input is read at
/// positions moved by its offset, and the last one that has begun wins.
static LogicalResult expand(tensor::ConcatOp concat) {
  Shapes shapes(concat);
  int64_t axis = concat.getDim(), count = concat.getInputs().size();
  SmallVector<int64_t> shape(cast<RankedTensorType>(concat.getType()).getShape()), extents;
  for (Value input : concat.getInputs())
    extents.push_back(cast<RankedTensorType>(input.getType()).getDimSize(axis));
  // A count that is no power of two would pad the new axis, unless the parts are single elements.
  bool areEqual = llvm::all_equal(extents) && llvm::isPowerOf2_64(extents[0]) &&
                  count <= maxParts && (extents[0] == 1 || llvm::isPowerOf2_64(count));
  Value result;
  if (areEqual) {
    SmallVector<int64_t> one(shape), many(shape);
    many[axis] = extents[0];
    many.insert(many.begin() + axis, count);
    one = many;
    one[axis] = 1;
    Value at = shapes.positions(many, axis);
    for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
      Value part = shapes.broadcast(shapes.reshape(input, one), many);
      result = i ? Value(arith::SelectOp::create(shapes.b, shapes.loc,
                                                 shapes.compare(arith::CmpIPredicate::sge, at, i),
                                                 part, result))
                 : part;
    }
    result = shapes.reshape(result, shape);
  } else {
    Value at = shapes.positions(shape, axis);
    int64_t offset = 0;
    for (auto [input, extent] : llvm::zip(concat.getInputs(), extents)) {
      // Negative positions read the first element, which the selection of the input before leaves
      // out.
      Value part = shapes.takeFrom(input, -offset, shape[axis], axis);
      result = offset ? Value(arith::SelectOp::create(
                            shapes.b, shapes.loc,
                            shapes.compare(arith::CmpIPredicate::sge, at, offset), part, result))
                      : part;
      offset += extent;
    }
  }
  concat.getResult().replaceAllUsesWith(result);
  concat.erase();
  return success();
}

LogicalResult tile::expandShape(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tensor::ExtractSliceOp, tensor::ExtractOp, tensor::ConcatOp>(
          [](auto each) { return expand(each); })
      .Default([](Operation *) { return success(); });
}
