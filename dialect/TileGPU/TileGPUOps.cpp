// Verifiers and folds of the tile_gpu operations for registers, shared memory and matrix products.
// Those of rings lie in RingOps.cpp.
#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/ShiftPlan.h"
#include "dialect/TileGPU/TileGPUDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError() << "changes the layout only, found " << source << " to " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    setOperand(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult WarpReduceOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  std::optional<int64_t> axis = getAxis();
  if (axis && (*axis < 0 || *axis >= source.getRank()))
    return emitOpError() << "has no axis " << *axis << " of " << source;
  if (source.getElementType() != result.getElementType() || !source.getEncoding() ||
      !result.getEncoding() || getLayout(result) != getWarpReduceLayout(getLayout(source), axis))
    return emitOpError() << "does not leave " << result << " of " << source;
  return success();
}

LogicalResult JoinWarpsOp::verify() {
  bool valid = !getParts().empty() && getNumResults() == getParts().size() &&
               getKinds().size() == getParts().size() && getAxes().size() == getParts().size();
  for (size_t i = 0; valid && i < getParts().size(); ++i) {
    auto part = cast<RankedTensorType>(getParts()[i].getType());
    auto result = dyn_cast<RankedTensorType>(getResult(i).getType());
    valid =
        getAxes()[i] >= 0 && getAxes()[i] < part.getRank() && part.getEncoding() &&
        getElementTypeOrSelf(getResult(i).getType()) == part.getElementType() &&
        symbolizeReduceKind(getKinds()[i]) &&
        (result ? result.getEncoding() && getLayout(result) == getLayout(part).dropDim(getAxes()[i])
                : part.getRank() == 1);
  }
  if (!valid)
    return emitOpError()
           << "makes a result without the axis, and takes a kind and an axis, for each "
              "of one or more parts";
  return success();
}

static LogicalResult verifySameTile(Operation *op, RankedTensorType tile, MemDescType memory) {
  if (tile.getShape() != memory.getShape() || tile.getElementType() != memory.getElementType())
    return op->emitOpError() << "needs the same shape and element type on both sides, found "
                             << tile << " and " << memory;
  return success();
}

LogicalResult LocalAllocOp::verify() {
  return verifySameTile(*this, getSource().getType(), getType());
}

LogicalResult UnpackOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  SmallVector<int64_t> shape(source.getShape());
  if (!shape.empty())
    shape.back() *= 2;
  if (shape.empty() || !source.getElementType().isInteger(8) ||
      !result.getElementType().isInteger(4) || result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "makes two elements of i4 of each i8 along the last dimension, found "
                         << source << " to " << result;
  return success();
}

LogicalResult LocalLoadOp::verify() {
  RankedTensorType tile = getType();
  MemDescType memory = getSource().getType();
  if (getOffsets().empty())
    return verifySameTile(*this, tile, memory);
  bool valid = getOffsets().size() == memory.getShape().size() &&
               tile.getShape().size() == memory.getShape().size() &&
               tile.getElementType() == memory.getElementType();
  for (size_t d = 0; valid && d < getOffsets().size(); ++d)
    valid = getOffsets()[d] >= 0 && getOffsets()[d] % tile.getDimSize(d) == 0 &&
            getOffsets()[d] + tile.getDimSize(d) <= memory.getShape()[d];
  if (!valid)
    return emitOpError() << "reads a part of " << memory << " at multiples of its extents, found "
                         << tile << " at [" << getOffsets() << "]";
  return success();
}

LogicalResult ExtractPartOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  bool valid = getOffsets().size() == size_t(source.getRank()) &&
               source.getRank() == result.getRank() &&
               source.getElementType() == result.getElementType();
  for (int64_t d = 0; valid && d < source.getRank(); ++d)
    valid = getOffsets()[d] >= 0 && getOffsets()[d] % result.getDimSize(d) == 0 &&
            getOffsets()[d] + result.getDimSize(d) <= source.getDimSize(d);
  if (!valid)
    return emitOpError() << "takes a part of " << source << " at multiples of its extents, found "
                         << result << " at [" << getOffsets() << "]";
  return success();
}

LogicalResult JoinPartsOp::verify() {
  RankedTensorType result = getType();
  auto part = cast<RankedTensorType>(getParts().front().getType());
  int64_t dim = getDim(), count = int64_t(getParts().size());
  SmallVector<int64_t> shape(part.getShape());
  bool valid = dim >= 0 && dim < part.getRank() && llvm::all_equal(getParts().getTypes()) &&
               part.getElementType() == result.getElementType();
  if (valid)
    shape[size_t(dim)] *= count;
  if (!valid || result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "puts parts of one type side by side along a dimension, found " << count
                         << " of " << part << " along " << dim << " to " << result;
  return success();
}

LogicalResult ShiftOp::verify() {
  RankedTensorType source = getSource().getType(), edge = getEdge().getType();
  int64_t dim = getDim(), offset = getOffset();
  if (std::abs(offset) != 1 || dim < 0 || dim >= source.getRank() ||
      source.getRank() != edge.getRank() || source.getElementType() != edge.getElementType() ||
      source.getDimSize(dim) % edge.getDimSize(dim))
    return emitOpError() << "moves " << source << " by 1 or -1 along a dimension, found dimension "
                         << dim << ", offset " << offset << " and edge " << edge;
  std::optional<ShiftPlan> plan;
  if (hasLayout(source) && hasLayout(edge))
    plan = ShiftPlan::get(getLayout(source), dim, source.getDimSize(dim) / edge.getDimSize(dim));
  if (!plan || plan->edge != getLayout(edge))
    return emitOpError() << "needs an edge in the layout of blocks that threads or warps hold, "
                            "found "
                         << edge << " for " << source;
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  size_t rank = getView().getType().getRank();
  auto tile = dyn_cast<RankedTensorType>(getTile()),
       stored = dyn_cast<RankedTensorType>(getStored());
  if (!tile || !stored || !tile.getEncoding() || !stored.getEncoding())
    return emitOpError() << "needs tiles with layouts, found " << getTile() << " and "
                         << getStored();
  if (getStarts().size() != rank || getSizes().size() != rank || getSteps().size() != rank ||
      getHasEnd().size() != rank || getInBounds().size() != rank ||
      getEnds().size() != size_t(llvm::count(getHasEnd(), true)) ||
      getPositions().size() != size_t(llvm::count(getSizes(), -2)))
    return emitOpError()
           << "needs one start, size, step, has_end and in_bounds for each of the view's " << rank
           << " dimensions, and the ends and positions that they ask for";
  if (tile.getElementType() != getView().getType().getElementType() ||
      tile.getElementType() != stored.getElementType() ||
      tile.getNumElements() != stored.getNumElements() ||
      getLayout(tile).getNumRegisters() != getLayout(stored).getNumRegisters())
    return emitOpError() << "copies the elements of " << tile << ", found " << stored;
  std::optional<ArrayRef<int64_t>> part = getPart();
  if (part && (part->size() != 2 || (*part)[0] < 0 || (*part)[0] >= (*part)[1]))
    return emitOpError() << "part needs [i, n] with 0 <= i < n";
  if (part && (*this)->hasAttr(privateName))
    return emitOpError() << "part is for copies that all threads of a block wait for";
  if ((*this)->hasAttr(privateName))
    return verifyPrivate(*this, stored, getMemory().getType());
  return verifySameTile(*this, stored, getMemory().getType());
}

LogicalResult MemDescPermuteOp::verify() {
  MemDescType source = getSource().getType(), result = getType();
  size_t rank = source.getShape().size();
  bool valid = getPermutation().size() == rank && result.getShape().size() == rank &&
               source.getElementType() == result.getElementType();
  for (size_t d = 0; valid && d < rank; ++d)
    valid = getPermutation()[d] >= 0 && getPermutation()[d] < int64_t(rank) &&
            result.getShape()[d] == source.getShape()[getPermutation()[d]];
  if (!valid)
    return emitOpError() << "permutes " << source << " to another type than " << result;
  return success();
}

LogicalResult PartArriveOp::verify() {
  APInt parts;
  if (getSums().empty() || (matchPattern(getParts(), m_ConstantInt(&parts)) && parts.slt(2)))
    return emitOpError() << "needs one or more sums of two or more parts, found "
                         << getSums().size();
  return success();
}

LogicalResult PartLoadOp::verify() {
  if (getStates().empty() || !llvm::equal(getStates().getTypes(), getResultTypes()))
    return emitOpError() << "makes a result of the same type for each of one or more states, found "
                         << getStates().size() << " and " << getNumResults();
  return success();
}

LogicalResult PartCombineOp::verify() {
  if (!llvm::equal(getSums().getTypes(), getTotals().getTypes()) ||
      getKinds().size() != getSums().size())
    return emitOpError() << "makes a total of the same type, and takes a kind, for each of its "
                         << getSums().size() << " sums";
  return success();
}

LogicalResult PartShareOp::verify() {
  if (getStates().empty())
    return emitOpError() << "needs one or more states, found none";
  return success();
}

LogicalResult PartReadOp::verify() {
  bool fits = !getSlices().empty() && getDims().size() == getSlices().size();
  for (size_t i = 0; fits && i < getSlices().size(); ++i)
    fits = getDims()[i] >= -1 &&
           getDims()[i] < cast<RankedTensorType>(getSlices()[i].getType()).getRank();
  if (!fits)
    return emitOpError() << "names a dimension, or -1, for each of one or more slices, found "
                         << getDims().size() << " for " << getNumResults();
  if (getParts() < 2 || !llvm::isPowerOf2_64(getParts()) || getPart() >= getParts())
    return emitOpError() << "reads one part of a power of two, found part " << getPart() << " of "
                         << getParts();
  return success();
}

/// The state of which the result is a slice.
RankedTensorType PartReadOp::getWhole(unsigned i) {
  auto slice = cast<RankedTensorType>(getSlices()[i].getType());
  SmallVector<int64_t> shape(slice.getShape());
  if (getDims()[i] >= 0)
    shape[size_t(getDims()[i])] *= int64_t(getParts());
  return RankedTensorType::get(shape, slice.getElementType());
}

/// [.., M, K] x [.., K, N] + [.., M, N] with equal leading dimensions.
static LogicalResult verifyProduct(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                   ArrayRef<int64_t> c, DenseI64ArrayAttr valid) {
  size_t rank = c.size();
  if (rank >= 2 && a.size() == rank && b.size() == rank && a.drop_back() == c.drop_back() &&
      b.back() == c.back() && a.back() == b[rank - 2] && b.drop_back(2) == c.drop_back(2))
    return verifyValidExtents(op, valid, c[rank - 2], c.back(), a.back());
  return op->emitOpError() << "cannot multiply [" << a << "] by [" << b << "] into [" << c << "]";
}

LogicalResult MmaOp::verify() {
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(),
                       getAcc().getType().getShape(), getValidAttr());
}

LogicalResult FmaDotOp::verify() {
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(),
                       getAcc().getType().getShape(), getValidAttr());
}

LogicalResult WgmmaOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getA().getType());
  ArrayRef<int64_t> a = tile ? tile.getShape() : cast<MemDescType>(getA().getType()).getShape();
  SmallVector<int64_t> b(getB().getType().getShape());
  if (std::optional<int64_t> from = getFrom()) {
    if (!tile || a.size() != 2 || b.size() != 2 || *from < 0 || *from % a[1] || *from + a[1] > b[0])
      return emitOpError() << "multiplies a part in registers by rows of b from a multiple of the "
                              "part's extent along K, found "
                           << getA().getType() << " by " << getB().getType() << " from " << *from;
    b[0] = a[1];
  }
  if (std::optional<int64_t> column = getColumn()) {
    int64_t columns = getAcc().getType().getShape().back();
    if (*column < 0 || *column % columns || *column + columns > b.back())
      return emitOpError() << "multiplies by columns of b from a multiple of the accumulator's "
                              "columns, found "
                           << getB().getType() << " into " << getAcc().getType() << " from column "
                           << *column;
    b.back() = columns;
  }
  return verifyProduct(*this, a, b, getAcc().getType().getShape(), getValidAttr());
}

/// True if the operation need not run: constants may have made its place impossible.
static bool isInBranch(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<RegionBranchOpInterface>(parent) && !isa<LoopLikeOpInterface>(parent))
      return true;
  return false;
}

/// One coordinate for each dimension of the map behind `descriptor`, where that is known. A row is
/// copied from a multiple of 16 bytes on, and a copy to a tensor begins in it: else the hardware
/// ends the launch with "illegal instruction", and nothing before it says so.
static LogicalResult verifyCoordinates(Operation *op, Value descriptor, OperandRange coordinates,
                                       Type elementType, bool stores) {
  TensorMapAttr map = getTensorMap(descriptor);
  if (map && map.getOrder().size() != coordinates.size())
    return op->emitOpError() << "needs " << map.getOrder().size() << " coordinates, found "
                             << coordinates.size();
  int64_t bits = elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 64,
          wanted = std::max<int64_t>(128 / std::max<int64_t>(bits, 8), 1);
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    APInt constant;
    if (!matchPattern(coordinate, m_ConstantInt(&constant)))
      continue;
    int64_t place = constant.getSExtValue();
    if (i == 0 && place % wanted)
      return op->emitOpError() << "needs a first coordinate that is a multiple of " << wanted
                               << " elements (16 bytes), found " << place;
    if (stores && place < 0 && !isInBranch(op))
      return op->emitOpError() << "needs coordinates that are not negative, found " << place;
  }
  return success();
}

LogicalResult ViewDescriptorOp::verify() {
  size_t rank = getMap().getOrder().size();
  if (getExtents().size() != rank || getStrides().size() != rank)
    return emitOpError() << "needs an extent and a stride for each of the map's " << rank
                         << " dimensions, found " << getExtents().size() << " and "
                         << getStrides().size();
  return success();
}

LogicalResult TmaFetchOp::verify() {
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(), getType().getElementType(),
                           /*stores=*/false);
}

LogicalResult TmaLoadOp::verify() {
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(),
                           getMemory().getType().getElementType(), /*stores=*/false);
}

LogicalResult ClearFromOp::verify() {
  if (getDim() >= getMemory().getType().getShape().size())
    return emitOpError() << "has no dimension " << getDim() << " in " << getMemory().getType();
  return success();
}

LogicalResult TmaStoreOp::verify() {
  if (std::optional<ArrayRef<int64_t>> folded = getFolded()) {
    auto isPower = [](int64_t extent) { return extent > 0 && llvm::isPowerOf2_64(extent); };
    if (!llvm::all_of(*folded, isPower))
      return emitOpError() << "folds dimensions whose extents are powers of two, found [" << *folded
                           << "]";
    int64_t rows = ShapedType::getNumElements(*folded);
    if (folded->size() >= getCoordinates().size() || rows != getValue().getType().getDimSize(0))
      return emitOpError() << "folds dimensions of the map that make up the tile's rows, found ["
                           << *folded << "] for " << getValue().getType();
  }
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(),
                           getValue().getType().getElementType(), /*stores=*/true);
}
