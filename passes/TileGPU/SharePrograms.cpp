// tile-gpu-share-programs: the blocks of a cluster work on one program together.
//
// A launch of few programs that each go over a long row leaves most of the machine idle, and a row
// that one block's shared memory cannot keep is read twice. Where all that such a program does for
// long is loops over blocks, each block of a cluster makes its share of every loop's trips. Behind
// a loop the blocks read each other's states from shared memory, and all merge them in the same
// order: they go on with the same bits.
//
//   s = 0                                   s = 0
//   for n in 0 .. N: s += sum(x[n])    ->   for n in this block's share: s += sum(x[n])
//                                           s = all blocks' s, merged in their order
//   for n in 0 .. N: y[n] = x[n] / s        for n in this block's share: y[n] = x[n] / s
//   z = s                                   if this is block 0: z = s
//
// Loops over the same blocks are shared alike, so that each block keeps its part of a row
// (tile-gpu-keep-tiles). A program whose one loop adds up and stores nothing has no use for the
// others' blocks behind it: its loop is marked as by `split`, and the launch decides how many
// programs share it (tile-gpu-split-loops). See docs/Split.md.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/Convert/Reduction.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/LoopState.h"
#include "passes/TileGPU/PrivateCopies.h"
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSHAREPROGRAMS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A loop whose trips blocks share, and what becomes of the values that it carries.
struct SharedLoop {
  scf::ForOp loop;
  SmallVector<CarriedState> state;
};

/// What of a kernel is shared.
struct Plan {
  SmallVector<SharedLoop> loops;
  SmallVector<StoreOp> stores; // outside of loops
  double bytes = 0;            // that a program loads and stores in these loops
  double kept = 0;             // of these, bytes that a later loop loads again
  SmallVector<LoadOp> keptLoads;
};

} // namespace

//===--- What can be shared -----------------------------------------------===//

static bool readsConstants(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return readsConstantMemory(load);
  auto gather = dyn_cast<GatherOp>(op);
  return gather && readsConstantMemory(gather);
}

/// True if each trip stores elsewhere: the store goes along one dimension with the loop's counter.
static bool storesApart(scf::ForOp loop, StoreOp store, int64_t step) {
  for (auto [start, size, stride] :
       llvm::zip(store.getStarts(), store.getSizes(), store.getSteps()))
    if (start == loop.getInductionVar() && stride == 1 && size > 0 && size <= step)
      return true;
  return false;
}

/// Why blocks cannot share the loop's trips; empty if they can.
static StringRef whyNotShared(scf::ForOp loop) {
  int64_t step = getPlainStep(loop);
  if (!step)
    return "its step is not a constant";
  StringRef reason;
  loop.getBody()->walk([&](Operation *op) {
    auto store = dyn_cast<StoreOp>(op);
    if (isa<LoopLikeOpInterface, scf::IfOp, DotOp>(op))
      reason = "it holds a loop, a branch or a product";
    else if (store && !storesApart(loop, store, step))
      reason = "its trips may store at the same places";
    else if (!store && !isMemoryEffectFree(op) && !readsConstants(op))
      reason = "it reads memory that the kernel writes, or does something that happens once";
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return reason;
}

/// What blocks can share of the kernel; nothing if a loop cannot be shared, or an operation outside
/// of loops must be done once.
static std::optional<Plan> findShared(KernelOp kernel) {
  Plan plan;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      StringRef reason = whyNotShared(loop);
      std::optional<SmallVector<CarriedState>> state;
      if (reason.empty() && !(state = findLoopState(loop)))
        reason = "what it carries is no sum or extremum that may be regrouped";
      // Each block reads the states of all.
      constexpr int64_t mostBytes = 16 * 1024;
      if (state && getStateBytes(loop) > mostBytes) {
        reason = "what it carries takes more than 16 KiB";
        state = std::nullopt;
      }
      if (state) {
        plan.loops.push_back({loop, *state});
        continue;
      }
      // Each block would make all of its trips.
      declined(loop) << reason;
      return std::nullopt;
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      plan.stores.push_back(store);
    } else if (!isMemoryEffectFree(&op) && !readsConstants(&op)) {
      declined(kernel) << "it does something outside of loops that must be done once";
      return std::nullopt;
    }
  }
  if (plan.loops.empty())
    return std::nullopt;
  return plan;
}

//===--- Whether it is worth it -------------------------------------------===//

/// True if both loads are of the same tensor, and go with their loops' counters alike.
static bool readsSame(LoadOp a, LoadOp b) {
  auto first = cast<scf::ForOp>(a->getParentOp()), second = cast<scf::ForOp>(b->getParentOp());
  return a.getView() == b.getView() && a.getType() == b.getType() &&
         llvm::all_of(llvm::zip(a.getStarts(), b.getStarts()), [&](auto pair) {
           auto [x, y] = pair;
           return x == y || (x == first.getInductionVar() && y == second.getInductionVar());
         });
}

/// True if rows of the load's tensor are known to begin at multiples of 16 bytes.
static bool areRowsWide(LoadOp load, const DivisibilityAnalysis &divisibility) {
  constexpr int64_t piece = 16;
  auto view = load.getView().getDefiningOp<ViewOp>();
  auto bytes = int64_t(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8);
  return view && bytes && llvm::all_of(view.getStrides(), [&](Value stride) {
           return matchPattern(stride, m_One()) ||
                  divisibility.getDivisor(stride) * bytes % piece == 0;
         });
}

static double getBytes(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getElementType().isIntOrFloat()
             ? double(tile.getNumElements()) * tile.getElementTypeBitWidth() / 8
             : 0.0;
}

static void countBytes(Plan &plan) {
  SmallVector<LoadOp> loads;
  for (SharedLoop &shared : plan.loops) {
    auto trips = double(getExpectedTrips(shared.loop, getPlainStep(shared.loop)));
    for (Operation &op : *shared.loop.getBody()) {
      if (auto store = dyn_cast<StoreOp>(op))
        plan.bytes += trips * getBytes(store.getValue().getType());
      auto load = dyn_cast<LoadOp>(op);
      if (!load)
        continue;
      if (llvm::any_of(loads, [&](LoadOp other) { return readsSame(other, load); })) {
        plan.kept += trips * getBytes(load.getType());
        plan.keptLoads.push_back(load);
      } else {
        plan.bytes += trips * getBytes(load.getType());
        loads.push_back(load);
      }
    }
  }
}

/// Programs at the extents that the contract expects; a large number where none is known.
static double countPrograms(KernelOp kernel) {
  cost::Extents expected;
  cost::IndexEvaluation values(expected, {});
  double programs = 1.0;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    programs *= std::max(1.0, values.get(extent).value_or(1e9));
  return programs;
}

/// True if the kernel is one loop of sums and extrema, and what follows from them.
static bool isOneSum(const Plan &plan) {
  if (plan.loops.size() != 1 || plan.loops.front().state.empty())
    return false;
  SharedLoop first = plan.loops.front();
  return llvm::none_of(first.state, [](const CarriedState &each) { return each.maximum >= 0; }) &&
         first.loop.getBody()->getOps<StoreOp>().empty();
}

/// Blocks of the kernel that a multiprocessor needs for its share of memory's speed. Copies of rows
/// that vectors fit run ahead, so that one block asks for enough. What other rows' loads ask for is
/// what registers hold of one trip.
static int64_t getBlocksPerProcessor(const Plan &plan, const GPUCard &card,
                                     const DivisibilityAnalysis &divisibility) {
  int64_t most = 1;
  for (SharedLoop shared : plan.loops) {
    auto loads = shared.loop.getBody()->getOps<LoadOp>();
    if (!llvm::all_of(loads, [&](LoadOp load) { return areRowsWide(load, divisibility); }))
      most = std::max(most, getProgramsPerProcessor(shared.loop, card));
  }
  return most;
}

/// Blocks for each program; 1 where sharing gains nothing.
static int64_t chooseBlocks(KernelOp kernel, Plan &plan, const GPUTarget &target,
                            const DivisibilityAnalysis &divisibility) {
  constexpr int64_t mostBlocks = 8;   // of a cluster, on every card
  constexpr double usable = 0.9;      // clusters of four and eight find room on 120 of 132
  constexpr double clusterCost = 1.5; // us: launch and end of clusters, an exchange
  constexpr double leastGain = 0.15;  // of the bytes that move
  countBytes(plan);
  const GPUCard &card = getCard(target);
  double programs = countPrograms(kernel);
  // A lone block moves about twice its share of what the whole machine does.
  double microseconds = plan.bytes / (2.0 * card.copied / double(card.processors)) / 1000.0;
  int64_t each = getBlocksPerProcessor(plan, card, divisibility);
  double most = usable * double(card.processors * each);
  // Parts of one sum are no clusters. Copies of rows that turn out to be aligned run ahead in as
  // many programs as processors: 128 of them, shared, took 1.3 of their time.
  if (isOneSum(plan) && each > 1)
    most = double(card.processors);
  int64_t blocks = 1;
  while (blocks < mostBlocks && 2.0 * double(blocks) * programs <= most)
    blocks *= 2;
  if (blocks > 1 && microseconds * (1.0 - 1.0 / double(blocks)) > 2.0 * clusterCost)
    return blocks;
  // Rows that the blocks of a cluster keep together, and one block does not. A block is alone on
  // its multiprocessor then, so that copies ahead have to keep memory busy: of vectors that rows
  // fit.
  if (!llvm::all_of(plan.keptLoads, [&](LoadOp load) { return areRowsWide(load, divisibility); }))
    return 1;
  auto room = double(target.limits.sharedPerBlock()) * usable;
  blocks = 1;
  while (blocks < mostBlocks && plan.kept > room * double(blocks))
    blocks *= 2;
  return plan.kept - room > leastGain * (plan.bytes + plan.kept) ? blocks : 1;
}

//===--- Sharing ----------------------------------------------------------===//

namespace {

/// Shares the loops of a kernel among `blocks` blocks.
class Sharer {
public:
  Sharer(KernelOp kernel, Plan &plan, int64_t blocks)
      : kernel(kernel), plan(plan), blocks(blocks), b(&kernel.getBody().front().front()),
        loc(kernel.getLoc()) {}

  void run() {
    addAxis();
    part =
        ProgramIdOp::create(b, loc, b.getIndexType(), b.getI64IntegerAttr(kernel.getNumAxes() - 1));
    isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, constant(0));
    for (StoreOp store : plan.stores) {
      b.setInsertionPoint(store);
      auto only = scf::IfOp::create(b, store.getLoc(), isFirst, /*withElseRegion=*/false);
      store->moveBefore(only.thenBlock()->getTerminator());
    }
    for (SharedLoop &shared : plan.loops) {
      b.setInsertionPoint(shared.loop);
      loc = shared.loop.getLoc();
      takeShare(shared.loop);
      startFromNothing(shared);
      b.setInsertionPointAfter(shared.loop);
      if (!shared.state.empty())
        exchange(shared);
    }
    // Behind the last exchange: nobody's memory goes before the others have read it.
    if (lastRead)
      b.setInsertionPointAfter(lastRead);
    else
      b.setInsertionPoint(kernel.getBody().front().getTerminator());
    PartReleaseOp::create(b, loc);
    kernel->setAttr(splitPartsName, b.getI64IntegerAttr(blocks));
    kernel->setAttr(splitClusterName, b.getUnitAttr());
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// The last axis is the fastest: a program's blocks are neighbours.
  void addAxis() {
    auto yield = cast<YieldOp>(kernel.getGrid().front().getTerminator());
    OpBuilder grid(yield);
    Value extent = arith::ConstantIndexOp::create(grid, yield.getLoc(), blocks);
    yield.getExtentsMutable().append(extent);
  }

  /// Whole trips, in order, as many for each block but the last ones.
  void takeShare(scf::ForOp loop) {
    Value low = loop.getLowerBound(), high = loop.getUpperBound(), step = loop.getStep();
    for (auto &[bounds, share] : shares)
      if (bounds == std::array<Value, 3>{low, high, step}) {
        loop.setLowerBound(share.first);
        loop.setUpperBound(share.second);
        return;
      }
    Value span = arith::SubIOp::create(b, loc, high, low);
    Value all = arith::CeilDivSIOp::create(b, loc, span, step);
    Value trips = arith::MaxSIOp::create(b, loc, all, constant(0));
    Value chunk = arith::CeilDivUIOp::create(b, loc, trips, constant(blocks));
    auto bound = [&](Value place) -> Value {
      Value trip = arith::MulIOp::create(b, loc, place, chunk);
      trip = arith::MinUIOp::create(b, loc, trip, trips);
      return arith::AddIOp::create(b, loc, low, arith::MulIOp::create(b, loc, trip, step));
    };
    Value begin = bound(part), end = bound(arith::AddIOp::create(b, loc, part, constant(1)));
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
    shares.push_back({{low, high, step}, {begin, end}});
  }

  /// Block 0 alone starts sums from the program's value, or it would be added once for each block.
  /// An extremum may start from it in all.
  void startFromNothing(SharedLoop &shared) {
    for (auto [init, state] : llvm::zip(shared.loop.getInitArgsMutable(), shared.state)) {
      if (state.kind != ReduceKind::Sum || matchPattern(init.get(), m_Zero()) ||
          matchPattern(init.get(), m_PosZeroFloat()))
        continue;
      Type type = init.get().getType();
      TypedAttr zero = getIdentity(b, state.kind, getElementTypeOrSelf(type));
      if (auto tile = dyn_cast<RankedTensorType>(type))
        zero = DenseElementsAttr::get(tile, Attribute(zero));
      Value none = arith::ConstantOp::create(b, loc, zero);
      init.set(arith::SelectOp::create(b, loc, isFirst, init.get(), none));
    }
  }

  /// Scalars travel as tiles of one element.
  void exchange(SharedLoop &shared) {
    SmallVector<Value> tiles;
    SmallVector<OpOperand *> uses;
    for (Value result : shared.loop.getResults()) {
      for (OpOperand &use : result.getUses())
        uses.push_back(&use);
      if (!isa<RankedTensorType>(result.getType()))
        result =
            tensor::SplatOp::create(b, loc, RankedTensorType::get({1}, result.getType()), result);
      tiles.push_back(result);
    }
    Value place = PartShareOp::create(b, loc, b.getI32Type(), tiles);
    SmallVector<int64_t> whole(tiles.size(), -1);
    SmallVector<SmallVector<Value>> states;
    // All reads before the first merge, so that their latencies overlap.
    for (int64_t number = 0; number < blocks; ++number) {
      auto read = PartReadOp::create(b, loc, TypeRange(ValueRange(tiles)), place, number, blocks,
                                     part, whole);
      lastRead = read;
      SmallVector<Value> &state = states.emplace_back();
      for (auto [value, result] : llvm::zip(read.getResults(), shared.loop.getResults()))
        state.push_back(isa<RankedTensorType>(result.getType())
                            ? Value(value)
                            : Value(ReduceOp::create(b, loc, result.getType(), ReduceKind::Max,
                                                     value, IntegerAttr())));
    }
    SmallVector<Value> merged = mergeLoopStates(b, loc, shared.state, states);
    for (OpOperand *use : uses)
      use->set(merged[cast<OpResult>(use->get()).getResultNumber()]);
  }

  KernelOp kernel;
  Plan &plan;
  int64_t blocks;
  Value part, isFirst; // this block's number in its cluster
  Operation *lastRead = nullptr;
  SmallVector<std::pair<std::array<Value, 3>, std::pair<Value, Value>>> shares;
  OpBuilder b;
  Location loc;
};

struct TileGPUSharePrograms : tile::impl::TileGPUShareProgramsBase<TileGPUSharePrograms> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool isSplit =
          kernel.getBody()
              .walk([](scf::ForOp loop) {
                return loop->hasAttr(splitName) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
      if (isSplit || kernel->hasAttr(clusterName) || kernel->hasAttr(persistentName))
        continue;
      std::optional<Plan> plan = findShared(kernel);
      if (!plan)
        continue;
      int64_t blocks = chooseBlocks(kernel, *plan, *target, divisibility);
      if (blocks == 1) {
        declined(kernel) << "its programs fill the machine, or are short";
      } else if (isOneSum(*plan)) {
        constexpr int64_t mostParts = 64; // as of `split` without a number
        Operation *loop = plan->loops.front().loop;
        loop->setAttr(splitName, OpBuilder(loop).getI64IntegerAttr(mostParts));
        loop->setAttr(splitAutomaticName, UnitAttr::get(loop->getContext()));
      } else if (target->has(Feature::Clusters)) {
        Sharer(kernel, *plan, blocks).run();
      } else {
        declined(kernel) << "the target has no clusters";
      }
    }
  }
};

} // namespace
