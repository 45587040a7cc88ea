// The shared memory that operations of the tile dialect need once their tiles have layouts, as
// external models of SharedMemoryOpInterface, since the tile dialect itself knows no shared memory.
#include "dialect/TileGPU/ScanPlan.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::gpu {

int64_t getReductionBytes(RankedTensorType source, std::optional<int64_t> axis,
                          ArrayRef<int64_t> elementBytes) {
  LinearLayout layout = getLayout(source);
  // A basis that moves along reduced axes alone; one that moves both ways counts as kept.
  auto isAlong = [&](const Coord &basis) {
    bool along = false, others = false;
    for (unsigned d = 0; d < basis.size(); ++d)
      if (basis[d])
        (!axis || *axis == d ? along : others) = true;
    return along && !others;
  };
  auto isZero = [](const Coord &basis) {
    return llvm::all_of(basis, [](int64_t at) { return at == 0; });
  };
  if (llvm::none_of(layout.getBases(InDim::Warp), isAlong))
    return 0;
  // Warps times distinct values that a warp has left when its lanes have been joined.
  int64_t elements = layout.getNumWarps(), bytes = 0;
  for (const Coord &basis : layout.getBases(InDim::Register))
    elements *= isAlong(basis) ? 1 : 2;
  for (const Coord &basis : layout.getBases(InDim::Lane))
    elements *= isAlong(basis) || isZero(basis) ? 1 : 2;
  // Each array of the state begins at a multiple of 16 bytes.
  for (int64_t size : elementBytes)
    bytes += llvm::alignTo(elements * size, 16);
  return bytes;
}

namespace {

/// 128 bytes of alignment let accesses be as wide as layouts allow.
SharedNeed scratch(int64_t bytes) {
  return {bytes ? SharedUse::ScratchBlock : SharedUse::None, bytes, 128};
}

/// Bytes of one element of each tile.
SmallVector<int64_t> getElementBytes(ValueRange tiles) {
  return llvm::map_to_vector(tiles, [](Value tile) -> int64_t {
    return getSharedElementBytes(getElementTypeOrSelf(tile.getType()));
  });
}

/// Without a layout an operation needs nothing yet: passes ahead of tile-gpu-assign-layouts may
/// ask.
template <typename Model, typename Op>
using SharedModel = SharedMemoryOpInterface::ExternalModel<Model, Op>;

struct ReduceModel : SharedModel<ReduceModel, ReduceOp> {
  SharedNeed getSharedNeed(Operation *op) const {
    auto reduce = cast<ReduceOp>(op);
    RankedTensorType type = reduce.getSource().getType();
    if (!hasLayout(type))
      return {};
    return scratch(
        getReductionBytes(type, reduce.getAxis(), {getSharedElementBytes(type.getElementType())}));
  }
};

struct ArgReduceModel : SharedModel<ArgReduceModel, ArgReduceOp> {
  SharedNeed getSharedNeed(Operation *op) const {
    auto reduce = cast<ArgReduceOp>(op);
    RankedTensorType type = reduce.getSource().getType();
    if (!hasLayout(type))
      return {};
    constexpr int64_t positionBytes = 4;
    return scratch(getReductionBytes(
        type, reduce.getAxis(), {getSharedElementBytes(type.getElementType()), positionBytes}));
  }
};

/// Of operations that go along an axis with several tiles at once.
template <typename Op> struct ScanModel : SharedModel<ScanModel<Op>, Op> {
  SharedNeed getSharedNeed(Operation *op) const {
    auto scan = cast<Op>(op);
    auto type = cast<RankedTensorType>(scan.getSources()[0].getType());
    if (!hasLayout(type))
      return {};
    return scratch(getScanBytes(getLayout(type), scan.getAxis(), getElementBytes(scan.getSources()),
                                std::is_same_v<Op, ScanOp>));
  }
};

struct AtomicModel : SharedModel<AtomicModel, AtomicOp> {
  SharedNeed getSharedNeed(Operation *op) const {
    return scratch(getAtomicBytes(cast<AtomicOp>(op)));
  }
};

/// A whole tile, row by row.
/// Sorts go through the whole tile in memory, histograms through their counts.
SharedNeed getTileNeed(Value tile) {
  return scratch(getTakeScratch(cast<RankedTensorType>(tile.getType())).getBytes());
}

struct SortModel : SharedModel<SortModel, SortOp> {
  SharedNeed getSharedNeed(Operation *op) const { return getTileNeed(op->getOperand(0)); }
};

struct HistogramModel : SharedModel<HistogramModel, HistogramOp> {
  SharedNeed getSharedNeed(Operation *op) const { return getTileNeed(op->getResult(0)); }
};

/// True for a kernel with products: what they add up leaves few registers.
bool hasProducts(KernelOp kernel) {
  return kernel
      ->walk([](Operation *op) {
        return isa<DotOp, MmaOp, WgmmaOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct TakeModel : SharedModel<TakeModel, TakeOp> {
  /// One shuffle where a warp holds the tile. Beside products only of few registers, whose halves
  /// the selections hold: barriers instead would let no warpgroup finish while another multiplies.
  SharedNeed getSharedNeed(Operation *op) const {
    constexpr unsigned fewRegisters = 8;
    auto take = cast<TakeOp>(op);
    auto kernel = take->getParentOfType<KernelOp>();
    if (planTake(take) &&
        (getLayout(take.getSource().getType()).getNumRegisters() <= fewRegisters ||
         !(kernel && hasProducts(kernel))))
      return SharedNeed();
    return getTileNeed(take.getSource());
  }
};

} // namespace

/// Before the first pass asks: an operation without the model needs nothing, which would be wrong.
void attachSharedMemoryModels(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceModel>(context);
  ArgReduceOp::attachInterface<ArgReduceModel>(context);
  ScanOp::attachInterface<ScanModel<ScanOp>>(context);
  ReduceByOp::attachInterface<ScanModel<ReduceByOp>>(context);
  AtomicOp::attachInterface<AtomicModel>(context);
  SortOp::attachInterface<SortModel>(context);
  HistogramOp::attachInterface<HistogramModel>(context);
  TakeOp::attachInterface<TakeModel>(context);
}

} // namespace tile::gpu
