// Each rule here is one of a pass that lays tiles out, or of what lies in shared memory for an
// operation.
#include "passes/Analysis/CostModel/SharedExchanges.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::cost {

/// Parts of a slice or concatenation that are selected from.
static constexpr int64_t mostParts = 8;

int64_t countPadded(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t extent : type.getShape())
    elements *= int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
  return elements;
}

int64_t getBytes(RankedTensorType type) {
  int64_t bits = type.getElementType().isIndex() ? 64 : gpu::getElementBits(type.getElementType());
  return llvm::divideCeil(bits * countPadded(type), 8);
}

int SharedExchanges::getLoop(Operation *op) const {
  Operation *loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop ? loops.lookup(loop) : -1;
}

SharedTile &SharedExchanges::add(SharedTile::Use use, Operation *op, int64_t bytes) {
  SharedTile &tile = found.tiles.emplace_back();
  tile.use = use;
  tile.start = tile.end = tile.firstUse = first[op];
  tile.loop = getLoop(op);
  tile.bytes = tile.fetchedBytes = bytes;
  return tile;
}

SharedTile &SharedExchanges::addTurned(Operation *op, Value vector, int64_t neighbours) {
  RankedTensorType type = getTile(vector);
  int64_t bytes = std::max(getBytes(type), type.getNumElements()); // bools have one each
  SharedTile &tile = add(SharedTile::Use::Turned, op, bytes);
  tile.inner = neighbours;
  tile.extent = int64_t(llvm::PowerOf2Ceil(uint64_t(type.getNumElements())));
  return tile;
}

void SharedExchanges::addWords(Operation *op, ValueRange vectors) {
  RankedTensorType type = getTile(vectors.front());
  if (!type || (isa<ScanOp>(op) && (multiplies || type.getRank() > 1)))
    return;
  int64_t bytes = 0;
  for (Value vector : vectors)
    bytes += getBytes(RankedTensorType::get({1}, getTile(vector).getElementType()));
  SharedTile &tile = add(SharedTile::Use::Words, op, bytes);
  tile.extent = countPadded(type);
  tile.isApart = isa<ScanOp>(op);
}

/// An atomic goes by lanes; a small one whose result is used, in each warp.
static bool isInEachWarp(AtomicOp atomic, RankedTensorType type) {
  constexpr int64_t mostForWarp = 4 * 32;
  return !atomic.getResult().use_empty() && type.getNumElements() <= mostForWarp;
}

/// What is loaded by vectors for an atomic, or left of columns that are.
void SharedExchanges::addOfAtomic(AtomicOp atomic, Value value) {
  constexpr int64_t warpThreads = 32;
  RankedTensorType type = getTile(value);
  int64_t vector = std::min<int64_t>(shape.vector,
                                     int64_t(llvm::PowerOf2Ceil(uint64_t(type.getShape().back()))));
  bool spreads = isInEachWarp(atomic, type) && type.getNumElements() > warpThreads;
  if (vector == 1 && !spreads)
    return;
  SharedTile &tile = addTurned(atomic, value, vector);
  tile.isInWarps = tile.isCertain = true;
}

void SharedExchanges::addAtomicResult(AtomicOp atomic) {
  constexpr int64_t scalarBytes = 16;
  if (atomic.getResult().use_empty())
    return;
  auto type = dyn_cast<RankedTensorType>(atomic.getType());
  SharedTile &tile = add(SharedTile::Use::Atomic, atomic, type ? getBytes(type) : scalarBytes);
  tile.extent = type ? countPadded(type) : 0;
  tile.isInWarps = type && isInEachWarp(atomic, type);
}

void SharedExchanges::addMeeting(const Meeting &meeting) {
  RankedTensorType type = getTile(meeting.tile);
  if (meeting.isAtomic) {
    addOfAtomic(cast<AtomicOp>(meeting.op), meeting.tile);
    return;
  }
  if (meeting.isVector) {
    addTurned(meeting.op, meeting.tile, 1);
    return;
  }
  SharedTile &tile = add(meeting.isShifted ? SharedTile::Use::Shifted : SharedTile::Use::Exchange,
                         meeting.op, getBytes(type));
  tile.inner = std::min<int64_t>(shape.vector, type.getShape().back());
  tile.extent = type.getNumElements();
}

/// What `source` has been reduced along before is left out where it was.
static void setAxis(SharedTile &tile, RankedTensorType type, int64_t axis, Value source = {}) {
  tile.whole = countPadded(type);
  for (auto before = source ? source.getDefiningOp<ReduceOp>() : ReduceOp(); before;
       before = before.getSource().getDefiningOp<ReduceOp>()) {
    tile.whole = countPadded(getTile(before.getSource()));
    if (int64_t left = int64_t(before.getAxis().value_or(0)); left > axis)
      tile.inner *=
          int64_t(llvm::PowerOf2Ceil(uint64_t(getTile(before.getSource()).getDimSize(left))));
  }
  for (int64_t extent : type.getShape().drop_front(axis + 1))
    tile.inner *= int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
  tile.extent = int64_t(llvm::PowerOf2Ceil(uint64_t(type.getDimSize(axis))));
}

void SharedExchanges::addSlice(tensor::ExtractSliceOp op) {
  constexpr int64_t flagBytes = 1;
  RankedTensorType type = op.getSourceType();
  ArrayRef<int64_t> sizes = op.getStaticSizes(), offsets = op.getStaticOffsets();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int64_t extent = type.getDimSize(d), size = sizes[d];
    if (size == extent || ShapedType::isDynamic(size))
      continue;
    if (!llvm::isPowerOf2_64(uint64_t(extent)) || !llvm::isPowerOf2_64(uint64_t(size)) ||
        offsets[d] % size || extent / size > mostParts) {
      add(SharedTile::Use::Exchange, op, getBytes(type));
      return;
    }
    SharedTile &tile =
        add(SharedTile::Use::Slice, op, getBytes(type) + flagBytes * type.getNumElements());
    setAxis(tile, type, d);
    tile.inner *= size;
    tile.extent /= size;
    parts.insert(op.getResult());
    return;
  }
}

void SharedExchanges::addConcat(tensor::ConcatOp op) {
  SmallVector<int64_t> extents;
  for (Value input : op.getInputs())
    extents.push_back(getTile(input).getDimSize(op.getDim()));
  size_t count = extents.size();
  if (llvm::all_equal(extents) && llvm::isPowerOf2_64(uint64_t(extents[0])) &&
      int64_t(count) <= mostParts && (extents[0] == 1 || llvm::isPowerOf2_64(count)))
    return;
  for (Value input : op.getInputs())
    add(SharedTile::Use::Exchange, op, getBytes(getTile(input))).isApart = true;
}

bool SharedExchanges::isOfParts(Value value, unsigned depth) const {
  constexpr unsigned deepest = 8;
  Operation *op = value.getDefiningOp();
  if (auto take = dyn_cast_or_null<TakeOp>(op))
    return depth < deepest && isOfParts(take.getPosition(), depth + 1);
  return parts.contains(value) ||
         (op && depth < deepest && (op->hasTrait<OpTrait::Elementwise>() || isa<ReshapeOp>(op)) &&
          llvm::any_of(
              op->getOperands(), [&](Value operand) { return isOfParts(operand, depth + 1); }));
}

static bool dependsOn(Operation *op, Operation *other, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return source && source->getBlock() == other->getBlock() &&
           (source == other || depth == deepest || dependsOn(source, other, depth + 1));
  });
}

/// The tile of the first reduction of the block with which `op` may exchange, as neither waits
/// for the other (tile-gpu-join-reductions); -1: none.
int SharedExchanges::findJoinedColumns(ReduceOp op) const {
  for (auto [other, number] : columns)
    if (other->getBlock() == op->getBlock() && !dependsOn(op, other))
      return found.tiles[size_t(number)].source < 0 ? number : found.tiles[size_t(number)].source;
  return -1;
}

void SharedExchanges::addColumns(ReduceOp op) {
  RankedTensorType type = getTile(op.getSource());
  auto left = dyn_cast<RankedTensorType>(op.getType());
  int64_t axis = int64_t(op.getAxis().value_or(0));
  if (!left || axis == type.getRank() - 1) // words
    return;
  int joined = multiplies ? -1 : findJoinedColumns(op);
  SharedTile &tile = add(SharedTile::Use::Columns, op, getBytes(left));
  setAxis(tile, type, axis, op.getSource());
  tile.source = joined;
  columns.push_back({op, int(found.tiles.size()) - 1});
}

} // namespace tile::cost
