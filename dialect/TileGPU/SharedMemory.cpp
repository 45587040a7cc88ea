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

/// The registers and lanes of one warp as a layout of its own: they span what a warp holds.
/// In terms of spans: does adding these vectors leave the dimension as it is?
static bool spans(const LinearLayout &layout, ArrayRef<Coord> wanted) {
  SmallVector<Coord> registers(layout.getBases(InDim::Register)),
      lanes(layout.getBases(InDim::Lane));
  unsigned before = LinearLayout(layout.getShape(), registers, lanes, {}).getDimension();
  registers.append(wanted.begin(), wanted.end());
  return LinearLayout(layout.getShape(), registers, lanes, {}).getDimension() == before;
}

/// A bit of the warp's number is a replica's if its basis is in the span of registers, lanes and
/// the warps' bits before it.
SmallVector<unsigned> getReplicaBits(const LinearLayout &layout) {
  SmallVector<unsigned> replicas;
  SmallVector<Coord> registers(layout.getBases(InDim::Register)),
      lanes(layout.getBases(InDim::Lane));
  auto dimension = [&] {
    return LinearLayout(layout.getShape(), registers, lanes, {}).getDimension();
  };
  unsigned held = dimension();
  for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Warp))) {
    registers.push_back(basis);
    unsigned now = dimension();
    if (now == held)
      replicas.push_back(bit);
    held = now;
  }
  return replicas;
}

/// Elements of all copies of a tile that replicated warps may have; larger tiles wait for the
/// block.
static constexpr int64_t maxReplicatedElements = 1024;

/// Three ways, the cheapest that does: within a thread, within a warp, by the block.
Exchange getExchange(const LinearLayout &source, const LinearLayout &target) {
  if (source.getRegisterSources(target))
    return Exchange::Registers;
  // Within a warp: what its lanes need is what its lanes hold, and warps stand at the same places.
  SmallVector<Coord> wanted(target.getBases(InDim::Register));
  llvm::append_range(wanted, target.getBases(InDim::Lane));
  if (source.getNumWarps() != target.getNumWarps())
    return Exchange::Block;
  // Warps may stand at different places of source and target: then the difference must lie in what
  // one warp holds.
  for (auto [from, to] : llvm::zip(source.getBases(InDim::Warp), target.getBases(InDim::Warp))) {
    Coord &difference = wanted.emplace_back(from);
    for (auto [x, y] : llvm::zip(difference, to))
      x ^= y;
  }
  if (!spans(source, wanted))
    return Exchange::Block;
  // Replicated warps exchange in memory of their own (ConvertLayout.cpp), which small tiles can
  // afford.
  unsigned replicas = getReplicaBits(source).size();
  bool fits = !replicas || llvm::product_of(source.getShape()) << replicas <= maxReplicatedElements;
  return fits ? Exchange::Warp : Exchange::Block;
}

/// The place of a bit of the coordinates: a dimension and the bit's value.
using CoordBit = std::pair<unsigned, int64_t>;

/// The only bit of a basis; none where it has several or none.
static std::optional<CoordBit> getOnlyBit(const Coord &basis) {
  std::optional<CoordBit> only;
  for (auto [dim, value] : llvm::enumerate(basis)) {
    if (!value)
      continue;
    if (only || !llvm::isPowerOf2_64(value))
      return std::nullopt;
    only = {dim, value};
  }
  return only;
}

/// The bit of the register's number that alone moves along `bit`; none where another one, or lanes
/// or warps, do so too.
static std::optional<unsigned> findRegisterBit(const LinearLayout &layout, CoordBit bit) {
  std::optional<unsigned> found;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (auto [i, basis] : llvm::enumerate(layout.getBases(dim))) {
      if (!(basis[bit.first] & bit.second))
        continue;
      if (found || dim != InDim::Register || getOnlyBit(basis) != bit)
        return std::nullopt;
      found = i;
    }
  return found;
}

/// The layout of one half along `bit`, without the register's bit that moves along it.
static LinearLayout dropBit(const LinearLayout &layout, CoordBit bit, unsigned registerBit) {
  auto drop = [&](ArrayRef<Coord> bases) {
    SmallVector<Coord> rest(bases);
    for (Coord &basis : rest) {
      int64_t &value = basis[bit.first];
      value = (value & (bit.second - 1)) | (value / (2 * bit.second) * bit.second);
    }
    return rest;
  };
  SmallVector<int64_t> shape(layout.getShape());
  shape[bit.first] /= 2;
  SmallVector<Coord> registers = drop(layout.getBases(InDim::Register));
  registers.erase(registers.begin() + registerBit);
  return LinearLayout(shape, registers, drop(layout.getBases(InDim::Lane)),
                      drop(layout.getBases(InDim::Warp)));
}

/// Takes each part's registers apart along one more bit.
static void splitRegisters(SmallVector<SmallVector<int64_t>> &parts, unsigned registerBit) {
  SmallVector<SmallVector<int64_t>> halves;
  for (const SmallVector<int64_t> &part : parts)
    for (size_t half : {0, 1}) {
      SmallVector<int64_t> &kept = halves.emplace_back();
      for (auto [i, reg] : llvm::enumerate(part))
        if (((i >> registerBit) & 1) == half)
          kept.push_back(reg);
    }
  parts = std::move(halves);
}

/// Bits of large distances first: neighbours stay together, which accesses move at once.
std::optional<ConversionRounds> getConversionRounds(const LinearLayout &source,
                                                    const LinearLayout &target, int64_t rounds) {
  ConversionRounds result{source, target, {{}}, {{}}};
  for (unsigned r = 0; r < source.getNumRegisters(); ++r)
    result.sourceRegisters.front().push_back(r);
  for (unsigned r = 0; r < target.getNumRegisters(); ++r)
    result.targetRegisters.front().push_back(r);
  for (; rounds > 1; rounds /= 2) {
    std::optional<CoordBit> best;
    for (const Coord &basis : result.source.getBases(InDim::Register)) {
      std::optional<CoordBit> bit = getOnlyBit(basis);
      if (bit && (!best || bit->second > best->second) && findRegisterBit(result.source, *bit) &&
          findRegisterBit(result.target, *bit))
        best = bit;
    }
    if (!best)
      return std::nullopt;
    unsigned from = *findRegisterBit(result.source, *best),
             to = *findRegisterBit(result.target, *best);
    splitRegisters(result.sourceRegisters, from);
    splitRegisters(result.targetRegisters, to);
    result.source = dropBit(result.source, *best, from);
    result.target = dropBit(result.target, *best, to);
  }
  return result;
}

namespace {
/// How one side of a conversion moves a thread's elements.
struct ScratchSide {
  unsigned accesses, bytes; ///< instructions, and what stays together in one
  bool byMatrices;
};
} // namespace

static ScratchSide getScratchSide(const LinearLayout &layout, const SharedLayout &scratch,
                                  bool hasMatrices) {
  if (hasMatrices)
    if (std::optional<MatrixLoads> plan = getMatrixLoads(layout, scratch))
      return {unsigned(plan->loads.size()), matrixRowBytes, true};
  unsigned size = SharedAccess(layout, scratch).getVectorSize();
  return {layout.getNumRegisters() / size, size * scratch.getElementBytes(), false};
}

/// Each dimension is tried as the fastest: accesses of both sides are counted as instructions of a
/// thread. Matrices want rows of 16 bytes whole; where the other side takes less, chunks that are
/// no larger than what it takes have fewer conflicts.
ConversionScratch getConversionScratch(const LinearLayout &source, const LinearLayout &target,
                                       Type elementType, const GPUTarget *gpu) {
  bool storesMatrices = gpu && gpu->has(Feature::StoreMatrix),
       loadsMatrices = gpu && gpu->has(Feature::LoadMatrix);
  // The fastest dimension is that which makes for the fewest accesses.
  unsigned elementBytes = getSharedElementBytes(elementType), fewest = ~0u;
  ConversionScratch best{SharedLayout::scratch(source.getShape(), 0, elementBytes, elementBytes)};
  for (unsigned dim = source.getRank(); dim-- > 0;) {
    SharedLayout trial =
        SharedLayout::scratch(source.getShape(), dim, elementBytes, matrixRowBytes);
    ScratchSide store = getScratchSide(source, trial, storesMatrices),
                load = getScratchSide(target, trial, loadsMatrices);
    if (std::min(store.bytes, load.bytes) < matrixRowBytes) {
      store = getScratchSide(source, trial, false);
      load = getScratchSide(target, trial, false);
    }
    if (store.accesses + load.accesses >= fewest)
      continue;
    fewest = store.accesses + load.accesses;
    // The unit that must stay together when chunks change places.
    best = {SharedLayout::scratch(source.getShape(), dim, elementBytes,
                                  std::max(store.bytes, load.bytes)),
            store.byMatrices, load.byMatrices};
  }
  return best;
}

/// Plain rows, since positions are computed at run time.
SharedLayout getTakeScratch(RankedTensorType source) {
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, source.getRank())));
  return SharedLayout(source.getShape(), order, getSharedElementBytes(source.getElementType()),
                      /*swizzle=*/0);
}

SmallVector<unsigned> getDistinctRegisters(const LinearLayout &layout) {
  SmallVector<unsigned> distinct;
  for (unsigned r = 0; r < layout.getNumRegisters(); ++r)
    if (llvm::none_of(distinct,
                      [&](unsigned s) { return layout.apply(s, 0, 0) == layout.apply(r, 0, 0); }))
      distinct.push_back(r);
  return distinct;
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

//===--- Owners -----------------------------------------------------------===//

std::optional<int64_t> getSharedOffset(Operation *op) {
  if (auto offset = op->getAttrOfType<IntegerAttr>(sharedOffsetName))
    return offset.getInt();
  return std::nullopt;
}

/// Permutations name the same bytes.
LocalAllocOp getSharedOwner(Value memory) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  return memory.getDefiningOp<LocalAllocOp>();
}

LocalSlotsOp getSlotsOwner(Value memory) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  auto slot = memory.getDefiningOp<SlotOp>();
  return slot ? slot.getSlots().getDefiningOp<LocalSlotsOp>() : LocalSlotsOp();
}

int64_t getSlotStride(SlotsType type) {
  SharedLayout layout = getSharedLayout(type.getTile());
  // What threads keep of a line that goes round: only vectors are accessed there, and bytes between
  // slots may cost a block.
  bool isLine =
      type.getTile().getShape().size() == 1 && !type.getTile().getLayout().getUsed().empty();
  return llvm::alignTo(layout.getBytes(), isLine ? rotatedVectorBytes : layout.getAlignment());
}

/// Whether tiles are fetched, and so get a slot of a ring, or are neighbours in a slot.
static bool areNeighbours(ValueRange tiles) {
  OpResult before;
  for (Value tile : tiles) {
    while (auto permute = tile.getDefiningOp<MemDescPermuteOp>())
      tile = permute.getSource();
    auto result = dyn_cast<OpResult>(tile);
    if (!result || !isa<TmaFetchOp, RingWaitOp>(result.getOwner()))
      return false;
    if (before && (isa<RingWaitOp>(before.getOwner()) || isa<RingWaitOp>(result.getOwner())) &&
        (before.getOwner() != result.getOwner() ||
         result.getResultNumber() != before.getResultNumber() + 1))
      return false;
    before = result;
  }
  return true;
}

/// Offsets are linear in the bits of a position, so those within a part and those that number the
/// parts decide.
bool MemDescJoinOp::follow(MemDescType part, MemDescType whole, int64_t dim) {
  int64_t extent = part.getShape()[dim];
  SharedLayout one = getSharedLayout(part), all = getSharedLayout(whole);
  if (!llvm::all_of(whole.getShape(), llvm::isPowerOf2_64) || one.getBytes() % one.getAlignment())
    return false;
  for (size_t d = 0; d < whole.getShape().size(); ++d)
    for (int64_t bit = 1; bit < whole.getShape()[d]; bit *= 2) {
      SmallVector<int64_t> coord(whole.getShape().size(), 0);
      bool beyond = int64_t(d) == dim && bit >= extent;
      coord[d] = bit;
      int64_t offset = all.getOffset(coord);
      if (beyond ? offset != bit / extent * one.getBytes()
                 : offset != int64_t(one.getOffset(coord)))
        return false;
    }
  return true;
}

LogicalResult MemDescJoinOp::verify() {
  MemDescType source = cast<MemDescType>(getSources().front().getType()), result = getType();
  size_t rank = source.getShape().size();
  int64_t dim = getDim();
  bool valid = dim >= 0 && dim < int64_t(rank) && result.getShape().size() == rank &&
               source.getElementType() == result.getElementType() &&
               llvm::all_equal(getSources().getTypes());
  for (size_t d = 0; valid && d < rank; ++d)
    valid = result.getShape()[d] ==
            source.getShape()[d] * (int64_t(d) == dim ? int64_t(getSources().size()) : 1);
  if (!valid || !follow(source, result, dim))
    return emitOpError() << "joins tiles whose bytes follow each other, found " << result << " of "
                         << getSources().size() << " times " << source;
  if (!areNeighbours(getSources()))
    return emitOpError("needs tiles that are fetched, or neighbours in the slot of a ring");
  return success();
}

/// Decides on stmatrix and on the fence in Shared.cpp.
bool isReadByWgmma(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    auto permute = dyn_cast<MemDescPermuteOp>(user);
    return isa<WgmmaOp>(user) || (permute && isReadByWgmma(permute.getResult()));
  });
}

/// Of a product in flight the operands are read until the wait behind it; a chain of products ends
/// where the last one is waited for.
/// The first wait from `wait` on behind which the product is done: products end in the order in
/// which they are issued. `wait` itself if the block has none.
static Operation *findWait(WgmmaOp product, WgmmaWaitOp wait) {
  uint64_t issued = 0; // behind the product
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
    if (auto other = dyn_cast<WgmmaOp>(op))
      issued += other.getAsync();
    else if (auto other = dyn_cast<WgmmaWaitOp>(op);
             other && !op->isBeforeInBlock(wait) && other.getPending() <= issued)
      return op;
  }
  return wait;
}

Operation *getCompletion(Operation *user, Block *block) {
  Operation *here = block->findAncestorOpInBlock(*user);
  auto product = dyn_cast<WgmmaOp>(user);
  if (!product || !product.getAsync() || here != user)
    return here;
  Operation *last = here;
  for (Operation *next : product.getResult().getUsers()) {
    Operation *end =
        isa<WgmmaOp>(next) ? getCompletion(next, block) : block->findAncestorOpInBlock(*next);
    // A wait that leaves this product in flight, as it is for those before: a later one ends it.
    if (auto wait = dyn_cast<WgmmaWaitOp>(next); wait && end == next && wait.getPending())
      end = findWait(product, wait);
    if (end && last->isBeforeInBlock(end))
      last = end;
  }
  return last;
}

} // namespace tile::gpu
