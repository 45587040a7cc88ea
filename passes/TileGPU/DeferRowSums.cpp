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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUDEFERROWSUMS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;
using Flags = arith::FastMathFlags;

namespace {

/// A loop's `s = s * f + sum(x)` or `s = s + sum(x)`, and how the axis of the sum is taken apart:
/// [outer, lanes, inner], where only the middle one is spread over lanes.
struct RowSum {
  scf::ForOp loop;
  unsigned index = 0; ///< of s, among the loop's values
  arith::AddFOp update;
  arith::MulFOp scaled; ///< null if there is no f
  unsigned factor = 0;  ///< which of its operands f is
  ReduceOp reduce;
  unsigned axis = 0;
  SmallVector<int64_t> split; ///< the tile's shape with its axis taken apart
  LinearLayout layout;        ///< of that
};

bool mayRegroup(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), Flags::reassoc);
}

/// Takes the axis of the sum apart; false if no lanes share a row, or not as neighbouring bits of
/// the position.
/// Lanes' bits along the axis must follow each other, 2^a to 2^b, so that the axis splits in three
/// by a reshape.
bool splitAxis(RowSum &sum) {
  RankedTensorType type = sum.reduce.getSource().getType();
  LinearLayout layout = getLayout(type);
  uint64_t lanes = 0;
  for (const Coord &basis : layout.getBases(InDim::Lane)) {
    uint64_t bit = basis[sum.axis];
    if (!bit)
      continue;
    // A lane's bit moves along the axis alone, by one bit of the position that nothing else moves.
    if (!llvm::isPowerOf2_64(bit) || (lanes & bit) ||
        llvm::count_if(basis, [](int64_t c) { return c != 0; }) != 1)
      return false;
    lanes |= bit;
  }
  // Registers may have the bits above and below; a warp that has any would need shared memory.
  for (InDim dim : {InDim::Register, InDim::Warp})
    for (const Coord &basis : layout.getBases(dim))
      if ((basis[sum.axis] & lanes) || (dim == InDim::Warp && basis[sum.axis]))
        return false;
  int64_t inner = lanes & -lanes;
  if (!lanes || !llvm::isPowerOf2_64(lanes / inner + 1))
    return false;
  int64_t shared = lanes / inner + 1;
  llvm::append_range(sum.split, type.getShape().take_front(sum.axis));
  sum.split.append({type.getDimSize(sum.axis) / (shared * inner), shared, inner});
  llvm::append_range(sum.split, type.getShape().drop_front(sum.axis + 1));
  sum.layout = layout.reshape(sum.split);
  return true;
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
  sum.axis = *sum.reduce.getAxis();
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
  if (!splitAxis(sum))
    return std::nullopt;
  // Both ways between a number a row and one for each lane of a row move nothing between threads.
  // Then reshape and broadcast only rename registers.
  LinearLayout partial = sum.layout.dropDim(sum.axis + 2).dropDim(sum.axis),
               row = getLayout(cast<RankedTensorType>(argument.getType()));
  SmallVector<int64_t> column(cast<RankedTensorType>(argument.getType()).getShape());
  column.insert(column.begin() + sum.axis, 1);
  if (partial.dropDim(sum.axis) != row ||
      partial.broadcastSource(column) != row.insertUnitDim(sum.axis))
    return std::nullopt;
  return sum;
}

/// Writes a loop that carries a sum for each lane in place of the old one.
/// The old body moves over, and its sum is replaced by one of the lane's own elements.
scf::ForOp defer(RowSum &sum) {
  OpBuilder b(sum.loop);
  Location loc = sum.update.getLoc();
  Type element = sum.reduce.getSource().getType().getElementType();
  auto typeOf = [&](const LinearLayout &layout) {
    return withLayout(RankedTensorType::get(layout.getShape(), element), layout);
  };
  auto add = [&](Value tile, const LinearLayout &layout, unsigned axis) -> Value {
    return ReduceOp::create(b, loc, typeOf(layout.dropDim(axis)), ReduceKind::Sum, tile,
                            b.getI64IntegerAttr(axis));
  };
  LinearLayout folded = sum.layout.dropDim(sum.axis + 2), partial = folded.dropDim(sum.axis);
  RankedTensorType type = typeOf(partial);

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
  Value tile = ReshapeOp::create(b, loc, typeOf(sum.layout), sum.reduce.getSource()),
        before = argument;
  // Inner and outer positions, both in the lane's registers.
  tile = add(add(tile, sum.layout, sum.axis + 2), folded, sum.axis);
  if (sum.scaled) {
    SmallVector<int64_t> column(partial.getShape());
    column[sum.axis] = 1;
    Value factor = ReshapeOp::create(b, loc, typeOf(partial.broadcastSource(column)),
                                     sum.scaled->getOperand(sum.factor));
    before = arith::MulFOp::create(b, loc, argument, BroadcastOp::create(b, loc, type, factor),
                                   sum.scaled.getFastmathAttr());
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
  results[sum.index] = add(results[sum.index], partial, sum.axis);
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
