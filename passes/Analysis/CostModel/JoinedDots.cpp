// g += a · b0 and u += a · b1 of a loop are one product by b0 and b1 side by side: the rules of
// JoinProducts.cpp, in the tile dialect.
#include "passes/Analysis/CostModel/JoinedDots.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/HeldOperand.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::cost {

/// True if the loop's variable that the product adds to begins with zero, and nothing else touches
/// it.
static bool addsToOwn(scf::ForOp loop, DotOp dot) {
  auto variable = dyn_cast<BlockArgument>(dot.getAcc());
  if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      variable == loop.getInductionVar() || !dot->hasOneUse() ||
      !isa<scf::YieldOp>(*dot->user_begin()))
    return false;
  Value init = loop.getTiedLoopInit(variable)->get();
  return matchPattern(init, m_PosZeroFloat()) || matchPattern(init, m_Zero());
}

/// True if a load of the loop's body brings the second operand, for this product alone.
static bool hasOwnLoad(DotOp dot) {
  Value value = dot.getB();
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock())
      return false;
    if (isa<LoadOp>(op))
      return true;
    if (!isa<PermuteOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

static bool areAlike(DotOp one, DotOp other) {
  return getRenamed(one.getA()) == getRenamed(other.getA()) && one.getType() == other.getType() &&
         one.getB().getType() == other.getB().getType() &&
         one.getUnsignedA() == other.getUnsignedA() && one.getUnsignedB() == other.getUnsignedB();
}

llvm::DenseMap<Operation *, Operation *> findJoinedDots(KernelOp kernel,
                                                        const gpu::KernelShape &shape) {
  constexpr int64_t mostColumns = 256;
  llvm::DenseMap<Operation *, Operation *> joined;
  kernel.getBody().walk([&](scf::ForOp loop) {
    SmallVector<DotOp> all;
    for (auto dot : loop.getBody()->getOps<DotOp>())
      if (gpu::chooseDotKind(dot, shape) == gpu::DotKind::Wgmma && !gpu::isSwapped(dot) &&
          addsToOwn(loop, dot) && hasOwnLoad(dot))
        all.push_back(dot);
    for (DotOp first : all) {
      SmallVector<DotOp> alike;
      llvm::copy_if(all, std::back_inserter(alike),
                    [&](DotOp dot) { return areAlike(first, dot); });
      int64_t columns = first.getType().getShape().back();
      size_t count = llvm::bit_floor(
          uint64_t(std::min<int64_t>(int64_t(alike.size()), mostColumns / columns)));
      if (count < 2 || first != alike.front() || !llvm::isPowerOf2_64(uint64_t(columns)))
        continue;
      for (DotOp dot : ArrayRef(alike).take_front(count))
        joined[dot] = alike[count - 1];
      break;
    }
  });
  return joined;
}

} // namespace tile::cost
