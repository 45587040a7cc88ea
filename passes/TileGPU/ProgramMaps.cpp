// Tensor maps of views of flat memory (A2.6), whose base, extents and strides the program reads.
//
//   before the loop   possible = base and strides are multiples of 16 bytes, extents fit, no end
//                                lies before the view's, the loop makes a trip
//                     map = view_descriptor ... when possible
//   each trip         tile = tma_fetch map [...] when possible
//                     if not possible: copy the tile by cp.async
//
// The tile goes to a slot of the same ring either way: tile-gpu-specialize-warps leaves the branch
// to two warps of the producer's warpgroup, and consumers use the slot as ever. That is slower, but
// it is one loop for all views, and the slots serve both.
#include "passes/TileGPU/ProgramMaps.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/StagedLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Strides have 40 bits in a map, bytes.
static constexpr int64_t mostStrideBytes = (int64_t(1) << 40) - 16;
/// Bytes of which addresses and strides are multiples.
static constexpr int64_t granule = 16;

std::string ProgramMaps::accept(LoadOp load, LocalAllocOp alloc, TensorAccess &access) {
  if (!kernel->hasAttr(persistentName))
    return "the program decides on the extents of its view, not the launch; in a kernel 'with "
           "persistent' it could write the tensor map";
  if (kernel->hasAttr(clusterName) || kernel->hasAttr(splitPartsName))
    return "the program decides on the extents of its view, and writes no tensor map in a kernel "
           "with a cluster or a split loop";
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop)
    return "the program decides on the extents of its view, and the load stands in no loop, or in "
           "a branch";
  ViewOp view = access.view;
  for (Value operand : view->getOperands())
    if (!loop.isDefinedOutsideOfLoop(operand))
      return "its view changes from trip to trip";
  if (!loop.isDefinedOutsideOfLoop(access.flatStart))
    return "its view changes from trip to trip";
  if (llvm::any_of(access.dims, [](const TensorDim &dim) { return dim.step != 1; }))
    return "its step is not 1";
  if (std::string problem = whyNoPieces(load, cast<RankedTensorType>(load.getType()),
                                        alloc.getSource().getType(), alloc, divisibility);
      !problem.empty())
    return problem;
  SmallVector<std::pair<Value, unsigned>> &compared = ends[load];
  for (auto [d, dim] : llvm::enumerate(access.dims)) {
    for (auto [end, count] : dim.ends)
      if (dim.starts.size() != 1 || !loop.isDefinedOutsideOfLoop(end))
        return "an end that is not known before the loop cuts off what its view has";
    for (auto [end, count] : dim.ends)
      compared.push_back({end, unsigned(d)});
    dim.ends.clear();
    dim.length.reset();
  }
  loops.insert(loop);
  return "";
}

Value ProgramMaps::compare(arith::CmpIPredicate how, Value a, int64_t b) {
  return arith::CmpIOp::create(builder, a.getLoc(), how, a,
                               arith::ConstantIndexOp::create(builder, a.getLoc(), b));
}

/// Whether the launch's numbers allow a map of the view.
Value ProgramMaps::isPossible(const TensorAccess &access, TensorMapAttr map, int64_t elementBytes) {
  using Predicate = arith::CmpIPredicate;
  ViewOp view = access.view;
  Location loc = view.getLoc();
  Value possible;
  auto require = [&](Value holds) {
    possible = possible ? arith::AndIOp::create(builder, loc, possible, holds).getResult() : holds;
  };
  auto requireMultiple = [&](Value value) {
    int64_t wanted = granule / elementBytes;
    if (wanted == 1 || divisibility.getDivisor(value) % wanted == 0)
      return;
    Value rest = arith::RemSIOp::create(builder, loc, value,
                                        arith::ConstantIndexOp::create(builder, loc, wanted));
    require(compare(Predicate::eq, rest, 0));
  };
  requireMultiple(access.flatStart);
  for (auto [i, d] : llvm::enumerate(map.getOrder())) {
    Value extent = view.getExtents()[d], stride = view.getStrides()[d];
    require(compare(Predicate::sge, extent, 1));
    require(compare(Predicate::sle, extent, access.dims[d].farthest));
    if (i == 0)
      continue;
    requireMultiple(stride);
    require(compare(Predicate::sge, stride, 1));
    require(compare(Predicate::sle, stride, mostStrideBytes / elementBytes));
  }
  return possible;
}

TmaFetchOp ProgramMaps::fetch(LoadOp load, LocalAllocOp alloc, const TensorAccess &access,
                              TensorMapAttr map, ValueRange coordinates) {
  Location loc = load.getLoc();
  auto loop = cast<scf::ForOp>(load->getParentOp());
  builder.setInsertionPoint(loop);
  Value possible = isPossible(access, map, getSharedElementBytes(alloc.getType().getElementType()));
  for (auto [end, d] : ends.lookup(load)) {
    ViewOp view = access.view;
    Value reaches =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, end, view.getExtents()[d]);
    possible = arith::AndIOp::create(builder, loc, possible, reaches);
  }
  Value descriptor;
  std::tie(descriptor, possible) = writeBefore(loop, access, map, possible);
  builder.setInsertionPoint(load);
  auto fetch = TmaFetchOp::create(builder, loc, alloc.getType(), descriptor, coordinates,
                                  /*once=*/Value(), /*when=*/possible, /*multicast=*/false,
                                  /*across=*/IntegerAttr());
  auto copy = AsyncCopyOp::create(
      builder, loc, load.getView(), load.getStarts(), load.getEnds(),
      /*positions=*/ValueRange(), /*mask=*/Value(), fetch.getResult(),
      /*when=*/Value(), load.getSizesAttr(), load.getStepsAttr(), load.getHasEndAttr(),
      load.getInBoundsAttr(), TypeAttr::get(load.getType()),
      TypeAttr::get(alloc.getSource().getType()), load.getCacheAttr(), /*part=*/nullptr);
  copies.push_back({fetch, copy, possible});
  return fetch;
}

std::pair<Value, Value> ProgramMaps::writeBefore(scf::ForOp loop, const TensorAccess &access,
                                                 TensorMapAttr map, Value possible) {
  ViewOp view = access.view;
  Location loc = view.getLoc();
  auto require = [&](Value holds) {
    possible = arith::AndIOp::create(builder, loc, possible, holds);
  };
  // A map that is written goes with a slot that is used, so that slots limit how many are in use.
  require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                loop.getUpperBound()));
  auto block =
      BlockIdOp::create(builder, loc, builder.getIndexType(), builder.getIndexType()).getBlock();
  require(compare(arith::CmpIPredicate::slt, block, mostMapBlocks));
  SmallVector<Value> extents, strides;
  for (int64_t d : map.getOrder()) {
    extents.push_back(view.getExtents()[d]);
    strides.push_back(view.getStrides()[d]);
  }
  Value descriptor = ViewDescriptorOp::create(
      builder, loc, DescriptorType::get(builder.getContext()), view.getBase(), access.flatStart,
      extents, strides, possible, map, builder.getI64IntegerAttr(maps++), /*copies=*/IntegerAttr());
  return {descriptor, possible};
}

/// True if `value` is there where `op` stands.
static bool isDefinedBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  Operation *here = def ? op->getBlock()->findAncestorOpInBlock(*def) : nullptr;
  return !here || here->isBeforeInBlock(op);
}

scf::ForOp ProgramMaps::findLoopBefore(Operation *store) {
  for (Operation *op = store->getPrevNode(); op; op = op->getPrevNode())
    if (loops.contains(op))
      return cast<scf::ForOp>(op);
  return {};
}

bool ProgramMaps::accept(Operation *store, const TensorAccess &access) {
  scf::ForOp loop = findLoopBefore(store);
  ViewOp view = access.view;
  return loop && !access.hasEnds() && isDefinedBefore(access.flatStart, loop) &&
         llvm::all_of(view->getOperands(),
                      [&](Value operand) { return isDefinedBefore(operand, loop); });
}

std::pair<Value, Value> ProgramMaps::write(Operation *store, const TensorAccess &access,
                                           TensorMapAttr map) {
  scf::ForOp loop = findLoopBefore(store);
  builder.setInsertionPoint(loop);
  ViewOp view = access.view;
  int64_t bytes = getSharedElementBytes(view.getType().getElementType());
  return writeBefore(loop, access, map, isPossible(access, map, bytes));
}

void ProgramMaps::finish() {
  for (const Copy &filling : copies) {
    TmaFetchOp fetch = filling.fetch;
    Location loc = fetch.getLoc();
    builder.setInsertionPoint(fetch->getParentOp());
    Value missing = arith::XOrIOp::create(builder, loc, filling.possible,
                                          arith::ConstantIntOp::create(builder, loc, 1, 1));
    builder.setInsertionPointAfter(filling.copy);
    auto branch = scf::IfOp::create(builder, loc, missing, /*withElseRegion=*/false);
    branch->setAttr(rareName, builder.getUnitAttr());
    filling.copy->moveBefore(branch.thenYield());
    builder.setInsertionPoint(branch.thenYield());
    AsyncCommitOp::create(builder, loc);
    AsyncWaitOp::create(builder, loc, /*pending=*/0, isReadByWgmma(fetch.getResult()));
    BarrierOp::create(builder, loc);
  }
}
