// tile-gpu-peel-tails: loop peeling. The last block of a loop, which may be cut off by the end of a
// row, gets code of its own where a function reduces or scans elements that `inside` tells apart.
//
//   for n in 0 .. N step 512:            full = N / 512 * 512
//     c = inside(x[n]) ? 1 : 0           for n in 0 .. full step 512:      all are inside
//     reduce f over (c, x[n])      ->      reduce f over (1, x[n])
//                                        if full < N: the body once, as it was, with n = full
//
// A function joins as many pairs as there are elements, so what it computes of counts and marks
// costs more than the loads do. In a block that is whole they are constants, and so is most of what
// follows from them: counts of joined parts, their shares, divisions by them.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUPEELTAILS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// True if both are the same number: one value, or one dimension of the kernel.
static bool isSame(Value a, Value b) {
  auto left = a.getDefiningOp<DimOp>(), right = b.getDefiningOp<DimOp>();
  return a == b || (left && right && left.getDim() == right.getDim());
}

/// True if the access goes along dimension `d` of its view block by block, from the counter on to
/// the view's end, which is the loop's.
template <typename Access> static bool followsLoop(scf::ForOp loop, Access access, unsigned d) {
  auto view = access.getView().template getDefiningOp<ViewOp>();
  APInt step;
  return view && matchPattern(loop.getStep(), m_ConstantInt(&step)) && access.getSizes()[d] > 0 &&
         access.getSizes()[d] <= step.getSExtValue() && access.getSteps()[d] == 1 &&
         !access.getHasEnd()[d] && access.getStarts()[d] == loop.getInductionVar() &&
         isSame(view.getExtents()[d], loop.getUpperBound());
}

/// Whether all that is not known to exist does so in the blocks that are whole.
static bool existsInWholeBlocks(scf::ForOp loop, InsideOp inside) {
  for (auto [d, known] : llvm::enumerate(inside.getInBounds()))
    if (!known && !followsLoop(loop, inside, d))
      return false;
  return true;
}

/// True if a function reduces or scans what hangs on `value` in the same block.
static bool reachesFunction(Value value) {
  Block *block = value.getParentBlock();
  SmallVector<Value> pending = {value};
  DenseSet<Operation *> seen; // looked up only
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (user->getBlock() != block || !seen.insert(user).second)
        continue;
      if (isa<ReduceByOp, ScanOp>(user))
        return true;
      llvm::append_range(pending, user->getResults());
    }
  return false;
}

/// An innermost loop without products, over whole blocks and a rest.
static bool isCandidate(scf::ForOp loop) {
  APInt low, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) || low.isNegative() ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.slt(2))
    return false;
  bool plain = true, found = false;
  loop.getBody()->walk([&](Operation *op) {
    plain &= !isa<LoopLikeOpInterface, DotOp>(op);
    if (auto inside = dyn_cast<InsideOp>(op))
      found |= op->getBlock() == loop.getBody() && !inside.allInBounds() &&
               existsInWholeBlocks(loop, inside) && reachesFunction(inside);
  });
  return plain && found;
}

/// Says of the accesses of whole blocks that all of a block exists.
static void markWhole(scf::ForOp loop) {
  auto mark = [&](auto access) {
    SmallVector<bool> known(access.getInBounds());
    for (unsigned d = 0; d < known.size(); ++d)
      known[d] = known[d] || followsLoop(loop, access, d);
    access.setInBounds(known);
  };
  loop.getBody()->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      mark(load);
    else if (auto store = dyn_cast<StoreOp>(op))
      mark(store);
    else if (auto inside = dyn_cast<InsideOp>(op))
      mark(inside);
  });
  for (auto inside : llvm::make_early_inc_range(loop.getBody()->getOps<InsideOp>()))
    if (inside.allInBounds()) {
      OpBuilder b(inside);
      Location loc = inside.getLoc();
      auto type = dyn_cast<RankedTensorType>(inside.getType());
      Value yes = type ? arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true))
                       : arith::ConstantIntOp::create(b, loc, 1, 1);
      inside.replaceAllUsesWith(yes);
      inside.erase();
    }
}

static void peel(scf::ForOp loop) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  Value low = loop.getLowerBound(), end = loop.getUpperBound(), step = loop.getStep();
  // Before the loop's beginning nothing is whole: a quotient that is truncated ends no earlier.
  Value extent = arith::SubIOp::create(b, loc, end, low);
  Value blocks = arith::DivSIOp::create(b, loc, extent, step);
  Value length = arith::MulIOp::create(b, loc, blocks, step);
  Value whole = arith::AddIOp::create(b, loc, low, length);

  b.setInsertionPointAfter(loop);
  Value rest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, whole, end);
  auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), rest,
                                  /*withElseRegion=*/loop.getNumResults() > 0);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), whole);
  for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    mapping.map(argument, result);
  b.setInsertionPointToStart(branch.thenBlock());
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  if (loop.getNumResults()) {
    auto yielded = llvm::map_to_vector(loop.getYieldedValues(),
                                       [&](Value value) { return mapping.lookupOrDefault(value); });
    scf::YieldOp::create(b, loc, yielded);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, loop.getResults());
  }
  loop.getResults().replaceUsesWithIf(
      branch.getResults(), [&](OpOperand &use) { return !branch->isAncestor(use.getOwner()); });
  markWhole(loop);
  loop.setUpperBound(whole);
}

namespace {

struct TileGPUPeelTails : tile::impl::TileGPUPeelTailsBase<TileGPUPeelTails> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      // The parts of a split loop count themselves in one place.
      if (kernel->hasAttr(tile::gpu::splitPartsName))
        continue;
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (isCandidate(loop))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        peel(loop);
    }
  }
};

} // namespace
