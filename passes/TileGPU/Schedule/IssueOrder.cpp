// Moves a trip's products to where they are issued, and their waits to where results are used.
//
// Products that need no other one of the trip come first, the loads and reads of fetched vectors
// before them; the others follow in the schedule's order, each as soon as its operands are there,
// and what does not feed them steps behind them. So arithmetic on one product's result runs under
// the next product. Gradients of attention have five products in a loop:
//
//   read statistics; s = q·k in flight; dp = do·v in flight
//   wait for s;  p = f(s)
//   wait for dp; ds = g(p, dp), stored; dv += p·do in flight
//   all have stored; dq = ds·k in flight; dk += ds·q in flight
//   wait for dq; add dq to memory; wait for the rest
//
// Source: FlashAttention-3, arXiv 2407.08608, whose backward pass has this order.
#include "passes/TileGPU/Schedule/IssueOrder.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/TileGPU/Schedule/Staging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True for a vector that was fetched beside the operands.
static bool isFetchedVector(LocalLoadOp read) {
  return read.getType().getRank() == 1 && read.getSource().getDefiningOp<TmaFetchOp>();
}

/// True for a vector that takes more registers of a thread than are free beside a product's result
/// as a rule.
static bool isLargeVector(Operation &op) {
  constexpr int64_t most = 16;
  auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                                      : RankedTensorType();
  return type && type.getRank() == 1 && hasLayout(type) && getLayout(type).getNumRegisters() > most;
}

/// True for what may change its place among operations that it neither feeds nor needs.
static bool isMovable(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions())
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return readsConstantMemory(load);
  if (auto gather = dyn_cast<GatherOp>(op))
    return readsConstantMemory(gather);
  if (auto read = dyn_cast<LocalLoadOp>(op))
    return isFetchedVector(read);
  // A fetch reads what no store of this kernel changes.
  return isMemoryEffectFree(op) || isa<TmaFetchOp>(op);
}

/// Adds to `slice` all operations of the body that `op` needs; false if one may not be moved or is
/// a product.
static bool collect(Operation *op, Block &body, OpSet &slice) {
  bool movable = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != &body || slice.contains(def))
        continue;
      movable = movable && isMovable(def) && collect(def, body, slice);
      slice.insert(def);
    }
  });
  return movable;
}

SmallVector<WgmmaOp> tile::gpu::findIndependent(Block &body) {
  SmallVector<WgmmaOp> found;
  for (auto product : body.getOps<WgmmaOp>())
    if (OpSet slice; collect(product, body, slice))
      found.push_back(product);
  return found;
}

/// Adds `op` and what is computed from it ahead of `product`; false if any of that must stay there.
static bool collectUsersAhead(Operation *op, Operation *product, OpSet &found) {
  found.insert(op);
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *here = product->getBlock()->findAncestorOpInBlock(*user);
    if (here && product->isBeforeInBlock(here))
      return true;
    return here == user && here != product && isPure(here) && !here->getNumRegions() &&
           collectUsersAhead(here, product, found);
  });
}

OpSet tile::gpu::findReadsUnder(Operation *product) {
  Block &body = *product->getBlock();
  OpSet found;
  for (Operation &op : body) {
    auto read = dyn_cast<LocalLoadOp>(op);
    bool fetched = read && read.getSource().getDefiningOp<TmaFetchOp>();
    if (!fetched && !(isa<LoadOp, GatherOp>(op) && isMovable(&op)))
      continue;
    if (!product->isBeforeInBlock(&op)) {
      // Ahead of the product it would wait for its tile, and the product for it.
      OpSet users;
      if (fetched && read.getType().getRank() > 1 && collectUsersAhead(&op, product, users))
        found.insert(users.begin(), users.end());
      continue;
    }
    OpSet slice;
    if (!collect(&op, body, slice) || slice.contains(product))
      continue;
    for (Operation *needed : slice)
      if (product->isBeforeInBlock(needed))
        found.insert(needed);
    found.insert(&op);
  }
  return found;
}

int64_t tile::gpu::countVectorRegisters(Block &body) {
  int64_t registers = 0;
  for (auto read : body.getOps<LocalLoadOp>())
    registers += isFetchedVector(read) ? getLayout(read.getType()).getNumRegisters() : 0;
  return registers;
}

SmallVector<Operation *> tile::gpu::findConversions(WgmmaOp product) {
  SmallVector<Operation *> found;
  for (Operation *op = product.getA().getDefiningOp();
       op && op->getBlock() == product->getBlock() && op->hasOneUse() &&
       isa<arith::TruncFOp, RoundFloat8Op, ConvertLayoutOp>(op);
       op = op->getOperand(0).getDefiningOp())
    found.push_back(op);
  return found;
}

namespace {

/// One loop's body.
class Issuer {
public:
  Issuer(scf::ForOp loop, const LoopSchedule &schedule)
      : loop(loop), body(*loop.getBody()), schedule(schedule), products(schedule.getIssueOrder()) {}

  LogicalResult run() {
    if (!schedule.words.apart) {
      issueIndependent();
      if (failed(issueOthers()))
        return failure();
    }
    leaveInFlight();
    return success();
  }

private:
  /// Loads first, then the leading products that need no other, each behind what it needs. Fetched
  /// vectors may count as loads: products whose operands lie in shared memory leave ordinary
  /// accesses little of its bandwidth, so a read behind them takes as long as they. Large vectors
  /// are left where they are used, beside a product's result.
  void issueIndependent() {
    OpSet before;
    for (Operation &op : body) {
      bool load = isa<LocalLoadOp>(op) ? schedule.words.vectorsFirst
                                       : isa<LoadOp, GatherOp>(op) && !isLargeVector(op);
      OpSet slice;
      if (!load || !isMovable(&op) || !collect(&op, body, slice))
        continue;
      before.insert(slice.begin(), slice.end());
      before.insert(&op);
    }
    SmallVector<Operation *> first;
    for (WgmmaOp product : products) {
      OpSet slice;
      if (!collect(product, body, slice))
        break;
      before.insert(slice.begin(), slice.end());
      first.push_back(product);
    }
    // As they stand in the text: what one needs stands before it.
    SmallVector<Operation *> order;
    for (Operation &op : body)
      if (before.contains(&op))
        order.push_back(&op);
    order.append(first);
    for (Operation *op : llvm::reverse(order))
      op->moveBefore(&body, body.begin());
  }

  /// True if the operand of the product of order `i` is a copy of a tile of which the next product
  /// needs something else. Then it is issued right ahead of that product, when the tile is no
  /// longer needed: what is stored for the next one is stored as early as can be, tensor cores are
  /// busy until all warps have stored it, and the tile and its copy are not in registers at once.
  bool waitsForTile(size_t i, ArrayRef<Operation *> conversions) {
    if (conversions.empty() || i + 1 == products.size() || needs(products[i + 1], products[i]))
      return false;
    Operation *tile = conversions.back()->getOperand(0).getDefiningOp();
    return tile && llvm::any_of(tile->getUsers(), [&](Operation *user) {
             return user != conversions.back() && needs(products[i + 1], user);
           });
  }

  /// Moves each product to behind the one before it or the last operation that it needs. What
  /// converts its operand stands right ahead of it: as soon as can be, and both copies of a tile
  /// are in registers for as short as can be.
  LogicalResult issueOthers() {
    for (size_t i = 1; i < products.size(); ++i) {
      Operation *last = products[i - 1];
      SmallVector<Operation *> conversions = findConversions(products[i]);
      SmallVector<Value> needed(products[i]->getOperands());
      if (!conversions.empty())
        needed.front() = conversions.back()->getOperand(0);
      if (waitsForTile(i, conversions))
        llvm::append_range(needed, products[i + 1]->getOperands());
      for (Value operand : needed)
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == &body && last->isBeforeInBlock(def))
          last = def;
      for (Operation *user : products[i]->getUsers())
        if (Operation *here = body.findAncestorOpInBlock(*user);
            here == last || here->isBeforeInBlock(last))
          return loop.emitError() << "cannot realise the schedule: the product of order " << i
                                  << " is needed before that of order " << i - 1 << " is issued";
      for (Operation *op : llvm::reverse(conversions)) {
        op->moveAfter(last);
        last = op;
      }
      products[i]->moveAfter(last);
    }
    return success();
  }

  /// Marks the products and waits for each before the first use of its result.
  void leaveInFlight() {
    OpBuilder builder(loop);
    DenseMap<Operation *, SmallVector<WgmmaOp>>
        needed; // by the first operation that uses the result
    for (auto [product, place] : llvm::zip(schedule.products, schedule.places))
      WgmmaOp(product).setAsync(place.flight == 0);
    for (WgmmaOp product : products) {
      if (!product.getAsync())
        continue;
      Operation *first = body.getTerminator();
      for (Operation *user : product->getUsers())
        if (Operation *here = body.findAncestorOpInBlock(*user);
            here && here->isBeforeInBlock(first))
          first = here;
      needed[first].push_back(product);
    }
    for (Operation &op : llvm::make_early_inc_range(body))
      if (needed.contains(&op))
        readBefore(&op);
    SmallVector<WgmmaOp>
        flying; // oldest first: products end in the order in which they were issued
    for (Operation &op : llvm::make_early_inc_range(body)) {
      builder.setInsertionPoint(&op);
      for (WgmmaOp product : needed.lookup(&op)) {
        auto *at = llvm::find(flying, product);
        if (at != flying.end())
          flying.erase(flying.begin(), std::next(at));
        auto wait = WgmmaWaitOp::create(builder, product.getLoc(), product.getType(),
                                        product.getResult(), flying.size(), product.getValidAttr());
        product.getResult().replaceAllUsesExcept(wait, wait);
      }
      auto product = dyn_cast<WgmmaOp>(&op);
      if (product && product.getAsync())
        flying.push_back(product);
      else if (product)
        flying.clear(); // it waits for all
    }
    readLate();
  }

  /// Moves large vectors, and what only renames them or computes with them alone, to where they
  /// meet a product's result: each element is read when its turn comes.
  void readLate() {
    if (schedule.words.vectorsFirst)
      return;
    SmallVector<Operation *> reads;
    for (Operation &op : body)
      if (isa<LoadOp, LocalLoadOp>(op) && isMovable(&op) && isLargeVector(op))
        reads.push_back(&op);
    for (Operation *read : reads) {
      OpSet moved;
      moved.insert(read);
      Operation *place = body.getTerminator();
      for (Operation *op = read->getNextNode(); op; op = op->getNextNode()) {
        bool needed = false;
        op->walk([&](Operation *inner) {
          needed |= llvm::any_of(inner->getOperands(), [&](Value operand) {
            return moved.contains(operand.getDefiningOp());
          });
        });
        if (!needed)
          continue;
        auto type = op->getNumResults() == 1
                        ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                        : RankedTensorType();
        if (isPure(op) && !op->getNumRegions() && type &&
            (type.getRank() == 1 || isa<BroadcastOp, ReshapeOp>(op))) {
          moved.insert(op);
          continue;
        }
        place = op;
        break;
      }
      for (Operation *op : moved)
        if (op->isBeforeInBlock(place))
          op->moveBefore(place);
    }
  }

  /// Moves reads of fetched tiles that follow `wait`, where a product is waited for, before it:
  /// they need not wait. Large vectors stay.
  void readBefore(Operation *wait) {
    SmallVector<LocalLoadOp> reads;
    for (Operation *op = wait; op && !isa<WgmmaOp>(op); op = op->getNextNode())
      if (auto read = dyn_cast<LocalLoadOp>(op);
          read && (schedule.words.vectorsFirst || !isLargeVector(*read)))
        reads.push_back(read);
    for (LocalLoadOp read : reads) {
      OpSet slice;
      if (!collect(read, body, slice))
        continue;
      SmallVector<Operation *> order; // those behind the wait, as they stand
      for (Operation *op = wait; op != read; op = op->getNextNode())
        if (slice.contains(op))
          order.push_back(op);
      order.push_back(read);
      for (Operation *op : order)
        op->moveBefore(wait);
    }
  }

  scf::ForOp loop;
  Block &body;
  const LoopSchedule &schedule;
  SmallVector<WgmmaOp> products; ///< as they are issued
};

} // namespace

LogicalResult tile::gpu::applyOrder(scf::ForOp loop, const LoopSchedule &schedule) {
  if (failed(Issuer(loop, schedule).run()))
    return failure();
  schedule.setOn(loop);
  return success();
}
