// tile-gpu-make-persistent: blocks that take several programs each, so that one program's loads run
// under another's end.
//
//   grid of P programs, a block each      ->   as many blocks B as are resident:
//   invariant; body(program)                   invariant; for p = block to P step B: body(p)
//
// A program's place on the grid is found by reciprocals of what divides its number, which are
// computed once for a block, as are those of the source's own divisions of it. Programs of a
// cluster's blocks are neighbours: p and p + 1 along the axis of the cluster. What all programs
// share stays before the loop: it is computed once for a block, and so it must read nothing that a
// program of this launch may write.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/IndexBounds.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/ProgramGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace tile {
#define GEN_PASS_DEF_TILEGPUMAKEPERSISTENT
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// True if the operation gives the same for every program once its operands do.
static bool isInvariant(Operation &op) {
  if (isMemoryEffectFree(&op) && (op.getNumRegions() == 0 || isa<ScanOp, ReduceByOp>(op)))
    return !isa<ProgramIdOp>(op);
  // Memory that nobody writes while the kernel runs.
  auto load = dyn_cast<LoadOp>(op);
  return load && readsConstantMemory(load);
}

/// Whether programs that a block runs in turn gain anything: on GPUs whose warps can load for the
/// next program while others end this one, or where they share a load or a tile. Elsewhere the GPU
/// starts programs as well as a loop does, evens out their lengths, and leaves registers free.
static bool gainsByTurns(KernelOp kernel) {
  const GPUTarget *target = getTarget(kernel);
  if (!target || target->has(Feature::Tma))
    return true;
  DenseSet<Operation *> varying;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isInvariant(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return varying.contains(operand.getDefiningOp());
        }))
      varying.insert(&op);
    else if (isa<LoadOp>(op) ||
             (!isRematerializable(&op) && llvm::any_of(op.getResultTypes(), [](Type type) {
               return isa<RankedTensorType>(type);
             })))
      return true;
  }
  return false;
}

/// True if a loop makes more trips in some programs than in others.
static bool differInLength(KernelOp kernel) {
  DenseSet<Value> seen;
  std::function<bool(Value)> varies = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && seen.insert(value).second &&
           (isa<ProgramIdOp>(op) || llvm::any_of(op->getOperands(), varies));
  };
  return kernel.getBody()
      .walk([&](scf::ForOp loop) {
        for (Value bound : {loop.getLowerBound(), loop.getUpperBound()})
          if (varies(bound))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// The source's own divisions of a program's position, by numbers that are certain to be 1 or more.
static SmallVector<Operation *>
findDivisions(KernelOp kernel, function_ref<const DivisibilityAnalysis &()> getDivisibility) {
  SmallVector<Operation *> divisions;
  std::optional<IndexBounds> bounds;
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) ||
        !op->getOperand(0).getDefiningOp<ProgramIdOp>() ||
        matchPattern(op->getOperand(1), m_Constant()))
      return;
    if (!bounds)
      bounds.emplace(kernel, getDivisibility());
    if (bounds->isNonNegative(bounds->linear(op->getOperand(1)) + Linear(-1)))
      divisions.push_back(op);
  });
  return divisions;
}

/// Takes those whose divisor all programs of `loop` share by its reciprocal.
static void divideOnce(ArrayRef<Operation *> divisions, scf::ForOp loop) {
  OpBuilder once(loop);
  for (Operation *op : divisions) {
    if (!loop.isDefinedOutsideOfLoop(op->getOperand(1)))
      continue;
    OpBuilder builder(op);
    auto [quotient, remainder] =
        divideProgram(builder, op->getLoc(), op->getOperand(0), op->getOperand(1), once);
    op->getResult(0).replaceAllUsesWith(isa<arith::DivSIOp, arith::DivUIOp>(op) ? quotient
                                                                                : remainder);
    op->erase();
  }
}

static void makePersistent(KernelOp kernel,
                           function_ref<const DivisibilityAnalysis &()> getDivisibility) {
  SmallVector<Operation *> divisions = findDivisions(kernel, getDivisibility);
  Block &body = kernel.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  Location loc = kernel.getLoc();
  SmallVector<Value> extents = cloneGridExtents(builder, kernel, body.getArguments());
  // Clusters take whole pairs of programs: an odd last one is run by both blocks.
  LastPrograms last = roundToPairs(builder, kernel, extents);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        total = arith::ConstantIndexOp::create(builder, loc, 1);
  for (Value extent : extents) // a negative extent counts as none
    total = arith::MulIOp::create(builder, loc, total,
                                  arith::MaxSIOp::create(builder, loc, extent, zero));
  // The launcher refuses a grid of more than 2^31 - 1 programs; stating that bound here lets later
  // passes keep program numbers in 32 bits.
  constexpr int64_t mostPrograms = std::numeric_limits<int32_t>::max();
  total = arith::MinSIOp::create(builder, loc, total,
                                 arith::ConstantIndexOp::create(builder, loc, mostPrograms));
  auto block = BlockIdOp::create(builder, loc, builder.getIndexType(), builder.getIndexType());
  Value bandRows;
  if (differInLength(kernel))
    bandRows = getEvenBandRows(builder, kernel, extents, total, block.getBlocks());
  auto loop = scf::ForOp::create(builder, loc, block.getBlock(), total, block.getBlocks());
  OpBuilder once(loop);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> axes =
      splitProgram(builder, kernel, loop.getInductionVar(), extents, bandRows, &once);

  clampToLast(builder, loc, last, axes);

  // Operations that all programs share stay outside; the rest moves in, in its order.
  DenseSet<Operation *> inside;
  SmallVector<Operation *> moved;
  for (Operation &op : body) {
    if (&op == loop.getOperation())
      break;
    bool varies = !isInvariant(op);
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        varies |= inside.contains(def);
    if (!varies || isa<BlockIdOp>(op))
      continue;
    inside.insert(&op);
    moved.push_back(&op);
  }
  for (Operation *op : moved)
    op->moveBefore(loop.getBody()->getTerminator());
  kernel.getBody().walk([&](ProgramIdOp op) {
    op.getResult().replaceAllUsesWith(axes[op.getAxis()]);
    op.erase();
  });
  divideOnce(divisions, loop);
  kernel->setAttr(persistentGridName, builder.getUnitAttr());
}

struct TileGPUMakePersistent : tile::impl::TileGPUMakePersistentBase<TileGPUMakePersistent> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(persistentName) && !kernel->hasAttr(persistentGridName)) {
        if (gainsByTurns(kernel))
          makePersistent(kernel, [&]() -> const DivisibilityAnalysis & {
            return getAnalysis<DivisibilityAnalysis>();
          });
        else
          declined(kernel) << "nothing loads ahead of a program's end on this GPU, and programs "
                              "share no loads: the GPU starts them one by one";
      }
  }
};

} // namespace
