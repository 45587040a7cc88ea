// Whose memory a value of shared memory is, how tiles lie in it beside each other, and when what
// reads it is done.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"

using namespace mlir;

namespace tile::gpu {

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
