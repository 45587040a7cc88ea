// Layouts of tiles whose elements meet in a thread.
#include "passes/TileGPU/PartLayouts.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/LoadDistance.h"

#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Chains of operations longer than this are not followed.
constexpr unsigned mostSteps = 16;

/// If `reshape` splits one dimension in two: it, and how many parts that makes.
static std::optional<Parts> getSplit(ReshapeOp reshape) {
  ArrayRef<int64_t> from = reshape.getSource().getType().getShape(),
                    to = cast<RankedTensorType>(reshape.getType()).getShape();
  if (to.size() != from.size() + 1)
    return std::nullopt;
  unsigned dim = 0;
  while (dim < from.size() && from[dim] == to[dim])
    ++dim;
  if (dim == from.size() || to[dim] * to[dim + 1] != from[dim] ||
      from.drop_front(dim + 1) != to.drop_front(dim + 2))
    return std::nullopt;
  return Parts{dim, to[dim]};
}

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1;
}

/// True if a reduction along `axis` takes the value, perhaps after element-wise work.
static bool isReducedAlong(Value value, unsigned axis, unsigned depth = 0) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<ReduceByOp>(user))
      return reduce.getAxis() == axis;
    return isElementwise(user) && depth < mostSteps &&
           isReducedAlong(user->getResult(0), axis, depth + 1);
  });
}

namespace {

/// Values that were found to lead nowhere, with the fewest steps to each: a value that feeds itself
/// by several ways, as x * x does, is looked at once.
class DeadEnds {
public:
  bool contains(Value value, unsigned depth) const {
    auto found = steps.find(value);
    return found != steps.end() && found->second <= depth;
  }
  void add(Value value, unsigned depth) { steps[value] = depth; }

private:
  llvm::SmallDenseMap<Value, unsigned> steps; // looked up only
};

} // namespace

static std::optional<Parts> getParts(Value value, unsigned depth, DeadEnds &dead) {
  if (dead.contains(value, depth))
    return std::nullopt;
  for (Operation *user : value.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      std::optional<Parts> parts = getSplit(reshape);
      if (parts && isReducedAlong(reshape, parts->dim))
        return parts;
    } else if (isElementwise(user) && depth < mostSteps) {
      if (auto parts = getParts(user->getResult(0), depth + 1, dead))
        return parts;
    }
  }
  dead.add(value, depth);
  return std::nullopt;
}

std::optional<Parts> tile::gpu::getParts(LoadOp load) {
  DeadEnds dead;
  return ::getParts(load.getResult(), 0, dead);
}

LinearLayout tile::gpu::holdParts(ArrayRef<int64_t> extents, const LinearLayout &part) {
  SmallVector<Coord> registers(part.getBases(InDim::Register));
  for (unsigned d = 0; d < extents.size(); ++d)
    for (int64_t at = part.getShape()[d]; at < extents[d]; at *= 2) {
      registers.push_back(Coord(extents.size(), 0));
      registers.back()[d] = at;
    }
  return LinearLayout(extents, registers, part.getBases(InDim::Lane), part.getBases(InDim::Warp));
}

static std::optional<int64_t> getScannedAxis(Value value, unsigned depth, DeadEnds &dead) {
  if (dead.contains(value, depth))
    return std::nullopt;
  for (Operation *user : value.getUsers()) {
    if (auto scan = dyn_cast<ScanOp>(user))
      return scan.getAxis();
    if (isElementwise(user) && depth < mostSteps)
      if (auto axis = getScannedAxis(user->getResult(0), depth + 1, dead))
        return axis;
  }
  dead.add(value, depth);
  return std::nullopt;
}

std::optional<int64_t> tile::gpu::getScannedAxis(LoadOp load) {
  DeadEnds dead;
  return ::getScannedAxis(load.getResult(), 0, dead);
}

namespace {

/// A layout in the making: the bits of each dimension go to registers, lanes and warps in turn.
class Dealer {
public:
  explicit Dealer(ArrayRef<int64_t> extents) : extents(extents), covered(extents.size(), 1) {}

  /// Hands out bits of a dimension while `count` wants more of them; what is still wanted.
  int64_t operator()(InDim in, unsigned dim, int64_t count) {
    for (; count > 1 && covered[dim] < extents[dim]; count /= 2, covered[dim] *= 2) {
      bases[unsigned(in)].push_back(Coord(extents.size(), 0));
      bases[unsigned(in)].back()[dim] = covered[dim];
    }
    return count;
  }
  LinearLayout getLayout() const {
    return LinearLayout(extents, bases[unsigned(InDim::Register)], bases[unsigned(InDim::Lane)],
                        bases[unsigned(InDim::Warp)]);
  }

private:
  ArrayRef<int64_t> extents;
  SmallVector<int64_t> covered; ///< positions of each dimension that the bits dealt so far tell
  SmallVector<Coord> bases[numInDims];
};

} // namespace

std::optional<LinearLayout> tile::gpu::scanInRegisters(ArrayRef<int64_t> extents, unsigned fastest,
                                                       unsigned axis, unsigned vector,
                                                       unsigned numWarps) {
  constexpr unsigned lanes = 32;
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  int64_t held = std::min<int64_t>(vector, extents[fastest] / lanes); // neighbours of a thread
  if (held < 1 || elements < 2 * held * lanes * int64_t(numWarps))
    return std::nullopt;
  Dealer deal(extents);
  deal(InDim::Register, fastest, held);
  deal(InDim::Lane, fastest, lanes);
  // Warps first share what is not scanned, then the axis, of which each thread has a piece.
  int64_t perWarps = 1, apart = elements / (held * lanes) / extents[axis];
  perWarps = std::min<int64_t>(numWarps, apart);
  int64_t pieces = numWarps / perWarps;
  deal(InDim::Register, axis, extents[axis] / pieces);
  deal(InDim::Warp, axis, pieces);
  for (unsigned d = 0; d < extents.size(); ++d)
    if (d != axis)
      perWarps = deal(InDim::Warp, d, perWarps);
  for (unsigned d = 0; d < extents.size(); ++d)
    deal(InDim::Register, d, extents[d]);
  return deal.getLayout();
}

std::optional<int64_t> tile::gpu::getShiftedDim(LoadOp load, unsigned fastest) {
  // The same for all of them: a point beside along the fastest dimension goes with the others.
  SmallVector<LoadOp> alike;
  for (Operation &op : *load->getBlock()) {
    if (isa<DotOp>(op))
      return std::nullopt;
    if (auto other = dyn_cast<LoadOp>(op))
      if (other.getView() == load.getView() && other.getType() == load.getType() &&
          other.getSizes() == load.getSizes())
        alike.push_back(other);
  }
  constexpr unsigned few = 2; // a load more is as cheap as a longer way to memory
  for (LoadOp from : alike) {
    SmallVector<unsigned> beside(from.getTileShape().size());
    for (LoadOp to : alike)
      if (std::optional<LoadDistance> distance = getDistance(from, to))
        if (int64_t dim = load.getTileDims()[distance->dim]; dim >= 0 && dim != int64_t(fastest))
          ++beside[dim];
    auto most = llvm::max_element(beside);
    if (most != beside.end() && *most >= few)
      return most - beside.begin();
  }
  return std::nullopt;
}

std::optional<LinearLayout> tile::gpu::shiftInRegisters(ArrayRef<int64_t> extents,
                                                        ArrayRef<unsigned> order, unsigned axis,
                                                        unsigned vector, unsigned numWarps) {
  constexpr int64_t lanes = 32;
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  int64_t held = std::min<int64_t>(vector, extents[order[0]]);
  int64_t neighbours = elements / (held * lanes * int64_t(numWarps));
  if (neighbours < 2 || extents[axis] < 2)
    return std::nullopt;
  Dealer deal(extents);
  deal(InDim::Register, order[0], held);
  deal(InDim::Register, axis, neighbours);
  for (auto [in, wanted] :
       {std::pair(InDim::Lane, lanes), std::pair(InDim::Warp, int64_t(numWarps))})
    for (unsigned dim : order)
      wanted = deal(in, dim, wanted);
  for (unsigned dim : order)
    deal(InDim::Register, dim, extents[dim]);
  return deal.getLayout();
}

static std::optional<LinearLayout> getNaturalLayout(Value value, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (hasLayout(type))
    return getLayout(type);
  Operation *op = value.getDefiningOp();
  if (!op || depth == mostSteps)
    return std::nullopt;
  if (isa<ReshapeOp, PermuteOp, BroadcastOp>(op)) {
    auto source = getNaturalLayout(op->getOperand(0), depth + 1);
    if (!source)
      return std::nullopt;
    if (isa<ReshapeOp>(op))
      return source->reshape(type.getShape());
    if (auto permute = dyn_cast<PermuteOp>(op))
      return source->permute(permute.getPermutation());
    LinearLayout layout = *source;
    while (layout.getRank() < type.getRank())
      layout = layout.insertUnitDim(0);
    return holdParts(type.getShape(), layout);
  }
  if (isElementwise(op))
    for (Value operand : op->getOperands())
      if (auto layout = getNaturalLayout(operand, depth + 1))
        return layout;
  return std::nullopt;
}

std::optional<LinearLayout> tile::gpu::getNaturalLayout(Value value) {
  std::optional<LinearLayout> layout = ::getNaturalLayout(value, 0);
  return layout && layout->isInjective() ? layout : std::nullopt;
}
