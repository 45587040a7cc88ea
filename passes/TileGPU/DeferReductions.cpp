// tile-gpu-defer-reductions: what a loop reduces block by block is reduced in each thread, and
// across threads after the loop.
//
//   s = 0                                   t = zeros[lanes]
//   for x in blocks: s += sum(x)      ->    for x in blocks: t += sums of x by lanes
//                                           s = sum(t)
//
// The loop's reduction across lanes and warps costs shuffles and a barrier in each trip, the one
// behind it once. It changes the order of additions, so it asks for the flag that permits that.
//
// What a selection takes now and then is reduced in a branch (SelectedReductions.cpp).
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/TileGPU/SelectedReductions.h"
#include "passes/TileGPU/UnevenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUDEFERREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using Flags = arith::FastMathFlags;

namespace {

/// A running maximum `m' = max(m, max(x))`, or a sum: `s' = s + sum(x)`, or one that follows a
/// maximum: `s' = s exp(m - m') + sum(exp(x - m'))`.
/// `index` is the place among the loop's carried values, and stays: the new loop carries as many.
struct Carried {
  unsigned index = 0; // among the loop's values
  bool isMax = false;
  int follows = -1;            // index of the maximum that a sum is relative to
  Operation *update = nullptr; // makes the value that is yielded
  ReduceOp reduce;
  Value tile; // x
  // Of a sum that follows a maximum:
  arith::MulFOp scaled;
  mlir::math::ExpOp factor, power;
  arith::SubFOp change, difference;
  tensor::SplatOp splat;
};

/// One loop's reductions, and the shape in which threads take their shares of a block.
struct Plan {
  scf::ForOp loop;
  SmallVector<Carried> carried;
  // Neither cloned nor mapped: the new loop has others in their place.
  llvm::SetVector<Operation *> replaced; // operations of the body that the new one does without
  int64_t lanes = 0;

  Carried *find(unsigned index) {
    Carried *found = llvm::find_if(carried, [&](const Carried &c) { return c.index == index; });
    return found == carried.end() ? nullptr : found;
  }
};

} // namespace

/// A reduction of a line of f32 of the kind asked for, with one use.
/// One use: the value before the loop's end is nobody else's.
static ReduceOp asReduction(Value value, ReduceKind kind) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != kind || !reduce.getType().isF32() ||
      reduce.getSource().getType().getRank() != 1 || !reduce->hasOneUse())
    return {};
  return reduce;
}

/// The other operand of a commutative operation, if one is `operand`.
static Value getOther(Operation *op, Value operand) {
  if (op->getOperand(0) == operand)
    return op->getOperand(1);
  return op->getOperand(1) == operand ? op->getOperand(0) : Value();
}

static bool mayRegroup(Operation *op) {
  auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(op);
  return math && bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(), Flags::reassoc);
}

/// From a finite start a thread that has seen nothing but -inf takes part like any other.
/// -inf as a start would make exp(m - m') of a thread without elements exp(-inf + inf), NaN.
static std::optional<Carried> matchMax(scf::ForOp loop, unsigned index) {
  Value argument = loop.getRegionIterArg(index);
  auto update = loop.getYieldedValues()[index].getDefiningOp<arith::MaximumFOp>();
  FloatAttr start;
  if (!update || !matchPattern(loop.getInitArgs()[index], m_Constant(&start)) ||
      !start.getValue().isFinite())
    return std::nullopt;
  Value other = getOther(update, argument);
  ReduceOp reduce = other ? asReduction(other, ReduceKind::Max) : ReduceOp();
  if (!reduce)
    return std::nullopt;
  Carried carried;
  carried.index = index;
  carried.isMax = true;
  carried.update = update;
  carried.reduce = reduce;
  carried.tile = reduce.getSource();
  return carried;
}

static std::optional<Carried> matchSum(scf::ForOp loop, unsigned index, Plan &plan) {
  Value argument = loop.getRegionIterArg(index);
  auto update = loop.getYieldedValues()[index].getDefiningOp<arith::AddFOp>();
  // reassoc on the addition: the sum may be taken in any order.
  if (!update || !mayRegroup(update) || !update->hasOneUse() || !argument.hasOneUse())
    return std::nullopt;
  Carried carried;
  carried.index = index;
  carried.update = update;
  for (Value operand : update->getOperands())
    if ((carried.reduce = asReduction(operand, ReduceKind::Sum)))
      break;
  if (!carried.reduce)
    return std::nullopt;
  // Either s + sum(x), or s * factor + sum(power).
  Value rest = getOther(update, carried.reduce.getResult());
  carried.tile = carried.reduce.getSource();
  if (rest == argument)
    return carried;
  carried.scaled = rest.getDefiningOp<arith::MulFOp>();
  if (!carried.scaled || !mayRegroup(carried.scaled) || !carried.scaled->hasOneUse())
    return std::nullopt;
  Value factor = getOther(carried.scaled, argument);
  carried.factor = factor ? factor.getDefiningOp<mlir::math::ExpOp>() : mlir::math::ExpOp();
  carried.power = carried.tile.getDefiningOp<mlir::math::ExpOp>();
  if (!carried.factor || !carried.power || !carried.factor->hasOneUse() ||
      !carried.power->hasOneUse() || !mayRegroup(carried.power))
    return std::nullopt;
  carried.change = carried.factor.getOperand().getDefiningOp<arith::SubFOp>();
  carried.difference = carried.power.getOperand().getDefiningOp<arith::SubFOp>();
  if (!carried.change || !carried.difference || !carried.change->hasOneUse() ||
      !carried.difference->hasOneUse())
    return std::nullopt;
  carried.splat = carried.difference.getRhs().getDefiningOp<tensor::SplatOp>();
  if (!carried.splat || !carried.splat->hasOneUse())
    return std::nullopt;
  // The factor and the power must be of the same maximum, old and new.
  for (Carried &max : plan.carried)
    if (max.isMax && carried.change.getLhs() == loop.getRegionIterArg(max.index) &&
        carried.change.getRhs() == max.update->getResult(0) &&
        carried.splat.getInput() == max.update->getResult(0))
      carried.follows = max.index;
  if (carried.follows < 0)
    return std::nullopt;
  // What is reduced is x itself: the power is computed anew from each lane's own maximum.
  carried.tile = carried.difference.getLhs();
  return carried;
}

/// Threads of the kernel: what it asks for, or as many as layouts will take, 16 elements of a block
/// to each.
static int64_t countLanes(KernelOp kernel, int64_t block) {
  if (auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName))
    return 32 * requested.getInt();
  return 32 * std::clamp<int64_t>(block / (32 * 16), 4, 16);
}

/// Bits of the narrowest elements in memory that `tile` is computed from, element by element.
/// Through element-wise work, as a load of bf16 that was widened: the load decides on 16 bytes.
static unsigned getNarrowest(Value tile, unsigned depth = 0) {
  Type element = getElementTypeOrSelf(tile.getType());
  unsigned bits = element.isIndex() ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
  Operation *op = tile.getDefiningOp();
  if (!op || depth > 16 || !OpTrait::hasElementwiseMappableTraits(op))
    return bits;
  unsigned narrowest = ~0u;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !operand.getDefiningOp<InsideOp>())
      narrowest = std::min(narrowest, getNarrowest(operand, depth + 1));
  return narrowest == ~0u ? bits : narrowest;
}

/// Neighbours that a thread takes at once: 16 bytes of what memory holds, or fewer where rows begin
/// anywhere, as its load will have it.
static int64_t getVector(Value tile) {
  auto kernel = tile.getParentRegion()->getParentOfType<KernelOp>();
  return tile::gpu::getRowDivisor(kernel, 128 / getNarrowest(tile));
}

static std::optional<Plan> makePlan(KernelOp kernel, scf::ForOp loop) {
  Plan plan;
  plan.loop = loop;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (auto max = matchMax(loop, i))
      plan.carried.push_back(*max);
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    if (auto sum = matchSum(loop, i, plan))
      plan.carried.push_back(*sum);
  // Null where a plain sum has none.
  for (Carried &c : plan.carried)
    for (Operation *op : {c.update, c.reduce.getOperation(), c.scaled.getOperation(),
                          c.factor.getOperation(), c.power.getOperation(), c.change.getOperation(),
                          c.difference.getOperation(), c.splat.getOperation()})
      if (op)
        plan.replaced.insert(op);
  // Nothing else may see a value before the loop's end.
  // A use in the loop would see a thread's own part, where the program has the whole.
  auto isPrivate = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return plan.replaced.contains(user) || user == loop.getBody()->getTerminator();
    });
  };
  bool sums = false;
  for (Carried &c : plan.carried) {
    Value next = c.update->getResult(0);
    // Yielded once, in its own place: no swaps between carried values.
    if (!isPrivate(loop.getRegionIterArg(c.index)) || !isPrivate(next) ||
        llvm::count(loop.getYieldedValues(), next) != 1 ||
        llvm::is_contained(loop.getYieldedValues(), loop.getRegionIterArg(c.index)))
      return std::nullopt;
    sums |= !c.isMax;
    int64_t block = cast<RankedTensorType>(c.tile.getType()).getDimSize(0),
            lanes = countLanes(kernel, block);
    // One shape for all of the loop's reductions: a thread's lanes of maxima and sums must be the
    // same positions.
    if (!llvm::isPowerOf2_64(block) || !llvm::isPowerOf2_64(lanes) ||
        block < lanes * getVector(c.tile) || (plan.lanes && plan.lanes != lanes))
      return std::nullopt;
    plan.lanes = lanes;
  }
  // A maximum alone is not worth the change.
  if (!sums)
    return std::nullopt;
  return plan;
}

namespace {

/// Writes the new loop.
class Writer {
public:
  explicit Writer(Plan &plan) : plan(plan), b(plan.loop), loc(plan.loop.getLoc()) {}

  // The old loop stays until the new one is complete, since operations are cloned from it.
  void run() {
    scf::ForOp loop = plan.loop;
    lineType = RankedTensorType::get({plan.lanes}, b.getF32Type());
    SmallVector<Value> inits(loop.getInitArgs());
    for (Carried &c : plan.carried) {
      // Maxima start from the program's value in each lane: it counts once however often it is
      // taken. Sums start from 0, and the program's start is added at the end.
      Value start = c.isMax ? inits[c.index]
                            : Value(arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0.0)));
      inits[c.index] = tensor::SplatOp::create(b, loc, lineType, start);
    }
    auto made = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep(), inits);
    // stages(n) and other requests go along.
    made->setAttrs(loop->getAttrs());
    mapping.map(loop.getInductionVar(), made.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
    if (!made.getBody()->empty()) // a loop that carries nothing is made with its terminator
      made.getBody()->back().erase();
    b.setInsertionPointToEnd(made.getBody());
    // Everything is cloned but what is replaced; an update is written where the old one stood.
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!plan.replaced.contains(&op))
        b.clone(op, mapping);
      for (Carried &c : plan.carried)
        if (c.update == &op)
          update(c);
    }
    scf::YieldOp::create(b, loop.getBody()->getTerminator()->getLoc(),
                         llvm::map_to_vector(loop.getYieldedValues(),
                                             [&](Value v) { return mapping.lookupOrDefault(v); }));
    b.setInsertionPointAfter(made);
    SmallVector<Value> results(made.getResults());
    for (Carried &c : plan.carried) // maxima come first
      results[c.index] = join(c, made, results);
    loop->replaceAllUsesWith(results);
    loop.erase();
  }

private:
  /// The block as [turns, threads, neighbours].
  /// Position = (turn * lanes + lane) * vector + neighbour: lane l of every turn is thread l's, 16
  /// bytes at a time.
  Value deal(Value tile) {
    Value mapped = mapping.lookupOrDefault(tile);
    // The narrow tile is dealt out and widened afterwards, so that the load's layout is for its own
    // width.
    auto widened = tile.getDefiningOp<arith::ExtFOp>();
    Value narrow = widened ? mapping.lookupOrDefault(widened.getIn()) : mapped;
    auto type = cast<RankedTensorType>(narrow.getType());
    int64_t vector = getVector(tile), turns = type.getDimSize(0) / (plan.lanes * vector);
    Value dealt = ReshapeOp::create(
        b, loc, RankedTensorType::get({turns, plan.lanes, vector}, type.getElementType()), narrow);
    if (widened)
      dealt = arith::ExtFOp::create(
          b, loc, cast<RankedTensorType>(dealt.getType()).clone(b.getF32Type()), dealt);
    return dealt;
  }

  // Along neighbours and turns, both of which a thread holds: no shuffle.
  Value reduce(Value dealt, ReduceKind kind) {
    auto type = cast<RankedTensorType>(dealt.getType());
    auto rows = RankedTensorType::get({type.getDimSize(0), plan.lanes}, b.getF32Type());
    Value row = ReduceOp::create(b, loc, rows, kind, dealt, b.getI64IntegerAttr(2));
    return ReduceOp::create(b, loc, lineType, kind, row, b.getI64IntegerAttr(0));
  }

  void update(Carried &c) {
    Value old = mapping.lookup(plan.loop.getRegionIterArg(c.index)), next, dealt = deal(c.tile);
    if (c.isMax) {
      next = arith::MaximumFOp::create(b, loc, old, reduce(dealt, ReduceKind::Max));
    } else {
      // As the program: s * exp(m - m'), with m and m' of this lane.
      if (c.follows >= 0) {
        Value before = mapping.lookup(plan.loop.getRegionIterArg(c.follows));
        Value top = mapping.lookup(plan.find(c.follows)->update->getResult(0));
        auto flags = [](auto op) { return op.getFastmathAttr(); };
        Value change = arith::SubFOp::create(b, loc, before, top, flags(c.change));
        Value factor = mlir::math::ExpOp::create(b, loc, change, flags(c.factor));
        old = arith::MulFOp::create(b, loc, old, factor, flags(c.scaled));
        Value column =
            ReshapeOp::create(b, loc, RankedTensorType::get({plan.lanes, 1}, b.getF32Type()), top);
        Value tops = BroadcastOp::create(b, loc, dealt.getType(), column);
        Value difference = arith::SubFOp::create(b, loc, dealt, tops, flags(c.difference));
        dealt = mlir::math::ExpOp::create(b, loc, difference, flags(c.power));
      }
      next = arith::AddFOp::create(b, loc, old, reduce(dealt, ReduceKind::Sum),
                                   cast<arith::AddFOp>(c.update).getFastmathAttr());
    }
    mapping.map(c.update->getResult(0), next);
  }

  /// One value of all threads', with the one that the loop began with.
  /// By lanes, which now do meet: the one reduction across threads.
  Value join(Carried &c, scf::ForOp made, ArrayRef<Value> results) {
    Value line = made.getResult(c.index), start = plan.loop.getInitArgs()[c.index];
    auto reduceLine = [&](Value v, ReduceKind kind) {
      return ReduceOp::create(b, loc, b.getF32Type(), kind, v, IntegerAttr());
    };
    if (c.isMax)
      return reduceLine(line, ReduceKind::Max);
    // Sums are relative to each lane's maximum: first to the common one, then added.
    if (c.follows >= 0) {
      Value top = results[c.follows], tops = made.getResult(c.follows);
      auto rescale = [&](Value sum, Value from, Value to) -> Value {
        Value change = arith::SubFOp::create(b, loc, from, to, c.change.getFastmathAttr());
        Value factor = mlir::math::ExpOp::create(b, loc, change, c.factor.getFastmathAttr());
        return arith::MulFOp::create(b, loc, sum, factor, c.scaled.getFastmathAttr());
      };
      line = rescale(line, tops, tensor::SplatOp::create(b, loc, lineType, top));
      start = rescale(start, plan.loop.getInitArgs()[c.follows], top);
    }
    return arith::AddFOp::create(b, loc, start, reduceLine(line, ReduceKind::Sum),
                                 cast<arith::AddFOp>(c.update).getFastmathAttr());
  }

  Plan &plan;
  OpBuilder b;
  Location loc;
  RankedTensorType lineType;
  IRMapping mapping;
};

struct TileGPUDeferReductions : tile::impl::TileGPUDeferReductionsBase<TileGPUDeferReductions> {
  void runOnOperation() override {
    // Inner loops first, by the walk; an outer loop is not changed by a change within.
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp loop : loops)
        if (auto plan = makePlan(kernel, loop))
          Writer(*plan).run();
      tile::gpu::branchAroundReductions(kernel);
    }
  }
};

} // namespace
