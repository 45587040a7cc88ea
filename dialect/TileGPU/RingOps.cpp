// Verifiers of the operations on rings.
#include "dialect/TileGPU/TileGPUDialect.h"

using namespace mlir;

namespace tile::gpu {

LogicalResult RingAcquireOp::verify() {
  if (!getWhen().empty() && getWhen().size() != getTiles().size())
    return emitOpError() << "needs a condition for each of its " << getTiles().size()
                         << " tiles, found " << getWhen().size();
  return success();
}

LogicalResult RingFillOp::verifyRegions() {
  int64_t warps = getWide() ? wideFillWarps : fillWarps;
  StringRef parts = getWide() ? "no mask" : "neither mask nor positions";
  WalkResult result = getBody().walk([&](AsyncCopyOp copy) {
    if (!copy.getMask() && (getWide() || copy.getPositions().empty()) &&
        getLayout(cast<RankedTensorType>(copy.getStored())).getNumWarps() <= warps)
      return WalkResult::advance();
    copy.emitOpError() << "in a ring_fill has " << parts << ", and a layout of at most " << warps
                       << " warps, found " << copy.getStored();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace tile::gpu
