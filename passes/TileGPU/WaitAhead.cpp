// tile-gpu-wait-ahead: where two warpgroups take turns, waits for the next iteration's tile before
// the wait for the last product.
//
// ptxas moves the wait for a product up through what does not depend on it: in attention before the
// exponentials that are to run beneath the product, since the registers of its a become free there.
// It does not cross a branch. The wait for a tile that starts the next iteration is one; it
// stands behind the exponentials just as well, and costs nothing there.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUWAITAHEAD
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A loop that can wait ahead.
struct Candidate {
  RingWaitOp tile;  ///< what an iteration waits for before its first product
  WgmmaWaitOp last; ///< the wait for its last product
};

/// True for arithmetic on a large tile. Between the products, in the warpgroup's turn, it costs
/// more than the wait's place gains.
bool computesMuch(Operation &op) {
  constexpr unsigned many = 32;
  auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                                      : RankedTensorType();
  return type && OpTrait::hasElementwiseMappableTraits(&op) &&
         getLayout(type).getNumRegisters() >= many;
}

std::optional<Candidate> match(scf::ForOp loop) {
  Candidate found;
  unsigned products = 0, waits = 0;
  bool turns = false;
  auto refuse = [&](StringRef reason) {
    declined(loop) << reason;
    return std::nullopt;
  };
  for (Operation &op : *loop.getBody()) {
    if (auto wait = dyn_cast<RingWaitOp>(op); wait && !products && !found.tile)
      found.tile = wait;
    turns |= isa<TurnWaitOp>(op);
    if (products == 1 && computesMuch(op))
      return refuse("much is computed between the two products");
    if (auto product = dyn_cast<WgmmaOp>(op)) {
      if (!product.getAsync() || waits)
        return refuse("its products are not in flight at once");
      ++products;
    }
    if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      ++waits;
      found.last = wait;
    }
  }
  if (!turns)
    return refuse("its warpgroups take no turns");
  if (!found.tile || products != 2 || waits != 2 || found.last.getPending() != 0)
    return refuse("a trip is not a tile, two products and a wait for each");
  // A slot that is held meanwhile may not be the only one: the producer could not go on to the
  // tile. The ring of the tile moves on once an iteration.
  bool safe = true;
  loop.getBody()->walk([&](RingWaitOp wait) {
    safe &= wait.getRing().getType().getStages() >= 2 && wait->getBlock() == loop.getBody() &&
            (wait == found.tile || wait.getRing() != found.tile.getRing());
  });
  if (!safe)
    return refuse("a ring has one stage, or is waited for more than once in a trip");
  return found;
}

/// Pins tiles that are computed before the wait `last` and used after it to their place before the
/// wait: optimisers would sink the arithmetic to its users, behind the wait.
void hold(WgmmaWaitOp last) {
  SmallVector<OpOperand *> behind;
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *def = operand.get().getDefiningOp();
          def && def->getBlock() == last->getBlock() && def->isBeforeInBlock(last) &&
          isa<RankedTensorType>(operand.get().getType()))
        behind.push_back(&operand);
  OpBuilder builder(last);
  DenseMap<Value, Value> held; // looked up only
  for (OpOperand *operand : behind) {
    Value &now = held[operand->get()];
    if (!now)
      now = OptimizationBarrierOp::create(builder, last.getLoc(), operand->get().getType(),
                                          operand->get());
    operand->set(now);
  }
}

/// Waits for the ring's next slot if `lower` < `upper`.
void peek(OpBuilder &builder, RingWaitOp tile, Value lower, Value upper) {
  Location loc = tile.getLoc();
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  auto branch = scf::IfOp::create(builder, loc, more, /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
  RingPeekOp::create(inside, loc, tile.getRing());
}

struct TileGPUWaitAhead : tile::impl::TileGPUWaitAheadBase<TileGPUWaitAhead> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      std::optional<Candidate> found = match(loop);
      if (!found)
        return;
      OpBuilder builder(loop);
      peek(builder, found->tile, loop.getLowerBound(), loop.getUpperBound());
      hold(found->last);
      builder.setInsertionPoint(found->last);
      Value next =
          arith::AddIOp::create(builder, loop.getLoc(), loop.getInductionVar(), loop.getStep());
      peek(builder, found->tile, next, loop.getUpperBound());
      found->tile.setFull(true);
    });
  }
};

} // namespace
