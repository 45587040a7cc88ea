// See the header.
#include "passes/TileGPU/PrivateCopies.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/RotatedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tile::gpu {

bool canKeep(LoadOp load) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!tile || load.getMask() || !readsConstantMemory(load) ||
      !tile.getElementType().isIntOrFloat() || tile.getElementTypeBitWidth() < 8)
    return false;
  int64_t bytes = getPrivateBytes(tile);
  return bytes && bytes == tile.getNumElements() * getSharedElementBytes(tile.getElementType());
}

int64_t getPlainStep(scf::ForOp loop) {
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive() ||
      !loop.getInductionVar().getType().isIndex())
    return 0;
  return step.getSExtValue();
}

int64_t getExpectedTrips(scf::ForOp loop, int64_t step) {
  cost::Extents expected; // each as its `opt` says
  // Blocks that share a program have equal parts of the trips, the first among them.
  auto kernel = loop->getParentOfType<KernelOp>();
  SmallVector<int64_t> program(kernel->hasAttr(splitClusterName) ? kernel.getNumAxes() : 0, 0);
  cost::IndexEvaluation values(expected, program);
  auto low = values.get(loop.getLowerBound()), high = values.get(loop.getUpperBound());
  return low && high && *high > *low ? int64_t(std::ceil((*high - *low) / double(step))) : 0;
}

std::optional<unsigned> findPace(scf::ForOp loop, LoadOp load, int64_t step) {
  std::optional<unsigned> found;
  auto isFixed = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
  // What does not exist becomes 0.
  bool zero =
      matchPattern(load.getPad(), m_Zero()) || matchPattern(load.getPad(), m_PosZeroFloat());
  if (!isFixed(load.getView()) || !llvm::all_of(load.getEnds(), isFixed) ||
      !load.getView().getDefiningOp<ViewOp>())
    return std::nullopt;
  for (auto [d, start] : llvm::enumerate(load.getStarts())) {
    if (start == loop.getInductionVar()) {
      if (found || load.getSizes()[d] != step || load.getSteps()[d] != 1)
        return std::nullopt;
      found = d;
    } else if (!isFixed(start) || !(load.getInBounds()[d] || zero)) {
      return std::nullopt;
    }
  }
  return found;
}

bool isRotated(LoadOp load) {
  return load->getParentOfType<KernelOp>()->hasAttr(rotationName) && isAlignedByRotation(load);
}

bool isWide(LoadOp load, const DivisibilityAnalysis &divisibility) {
  auto tile = cast<RankedTensorType>(load.getType());
  constexpr int64_t pieceBits = 128;
  int64_t bits = tile.getElementTypeBitWidth();
  AccessWidth width = getAccessWidth(load, tile, divisibility);
  if (getPrivatePiece(tile) * 8 != pieceBits)
    return false;
  // Where tiles go round, those of rows that begin elsewhere come by two windows, which no copy
  // does.
  bool goesRound = load->getParentOfType<KernelOp>()->hasAttr(rotationName);
  return (goesRound ? width.possible : width.proven) * bits == pieceBits &&
         (!goesRound || isRotated(load));
}

LocalSlotsOp createPrivateSlots(OpBuilder &b, LoadOp load, int64_t count, bool copied) {
  auto tile = cast<RankedTensorType>(load.getType());
  SmallVector<int64_t> order;
  for (int64_t d = tile.getRank(); d-- > 0;)
    order.push_back(d);
  auto memory = MemDescType::get(b.getContext(), tile.getShape(), tile.getElementType(),
                                 SharedAttr::get(b.getContext(), order, 0));
  if (!copied || isRotated(load)) {
    constexpr int64_t wordBytes = 4;
    SmallVector<int64_t> words{getPrivateBytes(tile) / wordBytes}, used;
    if (copied) {
      used = {words.front() + rotatedEndBytes / wordBytes};
      words.front() *= 2; // the next power of two
    }
    memory = MemDescType::get(b.getContext(), words, b.getI32Type(),
                              SharedAttr::get(b.getContext(), {0}, 0, used));
  }
  return LocalSlotsOp::create(b, load.getLoc(), SlotsType::get(b.getContext(), count, memory));
}

Value isWhole(OpBuilder &b, LoadOp load, unsigned dim, int64_t step, Value counter) {
  Location loc = load.getLoc();
  Value limit = load.getView().getDefiningOp<ViewOp>().getExtents()[dim];
  if (Value end = load.getEnd(dim))
    limit = arith::MinSIOp::create(b, loc, limit, end);
  int64_t needed = step;
  if (isRotated(load))
    needed +=
        rotatedVectorBytes * 8 / getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() - 1;
  Value behind =
      arith::AddIOp::create(b, loc, counter, arith::ConstantIndexOp::create(b, loc, needed));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, behind, limit);
}

void copyPrivately(OpBuilder &b, LoadOp load, unsigned dim, Value counter, Value memory,
                   Value when) {
  SmallVector<Value> starts(load.getStarts());
  starts[dim] = counter;
  SmallVector<bool> inBounds(load.getInBounds());
  inBounds[dim] = true;
  auto copy = AsyncCopyOp::create(
      b, load.getLoc(), load.getView(), starts, load.getEnds(), ValueRange(), Value(), memory, when,
      load.getSizesAttr(), load.getStepsAttr(), load.getHasEndAttr(),
      b.getDenseBoolArrayAttr(inBounds), TypeAttr::get(load.getType()),
      TypeAttr::get(load.getType()), load.getCacheAttr(), /*part=*/nullptr);
  copy->setAttr(privateName, b.getUnitAttr());
}

} // namespace tile::gpu
