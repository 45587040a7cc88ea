// Verifiers and folders of the tile operations that compute.
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace tile;

/// Defined in TileMemoryOps.cpp, where views need it, too.
namespace tile {
LogicalResult verifyPermutationOf(Operation *op, ArrayRef<int64_t> permutation, int64_t rank);
} // namespace tile

/// A splat constant under another shape, or null.
static OpFoldResult reshapeSplat(Attribute source, RankedTensorType type) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(source))
    return splat.resizeSplat(type);
  return {};
}

LogicalResult IotaOp::verify() {
  if (getType().getRank() != 1)
    return emitOpError() << "makes a tile of rank 1, found " << getType();
  return success();
}

/// Dimensions are aligned at the right; one of extent 1 is repeated.
LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  int64_t lead = result.getRank() - source.getRank();
  bool valid = lead >= 0 && source.getElementType() == result.getElementType();
  for (int64_t d = 0; valid && d < source.getRank(); ++d)
    valid = source.getDimSize(d) == 1 || source.getDimSize(d) == result.getDimSize(d + lead);
  if (!valid)
    return emitOpError() << "cannot broadcast " << source << " to " << result;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return reshapeSplat(adaptor.getSource(), getType());
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getNumElements() != result.getNumElements() ||
      source.getElementType() != result.getElementType())
    return emitOpError() << "cannot reshape " << source << " to " << result;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // A chain of reshapes is one reshape: no data moves, so only the first and last shape count.
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getSource());
    return getResult();
  }
  return reshapeSplat(adaptor.getSource(), getType());
}

/// Result dimension i is source dimension permutation[i].
LogicalResult PermuteOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (failed(verifyPermutationOf(*this, getPermutation(), source.getRank())))
    return failure();
  bool valid =
      result.getRank() == source.getRank() && result.getElementType() == source.getElementType();
  for (int64_t d = 0; valid && d < result.getRank(); ++d)
    valid = result.getDimSize(d) == source.getDimSize(getPermutation()[d]);
  if (!valid)
    return emitOpError() << "permutes " << source << " to another type than " << result;
  return success();
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  bool identity = true;
  for (auto [i, d] : llvm::enumerate(getPermutation()))
    identity = identity && int64_t(i) == d;
  if (identity)
    return getSource();
  return reshapeSplat(adaptor.getSource(), getType());
}

/// Checks shapes and axis of a reduction whose elements have type `element`.
/// Without an axis a scalar, else the source's shape without the axis.
static LogicalResult verifyReduction(Operation *op, RankedTensorType source,
                                     std::optional<int64_t> axis, Type result, Type element) {
  if (!axis) {
    if (result != element)
      return op->emitOpError() << "over all axes makes the scalar " << element << ", found "
                               << result;
    return success();
  }
  if (*axis < 0 || *axis >= source.getRank())
    return op->emitOpError() << "axis " << *axis << " is not one of the tile's "
                             << source.getRank();
  SmallVector<int64_t> shape(source.getShape());
  shape.erase(shape.begin() + *axis);
  Type expected = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
  // A layout may be attached later: compare shapes and elements only.
  auto tensor = dyn_cast<RankedTensorType>(result);
  bool valid = shape.empty() ? result == expected
                             : tensor && tensor.getShape() == ArrayRef<int64_t>(shape) &&
                                   tensor.getElementType() == element;
  if (!valid)
    return op->emitOpError() << "along axis " << *axis << " of " << source << " makes " << expected
                             << ", found " << result;
  return success();
}

LogicalResult ReduceOp::verify() {
  Type element = getSource().getType().getElementType();
  bool bitwise = getKind() == ReduceKind::And || getKind() == ReduceKind::Or ||
                 getKind() == ReduceKind::MaxUnsigned || getKind() == ReduceKind::MinUnsigned;
  if (bitwise && isa<FloatType>(element))
    return emitOpError() << stringifyReduceKind(getKind()) << " needs integers, found " << element;
  return verifyReduction(*this, getSource().getType(), getAxis(), getType(), element);
}

LogicalResult ArgReduceOp::verify() {
  return verifyReduction(*this, getSource().getType(), getAxis(), getType(),
                         IndexType::get(getContext()));
}

/// Same shape and elements; layouts may differ.
static bool isSameTile(Type a, Type b) {
  auto x = cast<RankedTensorType>(a), y = cast<RankedTensorType>(b);
  return x.getShape() == y.getShape() && x.getElementType() == y.getElementType();
}

LogicalResult ScanOp::verify() {
  if (getSources().empty() || getSources().size() != getNumResults())
    return emitOpError() << "takes one or more tiles and makes as many, found "
                         << getSources().size() << " and " << getNumResults();
  auto first = cast<RankedTensorType>(getSources()[0].getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= first.getRank())
    return emitOpError() << "axis " << getAxis() << " is not one of the tile's " << first.getRank();
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    if (!isSameTile(source.getType(), result.getType()))
      return emitOpError() << "of " << source.getType() << " makes the same type, found "
                           << result.getType();
    if (cast<RankedTensorType>(source.getType()).getShape() != first.getShape())
      return emitOpError() << "needs tiles of one shape, found " << first << " and "
                           << source.getType();
  }
  return success();
}

/// Checks the function of a scan or reduction of `sources`.
/// Left operands first, then right ones; results are as many as tiles.
static LogicalResult verifyCombiner(Operation *op, Block &block, ValueRange sources) {
  size_t tiles = sources.size();
  auto elementOf = [&](size_t i) {
    return cast<RankedTensorType>(sources[i % tiles].getType()).getElementType();
  };
  bool valid = block.getNumArguments() == 2 * tiles;
  for (size_t i = 0; valid && i < 2 * tiles; ++i)
    valid = block.getArgument(i).getType() == elementOf(i);
  if (!valid)
    return op->emitOpError() << "combines " << tiles << " left and " << tiles
                             << " right scalars of the tiles' element types";
  auto yield = dyn_cast<ScanYieldOp>(block.back());
  valid = yield && yield.getValues().size() == tiles;
  for (size_t i = 0; valid && i < tiles; ++i)
    valid = yield.getValues()[i].getType() == elementOf(i);
  if (!valid)
    return op->emitOpError() << "ends in tile.scan_yield of " << tiles
                             << " scalars of the tiles' element types";
  // Only what works on vectors of elements: the GPU path runs the function on many registers at
  // once.
  for (Operation &inner : block.without_terminator())
    if (!ScanOp::isCombinable(&inner))
      return inner.emitOpError() << "is not element-wise, so it cannot stand in a scan";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner().front(), getSources());
}

/// One result, scalars throughout: Scan.cpp builds the operation again on vectors.
bool ScanOp::isCombinable(Operation *op) {
  bool scalars = llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) &&
                 llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  return scalars && op->getNumResults() == 1 &&
         (isa<arith::ConstantOp>(op) || OpTrait::hasElementwiseMappableTraits(op));
}

LogicalResult ReduceByOp::verify() {
  if (getSources().empty() || getSources().size() != getNumResults())
    return emitOpError() << "takes one or more tiles and makes as many results, found "
                         << getSources().size() << " and " << getNumResults();
  auto first = cast<RankedTensorType>(getSources()[0].getType());
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    auto type = cast<RankedTensorType>(source.getType());
    if (type.getShape() != first.getShape())
      return emitOpError() << "needs tiles of one shape, found " << first << " and " << type;
    if (failed(verifyReduction(*this, type, int64_t(getAxis()), result.getType(),
                               type.getElementType())))
      return failure();
  }
  return success();
}

LogicalResult ReduceByOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner().front(), getSources());
}

/// States may be tiles and scalars, of any types; the merge is checked in verifyRegions.
LogicalResult MergePartsOp::verify() {
  if (getStates().empty() || !llvm::equal(getStates().getTypes(), getResultTypes()))
    return emitOpError() << "makes a result of the same type for each of one or more states, found "
                         << getStates().size() << " and " << getNumResults();
  return success();
}

/// Earlier part's states first, later part's second, by the order of trips.
LogicalResult MergePartsOp::verifyRegions() {
  Block &block = getMerge().front();
  size_t states = getStates().size();
  bool valid = block.getNumArguments() == 2 * states;
  for (size_t i = 0; valid && i < 2 * states; ++i)
    valid = block.getArgument(i).getType() == getStates()[i % states].getType();
  if (!valid)
    return emitOpError() << "merges " << states << " earlier and " << states
                         << " later values of the states' types";
  auto yield = dyn_cast<MergeYieldOp>(block.back());
  if (!yield || !llvm::equal(yield.getValues().getTypes(), getStates().getTypes()))
    return emitOpError() << "ends in tile.merge_yield of " << states
                         << " values of the states' types";
  return success();
}

LogicalResult SortOp::verify() {
  if (!isSameTile(getSource().getType(), getType()))
    return emitOpError() << "of " << getSource().getType() << " makes the same type, found "
                         << getType();
  auto type = cast<RankedTensorType>(getType());
  int64_t rank = type.getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is not one of the tile's " << rank;
  // `first` elements are in order behind the operation, the others are in none.
  int64_t extent = type.getDimSize(axis), first = getFirst().value_or(extent);
  if (first < 1 || first > extent)
    return emitOpError() << "orders 1 to " << extent << " elements along axis " << axis
                         << ", found " << first;
  return success();
}

LogicalResult HistogramOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (result.getRank() != 1)
    return emitOpError() << "makes a tile of rank 1, found " << result;
  return success();
}

LogicalResult TakeOp::verify() {
  RankedTensorType source = getSource().getType();
  int64_t axis = getAxis(), rank = source.getRank();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is not one of the tile's " << rank;
  auto result = dyn_cast<RankedTensorType>(getType());
  auto position = dyn_cast<RankedTensorType>(getPosition().getType());
  ArrayRef<int64_t> from = source.getShape(),
                    shape = result ? result.getShape() : ArrayRef<int64_t>();
  //     source [a, n, c], axis 1, positions [a, p, q, c]     result [a, p, q, c], added = 2
  //     source [a, n, c], axis 1, a scalar position          result [a, c],       added = 0
  int64_t added = int64_t(shape.size()) - (rank - 1); // dimensions that the positions bring
  bool valid = getElementTypeOrSelf(getType()) == source.getElementType() &&
               (position ? added >= 1 : added == 0);
  valid = valid && shape.take_front(axis) == from.take_front(axis) &&
          shape.take_back(rank - 1 - axis) == from.take_back(rank - 1 - axis);
  if (position)
    valid = valid && position.getShape() == shape;
  if (!valid)
    return emitOpError() << "cannot take from " << source << " along axis " << axis << " at "
                         << getPosition().getType() << " to make " << getType();
  return success();
}

/// Each value was widened to a type that C's variadic functions take.
LogicalResult PrintOp::verify() {
  if (getPosition() > getValues().size())
    return emitOpError() << "has " << getValues().size() << " values, so no position "
                         << getPosition();
  for (Value value : getValues()) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    Type element = getElementTypeOrSelf(value.getType());
    if (!element.isInteger(64) && !element.isIndex() && !element.isF32() && !element.isF64())
      return emitOpError() << "prints i64, index, f32 and f64, found " << element;
    if (tile && tile.getRank() != int64_t(getShape().size()))
      return emitOpError() << "prints tiles of rank " << getShape().size() << ", found " << tile;
  }
  return success();
}

/// At least 1: a product of nothing has no meaning, and layouts no way to say it.
LogicalResult tile::verifyValidExtents(Operation *op, DenseI64ArrayAttr valid, int64_t m, int64_t n,
                                       int64_t k) {
  if (!valid || (valid.size() == 3 && valid[0] >= 1 && valid[0] <= m && valid[1] >= 1 &&
                 valid[1] <= n && valid[2] >= 1 && valid[2] <= k))
    return success();
  return op->emitOpError() << "expected valid extents of at most [" << m << ", " << n << ", " << k
                           << "], found " << valid;
}

/// The last two dimensions are the matrices', all others count batches and must agree.
LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), c = getAcc().getType();
  int64_t rank = c.getRank();
  bool valid = rank >= 2 && a.getRank() == rank && b.getRank() == rank;
  for (int64_t d = 0; valid && d < rank - 2; ++d)
    valid = a.getDimSize(d) == c.getDimSize(d) && b.getDimSize(d) == c.getDimSize(d);
  valid = valid && a.getDimSize(rank - 2) == c.getDimSize(rank - 2) &&
          b.getDimSize(rank - 1) == c.getDimSize(rank - 1) &&
          a.getDimSize(rank - 1) == b.getDimSize(rank - 2);
  if (!valid)
    return emitOpError() << "cannot multiply " << a << " by " << b << " into " << c;
  return verifyValidExtents(*this, getValidAttr(), c.getDimSize(rank - 2), c.getDimSize(rank - 1),
                            a.getDimSize(rank - 1));
}
