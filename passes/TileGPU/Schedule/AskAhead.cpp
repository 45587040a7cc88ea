// Asks, before warps have to wait for a slot, whether it is full.
//
// The answer of an mbarrier takes some 30 clocks. Between two products, or between the arithmetic
// of a trip and its last wait, nothing else runs meanwhile: a warpgroup's turn is as much longer.
//
//   before   | products        | ask, wait for tile | products that read it
//   after    ask | products    | wait, if not full  | products that read it
//
// As a rule the slot has long been full. Asking does not wait (`tile_gpu.ahead` on a ring_peek);
// the next ring_wait or ring_peek of the ring asks again only if the answer was no. The ring has
// the mark as well, since its position then carries an answer along.
#include "dialect/AttributeNames.h"
#include "passes/TileGPU/Schedule/RingSchedule.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True for what moves the ring on or asks for its next slot.
static bool usesRing(Operation *op, Value ring) {
  return op
      ->walk([&](Operation *inner) {
        bool uses = isa<RingWaitOp, RingPeekOp>(inner) && inner->getOperand(0) == ring;
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where the block may ask for the slot that `wait` waits for: behind the wait for products before
/// it, or ahead of the products, and of the turn, that have been issued since; null if `wait` comes
/// right behind that.
static Operation *findPlace(Operation *wait, Value ring) {
  Operation *place = nullptr;
  for (Operation *op = wait->getPrevNode(); op && !usesRing(op, ring); op = op->getPrevNode()) {
    if (isa<WgmmaWaitOp>(op))
      return op->getNextNode() == wait ? nullptr : op->getNextNode();
    if (isa<WgmmaOp>(op) || (place && isa<TurnWaitOp>(op)))
      place = op;
  }
  return place;
}

void tile::gpu::askAhead(scf::ForOp loop) {
  SmallVector<std::pair<Operation *, Value>> places;
  loop.getBody()->walk([&](Operation *op) {
    auto wait = dyn_cast<RingWaitOp>(op);
    if (!(wait && !wait.getFull()) && !isa<RingPeekOp>(op))
      return;
    Value ring = op->getOperand(0);
    Operation *here = loop.getBody()->findAncestorOpInBlock(*op);
    if (Operation *place = ring.getDefiningOp<RingOp>() ? findPlace(here, ring) : nullptr)
      places.push_back({place, ring});
  });
  for (auto [place, ring] : places) {
    OpBuilder builder(place);
    auto ask = RingPeekOp::create(builder, place->getLoc(), ring);
    ask->setAttr(aheadName, builder.getUnitAttr());
    ring.getDefiningOp()->setAttr(aheadName, builder.getUnitAttr());
  }
}
