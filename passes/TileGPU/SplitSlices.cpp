// What follows a split loop, dealt out among the loop's parts.
//
// A dimension of the state's largest tile is tried, and followed through the merge and what comes
// behind it: element-wise work keeps it, a reshape or a broadcast moves it, a load or store of a
// slice begins further on. Where it meets something that needs the whole tile, such as a sum along
// it, the next dimension is tried.
//
//   acc : 128x64, 4 parts            acc : 32x64 of part p
//   v = acc + bias[n]           ->   v = acc + bias[n]
//   c[m, n] = v                      c[m + 32 p, n] = v
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool isConstant(Value value) { return value.getDefiningOp<arith::ConstantOp>(); }

static bool isElementwise(Operation *op) {
  return op->getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(op);
}

/// Where dimension `dim` of `from` is in `to`, of which both differ by dimensions of extent 1; -1
/// if they differ by more.
static int64_t followReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
  auto drop = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept;
    for (auto [d, extent] : llvm::enumerate(shape))
      if (extent != 1)
        kept.push_back(int64_t(d));
    return kept;
  };
  SmallVector<int64_t> a = drop(from), b = drop(to);
  if (a.size() != b.size())
    return -1;
  int64_t found = -1;
  for (auto [x, y] : llvm::zip(a, b)) {
    if (from[size_t(x)] != to[size_t(y)])
      return -1;
    if (x == dim)
      found = y;
  }
  return found;
}

/// The tensor behind a view: a parameter's pointer as a rule.
static Value getBase(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto root = dyn_cast<ViewOp>(op))
      return root.getBase();
    if (!isa<SubviewOp, PermuteViewOp>(op))
      return {};
    view = op->getOperand(0);
  }
  return {};
}

/// True if the kernel only reads the tensor behind `view`.
static bool isOnlyRead(Value view) {
  auto base = dyn_cast_or_null<BlockArgument>(getBase(view));
  auto kernel = base ? dyn_cast<KernelOp>(base.getOwner()->getParentOp()) : KernelOp();
  return kernel && kernel.getParam(base.getArgNumber()).getAccess() == Access::In;
}

//===--- The dimensions ---------------------------------------------------===//

bool SplitSlices::mark(Value value, int64_t dim) {
  if (!isTile(value) || dim < 0 || dim >= int64_t(shapeOf(value).size()))
    return false;
  int64_t extent = shapeOf(value)[size_t(dim)];
  if (!llvm::isPowerOf2_64(uint64_t(extent)) || extent % parts)
    return false;
  auto [it, isNew] = dims.try_emplace(value, dim);
  if (isNew)
    pending.push_back(value);
  return it->second == dim;
}

/// Both halves of the function's operands, its results and the loop's results go together. What the
/// merge takes from elsewhere is the same for all parts, and whole.
bool SplitSlices::visitMerge() {
  Block &block = merge.getMerge().front();
  unsigned count = merge.getStates().size();
  for (unsigned i = 0; i < count; ++i) {
    Value state = merge.getStates()[i];
    SmallVector<Value> values = {state, block.getArgument(i), block.getArgument(count + i),
                                 block.getTerminator()->getOperand(i), merge.getResults()[i]};
    auto *marked = llvm::find_if(values, [&](Value value) { return dims.count(value); });
    if (marked == values.end())
      continue;
    if (state.getDefiningOp() != loop.getOperation())
      return false;
    for (Value value : values)
      if (!mark(value, dims.lookup(*marked)))
        return false;
  }
  return true;
}

/// Marks what `op` makes of marked operands, and what it needs for marked results.
bool SplitSlices::visit(Operation *op) {
  auto getMarked = [&](ValueRange values) -> std::optional<int64_t> {
    for (Value value : values)
      if (auto it = dims.find(value); it != dims.end())
        return it->second;
    return std::nullopt;
  };
  std::optional<int64_t> dim = getMarked(op->getOperands());
  if (!dim)
    dim = getMarked(op->getResults());
  if (!dim || op == loop.getOperation())
    return true;
  if (op == merge.getOperation() || isa<MergeYieldOp>(op))
    return visitMerge();
  if (isElementwise(op)) {
    for (Value operand : op->getOperands()) // a constant has any slice
      if (isTile(operand) && !isConstant(operand) && !mark(operand, *dim))
        return false;
    return llvm::all_of(op->getResults(), [&](Value result) { return mark(result, *dim); });
  }
  auto markAccess = [&](auto access, Value tile, Value mask) {
    auto it = dims.find(tile);
    if (it == dims.end() && mask)
      it = dims.find(mask);
    // A dimension of the tile along which a range of the view lies.
    return it != dims.end() && llvm::is_contained(access.getTileDims(), it->second) &&
           mark(tile, it->second) && (!mask || !isTile(mask) || mark(mask, it->second));
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return isTile(load.getResult()) && markAccess(load, load.getResult(), load.getMask());
  if (auto inside = dyn_cast<InsideOp>(op))
    return isTile(inside.getResult()) && markAccess(inside, inside.getResult(), Value());
  if (auto store = dyn_cast<StoreOp>(op))
    return isTile(store.getValue()) && !isConstant(store.getValue()) &&
           markAccess(store, store.getValue(), store.getMask());
  if (isa<IotaOp, tensor::SplatOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (op->getNumResults() != 1 || op->getNumOperands() != 1 || !isTile(op->getResult(0)))
    return false;
  Value source = op->getOperand(0), result = op->getResult(0);
  bool forwards = dims.count(source);
  if (isa<BroadcastOp>(op)) {
    int64_t added = int64_t(shapeOf(result).size() - shapeOf(source).size());
    if (forwards)
      return mark(result, *dim + added);
    return *dim < added || shapeOf(source)[size_t(*dim - added)] == 1 || mark(source, *dim - added);
  }
  if (isa<ReshapeOp>(op))
    return forwards ? mark(result, followReshape(shapeOf(source), shapeOf(result), *dim))
                    : mark(source, followReshape(shapeOf(result), shapeOf(source), *dim));
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    ArrayRef<int64_t> order = permute.getPermutation();
    return forwards ? mark(result, llvm::find(order, *dim) - order.begin())
                    : mark(source, order[size_t(*dim)]);
  }
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getAxis()) {
    int64_t axis = int64_t(*reduce.getAxis());
    if (forwards)
      return *dim != axis && mark(result, *dim - (*dim > axis));
    return mark(source, *dim + (*dim >= axis));
  }
  return false;
}

bool SplitSlices::follow() {
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *origin = value.getDefiningOp();
    if (origin && !visit(origin))
      return false;
    // From before the loop: made once more, which must not change anything.
    bool isInside = !origin || origin == loop.getOperation() || scope.contains(origin);
    auto load = dyn_cast_or_null<LoadOp>(origin);
    if (!isInside && !isPure(origin) && !(load && isOnlyRead(load.getView())))
      return false;
    for (Operation *user : value.getUsers())
      if (scope.contains(user) && !visit(user))
        return false;
  }
  return true;
}

/// Several programs run the operations, each for its slice, and at the same time: what one of them
/// writes, no other may write or read.
bool SplitSlices::isHarmless(ArrayRef<Operation *> rest) const {
  DenseMap<Value, StoreOp> stores; // by tensor; looked up only
  for (Operation *op : rest) {
    if (op->getNumRegions())
      return false;
    auto store = dyn_cast<StoreOp>(op);
    if (!store) {
      if (!isa<LoadOp>(op) && !isPure(op))
        return false;
      continue;
    }
    Value base = getBase(store.getView());
    if (!base || !dims.count(store.getValue()) || !stores.try_emplace(base, store).second)
      return false;
  }
  for (Operation *op : rest) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load || isOnlyRead(load.getView()))
      continue;
    StoreOp store = stores.lookup(getBase(load.getView()));
    if (!store || !dims.count(load.getResult()) || load.getView() != store.getView() ||
        !llvm::equal(load.getStarts(), store.getStarts()) || load.getSizes() != store.getSizes() ||
        load.getSteps() != store.getSteps() || getDim(load.getResult()) != getDim(store.getValue()))
      return false;
  }
  return !stores.empty();
}

std::optional<SplitSlices> SplitSlices::plan(scf::ForOp loop, MergePartsOp merge,
                                             ArrayRef<Operation *> rest, int64_t parts) {
  Value largest;
  for (Value result : loop.getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      if (!largest ||
          type.getNumElements() > cast<RankedTensorType>(largest.getType()).getNumElements())
        largest = result;
  if (!largest)
    return std::nullopt;
  for (int64_t dim = 0; dim < int64_t(shapeOf(largest).size()); ++dim) {
    SplitSlices slices(parts);
    slices.loop = loop;
    slices.merge = merge;
    slices.scope.insert(rest.begin(), rest.end());
    if (merge) {
      slices.scope.insert(merge);
      for (Operation &op : merge.getMerge().front())
        slices.scope.insert(&op);
    }
    if (slices.mark(largest, dim) && slices.follow() && slices.isHarmless(rest))
      return slices;
  }
  return std::nullopt;
}

//===--- Slices -----------------------------------------------------------===//

int64_t SplitSlices::getDim(Value value) const {
  auto it = dims.find(value);
  return it == dims.end() ? -1 : it->second;
}

static RankedTensorType cut(RankedTensorType type, int64_t dim, int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape[size_t(dim)] /= parts;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

Type SplitSlices::getType(Value value) const {
  int64_t dim = getDim(value);
  return dim < 0 ? value.getType() : cut(cast<RankedTensorType>(value.getType()), dim, parts);
}

/// The positions of a slice: fewer, and further on.
template <typename Op>
void SplitSlices::narrow(OpBuilder &b, Op access, int64_t dim, Value part) const {
  SmallVector<int64_t> sizes(access.getSizes());
  SmallVector<int64_t> tileDims = access.getTileDims();
  auto place = size_t(llvm::find(tileDims, dim) - tileDims.begin());
  sizes[place] /= parts;
  access.setSizes(sizes);
  Location loc = access.getLoc();
  Value length = arith::ConstantIndexOp::create(b, loc, sizes[place] * access.getSteps()[place]);
  Value start = access.getStarts()[place];
  access.getStartsMutable()[place].set(
      arith::AddIOp::create(b, loc, start, arith::MulIOp::create(b, loc, part, length)));
}

Value SplitSlices::getOperand(OpBuilder &b, Operation *op, Value operand, Value part,
                              IRMapping &values) {
  if (Value known = values.lookupOrNull(operand))
    return known;
  // Element-wise operations on a slice want slices, of constants too.
  auto it = dims.find(operand);
  int64_t dim = it != dims.end() ? it->second : -1;
  if (dim < 0 && isTile(operand) && isConstant(operand) && isElementwise(op))
    for (Value result : op->getResults())
      dim = getDim(result);
  if (dim < 0)
    return operand;
  if (auto constant = operand.getDefiningOp<arith::ConstantOp>()) {
    auto type = cut(cast<RankedTensorType>(operand.getType()), dim, parts);
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(b, constant.getLoc(), splat.resizeSplat(type));
  }
  clone(b, operand.getDefiningOp(), part, values);
  return values.lookup(operand);
}

void SplitSlices::clone(OpBuilder &b, Operation *op, Value part, IRMapping &values) {
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, getOperand(b, op, operand, part, values));
  Operation *copy = b.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    to.setType(getType(from));
    values.map(from, to);
  }
  OpBuilder before(copy);
  if (auto load = dyn_cast<LoadOp>(copy)) {
    if (int64_t dim = getDim(op->getResult(0)); dim >= 0)
      narrow(before, load, dim, part);
  } else if (auto inside = dyn_cast<InsideOp>(copy)) {
    if (int64_t dim = getDim(op->getResult(0)); dim >= 0)
      narrow(before, inside, dim, part);
  } else if (auto store = dyn_cast<StoreOp>(copy)) {
    narrow(before, store, getDim(cast<StoreOp>(op).getValue()), part);
  } else if (auto iota = dyn_cast<IotaOp>(copy)) {
    if (getDim(op->getResult(0)) < 0)
      return;
    Value length = arith::ConstantIndexOp::create(
        before, op->getLoc(), iota.getType().getDimSize(0) * int64_t(iota.getStep()));
    Value moved = arith::MulIOp::create(before, op->getLoc(), part, length);
    iota.getStartMutable().set(arith::AddIOp::create(before, op->getLoc(), iota.getStart(), moved));
  }
}
