// How many programs of a launch have something to do.
//
// A packed tensor holds the rows of all parts behind each other, and `starts` says where each
// begins. A grid that has for each part as many programs as there are blocks of all rows,
//
//   grid (e: E, i: cdiv(S, BM)) { if i * BM >= starts[e + 1] - starts[e] { return; } … }
//
// has E * S / BM programs, but the parts share the S rows: no more than S / BM + E programs get
// past the test, since each part ends in one partial block at most. Which ones is known when the
// kernel runs. A grid of as many programs,
//
//   grid (p: (S + (BM - 1) * E) / BM) { let e = …starts…; if e >= E { return; } … }
//
// has room for the worst lengths. Parts of one length are the other end; rows that choose their
// parts at random, as tokens their experts, make lengths that vary by the root of their mean.
#include "passes/Analysis/BusyPrograms.h"
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

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

//===--- Grids with room for any parts ------------------------------------===//

namespace {

/// A factor of a grid's extent: blocks of the rows of a packed tensor, for any lengths of its
/// parts.
struct RowBlocks {
  Value blocks, rows, parts;
  int64_t blockRows;
};

} // namespace

static void collectFactors(Value product, SmallVectorImpl<Value> &factors) {
  if (auto multiply = product.getDefiningOp<arith::MulIOp>()) {
    collectFactors(multiply.getLhs(), factors);
    collectFactors(multiply.getRhs(), factors);
    return;
  }
  factors.push_back(product);
}

/// The factor as blocks of rows, if all that it is computed from are constants, the dimension
/// `parts`, another dimension, and one division by the rows of a block.
static std::optional<RowBlocks> findRowBlocks(Value factor, StringRef parts) {
  RowBlocks found{factor, {}, {}, 0};
  SmallVector<Value> pending{factor};
  DenseSet<Operation *> seen; // looked up only
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !isPure(op))
      return std::nullopt;
    if (!seen.insert(op).second)
      continue;
    if (auto dim = dyn_cast<DimOp>(op)) {
      Value &place = dim.getDim().getName() == parts ? found.parts : found.rows;
      if (place && place.getDefiningOp<DimOp>().getDim().getName() != dim.getDim().getName())
        return std::nullopt;
      place = dim;
    }
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
      APInt rows;
      if (found.blockRows || !matchPattern(op->getOperand(1), m_ConstantInt(&rows)))
        return std::nullopt;
      found.blockRows = rows.getSExtValue();
    }
    llvm::append_range(pending, op->getOperands());
  }
  if (!found.rows || !found.parts || found.blockRows <= 0)
    return std::nullopt;
  return found;
}

/// The name of the dimension that says how many parts a tensor of one more place holds the
/// beginnings of, if the condition hangs on one.
static StringRef findParts(Value condition) {
  SmallVector<Value> pending{condition};
  DenseSet<Operation *> seen; // looked up only
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      if (!view || view.getExtents().size() != 1 || !readsConstantMemory(load))
        continue;
      if (auto more = view.getExtents().front().getDefiningOp<arith::AddIOp>();
          more && matchPattern(more.getRhs(), m_One()))
        if (auto dim = more.getLhs().getDefiningOp<DimOp>())
          return dim.getDim().getName();
    }
    llvm::append_range(pending, op->getOperands());
  }
  return {};
}

/// Blocks of `blockRows` of parts that `rows` rows fall into at random: a part has more than n rows
/// as often as a normal distribution of its mean and variance says.
static double countBlocks(double rows, double parts, double blockRows) {
  double mean = rows / parts, blocks = 1 - std::exp(-mean);
  double spread = std::sqrt(2 * std::max(mean * (1 - 1 / parts), 1e-9));
  for (double n = blockRows; n < mean + 4 * spread; n += blockRows)
    blocks += 0.5 * std::erfc((n + 0.5 - mean) / spread);
  return parts * blocks;
}

double tile::countLikelyPrograms(KernelOp kernel, ArrayRef<double> extents,
                                 llvm::function_ref<double(Value)> evaluate) {
  double busy = countBusyPrograms(kernel, extents);
  for (auto branch : kernel.getBody().front().getOps<scf::IfOp>()) {
    StringRef parts = getWork(branch) ? findParts(branch.getCondition()) : StringRef();
    if (parts.empty())
      continue;
    for (Value extent : kernel.getGrid().front().getTerminator()->getOperands()) {
      SmallVector<Value> factors;
      collectFactors(extent, factors);
      for (Value factor : factors) {
        std::optional<RowBlocks> found = findRowBlocks(factor, parts);
        double room = found ? evaluate(found->blocks) : 0;
        if (room < 1)
          continue;
        double likely =
            countBlocks(std::max(1.0, evaluate(found->rows)), std::max(1.0, evaluate(found->parts)),
                        double(found->blockRows));
        return busy * std::min(1.0, likely / room);
      }
    }
  }
  return busy;
}
