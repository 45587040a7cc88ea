// How many programs of a launch have something to do.
//
// A packed tensor holds the rows of all parts behind each other, and `starts` says where each
// begins. A grid that has for each part as many programs as there are blocks of all rows,
//
//   grid (e: E, i: cdiv(S, BM)) { if i * BM >= starts[e + 1] - starts[e] { return; } … }
//
// has E * S / BM programs, but the parts share the S rows: no more than S / BM + E programs get
// past the test, since each part ends in one partial block at most. Which ones is known when the
// kernel runs.
#include "passes/Analysis/BusyPrograms.h"
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// What a condition hangs on.
struct Sources {
  llvm::SmallBitVector axes, axesOfLoads; ///< of the grid: directly, and through places of loads
  SmallVector<LoadOp> loads;
  bool isPlain = true; ///< nothing but arithmetic, positions and loads
};

} // namespace

static void collect(Value value, bool inLoad, Sources &sources, DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    sources.isPlain = false;
    return;
  }
  if (auto id = dyn_cast<ProgramIdOp>(op))
    (inLoad ? sources.axesOfLoads : sources.axes).set(id.getAxis());
  if (!inLoad && !seen.insert(op).second)
    return;
  auto load = dyn_cast<LoadOp>(op);
  if (!load) {
    sources.isPlain &= isPure(op) && !op->getNumRegions();
    for (Value operand : op->getOperands())
      collect(operand, inLoad, sources, seen);
    return;
  }
  sources.isPlain &= !inLoad && !load.getMask() && readsConstantMemory(load);
  sources.loads.push_back(load);
  for (Value start : load.getStarts())
    collect(start, /*inLoad=*/true, sources, seen);
}

/// The scalars loaded are two neighbours of one tensor: where a part begins and where it ends.
static bool areEnds(MutableArrayRef<LoadOp> loads) {
  llvm::SmallSetVector<Value, 2> starts;
  for (LoadOp load : loads) {
    if (load.getStarts().size() != 1 || isa<RankedTensorType>(load.getType()) ||
        getRootView(load.getView()) != getRootView(loads.front().getView()))
      return false;
    starts.insert(load.getStarts().front());
  }
  return starts.size() == 2;
}

/// True if a dimension of a tensor, not a scalar that may be the longest part's length, says how
/// far the axis goes.
static bool isOfDimension(Value extent) {
  SmallVector<Value> pending{extent};
  bool found = false;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !isPure(op))
      return false;
    found |= isa<DimOp>(op);
    llvm::append_range(pending, op->getOperands());
  }
  return found;
}

/// The branch that does the program's work, where the other does nothing and nothing follows them.
static Block *getWork(scf::IfOp branch) {
  auto isIdle = [](Region &region) {
    return region.empty() || region.front().without_terminator().empty();
  };
  if (branch.getNumResults() || isIdle(branch.getThenRegion()) == isIdle(branch.getElseRegion()))
    return nullptr;
  for (Operation *next = branch->getNextNode(); next; next = next->getNextNode())
    if (!next->hasTrait<OpTrait::IsTerminator>() && !isPure(next))
      return nullptr;
  return isIdle(branch.getThenRegion()) ? &branch.getElseRegion().front()
                                        : &branch.getThenRegion().front();
}

double tile::countBusyPrograms(KernelOp kernel, ArrayRef<double> extents) {
  double programs = 1;
  for (double extent : extents)
    programs *= extent;
  Operation *grid = kernel.getGrid().front().getTerminator();
  // Tests follow each other: each stands in the branch that the one before leaves.
  for (Block *block = &kernel.getBody().front(); block;) {
    Block *work = nullptr;
    for (auto branch : block->getOps<scf::IfOp>()) {
      work = getWork(branch);
      Sources sources;
      sources.axes.resize(extents.size());
      sources.axesOfLoads.resize(extents.size());
      DenseSet<Operation *> seen; // looked up only
      if (!work || !branch.getCondition().getDefiningOp<arith::CmpIOp>())
        continue;
      collect(branch.getCondition(), /*inLoad=*/false, sources, seen);
      if (!sources.isPlain || sources.axes.count() != 1 || sources.axesOfLoads.none() ||
          sources.axes.anyCommon(sources.axesOfLoads) || !areEnds(sources.loads))
        continue;
      unsigned axis = sources.axes.find_first();
      if (!isOfDimension(grid->getOperand(axis)))
        continue;
      double blocks = std::max(1.0, extents[axis]), parts = 1;
      for (unsigned part : sources.axesOfLoads.set_bits())
        parts *= std::max(1.0, extents[part]);
      return programs * std::min(1.0, (blocks + parts) / (blocks * parts));
    }
    block = work;
  }
  return programs;
}
