// tile-gpu-fetch-gathers: tiles that TMA cannot copy, beside those that it fetches, are copied by
// the producer's threads.
//
//   before   for k: r = gather(x[rows, k]); a = local_alloc r; b = tma_fetch; product(a, b)
//   after    for k: a = tma_fetch never; fill a by cp.async;   b = tma_fetch; product(a, b)
//
// So what is gathered is one more fetch for all passes behind: it has slots of the ring of the
// fetches beside it, products in flight as theirs, and no thread that computes meets others for it.
// tile-gpu-specialize-warps has all threads of the producer's warpgroup run its side then, and each
// compute the positions of the rows that it copies.
//
// What a producer cannot take stays for tile-gpu-pipeline-copies.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/Divisibility.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/ProducerSlice.h"
#include "passes/TileGPU/StagedLoads.h"
#include "passes/TileGPU/TensorAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUFETCHGATHERS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

constexpr int64_t warpsOfWarpgroup = 4, bitsOfByte = 8;

/// Why the producer's threads cannot copy for the kernel; empty if they can.
std::string whyNoProducer(KernelOp kernel, const GPULimits &limits) {
  bool fetches = false, writesMaps = false;
  kernel.getBody().walk([&](Operation *op) {
    fetches |= isa<TmaFetchOp>(op);
    writesMaps |= isa<ViewDescriptorOp>(op);
  });
  if (!kernel->hasAttr(persistentName))
    return "the kernel is not persistent, so that no program's copies run ahead of it";
  if (!fetches)
    return "TMA fetches nothing beside it";
  if (writesMaps)
    return "the producer writes tensor maps";
  if (kernel->hasAttr(clusterName) || kernel->hasAttr(splitPartsName))
    return "blocks of a cluster, or parts of a split loop, share the copies";
  if (kernel->hasAttr(maxRegistersName))
    return "the source fixes the registers of a thread";
  FailureOr<int64_t> warps = getLaunchedWarps(kernel);
  if (failed(warps) || *warps % warpsOfWarpgroup)
    return "the warps that compute are not in fours";
  RegisterShare share;
  share.warpgroups = *warps / warpsOfWarpgroup;
  if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
    share.blocks = occupancy.getInt();
  share.tiles = countLiveRegisters(kernel);
  if (!mayProducerFill(share, limits))
    return "the threads that compute would have too few registers";
  return "";
}

/// Why they cannot copy what `load`, a LoadOp or GatherOp, reads; empty if they can.
template <typename Op>
std::string whyNoFill(Op load, LocalAllocOp alloc, const DivisibilityAnalysis &divisibility) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop || loop.getBody()->template getOps<TmaFetchOp>().empty())
    return "TMA fetches nothing beside it";
  auto type = cast<RankedTensorType>(load.getType());
  if (!matchPattern(load.getPad(), m_Zero()) && !matchPattern(load.getPad(), m_PosZeroFloat()))
    return "its padding is not 0";
  if (!readsConstantMemory(load))
    return "its memory may be written while the kernel runs";
  if (load.getMask())
    return "it has a mask";
  if (type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() < bitsOfByte)
    return "its elements are parts of bytes";
  if constexpr (std::is_same_v<Op, GatherOp>)
    if (!llvm::all_of(load.getPositions(), canProducerCompute))
      return "its positions are exchanged between threads";
  // What goes by way of a register would not be there when the copies are.
  constexpr int64_t leastPiece = 4;
  if (getAccessWidth(load, type, divisibility).proven *
          getSharedElementBytes(type.getElementType()) <
      leastPiece)
    return "no contract proves that 4 bytes of its rows lie together";
  return whyNoPieces(load, type, alloc.getSource().getType(), alloc, divisibility);
}

/// True if only products by wgmma read the tile.
bool isOperandOnly(Value memory) {
  return llvm::all_of(memory.getUsers(), [](Operation *user) {
    auto permute = dyn_cast<MemDescPermuteOp>(user);
    return permute ? isOperandOnly(permute.getResult()) : isa<WgmmaOp>(user);
  });
}

/// A map of the tile's shape, which no launch makes: nothing is copied by it.
TensorMapAttr makeUnusedMap(MemDescType type, unsigned param) {
  SmallVector<int64_t> order(type.getLayout().getOrder());
  int64_t swizzle = type.getLayout().getSwizzle(),
          bytes = getSharedElementBytes(type.getElementType());
  SmallVector<int64_t> box;
  for (int64_t d : order)
    box.push_back(type.getShape()[d]);
  if (swizzle)
    box.front() = std::min(box.front(), swizzle / bytes);
  return TensorMapAttr::get(type.getContext(), param, order, box, swizzle);
}

template <typename Op> void fetch(Op load, LocalAllocOp alloc) {
  Location loc = load.getLoc();
  auto base = cast<BlockArgument>(getRootView(load.getView()).getBase());
  OpBuilder builder(load);
  Value never = arith::ConstantIntOp::create(builder, loc, 0, 1),
        always = arith::ConstantIntOp::create(builder, loc, 1, 1),
        zero = arith::ConstantIndexOp::create(builder, loc, 0);
  MemDescType type = alloc.getType();
  Value descriptor = DescriptorOp::create(builder, loc, DescriptorType::get(load.getContext()),
                                          makeUnusedMap(type, base.getArgNumber()));
  SmallVector<Value> coordinates(type.getShape().size(), zero);
  auto made = TmaFetchOp::create(builder, loc, type, descriptor, coordinates, /*once=*/Value(),
                                 never, /*multicast=*/false, /*across=*/IntegerAttr());
  auto branch = scf::IfOp::create(builder, loc, always, /*withElseRegion=*/false);
  branch->setAttr(rareName, builder.getUnitAttr());
  builder.setInsertionPoint(branch.thenYield());
  SmallVector<Value> positions;
  if constexpr (std::is_same_v<Op, GatherOp>)
    positions = load.getPositions();
  AsyncCopyOp::create(builder, loc, load.getView(), load.getStarts(), load.getEnds(), positions,
                      /*mask=*/Value(), made.getResult(), /*when=*/Value(), load.getSizesAttr(),
                      load.getStepsAttr(), load.getHasEndAttr(), load.getInBoundsAttr(),
                      TypeAttr::get(load.getType()), TypeAttr::get(alloc.getSource().getType()),
                      load.getCacheAttr(), /*part=*/nullptr);
  alloc.getResult().replaceAllUsesWith(made.getResult());
  Operation *source = alloc.getSource().getDefiningOp();
  alloc.erase();
  while (source != load) {
    Operation *inner = source->getOperand(0).getDefiningOp();
    source->erase();
    source = inner;
  }
  load.erase();
}

struct TileGPUFetchGathers : tile::impl::TileGPUFetchGathersBase<TileGPUFetchGathers> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    bool changed = false;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<std::pair<Operation *, LocalAllocOp>> found;
      kernel.getBody().walk([&](LocalAllocOp alloc) {
        Value source = alloc.getSource();
        while (source.hasOneUse() && isa_and_nonnull<ReshapeOp, PermuteOp>(source.getDefiningOp()))
          source = source.getDefiningOp()->getOperand(0);
        Operation *load = source.getDefiningOp();
        if (!source.hasOneUse() || !isa_and_nonnull<LoadOp, GatherOp>(load) ||
            !isOperandOnly(alloc.getResult()))
          return;
        std::string problem = whyNoProducer(kernel, target->limits);
        if (problem.empty())
          problem = llvm::TypeSwitch<Operation *, std::string>(load).Case<LoadOp, GatherOp>(
              [&](auto op) { return whyNoFill(op, alloc, getAnalysis<DivisibilityAnalysis>()); });
        if (problem.empty())
          found.push_back({load, alloc});
        else
          declined(load) << "an operand is not the producer's to copy: " + problem;
      });
      for (auto [load, alloc] : found)
        llvm::TypeSwitch<Operation *>(load).Case<LoadOp, GatherOp>(
            [&, &alloc = alloc](auto op) { fetch(op, alloc); });
      changed |= !found.empty();
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
