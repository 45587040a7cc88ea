// tile-gpu-issue-dots-early: in loops of three products and more, leaves each in flight until its
// result is needed.
//
// A product is issued as soon as its operands are there: those that need no other product of the
// iteration come first, the loads and reads of fetched vectors before them; the others keep their
// order, and what does not feed them steps behind them. So arithmetic on one product's result runs
// under the next product. Gradients of attention have five products in a loop:
//
//   read statistics; s = q·k in flight; dp = do·v in flight
//   wait for s;  p = f(s);       dv += p·do in flight
//   wait for dp; ds = g(p, dp);  dq = ds·k in flight; dk += ds·q in flight
//   wait for dq; add dq to memory; wait for the rest
//
// Source: FlashAttention-3, arXiv 2407.08608, whose backward pass has this order.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Report/Declined.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUISSUEDOTSEARLY
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

using OpSet = llvm::SmallSetVector<Operation *, 32>;

/// Fewer are left to tile-gpu-overlap-dots, or have nothing to run beside.
constexpr size_t fewestProducts = 3;

/// Registers of a thread that vectors read before the products may take. They are there when the
/// products have left few free.
constexpr int64_t mostRegistersOfVectors = 32;

/// True for a vector that was fetched beside the operands.
bool isFetchedVector(LocalLoadOp read) {
  return read.getType().getRank() == 1 && read.getSource().getDefiningOp<TmaFetchOp>();
}

/// True for what may change its place among operations that it neither feeds nor needs.
bool isMovable(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions())
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return readsConstantMemory(load);
  if (auto read = dyn_cast<LocalLoadOp>(op))
    return isFetchedVector(read);
  // A fetch reads what no store of this kernel changes.
  return isMemoryEffectFree(op) || isa<TmaFetchOp>(op);
}

/// One loop's body.
class Scheduler {
public:
  explicit Scheduler(Block &body) : body(body) {}

  bool refuse(const std::string &reason) {
    declined(body.getParentOp()) << reason;
    return false;
  }

  bool matches() {
    for (Operation &op : body)
      if (auto product = dyn_cast<WgmmaOp>(&op)) {
        if (product.getAsync())
          return refuse("a product is in flight already");
        products.push_back(product);
      }
    if (products.size() < fewestProducts)
      return refuse("it takes loops of " + std::to_string(fewestProducts) +
                    " products by wgmma and more, and this one has " +
                    std::to_string(products.size()));
    for (Operation &op : body) // changes, or waits for, what a product reads, in place
      if (isa<ClearFromOp, AsyncWaitOp>(op))
        return refuse("an operand's end is cleared, or its copy waited for, within the trip");
    // A sum of several products of one iteration waits for itself.
    for (WgmmaOp product : products)
      if (auto acc = product.getAcc().getDefiningOp<WgmmaOp>(); acc && acc->getBlock() == &body)
        return refuse("a sum of several products of one trip waits for itself");
    return true;
  }

  void run() {
    issueIndependent();
    issueOthers();
    leaveInFlight();
  }

private:
  /// Adds to `slice` all operations of the body that `op` needs; false if one may not be moved or
  /// is a product.
  bool collect(Operation *op, OpSet &slice) {
    bool movable = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != &body || slice.contains(def))
          continue;
        movable = movable && isMovable(def) && collect(def, slice);
        slice.insert(def);
      }
    });
    return movable;
  }

  /// Loads first, then the products that need no other, each behind what it needs. Fetched vectors
  /// count as loads: products whose operands lie in shared memory leave ordinary accesses little of
  /// its bandwidth, so a read behind them takes as long as they.
  void issueIndependent() {
    OpSet before, first;
    int64_t registers = 0;
    for (auto read : body.getOps<LocalLoadOp>())
      registers += isFetchedVector(read) ? getLayout(read.getType()).getNumRegisters() : 0;
    for (Operation &op : body) {
      OpSet slice;
      bool load = isa<LoadOp, LocalLoadOp>(op) && isMovable(&op), product = isa<WgmmaOp>(op);
      if (isa<LocalLoadOp>(op) && registers > mostRegistersOfVectors)
        continue;
      if ((!load && !product) || !collect(&op, slice))
        continue;
      before.insert(slice.begin(), slice.end());
      (load ? before : first).insert(&op);
    }
    // As they stand in the text: what one needs stands before it.
    SmallVector<Operation *> order;
    for (Operation &op : body)
      if (before.contains(&op))
        order.push_back(&op);
    for (Operation &op : body)
      if (first.contains(&op))
        order.push_back(&op);
    for (Operation *op : llvm::reverse(order))
      op->moveBefore(&body, body.begin());
    products.clear();
    for (auto product : body.getOps<WgmmaOp>())
      products.push_back(product);
  }

  /// Moves each product up to behind the one before it or the last operation that it needs.
  void issueOthers() {
    for (size_t i = 1; i < products.size(); ++i) {
      Operation *last = products[i - 1];
      for (Value operand : products[i]->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == &body && last->isBeforeInBlock(def))
          last = def;
      products[i]->moveAfter(last);
    }
  }

  /// Marks the products and waits for each before the first use of its result.
  void leaveInFlight() {
    OpBuilder builder(body.getParentOp());
    DenseMap<Operation *, SmallVector<WgmmaOp>>
        needed; // by the first operation that uses the result
    for (WgmmaOp product : products) {
      product.setAsync(true);
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
                                        product.getResult(), flying.size());
        product.getResult().replaceAllUsesExcept(wait, wait);
      }
      if (auto product = dyn_cast<WgmmaOp>(&op))
        flying.push_back(product);
    }
  }

  /// Moves reads of fetched tiles that follow `wait`, where a product is waited for, before it:
  /// they need not wait.
  void readBefore(Operation *wait) {
    SmallVector<LocalLoadOp> reads;
    for (Operation *op = wait; op && !isa<WgmmaOp>(op); op = op->getNextNode())
      if (auto read = dyn_cast<LocalLoadOp>(op))
        reads.push_back(read);
    for (LocalLoadOp read : reads) {
      OpSet slice;
      if (!collect(read, slice))
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

  Block &body;
  SmallVector<WgmmaOp> products;
};

struct TileGPUIssueDotsEarly : tile::impl::TileGPUIssueDotsEarlyBase<TileGPUIssueDotsEarly> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      if (Scheduler scheduler(*loop.getBody()); scheduler.matches())
        scheduler.run();
    });
  }
};

} // namespace
