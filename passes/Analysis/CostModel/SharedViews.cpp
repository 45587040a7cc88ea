// Roots, strides and divisors of views.
#include "passes/Analysis/CostModel/SharedViews.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;

namespace tile::cost {

bool isRenaming(Operation *op) {
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  return isa_and_nonnull<PermuteOp>(op) || (reshape && gpu::joinsRows(reshape));
}

ViewOp findRoot(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto root = dyn_cast<ViewOp>(op))
      return root;
    if (!isa<SubviewOp, PermuteViewOp>(op))
      break;
    view = op->getOperand(0);
  }
  return {};
}

SmallVector<Value> getStrides(Value view) {
  if (auto root = view.getDefiningOp<ViewOp>())
    return llvm::to_vector(root.getStrides());
  SmallVector<Value> strides;
  if (auto permute = view.getDefiningOp<PermuteViewOp>()) {
    SmallVector<Value> source = getStrides(permute.getSource());
    for (int64_t d : permute.getPermutation())
      strides.push_back(source.empty() ? Value() : source[size_t(d)]);
  } else if (auto subview = view.getDefiningOp<SubviewOp>()) {
    SmallVector<Value> source = getStrides(subview.getSource());
    for (unsigned d = 0; d < subview.getKinds().size() && d < source.size(); ++d)
      if (subview.getKind(d) != SubscriptKind::Index)
        strides.push_back(source[d]);
  }
  return strides;
}

int64_t getDivisor(Value value, unsigned depth) {
  constexpr unsigned deepest = 6;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (auto dim = value.getDefiningOp<DimOp>())
    return dim.getDim().getMin() == dim.getDim().getMax() ? dim.getDim().getMin()
                                                          : dim.getDim().getMultipleOf();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && depth < deepest
               ? std::gcd(getDivisor(loop.getLowerBound(), depth + 1),
                          getDivisor(loop.getStep(), depth + 1))
               : 1;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return 1;
  if (isa<arith::MulIOp>(op))
    return getDivisor(op->getOperand(0), depth + 1) * getDivisor(op->getOperand(1), depth + 1);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::gcd(getDivisor(op->getOperand(0), depth + 1),
                    getDivisor(op->getOperand(1), depth + 1));
  return 1;
}

} // namespace tile::cost
