// tile-gpu-rescale-lazily: lazy rescaling. The product of a large tile and its factors is left out
// where all factors are 1.
//
// A factor that is selected from 1 and something else is expected to be 1 as a rule, as that of an
// online softmax whose maximum is moved only when it has grown a lot. Each warp looks at its own
// factors and skips the product where all are 1: x * 1 is x. After the passes that move products
// between wgmma, which see plain arithmetic. Source: FlashAttention-4's lazy rescaling. A maximum
// that only decides that selection is left out with it (LazyReductions.h).
//
// A branch ends a block of instructions, which ptxas schedules each by itself. So where mma.sync
// accumulates on the product, the branch stands as early as its operands are known, and what makes
// the other operands stays in one block with mma.sync, among whose instructions ptxas spreads it:
//
//     top, r, p, [r == 1 ? acc : acc * r], mma      p's exponentials before all of mma
//     top, r, [r == 1 ? acc : acc * r], p, mma      p's exponentials between those of mma
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/LazyReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPURESCALELAZILY
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Fewer registers a thread are multiplied faster than the branch lets the rest of the loop be
/// scheduled.
constexpr unsigned minRegisters = 32;
/// Factors are looked at only if there are this many times as many elements.
constexpr unsigned minRatio = 8;

/// The value below operations that only rename or hold registers.
Value lookThrough(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp, OptimizationBarrierOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// True if `value` is selected from 1 and something else, perhaps by the iteration before.
bool isSelectionOfOne(Value value, DenseSet<Value> &seen) {
  value = lookThrough(value);
  if (!seen.insert(value).second)
    return false;
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isa<RankedTensorType>(select.getCondition().getType()) &&
           (matchPattern(lookThrough(select.getTrueValue()), m_OneFloat()) ||
            matchPattern(lookThrough(select.getFalseValue()), m_OneFloat()));
  // The outcome of a maximum that a warp may leave out.
  if (auto branch = value.getDefiningOp<scf::IfOp>();
      branch && branch.getCondition().getDefiningOp<WarpAllOp>())
    return matchPattern(
        lookThrough(branch.thenYield().getOperand(cast<OpResult>(value).getResultNumber())),
        m_OneFloat());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *yielded = loop ? loop.getTiedLoopYieldedValue(argument) : nullptr;
    return yielded && isSelectionOfOne(yielded->get(), seen);
  }
  return false;
}

/// The smallest tile that `factor` is a renaming of.
Value getFactors(Value factor) {
  while (Operation *op = factor.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp>(op))
      break;
    factor = op->getOperand(0);
  }
  return factor;
}

/// The operation before which the branch goes: the one after the last of its operands where
/// mma.sync takes the product, else the product, as around wgmma everything has been scheduled.
Operation *getPlace(arith::MulFOp product, Value factors, Value scaled) {
  if (!llvm::all_of(product->getUsers(), llvm::IsaPred<MmaOp>))
    return product;
  Operation *place = &product->getBlock()->front();
  for (Value operand : {factors, scaled}) {
    Operation *op = operand.getDefiningOp();
    if (op && op->getBlock() == product->getBlock() && place->isBeforeInBlock(op->getNextNode()))
      place = op->getNextNode();
  }
  return place;
}

/// Has the operations that make `factor` a renaming of `factors` before the place; returns it.
Operation *moveRenaming(Value factor, Value factors, Operation *place) {
  SmallVector<Operation *> renaming;
  for (; factor != factors; factor = factor.getDefiningOp()->getOperand(0))
    renaming.push_back(factor.getDefiningOp());
  for (Operation *op : llvm::reverse(renaming)) {
    if (op == place)
      place = op->getNextNode();
    else if (op->getBlock() == place->getBlock() && place->isBeforeInBlock(op))
      op->moveBefore(place);
  }
  return place;
}

/// The branch whose outcome the factors are, if it can scale too: it stands where the product's
/// branch would.
scf::IfOp findBranch(Value factors, Operation *place) {
  auto branch = factors.getDefiningOp<scf::IfOp>();
  return branch && branch->getNextNode() == place &&
                 branch.getCondition().getDefiningOp<WarpAllOp>()
             ? branch
             : scf::IfOp();
}

/// The branch leaves `scaled` as it is where its factors are 1, else it multiplies by them.
void scaleIn(scf::IfOp branch, arith::MulFOp product, unsigned factor, Value factors) {
  unsigned index = cast<OpResult>(factors).getResultNumber();
  Value scaled = product->getOperand(1 - factor);
  SmallVector<Operation *> renaming;
  for (Value v = product->getOperand(factor); v != factors; v = v.getDefiningOp()->getOperand(0))
    renaming.push_back(v.getDefiningOp());
  IRMapping mapping;
  mapping.map(factors, branch.elseYield().getOperand(index));
  OpBuilder builder(branch.elseYield());
  for (Operation *op : llvm::reverse(renaming))
    builder.clone(*op, mapping);
  Value result = builder.clone(*product, mapping)->getResult(0);
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(product.getType());
  builder.setInsertionPoint(branch);
  auto wider = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(),
                                 /*addThenBlock=*/false, /*addElseBlock=*/false);
  wider.getThenRegion().takeBody(branch.getThenRegion());
  wider.getElseRegion().takeBody(branch.getElseRegion());
  wider.thenYield()->insertOperands(wider.thenYield()->getNumOperands(), scaled);
  wider.elseYield()->insertOperands(wider.elseYield()->getNumOperands(), result);
  product.replaceAllUsesWith(wider.getResults().back());
  product.erase();
  branch.replaceAllUsesWith(wider.getResults().drop_back());
  branch.erase();
}

void skip(arith::MulFOp product) {
  auto type = dyn_cast<RankedTensorType>(product.getType());
  if (!type || !hasLayout(type) || getLayout(type).getNumRegisters() < minRegisters)
    return;
  for (unsigned i : {1u, 0u}) {
    Value factors = getFactors(product->getOperand(i));
    auto factorType = dyn_cast<RankedTensorType>(factors.getType());
    DenseSet<Value> seen;
    if (!factorType ||
        getLayout(factorType).getNumRegisters() * minRatio > getLayout(type).getNumRegisters() ||
        !isSelectionOfOne(factors, seen))
      continue;
    Operation *place = getPlace(product, factors, product->getOperand(1 - i));
    if (scf::IfOp branch = findBranch(factors, place)) {
      scaleIn(branch, product, i, factors);
      return;
    }
    place = moveRenaming(product->getOperand(i), factors, place);
    OpBuilder builder(place);
    Location loc = product.getLoc();
    Value one = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(factorType, builder.getFloatAttr(factorType.getElementType(), 1.0)));
    Value isOne = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, factors, one);
    Value all = WarpAllOp::create(builder, loc, builder.getI1Type(), isOne);
    auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, all, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    scf::YieldOp::create(builder, loc, product->getOperand(1 - i));
    builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    // The factor's renaming stays outside, where it costs nothing.
    scf::YieldOp::create(builder, loc, builder.clone(*product)->getResult(0));
    product.replaceAllUsesWith(branch.getResult(0));
    product.erase();
    return;
  }
}

struct TileGPURescaleLazily : tile::impl::TileGPURescaleLazilyBase<TileGPURescaleLazily> {
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp reduce) {
      if (reduce->getParentOfType<KernelOp>() && isa<scf::ForOp>(reduce->getParentOp()))
        reductions.push_back(reduce);
    });
    for (ReduceOp reduce : reductions)
      reduceLazily(reduce);
    SmallVector<arith::MulFOp> products;
    getOperation().walk([&](arith::MulFOp product) {
      if (product->getParentOfType<KernelOp>() && product->getParentOfType<scf::ForOp>())
        products.push_back(product);
    });
    for (arith::MulFOp product : products)
      skip(product);
  }
};

} // namespace
