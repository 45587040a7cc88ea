// tile-gpu-shift-loads: a tile that lies one position beside another one of the same tensor takes
// its elements from the registers that hold them.
//
//   a = x[i, j]; b = x[i, j - 1]   ->   e = the first element of each block of x[i, j - 1]
//                                       b = shift a by -1, with e at the blocks' edges
//
// So do the points of a stencil and the taps of a filter. Threads load whole vectors of aligned
// rows; of rows that begin one element beside, they would load each element for itself, and of rows
// above and below they hold most already. Blocks are as in ShiftPlan.h: along the dimension of
// stride 1 they go on over lanes, by shuffles; along others a vector of the edge is loaded as
// cheaply as it is exchanged.
//
// x is an `in` parameter of a kernel without `alias`: nothing writes it between the two loads. What
// does not exist is padding in both, since the same positions of one tensor do not.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/ShiftPlan.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/LoadDistance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILEGPUSHIFTLOADS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A load that may be made from another, or the other way round.
struct Candidate {
  mutable LoadOp load;
  std::optional<unsigned> fastest; // of the tile
  int64_t aligned = 1;             // neighbours of a vector that the first position allows
  Operation *last = nullptr;       // behind which the tile is there, once it is placed
  Value tile;
};

/// One tile from another.
struct Move {
  Candidate *from, *to;
  unsigned dim; // of the view
  int64_t offset;
  ShiftPlan plan;
};

} // namespace

/// Loads that a barrier or the next trip is to hide stay where they are: a shuffle would wait for
/// them.
static bool isCandidate(LoadOp load) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  return tile && hasLayout(tile) && !load.getMask() && !load->hasAttr(aheadName) &&
         !tile.getElementType().isInteger(4) && readsConstantMemory(load) &&
         llvm::all_of(load.getSteps(), [](int64_t step) { return step == 1; });
}

/// The dimension of the view along which `to` lies one position behind or before `from`, if all
/// else is equal.
static std::optional<LoadDistance> getDistance(const Candidate &from, const Candidate &to) {
  auto found = tile::gpu::getDistance(from.load, to.load);
  return found && std::abs(found->offset) == 1 ? found : std::nullopt;
}

/// True if everybody who uses what is loaded stands behind `op`, which is behind the load.
static bool areUsersBehind(LoadOp load, Operation *op) {
  return llvm::all_of(load->getUsers(), [&](Operation *user) {
    Operation *ancestor = load->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && op->isBeforeInBlock(ancestor);
  });
}

/// Brings `op`, and what it hangs on, before `place` of its block; false, with `apply` unset, if
/// something else is in the way. What is loaded here is the same at any time.
static bool hoist(Operation *op, Operation *place, bool apply) {
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place))
    return true;
  if (op == place || op->getNumRegions() || (!isPure(op) && !isa<LoadOp>(op)))
    return false;
  if (auto load = dyn_cast<LoadOp>(op); load && !readsConstantMemory(load))
    return false;
  for (Value operand : op->getOperands())
    if (!hoist(operand.getDefiningOp(), place, apply))
      return false;
  if (apply)
    op->moveBefore(place);
  return true;
}

static int64_t countBeside(const Candidate &candidate, ArrayRef<Candidate *> others) {
  return llvm::count_if(
      others, [&](Candidate *other) { return getDistance(candidate, *other).has_value(); });
}

static Operation *getLater(Operation *a, Operation *b) { return a->isBeforeInBlock(b) ? b : a; }

/// How `to` comes from `from`, if that is less than loading it.
static std::optional<Move> getMove(Candidate &from, Candidate &to) {
  auto distance = getDistance(from, to);
  if (!distance || (!areUsersBehind(to.load, getLater(from.last, to.load)) &&
                    !hoist(from.last, to.load, /*apply=*/false)))
    return std::nullopt;
  auto [dim, offset] = *distance;
  int64_t tileDim = to.load.getTileDims()[dim];
  LinearLayout layout = getLayout(cast<RankedTensorType>(to.load.getType()));
  bool isFastest = to.fastest && int64_t(*to.fastest) == tileDim;
  auto plan = ShiftPlan::get(layout, tileDim, /*byLanes=*/isFastest);
  if (!plan && isFastest)
    plan = ShiftPlan::get(layout, tileDim, /*byLanes=*/false);
  // Of two neighbours one comes from elsewhere; shuffles and loads of single elements are worth it
  // from four on.
  if (!plan || (isFastest && plan->registers.size() < 2))
    return std::nullopt;
  return Move{&from, &to, dim, offset, *plan};
}

/// Loads the edge and moves the rest.
static void apply(const Move &move) {
  LoadOp load = move.to->load;
  if (!areUsersBehind(load, getLater(move.from->last, load)))
    hoist(move.from->last, load, /*apply=*/true);
  Operation *last = getLater(move.from->last, load);
  OpBuilder b(load.getContext());
  b.setInsertionPointAfter(last);
  Location loc = load.getLoc();
  int64_t block = move.plan.getBlock(), tileDim = load.getTileDims()[move.dim];
  auto type = cast<RankedTensorType>(load.getType());
  SmallVector<int64_t> shape(type.getShape()), sizes(load.getSizes()), steps(load.getSteps());
  shape[tileDim] /= block;
  sizes[move.dim] = shape[tileDim];
  steps[move.dim] = shape[tileDim] == 1 ? 1 : block;
  SmallVector<Value> starts(load.getStarts());
  if (move.offset > 0)
    starts[move.dim] = arith::AddIOp::create(b, loc, starts[move.dim],
                                             arith::ConstantIndexOp::create(b, loc, block - 1));
  auto edgeType = withLayout(RankedTensorType::get(shape, type.getElementType()), move.plan.edge);
  auto edge = cast<LoadOp>(b.clone(*load));
  edge.getStartsMutable().assign(starts);
  edge.setSizes(sizes);
  edge.setSteps(steps);
  edge.getResult().setType(edgeType);
  auto shift =
      ShiftOp::create(b, loc, type, move.from->tile, edge.getResult(), tileDim, move.offset);
  load.replaceAllUsesWith(shift.getResult());
  move.to->last = shift;
  move.to->tile = shift;
}

namespace {

struct TileGPUShiftLoads : tile::impl::TileGPUShiftLoadsBase<TileGPUShiftLoads> {
  void runOnOperation() override {
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    for (auto kernel : getOperation().getOps<KernelOp>())
      kernel.getBody().walk([&](Block *block) { visit(*block, divisibility); });
  }

  static void visit(Block &block, const DivisibilityAnalysis &divisibility) {
    SmallVector<Candidate> candidates;
    for (LoadOp load : block.getOps<LoadOp>())
      if (isCandidate(load))
        candidates.push_back(describe(load, divisibility));
    // Two tiles that are smaller than the block, others holding them too, cost little and come at
    // once, where a shuffle would wait for one of them; three are more instructions than that.
    SmallVector<Candidate *> placed, left;
    for (Candidate &candidate : candidates) {
      auto isLike = [&](const Candidate &other) {
        return other.load.getView() == candidate.load.getView() &&
               other.load.getType() == candidate.load.getType();
      };
      auto type = cast<RankedTensorType>(candidate.load.getType());
      if (llvm::count_if(candidates, isLike) > (getLayout(type).isInjective() ? 1 : 2))
        left.push_back(&candidate);
    }
    while (!left.empty()) {
      if (std::optional<Move> move = findMove(placed, left)) {
        apply(*move);
        llvm::erase(left, move->to);
        placed.push_back(move->to);
        continue;
      }
      // One that is loaded as it is: aligned, if any of those left is; in the middle of others.
      Candidate *first = *llvm::max_element(left, [&](Candidate *a, Candidate *b) {
        return std::pair(a->aligned, countBeside(*a, left)) <
               std::pair(b->aligned, countBeside(*b, left));
      });
      first->last = first->load;
      first->tile = first->load.getResult();
      llvm::erase(left, first);
      placed.push_back(first);
    }
    // Not before: they said how others lie beside them.
    for (Candidate *candidate : placed)
      if (candidate->last != candidate->load)
        candidate->load.erase();
  }

  static Candidate describe(LoadOp load, const DivisibilityAnalysis &divisibility) {
    Candidate candidate;
    candidate.load = load;
    AccessWidth width = getAccessWidth(load, cast<RankedTensorType>(load.getType()), divisibility);
    candidate.fastest = width.fastest;
    for (auto [d, tileDim] : llvm::enumerate(load.getTileDims()))
      if (width.fastest && tileDim == int64_t(*width.fastest))
        candidate.aligned = std::gcd(divisibility.getDivisor(load.getStarts()[d]), width.possible);
    return candidate;
  }

  /// The first move along a dimension of which threads load whole vectors, else the first.
  static std::optional<Move> findMove(ArrayRef<Candidate *> placed, ArrayRef<Candidate *> left) {
    std::optional<Move> found;
    for (Candidate *to : left)
      for (Candidate *from : placed)
        if (std::optional<Move> move = getMove(*from, *to)) {
          if (!move->plan.lanes)
            return move;
          if (!found)
            found = move;
        }
    return found;
  }
};

} // namespace
