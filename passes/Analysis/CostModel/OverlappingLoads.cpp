// See the header.
#include "passes/Analysis/CostModel/OverlappingLoads.h"
#include "passes/TileGPU/LoadDistance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace tile::cost {

double getShareBeside(LoadOp load) {
  double share = 1;
  for (LoadOp other : load->getBlock()->getOps<LoadOp>()) {
    if (other == load)
      break;
    if (std::optional<gpu::LoadDistance> distance = gpu::getDistance(other, load))
      if (int64_t size = load.getSizes()[distance->dim]; size > 1)
        share = std::min(share, double(std::abs(distance->offset)) / double(size));
  }
  return share;
}

/// By how many positions `start` moves on when `counter` does by one; 0 where that is not known.
static int64_t getPace(Value start, Value counter) {
  if (start == counter)
    return 1;
  Operation *op = start.getDefiningOp();
  if (!op || op->getNumOperands() == 0)
    return 0;
  if (isa<arith::IndexCastOp>(op))
    return getPace(op->getOperand(0), counter);
  if (isa<arith::AddIOp>(op))
    return getPace(op->getOperand(0), counter) + getPace(op->getOperand(1), counter);
  if (isa<arith::SubIOp>(op))
    return getPace(op->getOperand(0), counter) - getPace(op->getOperand(1), counter);
  APInt factor;
  if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return getPace(op->getOperand(0), counter) * factor.getSExtValue();
  return 0;
}

double getShareOfTrips(LoadOp load, double trips) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  APInt step;
  if (!loop || trips <= 1 || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return 1;
  double share = 1;
  for (auto [d, start] : llvm::enumerate(load.getStarts())) {
    int64_t pace = std::abs(getPace(start, loop.getInductionVar()) * step.getSExtValue());
    double size = load.isDropped(d) ? 1 : double(load.getSizes()[d]);
    if (pace > 0 && double(pace) < size)
      share = std::min(share, (size + (trips - 1) * double(pace)) / (size * trips));
  }
  return share;
}

} // namespace tile::cost
