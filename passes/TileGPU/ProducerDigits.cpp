// The numbers that a producer divides its counter into, as those of an image, a row and a column of
// tiles, counted like digits: a trip adds 1 to the last one, and where that is full, to the one
// before. One thread of the producer computes the places of all copies, each trip in turn, and a
// division by a number that is not known takes it some 20 instructions, one after the other: three
// of them took longer than the product of a small tile.
//
//   t / n, t % n            q, r carried; r + 1 == n: q + 1 and 0, else q and r + 1
//   (t / n) / m, … % m      the same, where q grows
#include "passes/TileGPU/ProducerDigits.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/IndexBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Counts the quotients and remainders of one loop.
class Counter {
public:
  Counter(scf::ForOp loop, IndexBounds &bounds) : loop(loop), bounds(bounds), rewriter(loop) {}

  void run() {
    APInt step;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isOne() ||
        !bounds.isNonNegative(loop.getLowerBound()))
      return;
    // Bounds speak of the loop as it is: all is found before anything changes.
    find(loop.getInductionVar());
    if (found.empty())
      return;
    build();
  }

private:
  struct Found {
    int dividend; ///< place in `found` whose quotient is divided, or -1: the counter
    Value divisor;
    SmallVector<Operation *> quotients, remainders;
  };

  /// Finds what divides `value`, the quotient of found[dividend], or the counter.
  void find(Value value, int dividend = -1) {
    size_t begin = found.size();
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) ||
          op.getOperand(0) != value || !op.getResult(0).getType().isIndex())
        continue;
      Value divisor = op.getOperand(1);
      if (!loop.isDefinedOutsideOfLoop(divisor) || matchPattern(divisor, m_Constant()) ||
          !bounds.isNonNegative(bounds.linear(divisor) + Linear(-1)))
        continue;
      auto same = [&](const Found &each) {
        return each.dividend == dividend && each.divisor == divisor;
      };
      auto place = llvm::find_if(found, same);
      if (place == found.end())
        place = found.insert(found.end(), Found{dividend, divisor, {}, {}});
      (isa<arith::DivSIOp, arith::DivUIOp>(op) ? place->quotients : place->remainders)
          .push_back(&op);
    }
    for (size_t i = begin, end = found.size(); i < end; ++i)
      for (Operation *quotient : SmallVector<Operation *>(found[i].quotients))
        find(quotient->getResult(0), int(i));
  }

  /// Carries quotient and remainder of all that was found.
  void build() {
    Location loc = loop.getLoc();
    Type index = rewriter.getIndexType();
    SmallVector<Value> first;
    for (const Found &each : found) {
      Value dividend = each.dividend < 0 ? loop.getLowerBound() : first[2 * each.dividend];
      first.push_back(arith::DivUIOp::create(rewriter, loc, index, dividend, each.divisor));
      first.push_back(arith::RemUIOp::create(rewriter, loc, index, dividend, each.divisor));
    }
    unsigned carried = loop.getNumRegionIterArgs();
    auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &b, Location, ArrayRef<BlockArgument> now) { return count(b, now); }));
    for (auto [i, each] : llvm::enumerate(found)) {
      for (Operation *op : each.quotients)
        rewriter.replaceOp(op, made.getRegionIterArg(unsigned(carried + 2 * i)));
      for (Operation *op : each.remainders)
        rewriter.replaceOp(op, made.getRegionIterArg(unsigned(carried + 2 * i + 1)));
    }
  }

  /// What the next trip has.
  SmallVector<Value> count(OpBuilder &b, ArrayRef<BlockArgument> now) {
    Location loc = loop.getLoc();
    Value one = arith::ConstantIndexOp::create(b, loc, 1),
          zero = arith::ConstantIndexOp::create(b, loc, 0);
    SmallVector<Value> next, full; // full: whether the quotient is raised
    for (auto [i, each] : llvm::enumerate(found)) {
      Value quotient = now[2 * i], remainder = now[2 * i + 1];
      Value more = arith::AddIOp::create(b, loc, remainder, one);
      Value isFull = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, each.divisor);
      Value after = arith::SelectOp::create(b, loc, isFull, zero, more);
      if (each.dividend >= 0) {
        Value raised = full[each.dividend];
        isFull = arith::AndIOp::create(b, loc, raised, isFull);
        after = arith::SelectOp::create(b, loc, raised, after, remainder);
      }
      Value above = arith::AddIOp::create(b, loc, quotient, one);
      next.push_back(arith::SelectOp::create(b, loc, isFull, above, quotient));
      next.push_back(after);
      full.push_back(isFull);
    }
    return next;
  }

  scf::ForOp loop;
  IndexBounds &bounds;
  IRRewriter rewriter;
  std::vector<Found> found;
};

} // namespace

void tile::gpu::countProducerDigits(KernelOp kernel, const DivisibilityAnalysis &divisibility) {
  SmallVector<scf::ForOp> loops;
  kernel.getBody().walk([&](WarpSpecializeOp split) {
    split.getProducer().walk([&](scf::ForOp loop) { loops.push_back(loop); });
  });
  if (loops.empty())
    return;
  IndexBounds bounds(kernel, divisibility);
  for (scf::ForOp loop : loops)
    Counter(loop, bounds).run();
}
