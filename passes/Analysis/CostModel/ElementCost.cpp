// Costs of operations on the elements of a tile: issue slots, and results of the unit for exp
// and reciprocals.
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/TileGPU/DotSelection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::cost {

/// Elements with the padding to powers of two that layouts have.
static double countElements(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  double elements = tile ? 1 : 0;
  if (tile)
    for (int64_t extent : tile.getShape())
      elements *= double(llvm::PowerOf2Ceil(extent));
  return elements;
}

bool isFree(Value tile) {
  if (!isa<RankedTensorType>(tile.getType()))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::ConstantOp, tensor::SplatOp, IotaOp, InsideOp>(op))
    return true;
  Type element = getElementTypeOrSelf(tile.getType());
  bool isPosition =
      isa<BroadcastOp, ReshapeOp, PermuteOp>(op) ||
      (op->hasTrait<OpTrait::Elementwise>() && (element.isIndex() || element.isInteger(1)));
  return isPosition && llvm::all_of(op->getOperands(), isFree);
}

static bool isFast(Operation *op) {
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  return math && math.getFastMathFlagsAttr() &&
         arith::bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::afn);
}

/// Slots and special results for one element.
static std::pair<double, double> getElementwise(Operation *op) {
  bool fast = isFast(op);
  // 16-bit arithmetic goes two by two.
  double one =
      gpu::getElementBits(getElementTypeOrSelf(op->getResult(0).getType())) == 16 ? 0.5 : 1;
  return llvm::TypeSwitch<Operation *, std::pair<double, double>>(op)
      .Case<math::Exp2Op>([&](auto) { return std::pair(fast ? 0.0 : 8.0, 1.0); })
      .Case<math::ExpOp>([&](auto) { return std::pair(fast ? 1.0 : 10.0, 1.0); })
      .Case<arith::DivFOp>([&](auto) { return std::pair(fast ? 1.0 : 9.0, 1.0); })
      .Case<math::LogOp, math::Log2Op, math::RsqrtOp, math::SqrtOp>(
          [&](auto) { return std::pair(fast ? 2.0 : 8.0, 1.0); })
      .Case<math::TanhOp, math::SinOp, math::CosOp, math::ExpM1Op, math::Log1pOp>(
          [&](auto) { return std::pair(fast ? 6.0 : 20.0, 1.0); })
      .Case<math::ErfOp, math::PowFOp>([&](auto) { return std::pair(20.0, 1.0); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp>(
          [](auto) { return std::pair(20.0, 0.0); })
      .Case<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(
          [](Operation *each) { // of parts of a byte: taken out first
            return std::pair(
                gpu::getElementBits(getElementTypeOrSelf(each->getOperand(0).getType())) < 8 ? 4.0
                                                                                             : 2.0,
                0.0);
          })
      .Case<arith::TruncFOp, RoundFloat8Op>([](auto) { return std::pair(1.0, 0.0); })
      .Case<arith::ExtFOp>(
          [](auto) { return std::pair(2.0, 0.0); }) // at half the rate of an addition
      .Default([&](Operation *) { return std::pair(one, 0.0); });
}

ElementCost getElementCost(Operation *op) {
  ElementCost cost;
  if (op->getNumResults() == 0)
    return cost;
  double in = op->getNumOperands() ? countElements(op->getOperand(0).getType()) : 0;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    cost.reduced = in;
    cost.slots = in;
    cost.exchanges = 1;
    return cost;
  }
  if (isa<ArgReduceOp, ScanOp, ReduceByOp, TakeOp, HistogramOp>(op)) {
    cost.reduced = cost.slots = 4 * in;
    cost.exchanges = 2;
    return cost;
  }
  if (auto sort = dyn_cast<SortOp>(op)) {
    // Runs of as many elements as are wanted, then halves of what is left, each merged; four steps
    // of a thread between two passes through shared memory.
    int64_t extent = sort.getSource().getType().getDimSize(sort.getAxis());
    double all = llvm::Log2_64_Ceil(extent),
           run = llvm::Log2_64_Ceil(sort.getFirst().value_or(extent)), levels = all - run,
           passes = std::ceil(run / 4);
    cost.slots = 4 * in * (run * (run + 1) / 2 + (levels > 0 ? run + 1 : 0));
    cost.exchanges = 1 + (run * passes + levels * std::ceil((run + 1) / 4)) / 2;
    return cost;
  }
  double out = countElements(op->getResult(0).getType());
  if (!out || isFree(op->getResult(0)) ||
      isa<BroadcastOp, ReshapeOp, PermuteOp, tensor::SplatOp>(op))
    return cost;
  if (isa<RandomBitsOp>(op)) {
    cost.slots = 40 * out;
    return cost;
  }
  if (!op->hasTrait<OpTrait::Elementwise>())
    return cost;
  // Masks of positions are skipped where all of a tile passes.
  if (auto select = dyn_cast<arith::SelectOp>(op); select && isFree(select.getCondition())) {
    cost.slots = 0.2 * out;
    return cost;
  }
  auto [slots, special] = getElementwise(op);
  cost.slots = slots * out;
  cost.special = special * out;
  return cost;
}

} // namespace tile::cost
