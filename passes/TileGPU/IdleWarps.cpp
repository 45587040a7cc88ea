// Finds warps that hold nothing but padding.
//
// Layouts have a power of two of warps, tiles as many rows as they like: of 192 rows by 16 warps,
// which tile-gpu-pad-extents has rounded to 256, warps 12 to 15 hold rows 192 to 255, which nobody
// stores. Where each warp works on its own rows throughout, nobody misses these warps:
//
//   rows     | 0 .. 63     | 64 .. 127   | 128 .. 191  | 192 .. 255: padding
//   warps    | 0 .. 3      | 4 .. 7      | 8 .. 11     | 12 .. 15: not launched
#include "passes/TileGPU/IdleWarps.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/LaunchFit.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// The first element that each warp holds.
static SmallVector<Coord> getOffsets(const LinearLayout &layout) {
  SmallVector<Coord> offsets;
  for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
    offsets.push_back(layout.apply(0, 0, warp));
  return offsets;
}

/// The first warp from which on all hold padding of a tile, or what earlier ones hold. `extents`:
/// what extents were before they were rounded up.
static int64_t findFirstIdle(const LinearLayout &layout, ArrayRef<int64_t> extents) {
  SmallVector<Coord> offsets = getOffsets(layout);
  // A warp's offset is the least position that it holds only along dimensions whose bits registers
  // and lanes leave alone.
  auto isPadding = [&](const Coord &offset) {
    for (auto [d, size] : llvm::enumerate(layout.getShape()))
      for (int64_t extent : extents) {
        if (int64_t(llvm::PowerOf2Ceil(uint64_t(extent))) != size || offset[d] < extent)
          continue;
        int64_t moved = 0;
        for (InDim dim : {InDim::Register, InDim::Lane})
          for (const Coord &basis : layout.getBases(dim))
            moved |= basis[d];
        if (!(moved & offset[d]))
          return true;
      }
    return false;
  };
  int64_t first = int64_t(offsets.size());
  while (first > 1) {
    const Coord &offset = offsets[size_t(first - 1)];
    if (!isPadding(offset) &&
        !llvm::is_contained(ArrayRef<Coord>(offsets).take_front(size_t(first - 1)), offset))
      break;
    --first;
  }
  // Duplicates are there as long as one of those that hold the element is.
  return first;
}

/// True for what needs no warp but those that hold its elements.
static bool keepsToWarps(Operation *op) {
  if (isa<TmaFetchOp>(op))
    return true;
  if (isa<LocalAllocOp, LocalSlotsOp, AtomicOp, ScatterOp, PartShareOp>(op))
    return false;
  SharedUse use = getSharedNeed(op).use;
  return use != SharedUse::Allocates && use != SharedUse::ScratchBlock;
}

int64_t tile::gpu::countIdleWarps(KernelOp kernel) {
  constexpr int64_t warpsOfWarpgroup = 4;
  auto padded = kernel->getAttrOfType<DenseI64ArrayAttr>(paddedExtentsName);
  FailureOr<int64_t> warps = getNumWarps(kernel);
  if (!padded || failed(warps))
    return 0;
  int64_t needed = 1;
  auto need = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (tile && hasLayout(tile))
      needed = std::max(needed, findFirstIdle(getLayout(tile), padded.asArrayRef()));
  };
  bool apart = true;
  kernel.getBody().walk([&](Operation *op) {
    apart &= keepsToWarps(op);
    for (Type type : op->getResultTypes())
      need(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          need(type);
  });
  return apart ? std::max<int64_t>(
                     0, *warps - int64_t(llvm::alignTo(uint64_t(needed), warpsOfWarpgroup)))
               : 0;
}
