// Variables of loops that products of few rows accumulate into.
#include "passes/TileGPU/CarryTransposed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::gpu {

static void carryTransposed(scf::ForOp loop, unsigned number) {
  BlockArgument variable = loop.getRegionIterArg(number);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto back = yield.getOperand(number).getDefiningOp<PermuteOp>();
  auto first = variable.hasOneUse() ? dyn_cast<PermuteOp>(*variable.user_begin()) : PermuteOp();
  if (!first || !back || !back->hasOneUse() || first->getBlock() != loop.getBody() ||
      back.getSource().getType() != first.getType())
    return;
  for (auto [i, from] : llvm::enumerate(back.getPermutation()))
    if (first.getPermutation()[from] != int64_t(i))
      return;
  OpBuilder builder(loop);
  Type carried = first.getType(), whole = variable.getType();
  Value init = loop.getInitArgs()[number];
  DenseElementsAttr constant;
  if (matchPattern(init, m_Constant(&constant)) && constant.isSplat())
    init = arith::ConstantOp::create(builder, first.getLoc(),
                                     constant.resizeSplat(cast<ShapedType>(carried)));
  else
    init = PermuteOp::create(builder, first.getLoc(), carried, init, first.getPermutation());
  loop.getInitArgsMutable()[number].assign(init);
  first.getResult().replaceAllUsesWith(variable);
  first.erase();
  variable.setType(carried);
  yield.setOperand(number, back.getSource());
  Value result = loop.getResult(number);
  result.setType(carried);
  builder.setInsertionPointAfter(loop);
  auto last = PermuteOp::create(builder, back.getLoc(), whole, result, back.getPermutation());
  result.replaceAllUsesExcept(last.getResult(), last);
  back.erase();
}

void carryTransposed(KernelOp kernel) {
  kernel.getBody().walk([](scf::ForOp loop) {
    for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number)
      carryTransposed(loop, number);
  });
}

} // namespace tile::gpu
