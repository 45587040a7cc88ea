// Follows a loop-carried value from the loop's end to its beginning through operations that
// accumulate.
#include "dialect/Tile/Accumulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

static std::optional<ReduceKind> getKind(Operation *op) {
  if (isa<DotOp, arith::AddFOp, arith::AddIOp>(op))
    return ReduceKind::Sum;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return ReduceKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return ReduceKind::Min;
  return std::nullopt;
}

/// Is there nothing but accumulations of one kind between `from` and `to`, each used by the next
/// alone?
/// `hasOneUse` keeps partial sums private: nobody else may see a value that is regrouped.
static bool leads(Value from, Value to, std::optional<ReduceKind> &kind, unsigned &budget) {
  if (from == to)
    return true;
  Operation *op = from.getDefiningOp();
  if (!op || !budget || !from.hasOneUse())
    return false;
  --budget;
  // An inner loop accumulates if it does so itself, and its initial value leads on.
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    unsigned index = cast<OpResult>(from).getResultNumber();
    std::optional<ReduceKind> found = getAccumulation(inner, index);
    if (!found || (kind && *kind != *found))
      return false;
    kind = found;
    return leads(inner.getInitArgs()[index], to, kind, budget);
  }
  std::optional<ReduceKind> found = getKind(op);
  if (!found || (kind && *kind != *found))
    return false;
  SmallVector<Value> paths(op->getOperands());
  if (auto dot = dyn_cast<DotOp>(op))
    paths = {dot.getAcc()};
  // Either operand may lead to the beginning; the other one is what is added.
  for (Value operand : paths) {
    std::optional<ReduceKind> here = found;
    if (leads(operand, to, here, budget)) {
      kind = here;
      return true;
    }
  }
  return false;
}

std::optional<ReduceKind> tile::getAccumulation(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index), yielded = loop.getYieldedValues()[index];
  std::optional<ReduceKind> kind;
  // Steps through one trip: unrolled bodies are long, and a search without an end costs more than
  // the answer is worth.
  unsigned budget = 256;
  if (!carried.hasOneUse() || yielded == carried || !leads(yielded, carried, kind, budget))
    return std::nullopt;
  return kind;
}
