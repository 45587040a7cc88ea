// Verifiers and folders of views and accesses.
#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

LogicalResult ViewOp::verify() {
  // A view of bytes may be had of nibbles: two elements in each.
  ViewType view = getType();
  Type held = getBase().getType().getElementType();
  bool isBytes = held.isInteger(4) && view.getElementType().isInteger(8);
  if (view.getElementType() != held && !isBytes)
    return emitOpError() << "makes a view of " << view.getElementType() << " from a pointer to "
                         << getBase().getType().getElementType();
  if ((int64_t)getExtents().size() != view.getRank() ||
      (int64_t)getStrides().size() != view.getRank())
    return emitOpError() << "needs " << view.getRank() << " extents and strides, found "
                         << getExtents().size() << " and " << getStrides().size();
  return success();
}

LogicalResult SubviewOp::verify() {
  ViewType source = getSource().getType(), result = getType();
  if ((int64_t)getKinds().size() != source.getRank())
    return emitOpError() << "needs one kind for each of " << source.getRank()
                         << " dimensions, found " << getKinds().size();
  // Operands are counted by kind: an index, a window's low and high, or nothing.
  unsigned counts[3] = {0, 0, 0};
  for (int32_t kind : getKinds()) {
    if (kind < 0 || kind > 2)
      return emitOpError() << "kind must be 0 (index), 1 (all) or 2 (slice), found " << kind;
    ++counts[kind];
  }
  if (getIndices().size() != counts[0] || getLows().size() != counts[2] ||
      getHighs().size() != counts[2])
    return emitOpError() << "needs " << counts[0] << " indices and " << counts[2]
                         << " lows and highs, found " << getIndices().size() << ", "
                         << getLows().size() << " and " << getHighs().size();
  if (result.getRank() != int64_t(counts[1] + counts[2]) ||
      result.getElementType() != source.getElementType())
    return emitOpError() << "must make a view of rank " << counts[1] + counts[2] << " of "
                         << source.getElementType() << ", found " << result;
  return success();
}

/// Checks that `permutation` permutes 0 .. rank-1.
static LogicalResult verifyPermutation(Operation *op, ArrayRef<int64_t> permutation, int64_t rank) {
  SmallVector<bool> seen(rank, false);
  bool valid = (int64_t)permutation.size() == rank;
  for (int64_t d : permutation) {
    valid = valid && d >= 0 && d < rank && !seen[d];
    if (!valid)
      break;
    seen[d] = true;
  }
  if (valid)
    return success();
  return op->emitOpError() << "needs a permutation of 0.." << rank - 1;
}

LogicalResult PermuteViewOp::verify() {
  ViewType source = getSource().getType(), result = getType();
  if (failed(verifyPermutation(*this, getPermutation(), source.getRank())))
    return failure();
  if (result.getRank() != source.getRank() || result.getElementType() != source.getElementType())
    return emitOpError() << "must make a view like its source " << source << ", found " << result;
  return success();
}

LogicalResult ExtentOp::verify() {
  if (int64_t dim = getDim(), rank = getSource().getType().getRank(); dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim << " is not one of the view's " << rank;
  return success();
}

/// Known extents fold at once, so that contracts reach comparisons.
OpFoldResult ExtentOp::fold(FoldAdaptor) {
  if (int64_t extent = getSource().getType().getShape()[getDim()]; !ShapedType::isDynamic(extent))
    return Builder(getContext()).getIndexAttr(extent);
  if (auto view = getSource().getDefiningOp<ViewOp>())
    return view.getExtents()[getDim()];
  if (auto permute = getSource().getDefiningOp<PermuteViewOp>()) {
    setOperand(permute.getSource());
    setDim(permute.getPermutation()[getDim()]);
    return getResult();
  }
  return {};
}

SmallVector<int64_t> tile::getShapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? SmallVector<int64_t>(tensor.getShape()) : SmallVector<int64_t>();
}

/// Where each dimension of an access lies in its tile; -1 where it is dropped or given by a tile of
/// positions. Those given by positions share dimensions, which stand where the first of them does.
///
///   sizes        4, -2, -1, 8    rank of the tile 4: positions bring 2 dimensions
///   result       0, -1, -1, 3    dimensions 1 and 2 are the positions'
SmallVector<int64_t> tile::mapRangesToTile(ArrayRef<int64_t> sizes, int64_t rank) {
  int64_t ranges = llvm::count_if(sizes, [](int64_t size) { return size >= 0; }), next = 0;
  SmallVector<int64_t> dims;
  bool joined = false;
  for (int64_t size : sizes) {
    dims.push_back(size >= 0 ? next++ : -1);
    if (size == -2 && !joined) {
      joined = true;
      next += rank - ranges;
    }
  }
  return dims;
}

/// The shape of an access without index tiles.
static SmallVector<int64_t> shapeOfRanges(ArrayRef<int64_t> sizes) {
  // -1 is a dimension at a single position, -2 one given by a tile.
  return llvm::to_vector(llvm::make_filter_range(sizes, [](int64_t size) { return size != -1; }));
}

/// The checks that every access shares; `tile` is the type moved, `element` that of the view (or i1
/// for tile.inside).
/// Lists have an entry for each dimension of the view, whichever kind it is of.
template <typename Op> static LogicalResult verifyAccess(Op op, Type tile, Type element) {
  ViewType view = op.getView().getType();
  size_t rank = view.getRank();
  if (op.getStarts().size() != rank || op.getSizes().size() != rank ||
      op.getSteps().size() != rank || op.getHasEnd().size() != rank ||
      op.getInBounds().size() != rank)
    return op.emitOpError()
           << "needs one start, size, step, has_end and in_bounds for each of the view's " << rank
           << " dimensions";
  if (op.getEnds().size() != size_t(llvm::count(op.getHasEnd(), true)))
    return op.emitOpError() << "needs as many ends as has_end says, found " << op.getEnds().size();
  if (getElementTypeOrSelf(tile) != element)
    return op.emitOpError() << "moves elements of type " << element << ", found "
                            << getElementTypeOrSelf(tile);
  return success();
}

/// As verifyAccess, for accesses by ranges and integers alone.
template <typename Op> static LogicalResult verifyRanges(Op op, Type tile, Type element) {
  if (failed(verifyAccess(op, tile, element)))
    return failure();
  SmallVector<int64_t> shape = shapeOfRanges(op.getSizes());
  if (auto tensor = dyn_cast<RankedTensorType>(tile)) {
    if (tensor.getShape() != ArrayRef<int64_t>(shape) || shape.empty())
      return op.emitOpError() << "accesses a tile of shape [" << shape << "], found " << tile;
  } else if (!shape.empty()) {
    return op.emitOpError() << "accesses a tile of shape [" << shape << "], found the scalar "
                            << tile;
  }
  return success();
}

/// A mask is bool and of the tile's shape.
/// A scalar access has a scalar mask.
static LogicalResult verifyMask(Operation *op, Value mask, Type tile) {
  if (!mask)
    return success();
  if (!getElementTypeOrSelf(mask.getType()).isInteger(1))
    return op->emitOpError() << "needs a mask of i1, found " << mask.getType();
  auto maskTile = dyn_cast<RankedTensorType>(mask.getType()),
       tensor = dyn_cast<RankedTensorType>(tile);
  if (bool(maskTile) != bool(tensor) || (tensor && maskTile.getShape() != tensor.getShape()))
    return op->emitOpError() << "needs a mask of the tile's shape, found " << mask.getType()
                             << " for " << tile;
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyRanges(*this, getType(), getView().getType().getElementType())) ||
      failed(verifyMask(*this, getMask(), getType())))
    return failure();
  if (getPad().getType() != getView().getType().getElementType())
    return emitOpError() << "needs a pad of type " << getView().getType().getElementType()
                         << ", found " << getPad().getType();
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyRanges(*this, getValue().getType(), getView().getType().getElementType())))
    return failure();
  return verifyMask(*this, getMask(), getValue().getType());
}

LogicalResult InsideOp::verify() {
  return verifyRanges(*this, getType(), IntegerType::get(getContext(), 1));
}

/// As verifyAccess, with a tile of positions for each dimension that says so.
template <typename Op> static LogicalResult verifyIndexed(Op op, Type tile, Type element) {
  if (failed(verifyAccess(op, tile, element)) || failed(verifyMask(op, op.getMask(), tile)))
    return failure();
  auto indexed = llvm::count(op.getSizes(), -2);
  if (int64_t(op.getPositions().size()) != indexed)
    return op.emitOpError() << "needs " << indexed << " tiles of positions, found "
                            << op.getPositions().size();
  SmallVector<int64_t> shape = op.getTileShape(), dims = op.getTileDims();
  int64_t ranges = llvm::count_if(dims, [](int64_t dim) { return dim >= 0; });
  if (int64_t(shape.size()) < ranges || (!indexed && int64_t(shape.size()) != ranges))
    return op.emitOpError() << "has " << ranges << " ranges, found " << tile;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (dim >= 0 && shape[dim] != op.getSizes()[d])
      return op.emitOpError() << "dimension " << dim << " has " << op.getSizes()[d]
                              << " positions, found " << tile;
    // Positions of the run are checked one by one: nothing is proven of them.
    if (op.isIndexed(d) && (op.getHasEnd()[d] || op.getInBounds()[d] || op.getSteps()[d] != 1))
      return op.emitOpError() << "dimension " << d
                              << " is given by a tile and has no end, step or proof";
  }
  for (Value position : op.getPositions())
    if (getShapeOf(position.getType()) != shape)
      return op.emitOpError() << "needs positions of the tile's shape, found " << position.getType()
                              << " for " << tile;
  return success();
}

LogicalResult GatherOp::verify() {
  Type element = getView().getType().getElementType();
  if (failed(verifyIndexed(*this, getType(), element)))
    return failure();
  if (getPad().getType() != element)
    return emitOpError() << "needs a pad of type " << element << ", found " << getPad().getType();
  return success();
}

LogicalResult ScatterOp::verify() {
  return verifyIndexed(*this, getValue().getType(), getView().getType().getElementType());
}

/// Which dtypes each kind takes; the front end has told the user so already.
LogicalResult AtomicOp::verify() {
  Type element = getView().getType().getElementType();
  if (failed(verifyIndexed(*this, getType(), element)))
    return failure();
  bool compares = getKind() == AtomicKind::CompareExchange, isFloat = isa<FloatType>(element);
  if (bool(getExpected()) != compares)
    return emitOpError() << (compares ? "needs" : "does not take") << " an expected value";
  if (compares && getExpected().getType() != getType())
    return emitOpError() << "needs an expected value of type " << getType() << ", found "
                         << getExpected().getType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  unsigned least = 8;
  bool takesFloats = false;
  switch (getKind()) {
  case AtomicKind::Add:
    least = 16, takesFloats = true;
    break;
  case AtomicKind::Max:
  case AtomicKind::Min:
    // A maximum of fewer than 32 bits has no instruction, and the language does not offer it.
    least = 32, takesFloats = true;
    break;
  case AtomicKind::MaxUnsigned:
  case AtomicKind::MinUnsigned:
    least = 32;
    break;
  default:
    break;
  }
  if (bits < least || (isFloat && !takesFloats))
    return emitOpError() << stringifyAtomicKind(getKind()) << " is not for elements of type "
                         << element;
  return success();
}

/// Shared with the compute operations.
namespace tile {
LogicalResult verifyPermutationOf(Operation *op, ArrayRef<int64_t> permutation, int64_t rank) {
  return verifyPermutation(op, permutation, rank);
}
} // namespace tile
