// Finds attributes that got lost between two passes.
#include "passes/TileGPU/LaunchState.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"

using namespace mlir;

namespace tile::gpu {

namespace {

/// An operation that only makes sense beside an attribute of its kernel. A pass that drops or
/// forgets it is named.
struct Rule {
  bool (*asks)(Operation *);
  StringRef attribute, pass;
};

bool isPlaced(Operation *op) { return getSharedOffset(op).has_value(); }
/// Both before and after specialisation.
bool isMulticast(Operation *op) {
  if (auto fetch = dyn_cast<TmaFetchOp>(op))
    return fetch.getMulticast();
  auto load = dyn_cast<TmaLoadOp>(op);
  return load && load.getMulticast();
}

const Rule rules[] = {
    {[](Operation *op) { return isa<WarpSpecializeOp>(op); }, producerThreadsName,
     "tile-gpu-specialize-warps"},
    {[](Operation *op) { return isa<TeamOp, RingSkipOp>(op); }, teamsName,
     "tile-gpu-specialize-warps"},
    {[](Operation *op) { return isa<BlockIdOp>(op); }, persistentGridName,
     "tile-gpu-make-persistent"},
    {[](Operation *op) { return isa<ProgramTakeOp, ProgramSendOp, ProgramReceiveOp>(op); },
     dynamicScheduleName, "tile-gpu-schedule-tiles-dynamically"},
    {[](Operation *op) { return isa<PartArriveOp>(op); }, splitPartsName, "tile-gpu-split-loops"},
    {[](Operation *op) { return isa<PartShareOp>(op); }, splitClusterName, "tile-gpu-split-loops"},
    {isMulticast, blocksOfClusterName, "tile-gpu-multicast"},
    {isPlaced, sharedBytesName, "tile-gpu-allocate-shared"},
};

} // namespace

/// Asked by the conversion, which relies on all of these. An error here is a bug of a pass, not of
/// the user.
LogicalResult verifyLaunchState(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (const Rule &rule : rules)
      if (rule.asks(op) && !kernel->hasAttr(rule.attribute)) {
        op->emitOpError() << "needs '" << rule.attribute << "' of its kernel, which " << rule.pass
                          << " sets";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace tile::gpu
