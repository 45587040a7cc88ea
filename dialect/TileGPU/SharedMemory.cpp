// How tiles lie in shared memory, and what the operations of tile_gpu need of it.
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/RotatedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::gpu {

/// Nibbles and bools take a byte each here.
unsigned getSharedElementBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  return std::max(1u, elementType.getIntOrFloatBitWidth() / 8);
}

SharedLayout getSharedLayout(MemDescType type) {
  return SharedLayout(type.getShape(), type.getLayout().getOrder(),
                      getSharedElementBytes(type.getElementType()), type.getLayout().getSwizzle(),
                      type.getLayout().getUsed());
}

/// Tiles begin at multiples of 1024 bytes, which swizzles and TMA need; the bytes that copies bring
/// are those of tiles alone, without the gaps.
RingLayout::RingLayout(RingType type) : stages(type.getStages()) {
  ArrayRef<MemDescType> tiles = type.getTiles();
  for (size_t begin = 0, end = 0; begin < tiles.size(); begin = end) {
    MemDescType tile = tiles[begin];
    while (end < tiles.size() && tiles[end] == tile)
      ++end;
    int64_t bytes = llvm::alignTo(getSharedLayout(tile).getBytes(), 1024);
    for (size_t i = begin; i < end; ++i) {
      tileOffsets.push_back(barriers + int64_t(i - begin) * bytes);
      tileStrides.push_back(int64_t(end - begin) * bytes);
      tileBytes.push_back(bytes);
      transferredBytes.push_back(getSharedLayout(tile).getUsedBytes());
    }
    barriers += stages * int64_t(end - begin) * bytes;
  }
}

/// Plain rows, since positions are computed at run time.
SharedLayout getTakeScratch(RankedTensorType source) {
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, source.getRank())));
  return SharedLayout(source.getShape(), order, getSharedElementBytes(source.getElementType()),
                      /*swizzle=*/0);
}

/// 0: each thread that holds an element changes it itself, or nobody asks for the old value. Else a
/// slot for each thread and distinct register, as share() in Atomic.cpp has it.
int64_t getAtomicBytes(AtomicOp op) {
  if (op.getResult().use_empty())
    return 0;
  auto tile = dyn_cast<RankedTensorType>(op.getType());
  if (!tile)
    return 16;
  // Before layouts are assigned nothing is known.
  if (!tile.getEncoding())
    return 0;
  LinearLayout layout = getLayout(tile);
  unsigned lanes = 0, warps = 0;
  layout.getDuplicateMasks(lanes, warps);
  if (!lanes && !warps)
    return 0;
  return int64_t(getDistinctRegisters(layout).size()) * 32 * layout.getNumWarps() *
         getSharedElementBytes(tile.getElementType());
}

TensorMapAttr getTensorMap(Value descriptor) {
  if (auto view = descriptor.getDefiningOp<ViewDescriptorOp>())
    return view.getMap();
  auto op = descriptor.getDefiningOp<DescriptorOp>();
  return op ? op.getMap() : TensorMapAttr();
}

/// Two of the map's dimensions are one of the tensor: the first ends where the rows that exist end.
bool cutsRows(TensorMapAttr map) {
  return map.getOrder().size() > 2 && map.getOrder()[1] == map.getOrder()[2];
}

/// The map's first dimension is the tile's fastest. Others go in the tile's order; boxes of extent
/// 1 are dimensions that the tile does not have.
std::optional<SmallVector<int64_t>> matchTensorMap(TensorMapAttr map, ArrayRef<int64_t> shape,
                                                   ArrayRef<int64_t> order) {
  if (shape.empty() || map.getBox().empty() || shape[order[0]] % map.getBox()[0])
    return std::nullopt;
  SmallVector<int64_t> dims(map.getBox().size(), -1);
  dims[0] = order[0];
  size_t next = 1;
  int64_t folded = 1; // extent of a box along the tile's dimension before `next`
  for (size_t i = 1; i < dims.size(); ++i) {
    int64_t extent = map.getBox()[i];
    if (extent == 1)
      continue;
    while (next < order.size() && shape[order[next]] == 1)
      ++next;
    if (next < order.size()) {
      folded = extent;
      dims[i] = order[next++];
    } else if (next > 1) { // the tile's last dimension holds several of the tensor's
      folded *= extent;
      dims[i] = order[next - 1];
    } else {
      return std::nullopt;
    }
    if (shape[dims[i]] % folded)
      return std::nullopt;
  }
  for (; next < order.size(); ++next)
    if (shape[order[next]] != 1)
      return std::nullopt;
  return dims;
}

/// Rows of one copy lie together, panel by panel, as the box wants them.
SharedLayout getStagingLayout(TmaStoreOp store, int64_t columns, int64_t height) {
  RankedTensorType type = store.getValue().getType();
  TensorMapAttr map = getTensorMap(store.getDescriptor());
  int64_t rows = 1;
  for (int64_t extent : map ? map.getBox().drop_front() : ArrayRef<int64_t>())
    rows *= extent;
  if (rows == 1)
    rows = height;
  return SharedLayout::staging({height, columns}, getSharedElementBytes(type.getElementType()),
                               map ? map.getSwizzle() : 0, rows);
}

/// Rows whole, so that a slice's accesses are wide; threads store 8 or 16 bytes of a row at once.
PartStates::PartStates(TypeRange states) {
  constexpr int64_t alignment = 128;
  constexpr unsigned widest = 16;
  for (Type state : states) {
    auto type = cast<RankedTensorType>(state);
    unsigned fastest = type.getRank() ? unsigned(type.getRank() - 1) : 0;
    layouts.push_back(SharedLayout::scratch(type.getShape(), fastest,
                                            getSharedElementBytes(type.getElementType()), widest));
    offsets.push_back(bytes);
    bytes += llvm::alignTo(layouts.back().getBytes(), alignment);
  }
}

//===--- Needs of the operations of tile_gpu ------------------------------===//

SharedNeed getSharedNeed(Operation *op) {
  auto owner = dyn_cast<SharedMemoryOpInterface>(op);
  return owner ? owner.getSharedNeed() : SharedNeed();
}

SharedNeed LocalAllocOp::getSharedNeed() {
  SharedLayout layout = getSharedLayout(getType());
  int64_t bytes = layout.getBytes();
  if ((*this)->hasAttr(alternatesName))
    bytes += llvm::alignTo(bytes, layout.getAlignment());
  return {SharedUse::Allocates, bytes, layout.getAlignment()};
}

/// Bytes of a tile that a thread holds.
static int64_t getHeldBytes(RankedTensorType tile) {
  return int64_t(getLayout(tile).getNumRegisters()) * getSharedElementBytes(tile.getElementType());
}

int64_t getPrivatePiece(RankedTensorType tile) {
  for (int64_t piece : {16, 8, 4})
    if (getHeldBytes(tile) % piece == 0)
      return piece;
  return 0;
}

int64_t getPrivateBytes(RankedTensorType tile) {
  constexpr int64_t warpThreads = 32;
  return getPrivatePiece(tile) ? getHeldBytes(tile) * warpThreads * getLayout(tile).getNumWarps()
                               : 0;
}

bool hasRotatedEnd(RankedTensorType tile, MemDescType memory) {
  return getSharedLayout(memory).getBytes() == getPrivateBytes(tile) + rotatedEndBytes;
}

LogicalResult verifyPrivate(Operation *op, RankedTensorType tile, MemDescType memory) {
  int64_t bytes = getPrivateBytes(tile);
  if (bytes && (getSharedLayout(memory).getBytes() == bytes || hasRotatedEnd(tile, memory)))
    return success();
  return op->emitOpError() << "needs memory of " << bytes
                           << " bytes, whole words of each thread, found " << memory << " for "
                           << tile;
}

LogicalResult PrivateStoreOp::verify() {
  return verifyPrivate(*this, getSource().getType(), getMemory().getType());
}

LogicalResult PrivateLoadOp::verify() {
  return verifyPrivate(*this, getType(), getMemory().getType());
}

/// All slots of a ring of copies by cp.async.
SharedNeed LocalSlotsOp::getSharedNeed() {
  SlotsType type = getType();
  return {SharedUse::Allocates, type.getCount() * getSlotStride(type),
          getSharedLayout(type.getTile()).getAlignment()};
}

/// Barriers need 8 bytes, tiles 1024.
SharedNeed RingOp::getSharedNeed() {
  return {SharedUse::Persistent, RingLayout(getType()).getBytes(),
          getType().getTiles().empty() ? 16u : 1024u};
}

/// Two mbarriers and the body's number, then what its copies are computed from.
SharedNeed RingFillOp::getSharedNeed() {
  if (getWide()) // the threads that copy have computed the places themselves
    return {};
  int64_t bytes = FillLayout::values;
  getBody().walk([&](Operation *op) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      bytes += getFillBytes(copy);
    else
      bytes += 8 * op->getNumOperands();
  });
  return {SharedUse::Persistent, bytes, 16};
}

/// A view is a pointer, extents and strides, or a pointer and a condition.
int64_t getFillBytes(AsyncCopyOp copy) {
  int64_t view = std::max<int64_t>(2, 1 + 2 * copy.getView().getType().getRank());
  return 8 * (view + copy->getNumOperands() - 1);
}

/// Persistent, since a copy may still read it when the next operation begins.
/// The map is put together there.
SharedNeed ViewDescriptorOp::getSharedNeed() {
  return {SharedUse::Persistent, tensorMapBytes, tensorMapBytes};
}

SharedNeed TmaStoreOp::getSharedNeed() {
  int64_t height = getRows().value_or(getValue().getType().getDimSize(0));
  return {SharedUse::Persistent, getStagingLayout(*this, getColumns(), height).getBytes(), 1024};
}

SharedNeed ConvertLayoutOp::getSharedNeed() {
  LinearLayout source = getLayout(getSource().getType()), target = getLayout(getType());
  Exchange exchange = getExchange(source, target);
  if (exchange == Exchange::Registers)
    return {};
  if (auto rounds = (*this)->getAttrOfType<IntegerAttr>(roundsName))
    if (auto parts = getConversionRounds(source, target, rounds.getInt()))
      source = parts->source, target = parts->target;
  int64_t bytes = getConversionScratch(source, target, getType().getElementType(), getTarget(*this))
                      .layout.getBytes();
  // A block's scratch is guarded by the block's barriers, a warp's by the warp's own.
  if (exchange == Exchange::Block)
    return {SharedUse::ScratchBlock, bytes, 128};
  if (unsigned replicas = getReplicaBits(source).size())
    bytes = llvm::alignTo(bytes, 128) << replicas;
  return {SharedUse::ScratchWarp, bytes, 128};
}

/// That of all reductions: they wait at one barrier.
SharedNeed JoinWarpsOp::getSharedNeed() {
  int64_t bytes = 0;
  for (auto [part, axis] : llvm::zip(getParts(), getAxes())) {
    auto type = cast<RankedTensorType>(part.getType());
    bytes += getReductionBytes(type, axis, {getSharedElementBytes(type.getElementType())});
  }
  return {bytes ? SharedUse::ScratchBlock : SharedUse::None, bytes, 128};
}

/// A word by which the block learns whether its part is the last.
SharedNeed PartArriveOp::getSharedNeed() { return {SharedUse::ScratchBlock, 16, 128}; }

/// Other blocks read it until the kernel ends.
SharedNeed PartShareOp::getSharedNeed() {
  return {SharedUse::Persistent, PartStates(getStates().getTypes()).bytes, 128};
}

} // namespace tile::gpu
