// Fetches an operand of a product, which is issued in parts along K, in pieces along K.
//
//   before   | slot: x 0 ... 127          | parts 0 1 2 3 | release |
//   after    | slot: x 0 ... 63 | release behind part 1 |
//            | slot: x 64 ... 127                | release behind part 3 |
//
// Each piece has a ring of its own, so that the producer refills the first while the trip's later
// parts multiply. Where shared memory holds few stages, loads have half a trip more time so.
#include "passes/TileGPU/Schedule/OperandPieces.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/LaunchFit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True if shared memory has no room for as many stages of a trip's tiles as keep loads from being
/// late, and one more for what stands beside them: then a piece that is given back within the trip
/// is a part of a stage more.
static bool areStagesFew(scf::ForOp loop) {
  const GPUTarget *target = getTarget(loop->getParentOfType<ModuleOp>());
  int64_t bytes = 0;
  for (auto fetch : loop.getBody()->getOps<TmaFetchOp>())
    bytes += getSharedLayout(fetch.getType()).getBytes();
  return target && (usefulStages + 1) * bytes > getSharedLimit(target->limits, 1);
}

OperandPieces tile::gpu::splitFetch(scf::ForOp loop, WgmmaOp product, int64_t parts) {
  OperandPieces pieces;
  Value b = product.getB();
  pieces.extent = cast<MemDescType>(b.getType()).getShape().front();
  pieces.memory = {b};
  SmallVector<MemDescPermuteOp> permutes; // the product's first
  unsigned dim = 0;                       // of the tile: K
  while (auto permute = b.getDefiningOp<MemDescPermuteOp>()) {
    if (!permute->hasOneUse())
      return pieces;
    permutes.push_back(permute);
    dim = unsigned(permute.getPermutation()[dim]);
    b = permute.getSource();
  }
  auto fetch = b.getDefiningOp<TmaFetchOp>();
  if (!fetch || !fetch->hasOneUse() || fetch.getMulticast() || fetch.getWhen() ||
      fetch->getBlock() != product->getBlock() || !areStagesFew(loop))
    return pieces;
  auto descriptor = fetch.getDescriptor().getDefiningOp<DescriptorOp>();
  MemDescType type = fetch.getType();
  // Of a tile of two dimensions the map has the same two, in the order in which they lie.
  if (!descriptor || type.getShape().size() != 2 || fetch.getCoordinates().size() != 2 ||
      !type.getLayout().getUsed().empty())
    return pieces;
  size_t place =
      size_t(llvm::find(type.getLayout().getOrder(), dim) - type.getLayout().getOrder().begin());
  int64_t box = descriptor.getMap().getBox()[place], count = parts;
  while (count > 1 && (parts % count || pieces.extent % (count * box)))
    --count;
  if (count < 2)
    return pieces;

  OpBuilder builder(fetch);
  Location loc = fetch.getLoc();
  pieces.extent /= count;
  pieces.memory.clear();
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = pieces.extent;
  auto pieceType =
      MemDescType::get(type.getContext(), shape, type.getElementType(), type.getLayout());
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<Value> coordinates(fetch.getCoordinates());
    if (number)
      coordinates[place] = arith::AddIOp::create(
          builder, loc, coordinates[place],
          arith::ConstantIndexOp::create(builder, loc, number * pieces.extent));
    Value piece = TmaFetchOp::create(builder, loc, pieceType, fetch.getDescriptor(), coordinates,
                                     fetch.getOnce());
    for (MemDescPermuteOp permute : llvm::reverse(permutes)) {
      SmallVector<int64_t> permuted;
      for (int64_t from : permute.getPermutation())
        permuted.push_back(cast<MemDescType>(piece.getType()).getShape()[size_t(from)]);
      auto made = MemDescType::get(type.getContext(), permuted, type.getElementType(),
                                   permute.getType().getLayout());
      piece = MemDescPermuteOp::create(builder, loc, made, piece, permute.getPermutation());
    }
    pieces.memory.push_back(piece);
  }
  return pieces;
}

void tile::gpu::eraseUnusedFetch(Value memory) {
  while (memory.use_empty()) {
    Operation *op = memory.getDefiningOp();
    auto permute = dyn_cast_if_present<MemDescPermuteOp>(op);
    if (!permute && !isa_and_nonnull<TmaFetchOp>(op))
      return;
    memory = permute ? permute.getSource() : Value();
    op->erase();
    if (!permute)
      return;
  }
}
