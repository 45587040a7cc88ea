// tile-gpu-widen-tiles: one program for several neighbours, and one trip for several, where the
// source's tiles are too small for the target's instructions.
//
//   grid (i: cdiv(M, 64))                          grid (i: cdiv(M, 128))
//   for k in blocks(K, 32)             ->          for k in blocks(K, 64)
//     acc = dot(a[64 x 32], b, acc)                  acc = dot(a[128 x 64], b, acc)
//
// Widening.h says what that makes of a kernel; here it is decided how far it pays, by the cost
// model: each grid axis and each loop may double, as long as that takes less time. Where programs
// are fewer than the target's multiprocessors, a launch shares a loop's trips among several of them
// instead, as with `split`, which tile-gpu-split-loops makes.
#include "dialect/AttributeNames.h"
#include "dialect/JoinedNames.h"
#include "dialect/PlanNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/Tile/Accumulation.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/CostModel/CostModel.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/Tile/Widening.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUWIDENTILES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// What doubles at once: axes of the grid, or loops by their places in the kernel.
struct Move {
  bool isLoop;
  SmallVector<unsigned, 2> numbers;
};

/// A doubling of programs must gain so much of the time, and all together: the model is no better.
/// One of short trips must not lose: the model makes little of what each trip waits for (a product
/// with GPTQ's weights, 64 terms a trip instead of 32, took 0.68 of the time on an H100, and was
/// expected to take 0.98).
constexpr double worthOne = 0.97, worthAll = 0.9;
/// Sharing costs a launch memory for the parts' sums: it must gain more.
constexpr double worthSharing = 0.8;
/// As many programs as a launch may share a loop's trips among (limits::splitParts).
constexpr int64_t mostParts = 64;

} // namespace

static SmallVector<scf::ForOp> getLoops(KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
  return loops;
}

static bool multiplies(scf::ForOp loop) { return !loop.getBody()->getOps<DotOp>().empty(); }

static std::string analyze(Widening &widening, KernelOp kernel, const Move &move, unsigned number) {
  return move.isLoop ? widening.analyzeTrips(getLoops(kernel)[number])
                     : widening.analyzePrograms(number);
}

/// Rows and columns of a product that shared memory delivers in the time that it takes to multiply
/// them.
constexpr int64_t enough = 128;

/// Whether a product of a loop is smaller than what instructions and copies are made for: so many
/// rows and columns, and twice as many of one of them, of which two warpgroups' registers hold the
/// sums; terms of as many bytes as a row of shared memory has that is swizzled.
static bool hasRoom(KernelOp kernel, const Move &move) {
  constexpr int64_t rowBits = 128 * 8;
  auto isShort = [&](DotOp dot) {
    auto a = cast<RankedTensorType>(dot.getA().getType());
    ArrayRef<int64_t> shape = dot.getType().getShape().take_back(2);
    return move.isLoop
               ? a.getShape().back() * a.getElementTypeBitWidth() < rowBits
               : shape[0] < enough || shape[1] < enough || shape[0] * shape[1] <= enough * enough;
  };
  if (move.isLoop)
    return llvm::any_of(getLoops(kernel)[move.numbers.front()].getBody()->getOps<DotOp>(), isShort);
  return llvm::any_of(getLoops(kernel), [&](scf::ForOp loop) {
    return llvm::any_of(loop.getBody()->getOps<DotOp>(), isShort);
  });
}

/// Widens in place; where it says why not, by as much as it could. `unproven` becomes true where
/// accesses are to be proven in bounds again.
static std::string widen(KernelOp kernel, const Move &move, int64_t factor, bool &unproven) {
  for (unsigned number : move.numbers) {
    Widening widening(kernel, factor);
    if (std::string why = analyze(widening, kernel, move, number); !why.empty())
      return why;
    unproven |= widening.apply();
  }
  return "";
}

/// Why the kernel's tiles are the source's business; empty where they are not.
static std::string whyFixed(KernelOp kernel) {
  if (kernel->hasAttr(crowdedName))
    return "longer tiles of more programs or trips find no room";
  if (kernel->hasAttr(tunedName))
    return "its tiles are chosen by what its tune clause names";
  for (StringRef name : {requestedWarpsName, stagesName, consumersName, occupancyName,
                         maxRegistersName, clusterName})
    if (kernel->hasAttr(name))
      return "the source fixes its schedule";
  for (scf::ForOp loop : getLoops(kernel))
    if (loop->hasAttr(splitName) || loop->hasAttr(stagesName) || loop->hasAttr(consumersName) ||
        loop->hasAttr(unrollName))
      return "the source fixes the schedule of a loop";
  return "";
}

/// Whether no side of a product grew that was long enough before, as the rows of scores whose
/// columns are few; but one side of two that are just long enough may.
static bool growsShort(KernelOp before, KernelOp after) {
  SmallVector<ArrayRef<int64_t>> old, grown;
  before.walk([&](DotOp dot) { old.push_back(dot.getType().getShape().take_back(2)); });
  after.walk([&](DotOp dot) { grown.push_back(dot.getType().getShape().take_back(2)); });
  for (auto [was, is] : llvm::zip_equal(old, grown))
    for (unsigned side : {0, 1})
      if (is[side] > was[side] && was[side] >= enough &&
          (was[side] > enough || is[1 - side] != enough))
        return false;
  return true;
}

/// A copy beside the kernel: it must stand in the module, which names the target.
static KernelOp copy(KernelOp kernel) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  return cast<KernelOp>(builder.clone(*kernel));
}

/// Whether programs may share the loop's trips: each of them does what stands before the loop, what
/// follows is for one to do, and the loop itself hands on sums alone.
static bool mayShare(KernelOp kernel, scf::ForOp loop) {
  if (loop->getParentOp() != kernel)
    return false;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (!getAccumulation(loop, i))
      return false;
  auto loopsOrWrites = [&](Operation *op) {
    bool writes = isa<StoreOp, ScatterOp, AtomicOp, AssertOp, PrintOp>(op);
    return writes || (op != loop && isa<LoopLikeOpInterface>(op)) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
  };
  for (Operation &op : llvm::make_range(loop->getBlock()->begin(), std::next(loop->getIterator())))
    if (op.walk(loopsOrWrites).wasInterrupted())
      return false;
  return true;
}

/// Lets the launch share the trips of a product among programs, where the grid leaves much of the
/// machine idle at the extents that the kernel is built for.
static bool shareTrips(KernelOp kernel, const cost::CostEstimate &alone,
                       const cost::TargetLimits &limits) {
  if (2 * alone.programs > limits.processors)
    return false;
  for (scf::ForOp loop : getLoops(kernel)) {
    if (!multiplies(loop) || !mayShare(kernel, loop))
      continue;
    Builder builder(kernel);
    loop->setAttr(splitName, builder.getI64IntegerAttr(mostParts));
    loop->setAttr(splitAutomaticName, builder.getUnitAttr());
    cost::CostEstimate shared = cost::estimateCost(kernel, {}, limits);
    if (shared.valid && shared.milliseconds < alone.milliseconds * worthSharing)
      return true;
    loop->removeAttr(splitName);
    loop->removeAttr(splitAutomaticName);
  }
  return false;
}

/// Takes the best doubling, and again, until none gains.
static void choose(KernelOp kernel, const cost::TargetLimits &limits) {
  SmallVector<scf::ForOp> loops = getLoops(kernel);
  if (llvm::none_of(loops, multiplies))
    return;
  if (std::string why = whyFixed(kernel); !why.empty()) {
    declined(kernel) << why;
    return;
  }
  SmallVector<Move> moves;
  unsigned axes = kernel.getNumAxes();
  for (unsigned axis = 0; axis < axes; ++axis)
    moves.push_back({false, {axis}});
  // Rows and columns of a product: the one without the other may read more than it multiplies.
  if (axes >= 2)
    moves.push_back({false, {axes - 2, axes - 1}});
  for (auto [i, loop] : llvm::enumerate(loops))
    if (multiplies(loop))
      moves.push_back({true, {unsigned(i)}});
  auto estimate = [&](KernelOp candidate) { return cost::estimateCost(candidate, {}, limits); };
  std::optional<cost::CostEstimate> first;
  double best = 0;
  std::string reason;
  KernelOp current = kernel;
  bool unproven = false; // also of candidates that were not taken
  for (bool gains = true; gains;) {
    gains = false;
    KernelOp next;
    // What is impossible, or does not fit, stays so when other tiles are longer.
    llvm::erase_if(moves, [&](const Move &move) {
      KernelOp candidate;
      std::string why = "the tiles of its products are long enough";
      if (hasRoom(current, move))
        why = widen(candidate = copy(current), move, 2, unproven);
      if (reason.empty())
        reason = why;
      cost::CostEstimate made;
      bool possible = why.empty() && growsShort(current, candidate);
      if (possible && !first)
        best = (first = estimate(kernel))->milliseconds;
      if (possible)
        possible = (made = estimate(candidate)).valid;
      if (possible && made.milliseconds < best * (gains || move.isLoop ? 1.0 : worthOne)) {
        best = made.milliseconds;
        gains = true;
        std::swap(next, candidate);
      }
      if (candidate)
        candidate.erase();
      return !possible;
    });
    if (next) {
      if (current != kernel)
        current.erase();
      current = next;
    }
  }
  if (current != kernel && current->hasAttr(joinedProgramsName) &&
      best > first->milliseconds * worthAll) {
    current.erase();
    current = kernel;
  }
  cost::CostEstimate made = current == kernel && first ? *first : estimate(current);
  bool shares = made.valid && shareTrips(current, made, limits);
  if (current == kernel) {
    if (shares)
      kernel->setAttr(widenedName, UnitAttr::get(kernel.getContext()));
    else
      declined(kernel) << (!first ? reason
                                  : "longer tiles of more programs or trips take no less time");
    return;
  }
  current->setAttr(widenedName, UnitAttr::get(current.getContext()));
  if (made.valid && !shares)
    current->setAttr(plannedBytesName, Builder(current).getI64IntegerAttr(made.sharedBytes));
  // No estimate asks for it, so that it is done of what is taken alone.
  if (unproven)
    Widening::proveAgain(current);
  kernel.erase(); // `current` stands in its place, under its name
}

namespace {

struct TileGPUWidenTiles : tile::impl::TileGPUWidenTilesBase<TileGPUWidenTiles> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      const GPUTarget *target = getTarget(kernel);
      if (!target)
        return signalPassFailure();
      if (programs.empty() && trips == 1) {
        cost::TargetLimits limits = cost::getTargetLimits(*target, getCard(*target));
        if (auto processors = getOperation()->getAttrOfType<IntegerAttr>(processorsName))
          limits.processors = processors.getInt();
        choose(kernel, limits);
        continue;
      }
      bool unproven = false;
      for (auto [axis, factor] : llvm::enumerate(programs))
        if (factor > 1 && axis < kernel.getNumAxes())
          if (std::string why = widen(kernel, {false, {unsigned(axis)}}, factor, unproven);
              !why.empty())
            declined(kernel) << why;
      for (unsigned i = 0; trips > 1 && i < getLoops(kernel).size(); ++i)
        if (std::string why = widen(kernel, {true, {i}}, trips, unproven); !why.empty())
          declined(getLoops(kernel)[i]) << why;
      if (unproven)
        Widening::proveAgain(kernel);
    }
  }
};

} // namespace
