// tile-gpu-load-early: loads that branch at run time stand ahead of the arithmetic between them.
//
//   a = x[n]; b = f(a); c = y[n]; d = g(b, c)     ->   a = x[n]; c = y[n]; b = f(a); d = g(b, c)
//
// Where contracts do not say how rows are aligned, a load chooses its width at run time, by a
// branch (tile_gpu.vector_if). ptxas moves no load ahead of such a branch, so one load's latency
// would be added to that of the one before. A branch itself waits for nothing: side by side all
// loads are on their way together. Loads without a branch ptxas moves by itself.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/DotSelection.h"

#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPULOADEARLY
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Registers of 32 bits that a thread may hold of loads side by side.
constexpr int64_t mostRegisters = 64;

/// True for a load that chooses its width at run time, of memory that nothing writes.
bool branches(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && load->hasAttr(vectorIfName) && readsConstantMemory(load);
}

/// True for what works on a thread's own registers: neither memory nor other threads see when.
bool isPrivate(Operation *op) {
  return isPure(op) && op->getNumRegions() == 0 && op->getNumResults() > 0 &&
         !isa<ReduceOp, ArgReduceOp>(op) && getSharedNeed(op).use == SharedUse::None;
}

/// True for arithmetic on elements, beside which a cast is nothing.
bool computes(Operation *op) {
  return isa<RankedTensorType>(op->getResult(0).getType()) && !isa<CastOpInterface>(op) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

/// Moves the loads of a run of operations to its beginning, with what says where they load.
void moveLoads(ArrayRef<Operation *> run) {
  llvm::SetVector<Operation *> moved; // what loads need comes before them
  DenseSet<Operation *> inRun(run.begin(), run.end());
  auto collect = [&](auto &self, Operation *op) -> void {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && inRun.contains(source) && !moved.contains(source))
        self(self, source);
    moved.insert(op);
  };
  int64_t registers = 0, waits = 0;
  bool waited = false; // since the last load
  for (Operation *op : run)
    if (branches(op)) {
      collect(collect, op);
      waits += waited && registers > 0;
      waited = false;
      registers += countRegisters(op->getResult(0).getType());
    } else {
      waited |= computes(op);
    }
  if (waits <= 1)
    return;
  if (registers > mostRegisters) {
    declined(run.front()) << "a thread would hold " + std::to_string(registers) +
                                 " registers of loads, and " + std::to_string(mostRegisters) +
                                 " are the most";
    return;
  }
  Operation *first = run.front();
  for (Operation *op : run) // in the run's order, which the set need not have
    if (op == first && moved.contains(op))
      first = first->getNextNode();
    else if (moved.contains(op))
      op->moveBefore(first);
}

void visit(Block &block) {
  SmallVector<Operation *> run;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (branches(&op) || isPrivate(&op)) {
      run.push_back(&op);
      continue;
    }
    moveLoads(run);
    run.clear();
  }
}

struct TileGPULoadEarly : tile::impl::TileGPULoadEarlyBase<TileGPULoadEarly> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      kernel.getBody().walk([](Block *block) { visit(*block); });
  }
};

} // namespace
