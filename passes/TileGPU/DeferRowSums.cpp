// tile-gpu-defer-row-sums: what a loop sums up of rows that several lanes share is summed in each
// lane, and across them after the loop. Without it each iteration waits for shuffles.
//
//   a row of x over lanes   | l0 l0 | l1 l1 | l2 l2 | l3 l3 |
//
//   for x: s = s * f + sum(x)       ->   for x: p[lane] = p[lane] * f + sum of the lane's own x
//          adds, then shuffles                  adds alone
//                                        s = sum over the row's lanes of p      shuffles, once
//
// f is one number of a row, so all lanes of the row scale alike. Additions change their order: all
// of them must permit that (mayRegroup). s begins as 0, which every lane can begin with.
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/LaneAxis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUDEFERROWSUMS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;
using Flags = arith::FastMathFlags;

namespace {

/// A loop's `s = s * f + sum(x)` or `s = s + sum(x)`, and how lanes share the axis of the sum.
struct RowSum {
  scf::ForOp loop;
  unsigned index = 0; ///< of s, among the loop's values
  arith::AddFOp update;
  arith::MulFOp scaled; ///< null if there is no f
  unsigned factor = 0;  ///< which of its operands f is
  ReduceOp reduce;
  LaneAxis lanes;
};

bool mayRegroup(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), Flags::reassoc);
}

std::optional<RowSum> match(scf::ForOp loop, unsigned index) {
  RowSum sum;
  sum.loop = loop;
  sum.index = index;
  BlockArgument argument = loop.getRegionIterArg(index);
  sum.update = loop.getYieldedValues()[index].getDefiningOp<arith::AddFOp>();
  // One use each, and from 0: nobody sees the sum before the loop's end, and lanes may begin with
  // 0.
  if (!sum.update || !mayRegroup(sum.update) || !sum.update->hasOneUse() || !argument.hasOneUse() ||
      sum.update->getBlock() != loop.getBody() ||
      !matchPattern(loop.getInitArgs()[index], m_AnyZeroFloat()))
    return std::nullopt;
  Value rest;
  for (unsigned i : {0, 1}) {
    sum.reduce = sum.update->getOperand(i).getDefiningOp<ReduceOp>();
    rest = sum.update->getOperand(1 - i);
    if (sum.reduce)
      break;
  }
  if (!sum.reduce || sum.reduce.getKind() != ReduceKind::Sum || !sum.reduce.getAxis() ||
      !sum.reduce->hasOneUse() || sum.reduce->getBlock() != loop.getBody() ||
      !isa<RankedTensorType>(sum.reduce.getType()))
    return std::nullopt;
  // s * f: f must be a number of the row, the same for all its lanes.
  if (rest != argument) {
    sum.scaled = rest.getDefiningOp<arith::MulFOp>();
    if (!sum.scaled || !mayRegroup(sum.scaled) || !sum.scaled->hasOneUse() ||
        sum.scaled->getBlock() != loop.getBody())
      return std::nullopt;
    sum.factor = sum.scaled.getLhs() == argument;
    if (sum.scaled->getOperand(1 - sum.factor) != argument)
      return std::nullopt;
  }
  std::optional<LaneAxis> lanes = LaneAxis::of(sum.reduce);
  if (!lanes)
    return std::nullopt;
  sum.lanes = *lanes;
  return sum;
}

/// Writes a loop that carries a sum for each lane in place of the old one.
/// The old body moves over, and its sum is replaced by one of the lane's own elements.
scf::ForOp defer(RowSum &sum) {
  OpBuilder b(sum.loop);
  Location loc = sum.update.getLoc();
  RankedTensorType type =
      withLayout(RankedTensorType::get(sum.lanes.getPartial().getShape(),
                                       sum.reduce.getSource().getType().getElementType()),
                 sum.lanes.getPartial());

  // The body is the old one's but for the sum.
  SmallVector<Value> inits(sum.loop.getInitArgs());
  inits[sum.index] = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  auto loop = scf::ForOp::create(b, sum.loop.getLoc(), sum.loop.getLowerBound(),
                                 sum.loop.getUpperBound(), sum.loop.getStep(), inits);
  loop->setAttrs(sum.loop->getAttrs());
  // The builder has made a terminator only if the loop carries nothing.
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  BlockArgument argument = loop.getRegionIterArg(sum.index);
  Value old = sum.loop.getRegionIterArg(sum.index);
  loop.getBody()->getOperations().splice(loop.getBody()->end(),
                                         sum.loop.getBody()->getOperations());
  sum.loop.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
  for (auto [from, to] : llvm::zip(sum.loop.getRegionIterArgs(), loop.getRegionIterArgs()))
    if (from != old)
      from.replaceAllUsesWith(to);

  b.setInsertionPoint(sum.update);
  Value tile = sum.lanes.reduceInLanes(b, sum.reduce), before = argument;
  if (sum.scaled) {
    Value factor = sum.lanes.spreadOverLanes(b, loc, sum.scaled->getOperand(sum.factor));
    before = arith::MulFOp::create(b, loc, argument, factor, sum.scaled.getFastmathAttr());
  }
  Value next = arith::AddFOp::create(b, loc, before, tile, sum.update.getFastmathAttr());
  loop.getBody()->getTerminator()->setOperand(sum.index, next);
  sum.update.erase();
  if (sum.scaled)
    sum.scaled.erase();
  sum.reduce.erase();

  // Across lanes, once.
  b.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults());
  results[sum.index] = sum.lanes.reduceAcrossLanes(b, loc, ReduceKind::Sum, results[sum.index]);
  sum.loop.replaceAllUsesWith(results);
  sum.loop.erase();
  return loop;
}

struct TileGPUDeferRowSums : tile::impl::TileGPUDeferRowSumsBase<TileGPUDeferRowSums> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
      // Each rewrite makes a new loop, in which the next sum is looked for.
      for (scf::ForOp loop : loops)
        for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
          if (auto sum = match(loop, i))
            loop = defer(*sum);
    }
  }
};

} // namespace
