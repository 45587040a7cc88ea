// Warpgroups of consumers issue their products one after the other, and wait for the next trip's
// tile under the last of them.
//
//   warpgroup 0  | products | arithmetic on results | products | arithmetic ...
//   warpgroup 1             | products | arithmetic on results | products | ...
//
// A turn is all that a trip leaves in flight, from its first product to its last. Without turns all
// warpgroups would ask for the tensor cores at once and then compute at once. A turn with a wait
// inside would make the others wait as well, so such loops take none, but for those whose products
// stand apart: each has a turn of its own. Three go round: the third one's turn is followed by the
// first one's.
//
// ptxas moves the wait for a product up through what does not depend on it: in attention before the
// exponentials that are to run beneath the product, since the registers of its a become free there.
// It does not cross a branch. The wait for a tile that starts the next trip is one; it stands
// behind the exponentials just as well, and costs nothing there.
#include "passes/TileGPU/Schedule/RingSchedule.h"

#include "dialect/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static SmallVector<WgmmaOp> findInFlight(scf::ForOp loop) {
  SmallVector<WgmmaOp> products;
  for (auto product : loop.getBody()->getOps<WgmmaOp>())
    if (product.getAsync())
      products.push_back(product);
  return products;
}

std::string tile::gpu::whyNoTurns(scf::ForOp loop, bool apart) {
  SmallVector<WgmmaOp> products = findInFlight(loop);
  if (products.empty())
    return "none of its products is in flight while the warpgroup computes";
  if (loop.getBody()->walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return "its warpgroups meet at a barrier";
  for (Operation *op = products.front(); op != products.back() && !apart; op = op->getNextNode()) {
    if (isa<WgmmaWaitOp>(op))
      return "a product is waited for between the others";
    auto shares = op->walk([](Operation *inner) {
      SharedUse use = getSharedNeed(inner).use;
      bool meets = use == SharedUse::Allocates || use == SharedUse::ScratchBlock;
      return meets ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (shares.wasInterrupted())
      return "its warpgroups share a tile between the products";
  }
  return "";
}

void tile::gpu::takeTurns(scf::ForOp loop, bool apart) {
  SmallVector<WgmmaOp> products = findInFlight(loop);
  auto enclose = [](WgmmaOp first, WgmmaOp last) {
    OpBuilder builder(first);
    TurnWaitOp::create(builder, first.getLoc());
    builder.setInsertionPointAfter(last);
    TurnPassOp::create(builder, last.getLoc());
  };
  if (!apart) {
    enclose(products.front(), products.back());
    return;
  }
  for (WgmmaOp product : products)
    enclose(product, product);
}

/// True for arithmetic on a large tile. Between the products, in the warpgroup's turn, it costs
/// more than the wait's place gains.
static bool computesMuch(Operation &op) {
  constexpr unsigned many = 32;
  auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                                      : RankedTensorType();
  return type && hasLayout(type) && OpTrait::hasElementwiseMappableTraits(&op) &&
         getLayout(type).getNumRegisters() >= many;
}

/// Behind `wait`, where arithmetic on a large tile begins that follows a reduction; null if there
/// is no such place ahead of `end`.
static Operation *findPlaceBehindReduction(Operation *wait, Operation *end) {
  bool reduced = false;
  for (Operation *op = wait; op && op != end; op = op->getNextNode()) {
    if (reduced && computesMuch(*op))
      return op;
    reduced |= isa<ReduceOp>(op);
  }
  return nullptr;
}

std::optional<Peek> tile::gpu::findPeek(scf::ForOp loop, bool others, bool apart,
                                        std::string &reason) {
  Peek found;
  auto refuse = [&](StringRef why) {
    reason = why;
    return std::nullopt;
  };
  SmallVector<WgmmaOp> products = llvm::to_vector(loop.getBody()->getOps<WgmmaOp>());
  if (products.empty())
    return refuse("it has no product by wgmma");
  bool issuing = false; // between the first product and the last
  for (Operation &op : *loop.getBody()) {
    if (auto wait = dyn_cast<RingWaitOp>(op);
        wait && !found.tile && op.isBeforeInBlock(products.front()))
      found.tile = wait;
    if (issuing && !apart && computesMuch(op))
      return refuse("much is computed between its products");
    if (auto product = dyn_cast<WgmmaOp>(op)) {
      if (!product.getAsync() || (found.last && !apart))
        return refuse("its products are not in flight at once");
      issuing = product != products.back();
    }
    if (auto wait = dyn_cast<WgmmaWaitOp>(op))
      found.last = wait;
  }
  if (!found.tile || !found.last || found.last.getPending() != 0)
    return refuse("a trip does not begin with a tile and end with a wait for its last product");
  // A slot that is held meanwhile may not be the only one: the producer could not go on to the
  // tile. The ring of the tile moves on once a trip.
  constexpr int64_t fewestStages = 2;
  bool safe = true;
  loop.getBody()->walk([&](RingWaitOp wait) {
    safe &= wait.getRing().getType().getStages() >= fewestStages &&
            wait->getBlock() == loop.getBody() &&
            (wait == found.tile || wait.getRing() != found.tile.getRing());
  });
  if (!safe)
    return refuse("a ring has one stage, or is waited for more than once in a trip");
  if (!others)
    return found;
  auto waits = loop.getBody()->getOps<WgmmaWaitOp>();
  found.place = findPlaceBehindReduction(*waits.begin(), found.last);
  if (!found.place || llvm::any_of(found.last->getOperands(), [&](Value operand) {
        Operation *def = operand.getDefiningOp();
        return def && def->getBlock() == loop.getBody() && !def->isBeforeInBlock(found.place);
      }))
    return refuse("no result is reduced before much is computed from it");
  return found;
}

/// Waits for the ring's next slot if `lower` < `upper`.
static void peek(OpBuilder &builder, RingWaitOp tile, Value lower, Value upper) {
  Location loc = tile.getLoc();
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  auto branch = scf::IfOp::create(builder, loc, more, /*withElseRegion=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
  RingPeekOp::create(inside, loc, tile.getRing());
}

void tile::gpu::peekAhead(scf::ForOp loop, Peek found) {
  OpBuilder builder(loop);
  peek(builder, found.tile, loop.getLowerBound(), loop.getUpperBound());
  if (found.place)
    found.last->moveBefore(found.place);
  else
    hold(found.last);
  builder.setInsertionPoint(found.last);
  Value next =
      arith::AddIOp::create(builder, loop.getLoc(), loop.getInductionVar(), loop.getStep());
  peek(builder, found.tile, next, loop.getUpperBound());
  found.tile.setFull(true);
}
