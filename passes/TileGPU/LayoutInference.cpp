// Decides in which layout each tile of a kernel lives in registers: a fixed point over the kernel's
// body.
//
//   x = load               anchored: blocked, neighbours along the dimension with stride 1
//   acc = dot(a, b, acc)   anchored: fragments of tensor cores, which win over blocked layouts
//   p = exp(acc)           follows acc
//   q = p * s[rows]        follows p; s, a row that is broadcast, is repeated in q's layout
//   store q                asks for the layout of its access: a conversion, where they differ
//
// Values that depend on no anchor (constants, positions, masks) are computed anew in the layout
// that each user asks for, so they cause no conversion.
#include "passes/TileGPU/LayoutInference.h"
#include "dialect/TileGPU/ScanPlan.h"
#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/PartLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

//===--- Repeatable operations --------------------------------------------===//

/// True if the value is only used, perhaps after element-wise work, by broadcasts to a larger tile.
/// A small tile beside a large one: loading it in each layout costs less than moving it between
/// threads.
static bool feedsOnlyBroadcasts(Value value) {
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value fed = worklist.pop_back_val();
    if (fed.use_empty())
      return false;
    for (Operation *user : fed.getUsers()) {
      if (isa<BroadcastOp>(user) || !seen.insert(user).second)
        continue;
      if (!isa<ReshapeOp>(user) &&
          !(OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1))
        return false;
      worklist.push_back(user->getResult(0));
    }
  }
  return true;
}

/// True of operations whose result depends on no memory that could change, and that each user may
/// have in its own layout. A load counts only where it is small.
bool tile::gpu::isRematerializable(Operation *op) {
  if (!op)
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return isa<RankedTensorType>(load.getType()) && !load.getMask() &&
           feedsOnlyBroadcasts(load.getResult());
  return isa<arith::ConstantOp, tensor::SplatOp, IotaOp, InsideOp, BroadcastOp, ReshapeOp,
             PermuteOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

//===--- Inference --------------------------------------------------------===//

LinearLayout LayoutInference::getDefault(ArrayRef<int64_t> extents,
                                         ArrayRef<unsigned> order) const {
  // Fewer rows than warps: what is reduced meets in several warps anyway. Threads then hold all
  // rows of few columns, and what the rows share, as weights, once.
  auto hasRows = [&] {
    int64_t rows = 1;
    for (int64_t extent : extents.drop_back())
      rows *= extent;
    return rows >= shape.numWarps;
  };
  if (shape.reducesLast && extents.size() > 1 && order[0] == extents.size() - 1 && hasRows())
    return LinearLayout::blockedRows(extents, order, shape.vector, shape.numWarps);
  return LinearLayout::blocked(extents, order, shape.vector, shape.numWarps);
}

LinearLayout LayoutInference::getDefault(RankedTensorType type) const {
  SmallVector<unsigned> order;
  for (unsigned d = type.getRank(); d-- > 0;)
    order.push_back(d);
  return getDefault(type.getShape(), order);
}

/// The accumulator of a product by multiply-adds. A thread reads from shared memory the rows and
/// columns of its own accumulators, fewest of which a square has. Neighbouring lanes take
/// neighbouring rows and vectors of columns, which are read from different banks, or are the same:
///
///   bits of a row        lanes | registers | warps
///   bits of a column     vector | lanes | registers | warps
static LinearLayout getSquareLayout(ArrayRef<int64_t> extents, unsigned vector, unsigned warps) {
  enum { Row, Column };
  constexpr unsigned laneBits = 5, columnLaneBits = 3;
  unsigned left[2] = {llvm::Log2_64(extents[Row]), llvm::Log2_64(extents[Column])};
  unsigned next[2] = {}; // the bit of each dimension that is dealt out next
  SmallVector<Coord> registers, lanes, warpBases;
  auto deal = [&](SmallVector<Coord> &to, unsigned dim, unsigned count) {
    for (; count; --count, --left[dim]) {
      Coord basis(2, 0);
      basis[dim] = int64_t(1) << next[dim]++;
      to.push_back(basis);
    }
  };
  deal(registers, Column, std::min(llvm::Log2_32(vector), left[Column]));
  unsigned columnLanes = std::min(columnLaneBits, left[Column]),
           rowLanes = std::min(laneBits - columnLanes, left[Row]);
  columnLanes = std::min(laneBits - rowLanes, left[Column]);
  deal(lanes, Column, columnLanes);
  deal(lanes, Row, rowLanes);
  lanes.resize(laneBits, Coord(2, 0));
  unsigned warpBits = llvm::Log2_32(warps), both = left[Row] + left[Column],
           held = both - std::min(both, warpBits), vectors = registers.size();
  // Of `held` bits in registers: as many of columns as make rows and columns together fewest.
  unsigned columns = 0;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (unsigned c = held - std::min(held, left[Row]); c <= std::min(held, left[Column]); ++c) {
    int64_t read = (int64_t(1) << (vectors + c)) + (int64_t(1) << (held - c));
    if (read >= fewest)
      continue;
    fewest = read;
    columns = c;
  }
  deal(registers, Column, columns);
  deal(registers, Row, held - columns);
  deal(warpBases, Column, left[Column]);
  deal(warpBases, Row, left[Row]);
  warpBases.resize(warpBits, Coord(2, 0));
  return LinearLayout(extents, registers, lanes, warpBases);
}

/// The layout of the accumulator decides that of the operands, which tile-gpu-assign-layouts
/// converts to.
LinearLayout LayoutInference::getDotLayout(DotOp dot) const {
  RankedTensorType type = dot.getType();
  if (chooseDotKind(dot, shape) == DotKind::Fma)
    // Where rows are reduced a warp keeps whole ones.
    return type.getRank() == 2 && !shape.rowsInWarps
               ? getSquareLayout(type.getShape(), shape.vector, shape.numWarps)
               : getDefault(type);
  auto [warpsM, warpsN] = chooseWarps(dot, shape);
  // Of a swapped product wgmma computes the transpose: its rows are the tile's columns.
  if (chooseDotKind(dot, shape) == DotKind::Wgmma && isSwapped(dot))
    return LinearLayout::mmaAccumulator(type.getDimSize(1), type.getDimSize(0), warpsM, warpsN)
        .permute({1, 0});
  ArrayRef<int64_t> shape = type.getShape(), leading = shape.drop_back(2);
  return LinearLayout::mmaAccumulator(shape[leading.size()], shape.back(), warpsM, warpsN)
      .withBatches(leading);
}

LinearLayout LayoutInference::getReduceByLayout(ReduceByOp reduce) const {
  Value source = reduce.getSources()[0];
  LinearLayout layout = getLayoutOrDefault(source);
  return planScan(layout, reduce.getAxis()) ? layout
                                            : getDefault(cast<RankedTensorType>(source.getType()));
}

std::optional<LinearLayout> LayoutInference::getAnchor(Value value) const {
  auto it = anchors.find(value);
  if (it == anchors.end())
    return std::nullopt;
  return it->second.layout;
}

/// Once layouts are assigned, the type has the layout, also of a value that replaced another.
LinearLayout LayoutInference::getLayoutOrDefault(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (hasLayout(type))
    return getLayout(type);
  if (auto layout = getAnchor(value))
    return *layout;
  return getDefault(type);
}

/// Invariant: the priority of a value never falls, and there are two, so that the fixed point ends:
/// 1 is blocked, 2 are tensor cores.
bool LayoutInference::anchor(Value value, const LinearLayout &layout, unsigned priority) {
  auto [it, inserted] = anchors.try_emplace(value, Anchor{layout, priority});
  if (inserted)
    return true;
  // Only upwards, so that the fixed point is reached.
  if (it->second.priority >= priority)
    return false;
  it->second = {layout, priority};
  return true;
}

/// Parts that a selection puts side by side at most: those that tile-gpu-expand-shapes makes.
static constexpr int64_t mostParts = 8;

/// How parts that a selection puts side by side are held together: as `source` holds one, with the
/// further elements in lanes and warps that hold copies of others, and in registers. None where
/// copies are left.
std::optional<LinearLayout> LayoutInference::getJoinedLayout(Value operand) const {
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return std::nullopt;
  Value part = broadcast.getSource();
  auto from = dyn_cast<RankedTensorType>(part.getType());
  auto to = cast<RankedTensorType>(broadcast.getType());
  if (!from || from.getRank() != to.getRank() ||
      to.getNumElements() / from.getNumElements() > mostParts)
    return std::nullopt;
  std::optional<LinearLayout> layout = getAnchor(part);
  if (auto reshape = part.getDefiningOp<ReshapeOp>(); reshape && !layout)
    if (auto source = getAnchor(reshape.getSource()))
      layout = source->reshape(from.getShape());
  if (!layout)
    return std::nullopt;
  SmallVector<Coord> bases[numInDims];
  for (InDim in : {InDim::Register, InDim::Lane, InDim::Warp})
    bases[unsigned(in)] = SmallVector<Coord>(layout->getBases(in));
  auto place = [&](Coord further) {
    for (InDim in : {InDim::Lane, InDim::Warp})
      for (Coord &basis : bases[unsigned(in)])
        if (llvm::all_of(basis, [](int64_t x) { return x == 0; })) {
          basis = further;
          return;
        }
    bases[unsigned(InDim::Register)].push_back(further);
  };
  for (int64_t d = 0; d < to.getRank(); ++d)
    for (int64_t at = from.getDimSize(d); at < to.getDimSize(d); at *= 2) {
      Coord further(to.getRank(), 0);
      further[d] = at;
      place(further);
    }
  LinearLayout joined(to.getShape(), bases[unsigned(InDim::Register)], bases[unsigned(InDim::Lane)],
                      bases[unsigned(InDim::Warp)]);
  return joined.isInjective() ? std::optional(joined) : std::nullopt;
}

/// Element-wise operations and loops have one layout; the higher priority spreads.
bool LayoutInference::anchorLike(Value value, Value other) {
  auto it = anchors.find(other);
  if (it == anchors.end())
    return false;
  Anchor copy = it->second;
  return anchor(value, copy.layout, copy.priority);
}

/// Values that go around a loop, or come out of either branch, must have one layout.
bool LayoutInference::visitRegions(Operation *op) {
  bool changed = false;
  auto isTile = [](Value value) { return isa<RankedTensorType>(value.getType()); };
  auto join = [&](Value a, Value b) {
    if (isTile(a))
      changed |= anchorLike(a, b), changed |= anchorLike(b, a);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // What is yielded decides inside; the initial value is asked only in the second round
    // (asksInits), if nothing else has.
    for (auto [init, argument, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(),
                   loop.getResults())) {
      // The value before the loop is converted once; inside, what is yielded decides.
      if (!isTile(argument))
        continue;
      changed |= anchorLike(argument, yielded);
      if (asksInits)
        changed |= anchorLike(argument, init);
      changed |= anchorLike(result, argument);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (unsigned i = 0; i < branch.getNumResults(); ++i) {
      if (!isTile(branch.getResult(i)))
        continue;
      changed |= anchorLike(branch.getResult(i), branch.thenYield().getOperand(i));
      changed |= anchorLike(branch.getResult(i), branch.elseYield().getOperand(i));
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    // Before and after regions of a `while` pass tiles on by the condition.
    for (auto [init, before, after, yielded] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getAfterArguments(),
                   loop.getYieldedValues())) {
      (void)after;
      if (isTile(before))
        changed |= anchorLike(before, yielded), changed |= asksInits && anchorLike(before, init);
    }
    for (auto [passed, after, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
      if (isTile(after))
        join(after, passed), join(result, after);
  }
  return changed;
}

/// Computes an operand that is held in registers where the product reads it: what depends on large
/// loads has a layout, everything else takes this one by itself.
bool LayoutInference::anchorOrigins(Value value, const LinearLayout &layout) {
  Operation *op = value.getDefiningOp();
  if (!op || !anchors.count(value) || isa<LoadOp>(op))
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return anchorOrigins(
        reshape.getSource(),
        layout.reshape(cast<RankedTensorType>(reshape.getSource().getType()).getShape()));
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    SmallVector<int64_t> inverse(permute.getPermutation().size());
    for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
      inverse[d] = i;
    return anchorOrigins(permute.getSource(), layout.permute(inverse));
  }
  bool changed = anchor(value, layout, 2);
  if (OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        changed |= anchorOrigins(operand, layout);
  return changed;
}

bool LayoutInference::visit(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return visitRegions(op);
  if (isa<PartCombineOp, PartLoadOp>(op)) { // as the part's own sums are held
    bool changed = false;
    for (auto [sum, total] : llvm::zip(op->getOperands(), op->getResults()))
      if (auto type = cast<RankedTensorType>(sum.getType());
          !getAnchor(sum) && type.getNumElements() == 1)
        changed |= anchor(total, getDefault(type), 1);
      else
        changed |= anchorLike(total, sum);
    return changed;
  }
  if (isa<PartReadOp>(op)) { // from shared memory, into any layout
    bool changed = false;
    for (Value slice : op->getResults())
      changed |= anchor(slice, getDefault(cast<RankedTensorType>(slice.getType())), 1);
    return changed;
  }
  if (auto scan = dyn_cast<ScanOp>(op)) { // all its tiles in one layout, which its first one brings
    // A scan needs a layout in which each bit of its axis has one holder (planScan); else the
    // default has it.
    LinearLayout layout = getLayoutOrDefault(scan.getSources()[0]);
    if (!planScan(layout, scan.getAxis()))
      layout = getDefault(cast<RankedTensorType>(scan.getSources()[0].getType()));
    bool changed = false;
    for (Value result : scan.getResults())
      changed |= anchor(result, layout, 1);
    return changed;
  }
  if (auto reduce = dyn_cast<ReduceByOp>(op)) {
    auto it = anchors.find(reduce.getSources()[0]);
    unsigned priority = it == anchors.end() ? 1 : it->second.priority;
    LinearLayout layout = getReduceByLayout(reduce);
    bool changed = false;
    for (Value result : reduce.getResults())
      if (isa<RankedTensorType>(result.getType()))
        changed |= anchor(result, layout.dropDim(reduce.getAxis()), priority);
    return changed;
  }
  // Several results, or none that is a tile: handled above, or nothing to lay out.
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType())) {
    return false;
  }
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (auto dot = dyn_cast<DotOp>(op)) {
    bool changed =
        anchor(result, getDotLayout(dot), chooseDotKind(dot, shape) == DotKind::Fma ? 1 : 2);
    if (std::optional<HeldOperand> held = getHeldOperand(dot, shape))
      changed |= anchorOrigins(held->tile, held->layout);
    return changed;
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (isRematerializable(op))
      return false;
    return anchor(result, getLoadLayout(load, type), 1);
  }
  if (auto gather = dyn_cast<GatherOp>(op))
    return anchor(result, getAccessLayout(gather, type), 1);
  if (auto atomic = dyn_cast<AtomicOp>(op)) {
    // Neighbours in neighbouring lanes: each instruction then touches as few sectors of memory as
    // can be. What tensor cores have computed stays where it is.
    auto it = anchors.find(atomic.getValue());
    if (it != anchors.end() && it->second.priority > 1)
      return anchor(result, it->second.layout, it->second.priority);
    // Few results go to every warp, which then reduces them without the others.
    constexpr int64_t mostForWarp = 4 * 32;
    bool oneWarp = type.getNumElements() <= mostForWarp && !result.use_empty();
    LinearLayout layout = LinearLayout::blocked(type.getShape(), getAccessOrder(atomic),
                                                /*vector=*/1, oneWarp ? 1 : shape.numWarps);
    SmallVector<Coord> warps(layout.getBases(InDim::Warp));
    warps.resize(llvm::Log2_32(shape.numWarps), Coord(type.getRank(), 0));
    return anchor(result,
                  LinearLayout(type.getShape(), layout.getBases(InDim::Register),
                               layout.getBases(InDim::Lane), warps),
                  1);
  }
  if (isa<ReduceOp, ArgReduceOp>(op)) {
    Value source = op->getOperand(0);
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    auto it = anchors.find(source);
    // In the first rounds a value without an anchor may still get one; `settled` says that no more
    // will come.
    if (it == anchors.end() && !settled) // a loop's result before the loop, perhaps
      return false;
    unsigned priority = it == anchors.end() ? 1 : it->second.priority;
    return anchor(result, getLayoutOrDefault(source).dropDim(axis.getInt()), priority);
  }
  if (auto sort = dyn_cast<SortOp>(op))
    return anchor(result, getLayoutOrDefault(sort.getSource()), 1);
  if (isa<HistogramOp>(op))
    return anchor(result, getDefault(type), 1);
  if (auto take = dyn_cast<TakeOp>(op)) {
    bool positions = isa<RankedTensorType>(take.getPosition().getType());
    if (positions)
      return anchor(result, getLayoutOrDefault(take.getPosition()), 1);
    if (!anchors.count(take.getSource()) && !settled)
      return false;
    // Where its elements were, if no thread has more of them then than by default.
    // Else threads along the dropped axis would hold all of it, and others nothing.
    LinearLayout left = getLayoutOrDefault(take.getSource()).dropDim(take.getAxis()),
                 spread = getDefault(type);
    return anchor(result, left.getNumRegisters() <= spread.getNumRegisters() ? left : spread, 1);
  }
  if (isa<BroadcastOp>(op))
    return false;
  if (auto unpack = dyn_cast<UnpackOp>(op)) {
    auto it = anchors.find(unpack.getSource());
    return it != anchors.end() &&
           anchor(result, it->second.layout.splitElements(), it->second.priority);
  }
  if (isa<ReshapeOp, PermuteOp>(op)) {
    auto it = anchors.find(op->getOperand(0));
    if (it == anchors.end())
      return false;
    // Adding and removing unit dimensions stays free: users ask through it.
    // Then the source may be had in whichever layout the broadcast's user asks for.
    if (isa<ReshapeOp>(op) && feedsOnlyBroadcasts(result))
      return false;
    Anchor source = it->second;
    LinearLayout layout = isa<ReshapeOp>(op)
                              ? source.layout.reshape(type.getShape())
                              : source.layout.permute(cast<PermuteOp>(op).getPermutation());
    return anchor(result, layout, source.priority);
  }
  bool changed = false;
  if (OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        changed |= anchorLike(result, operand);
  // Parts that are put side by side stay where they are; what has a layout of its own wins.
  if (auto select = dyn_cast<arith::SelectOp>(op); select && !getAnchor(result)) {
    auto last = getJoinedLayout(select.getTrueValue()),
         first = getJoinedLayout(select.getFalseValue());
    if (last && first)
      changed |= anchor(result, *last, 0);
  }
  return changed;
}

/// Three fixed points, each with more to ask: what bodies say, what loops begin with, what nothing
/// has settled.
LayoutInference::LayoutInference(KernelOp kernel, const KernelShape &kernelShape)
    : shape(kernelShape) {
  auto iterate = [&] {
    bool changed = true;
    while (changed) {
      changed = false;
      // Forwards and backwards (walks before and after regions), which saves rounds.
      kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= visit(op); });
      kernel.getBody().walk([&](Operation *op) { changed |= visit(op); });
    }
  };
  iterate();
  asksInits = true;
  iterate();
  settled = true;
  iterate();
  // A value that crosses control flow and has no layout yet takes the default.
  // A loop's variable cannot be computed anew in another layout.
  auto anchorFree = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      anchor(value, getDefault(type), 1);
  };
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      return;
    for (Value result : op->getResults())
      anchorFree(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        anchorFree(argument);
  });
  iterate();
}
