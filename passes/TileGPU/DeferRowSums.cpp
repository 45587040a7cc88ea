// tile-gpu-defer-row-sums: what a loop sums up, or takes the maximum of, along an axis that several
// lanes share is reduced in each lane, and across lanes and warps after the loop. Without it each
// iteration waits for shuffles, and for a barrier where warps share the axis.
//
//   a row of x over lanes   | l0 l0 | l1 l1 | l2 l2 | l3 l3 |
//
//   for x: s = s * f + sum(x)       ->   for x: p[lane] = p[lane] * f + sum of the lane's own x
//          adds, then shuffles                  adds alone
//                                        s = sum over the row's lanes of p      shuffles, once
//
// f is one number of a row, so all lanes of the row scale alike. A variable that the loop only adds
// sums to is one sum, whose grouping is the compiler's (N4.1); with a factor the operations must
// permit regrouping (mayRegroup). Sums begin as 0, which every lane can begin with; a maximum may
// begin as anything, since it counts once however often it is taken.
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

/// A loop's `s = s * f + sum(x)`, `s = s + sum(x)` or `s = max(s, max(x))`, and how lanes share the
/// axis of the reduction.
struct Deferred {
  scf::ForOp loop;
  unsigned index = 0; ///< of s, among the loop's values
  Operation *update = nullptr;
  arith::MulFOp scaled; ///< null if there is no f
  unsigned factor = 0;  ///< which of its operands f is
  ReduceOp reduce;
  LaneAxis lanes;
};

bool mayRegroup(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), Flags::reassoc);
}

/// True if the operation combines two results of such a reduction to that of both tiles.
bool combines(Operation *op, ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return isa<arith::AddFOp, arith::AddIOp>(op);
  case ReduceKind::Max:
    return isa<arith::MaximumFOp, arith::MaxSIOp>(op);
  case ReduceKind::Min:
    return isa<arith::MinimumFOp, arith::MinSIOp>(op);
  case ReduceKind::MaxUnsigned:
    return isa<arith::MaxUIOp>(op);
  case ReduceKind::MinUnsigned:
    return isa<arith::MinUIOp>(op);
  default:
    return false;
  }
}

/// True for a sum or an extremum of two values.
bool isCombination(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MaxSIOp, arith::MinimumFOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op);
}

/// s * f: f must be a number of the row, the same for all its lanes.
bool matchScaled(Deferred &found, Value rest, Value argument) {
  found.scaled = rest.getDefiningOp<arith::MulFOp>();
  auto update = dyn_cast<arith::AddFOp>(found.update);
  if (!found.scaled || !update || !mayRegroup(update) || !mayRegroup(found.scaled) ||
      !found.scaled->hasOneUse() || found.scaled->getBlock() != found.loop.getBody())
    return false;
  found.factor = found.scaled.getLhs() == argument;
  return found.scaled->getOperand(1 - found.factor) == argument;
}

std::optional<Deferred> match(scf::ForOp loop, unsigned index) {
  Deferred found;
  found.loop = loop;
  found.index = index;
  BlockArgument argument = loop.getRegionIterArg(index);
  found.update = loop.getYieldedValues()[index].getDefiningOp();
  // One use each: nobody sees the value before the loop's end.
  if (!found.update || !isCombination(found.update) || !found.update->hasOneUse() ||
      !argument.hasOneUse() || found.update->getBlock() != loop.getBody())
    return std::nullopt;
  Value rest;
  for (unsigned i : {0, 1}) {
    found.reduce = found.update->getOperand(i).getDefiningOp<ReduceOp>();
    rest = found.update->getOperand(1 - i);
    if (found.reduce)
      break;
  }
  if (!found.reduce || !combines(found.update, found.reduce.getKind()) ||
      !found.reduce->hasOneUse() || found.reduce->getBlock() != loop.getBody())
    return std::nullopt;
  Value start = loop.getInitArgs()[index];
  if (found.reduce.getKind() == ReduceKind::Sum && !matchPattern(start, m_AnyZeroFloat()) &&
      !matchPattern(start, m_Zero()))
    return std::nullopt;
  if (rest != argument && !matchScaled(found, rest, argument))
    return std::nullopt;
  std::optional<LaneAxis> lanes = LaneAxis::of(found.reduce, Sharing::Block);
  if (!lanes)
    return std::nullopt;
  found.lanes = *lanes;
  return found;
}

/// Writes a loop that carries a number for each lane in place of the old one.
/// The old body moves over, and its reduction is replaced by one of the lane's own elements.
scf::ForOp defer(Deferred &found) {
  OpBuilder b(found.loop);
  Location loc = found.update->getLoc();
  RankedTensorType type =
      withLayout(RankedTensorType::get(found.lanes.getPartial().getShape(),
                                       found.reduce.getSource().getType().getElementType()),
                 found.lanes.getPartial());

  // The body is the old one's but for the reduction.
  SmallVector<Value> inits(found.loop.getInitArgs());
  // Each lane starts with the zero that the program has: a sum of -0 alone that starts so is -0
  // (N4.5).
  DenseElementsAttr constant;
  Value &start = inits[found.index];
  if (matchPattern(start, m_Constant(&constant)) && constant.isSplat())
    start = arith::ConstantOp::create(b, loc, constant.resizeSplat(type));
  else
    start = found.lanes.spreadOverLanes(b, loc, start);
  auto loop = scf::ForOp::create(b, found.loop.getLoc(), found.loop.getLowerBound(),
                                 found.loop.getUpperBound(), found.loop.getStep(), inits);
  loop->setAttrs(found.loop->getAttrs());
  // The builder has made a terminator only if the loop carries nothing.
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  BlockArgument argument = loop.getRegionIterArg(found.index);
  Value old = found.loop.getRegionIterArg(found.index);
  loop.getBody()->getOperations().splice(loop.getBody()->end(),
                                         found.loop.getBody()->getOperations());
  found.loop.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
  for (auto [from, to] : llvm::zip(found.loop.getRegionIterArgs(), loop.getRegionIterArgs()))
    if (from != old)
      from.replaceAllUsesWith(to);

  b.setInsertionPoint(found.update);
  Value tile = found.lanes.reduceInLanes(b, found.reduce), before = argument;
  if (found.scaled) {
    Value factor = found.lanes.spreadOverLanes(b, loc, found.scaled->getOperand(found.factor));
    before = arith::MulFOp::create(b, loc, argument, factor, found.scaled.getFastmathAttr());
  }
  Operation *next = b.clone(*found.update);
  next->setOperands({before, tile});
  next->getResult(0).setType(type);
  if (auto sum = dyn_cast<arith::AddIOp>(next)) // in another order others may wrap around
    sum.setOverflowFlags(arith::IntegerOverflowFlags::none);
  loop.getBody()->getTerminator()->setOperand(found.index, next->getResult(0));
  found.update->erase();
  if (found.scaled)
    found.scaled.erase();
  ReduceKind kind = found.reduce.getKind();
  found.reduce.erase();

  // Across lanes, once.
  b.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults());
  results[found.index] = found.lanes.reduceAcrossLanes(b, loc, kind, results[found.index]);
  found.loop.replaceAllUsesWith(results);
  found.loop.erase();
  return loop;
}

struct TileGPUDeferRowSums : tile::impl::TileGPUDeferRowSumsBase<TileGPUDeferRowSums> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
      // Each rewrite makes a new loop, in which the next reduction is looked for.
      for (scf::ForOp loop : loops)
        for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
          if (auto found = match(loop, i))
            loop = defer(*found);
    }
  }
};

} // namespace
