// tile-gpu-version-row-loops: loop multiversioning. Kernels that go over each row several times,
// block by block, get a second version for rows of one block.
//
//   for n: max of x[row, n]               if N <= BLOCK: x = x[row, :]; max; sum; y[row, :] = ...
//   for n: y[row, n] = f(x[row, n])  ->   else:          both loops as they were
//
// In the first version the second loop's load is the first one's, so the row is read once and stays
// in registers. Which version runs is decided once for each program, by dimensions alone.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/VersionNames.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/UnevenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUVERSIONROWLOOPS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Elements of a row that a thread may hold: more would not stay in registers.
static constexpr int64_t maxElementsOfThread = 64;

namespace {

/// Loops over blocks of the same dimension, from 0, that stand in the kernel's body.
struct RowLoops {
  SmallVector<scf::ForOp> loops;
  DimOp dim;         // their upper bound
  int64_t block = 0; // their step

  bool contains(Operation *op) const { return llvm::is_contained(loops, op); }
};

} // namespace

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// The views that a loop loads from. Nothing if it holds another loop or a dot: then it is no pass
/// over a row.
/// Loops in loops and products go over more than a row.
static std::optional<llvm::SetVector<Value>> getViewsLoaded(scf::ForOp loop) {
  llvm::SetVector<Value> views;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp, DotOp>(op))
      return WalkResult::interrupt();
    if (auto load = dyn_cast<LoadOp>(op))
      views.insert(load.getView());
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return views;
}

/// The loops to version: at least two, and a later one loads what an earlier one did.
/// All of one dimension and one block size; others stay as they are in both versions.
static std::optional<RowLoops> findRowLoops(KernelOp kernel) {
  RowLoops found;
  llvm::SetVector<Value> loaded;
  bool again = false;
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    auto dim = loop.getUpperBound().getDefiningOp<DimOp>();
    auto step = constantOf(loop.getStep());
    auto views = getViewsLoaded(loop);
    if (!dim || !step || constantOf(loop.getLowerBound()) != 0 || !views)
      continue;
    if (found.loops.empty()) {
      found.dim = dim;
      found.block = *step;
    } else if (dim.getDim() != found.dim.getDim() || *step != found.block) {
      continue;
    }
    found.loops.push_back(loop);
    // The point of it all: a view that is loaded twice.
    for (Value view : *views)
      again |= !loaded.insert(view);
  }
  if (!again)
    return std::nullopt;
  return found;
}

/// Neighbours that 16 bytes hold of the narrowest element the kernel moves.
static int64_t getVector(KernelOp kernel) {
  unsigned narrowest = 128;
  auto visit = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (isa<RankedTensorType>(type) && element.isIntOrFloat())
      narrowest = std::min(narrowest, std::max(8u, element.getIntOrFloatBitWidth()));
  };
  kernel.getBody().walk([&](LoadOp load) { visit(load.getType()); });
  kernel.getBody().walk([&](StoreOp store) { visit(store.getValue().getType()); });
  return 128 / narrowest;
}

/// Whether rows of a block stay in registers, with the warps that the kernel asks for or as many as
/// it may get.
/// The largest tile that is loaded decides, in registers of all threads.
static bool fits(KernelOp kernel, const RowLoops &rows) {
  int64_t warps = 16, largest = rows.block;
  if (auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName))
    warps = requested.getInt();
  kernel.getBody().walk([&](LoadOp load) {
    if (auto type = dyn_cast<RankedTensorType>(load.getType()))
      largest = std::max(largest, type.getNumElements());
  });
  return largest <= maxElementsOfThread * 32 * warps;
}

/// Clones what `ops` depend on and what depends on `mapping` itself, from the kernel's body before
/// them.
/// From the beginning of the body to `end`: views and positions that depend on the dimension are
/// made anew, of the value that analyses know to be aligned.
static void cloneDependents(Block &body, Operation *end, OpBuilder &b, IRMapping &mapping) {
  for (Operation &op : body) {
    if (&op == end)
      return;
    bool depends = llvm::any_of(op.getOperands(), [&](Value v) { return mapping.contains(v); });
    if (depends && isPure(&op) && !op.getNumRegions())
      b.clone(op, mapping);
  }
}

/// The loop's body once, at its lower bound.
/// Right for exactly one trip: carried values are the initial ones, results what is yielded.
static void cloneOnce(scf::ForOp loop, OpBuilder &b, IRMapping &mapping) {
  mapping.map(loop.getInductionVar(), mapping.lookupOrDefault(loop.getLowerBound()));
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    mapping.map(argument, mapping.lookupOrDefault(init));
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  for (auto [result, yielded] : llvm::zip(loop.getResults(), loop.getYieldedValues()))
    mapping.map(result, mapping.lookupOrDefault(yielded));
}

static void version(KernelOp kernel, const RowLoops &rows) {
  Block &body = kernel.getBody().front();
  Operation *first = rows.loops.front();
  Location loc = first->getLoc();
  OpBuilder b(first);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  DimOp dimOp = rows.dim;
  Value dim = dimOp.getResult();
  DimAttr facts = dimOp.getDim();
  int64_t vector = getVector(kernel);

  // One block, not none, and aligned with its neighbours: what contracts say needs no test.
  Value condition;
  auto require = [&](arith::CmpIPredicate predicate, Value left, int64_t right) {
    Value test = arith::CmpIOp::create(b, loc, predicate, left, constant(right));
    condition = condition ? Value(arith::AndIOp::create(b, loc, condition, test)) : test;
  };
  // In elements: a multiple of 16 bytes' worth lets every access be wide.
  // Uneven rows are moved element by element wherever they stand.
  bool aligned =
      facts.getMultipleOf() % vector == 0 || tile::gpu::isUneven(kernel, facts.getName(), vector);
  if (facts.getMax() > rows.block)
    require(arith::CmpIPredicate::sle, dim, rows.block);
  if (facts.getMin() < 1)
    require(arith::CmpIPredicate::sgt, dim, 0);
  if (!aligned)
    require(arith::CmpIPredicate::eq, arith::RemSIOp::create(b, loc, dim, constant(vector)), 0);
  // Contracts say that each launch has rows of one block: the other version is dropped by folding.
  if (!condition)
    condition = arith::ConstantIntOp::create(b, loc, 1, 1);

  auto branch = scf::IfOp::create(b, loc, TypeRange(), condition, /*withElseRegion=*/true);
  SmallVector<Operation *> rest;
  for (Operation *op = first; op != body.getTerminator(); op = op->getNextNode())
    rest.push_back(op);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  if (!aligned) {
    // Says so in a way that analyses see.
    // (n / v) * v is n where the condition holds, and a visible multiple of v.
    Value count = arith::DivSIOp::create(b, loc, dim, constant(vector));
    mapping.map(dim, arith::MulIOp::create(b, loc, count, constant(vector)));
    cloneDependents(body, branch, b, mapping);
  }
  for (Operation *op : rest)
    if (rows.contains(op))
      cloneOnce(cast<scf::ForOp>(op), b, mapping);
    else
      b.clone(*op, mapping);
  // The else branch has the operations themselves, the then branch copies.
  for (Operation *op : rest)
    op->moveBefore(branch.elseBlock()->getTerminator());
}

namespace {

struct TileGPUVersionRowLoops : tile::impl::TileGPUVersionRowLoopsBase<TileGPUVersionRowLoops> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      // The parts of a split loop count themselves in one place.
      if (auto rows = findRowLoops(kernel);
          rows && !kernel->hasAttr(tile::gpu::splitPartsName) && fits(kernel, *rows)) {
        // What loops keep in shared memory is decided by the loops alone, in both versions alike.
        kernel->setAttr(plainRegistersName,
                        DenseI64ArrayAttr::get(&getContext(), countPlainRegisters(kernel)));
        version(kernel, *rows);
      }
  }
};

} // namespace
