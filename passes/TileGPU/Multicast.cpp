// tile-gpu-multicast: two blocks of a cluster load a tile that both need once, half each.
//
//   block 0 copies the first half   --+--> slot of block 0   (both halves)
//   block 1 copies the second half  --+--> slot of block 1   (both halves)
//
// Each block's full barrier counts the bytes of the whole tile, its empty barrier the consumers of
// both blocks: a block must not write into a slot that the other one still reads.
//
// The pair are programs 2p and 2p + 1 along one axis of the grid. A fetch is shared if both of them
// make it at the same time at the same coordinates: nothing that decides about it, the loops and
// branches around it included, depends on that axis (PairVariance). Where the axis has an odd
// number of programs, both blocks of the last pair run the last one, hence getObstacle(). The
// launch rounds the grid up to whole pairs, or, in a persistent kernel, the loop over programs
// does.
//
// A cluster of four is a square of programs: pairs along two axes. Rank r's pairs are r ^ 1 and
// r ^ 2; of a product one shares the columns' operand with it, the other the rows':
//
//            column 2q   2q + 1
//   row 2p        0   A    2       0 and 2 fetch half of A each, 0 and 1 half of B: a block has
//                 B        B       copied half of what it needs
//   row 2p + 1    1   A    3
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/ProgramGrid.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUMULTICAST
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Values that differ between the two programs of a pair along an axis.
/// Taint: program_id of the paired axis, and all that depends on it by value or by control.
class PairVariance {
public:
  PairVariance(KernelOp kernel, unsigned axis) {
    // Values before their users, but for what loops carry: repeated until nothing is added.
    for (bool changed = true; changed;) {
      changed = false;
      kernel.getBody().walk<WalkOrder::PreOrder>(
          [&](Operation *op) { changed |= visit(op, axis); });
    }
  }

  bool varies(Value value) const { return values.contains(value); }

  /// True if the loops and branches around `op` go the same way in both programs.
  /// Loops and branches that do not vary are taken by both blocks alike.
  bool isUniform(Operation *op) const {
    for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent);
         parent = parent->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(parent);
      auto branch = dyn_cast<scf::IfOp>(parent);
      if (!loop && !branch)
        return false;
      if (loop &&
          (varies(loop.getLowerBound()) || varies(loop.getUpperBound()) || varies(loop.getStep())))
        return false;
      if (branch && varies(branch.getCondition()))
        return false;
    }
    return true;
  }

private:
  bool mark(Value value) { return values.insert(value).second; }

  // Loops: with varying bounds, all that the loop carries varies, as trips differ.
  bool visit(Operation *op, unsigned axis) {
    bool changed = false;
    auto id = dyn_cast<ProgramIdOp>(op);
    bool varying = id && id.getAxis() == axis;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bool bounds =
          varies(loop.getLowerBound()) || varies(loop.getUpperBound()) || varies(loop.getStep());
      if (bounds)
        changed |= mark(loop.getInductionVar());
      for (auto [init, argument, yielded, result] :
           llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(),
                     loop.getResults()))
        if (bounds || varies(init) || varies(yielded))
          changed |= mark(argument), changed |= mark(result);
      return changed;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (unsigned i = 0; i < branch.getNumResults(); ++i)
        if (varies(branch.getCondition()) || varies(branch.thenYield().getOperand(i)) ||
            varies(branch.elseYield().getOperand(i)))
          changed |= mark(branch.getResult(i));
      return changed;
    }
    // Of other operations with regions nothing is known; that of a scan is its function, which may
    // read values from around it.
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    varying |= (op->getNumRegions() > 0 && !isa<ScanOp, ReduceByOp>(op)) ||
               llvm::any_of(used, [&](Value value) { return varies(value); });
    if (varying)
      for (Value result : op->getResults())
        changed |= mark(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        changed |= mark(argument);
    return changed;
  }

  DenseSet<Value> values; // looked up only
};

/// The map of a fetch that two blocks share: half of a box that is all of the tile. None if it
/// cannot be halved.
/// A tile of an even number of boxes is halved by boxes; of one box, the box itself is halved along
/// a dimension that is not the innermost, by whole groups of 8 rows, so that each half begins where
/// the swizzle does.
std::optional<TensorMapAttr> getHalfMap(TmaFetchOp fetch, TensorMapAttr map) {
  int64_t boxElements = 1;
  for (int64_t extent : map.getBox())
    boxElements *= extent;
  int64_t tileElements = 1;
  for (int64_t extent : fetch.getType().getUsedShape())
    tileElements *= extent;
  if (tileElements / boxElements % 2 == 0)
    return map;
  SmallVector<int64_t> box(map.getBox());
  auto dims =
      matchTensorMap(map, fetch.getType().getUsedShape(), fetch.getType().getLayout().getOrder());
  // Swizzling repeats every 8 rows.
  // From the slowest dimension on. A map's dimension that shares the tile's with another cannot be
  // halved alone.
  for (size_t i = box.size(); i-- > 1;)
    if (box[i] % 16 == 0 && dims && llvm::count(*dims, (*dims)[i]) == 1) {
      box[i] /= 2;
      return TensorMapAttr::get(map.getContext(), map.getParam(), map.getOrder(), box,
                                map.getSwizzle(), map.getSteps());
    }
  return std::nullopt;
}

/// Whether clusters of so many blocks share loads, or the parts of a loop, on any target.
bool isShareable(ArrayRef<int64_t> requested, bool isSplit = false) {
  int64_t blocks = requested.size() == 2 ? requested[0] * requested[1] : 0;
  return blocks == 2 || blocks == 4 || (isSplit && blocks == 8);
}

/// Why the kernel's blocks cannot work in pairs; empty if they can.
/// Both blocks of an odd last pair run the last program: writing the same twice must be harmless.
StringRef getObstacle(KernelOp kernel, ArrayRef<int64_t> requested) {
  if (kernel->hasAttr(splitPartsName))
    return "expected as many blocks as the split loop has parts, 2, 4 or 8, and that a slice of "
           "its "
           "result is enough for what follows";
  if (!isShareable(requested))
    return "only clusters of 2 or 4 blocks share loads";
  if (kernel.getNumAxes() == 0)
    return "the grid has one program";
  // With an odd number of programs along an axis the last is run twice.
  // Read, then written by the twin: the second would read the first one's result.
  for (unsigned i = 0; i < kernel.getParams().size(); ++i)
    if (kernel.getParam(i).getAccess() == Access::InOut)
      return "programs that read what they write cannot run twice";
  bool repeatable = true;
  kernel.getBody().walk([&](Operation *op) {
    repeatable &= isa<LoadOp, StoreOp, GatherOp>(op) || !isa<TileDialect>(op->getDialect()) ||
                  isMemoryEffectFree(op);
  });
  return repeatable ? "" : "programs that synchronise with others cannot run twice";
}

struct TileGPUMulticast : tile::impl::TileGPUMulticastBase<TileGPUMulticast> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (auto requested = kernel->getAttrOfType<DenseI64ArrayAttr>(clusterName);
          requested && llvm::any_of(requested.asArrayRef(), [](int64_t n) { return n != 1; }))
        multicast(kernel, requested.asArrayRef());
  }

  static void multicast(KernelOp kernel, ArrayRef<int64_t> requested) {
    if (StringRef obstacle = getObstacle(kernel, requested); !obstacle.empty()) {
      // A number that no target has is a mistake; what depends on target and extents is not.
      if (!isShareable(requested, kernel->hasAttr(splitPartsName)))
        kernel.emitWarning() << "cluster(" << requested[0] << ", " << requested[1]
                             << ") is lowered to 1: " << obstacle << " [W0607]";
      else
        remarkOn(kernel) << "clusters are not used: " << obstacle << " [R0405]";
      declined(kernel) << obstacle;
      return;
    }
    for (int64_t blocks = requested[0] * requested[1]; blocks > 1; blocks /= 2)
      if (share(kernel, blocks))
        return;
    remarkOn(kernel)
        << "clusters are not used: no load by TMA is the same for neighbouring programs [R0405]";
    declined(kernel) << "no load by TMA is the same for neighbouring programs";
  }

  /// Marks the fetches that pairs of a cluster of so many blocks share. False, and nothing is
  /// changed, if there is an axis of the cluster along which none is.
  static bool share(KernelOp kernel, int64_t blocks) {
    struct Shared {
      TmaFetchOp fetch;
      TensorMapAttr map;
      int64_t across;
    };
    SmallVector<Shared> found;
    int64_t across = 1;
    // Each fetch by itself; one that varies keeps its full copy in each block.
    for (unsigned axis : getClusterAxes(kernel, blocks)) {
      PairVariance variance(kernel, axis);
      kernel.getBody().walk([&](TmaFetchOp fetch) {
        auto descriptor = fetch.getDescriptor().getDefiningOp<DescriptorOp>();
        if (!descriptor || !variance.isUniform(fetch) ||
            llvm::any_of(fetch.getCoordinates(),
                         [&](Value coordinate) { return variance.varies(coordinate); }) ||
            llvm::any_of(found, [&](const Shared &other) { return other.fetch == fetch; }))
          return;
        if (std::optional<TensorMapAttr> map = getHalfMap(fetch, descriptor.getMap()))
          found.push_back({fetch, *map, across});
      });
      across *= 2;
    }
    for (int64_t bit = 1; bit < blocks; bit *= 2)
      if (llvm::none_of(found, [&](const Shared &each) { return each.across == bit; }))
        return false;
    for (const Shared &each : found) {
      TmaFetchOp fetch = each.fetch;
      OpBuilder builder(fetch);
      fetch.getDescriptorMutable().set(
          DescriptorOp::create(builder, fetch.getLoc(), fetch.getDescriptor().getType(), each.map));
      fetch.setMulticast(true);
      if (each.across > 1)
        fetch.setAcross(each.across);
    }
    Builder attributes(kernel);
    kernel->setAttr(blocksOfClusterName, attributes.getI64IntegerAttr(blocks));
    // How many squares of four are resident at once depends on how many multiprocessors share a
    // group of them: 30 on an H100 of 132. So each has programs of its own, and the GPU starts
    // them.
    if (blocks > 2)
      kernel->removeAttr(persistentName);
    if (!kernel->hasAttr(persistentName)) {
      SmallVector<int64_t> axes;
      llvm::append_range(axes, getClusterAxes(kernel, blocks));
      kernel->setAttr(pairedAxesName, attributes.getDenseI64ArrayAttr(axes));
    }
    return true;
  }
};

} // namespace
