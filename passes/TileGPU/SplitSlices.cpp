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
#include "dialect/TileGPU/SharedMemory.h"

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

/// True for a tile that is made from nothing but scalars, or read from a tensor that nobody writes:
/// each use has the slice that it needs.
static bool isMadeAnew(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return !load.getMask() && isOnlyRead(load.getView());
  return op && isa<IotaOp, tensor::SplatOp>(op);
}

/// The dimension of the operand of a reshape, broadcast, permutation or reduction that dimension
/// `dim` of its result is; -1 if it has none.
static int64_t getSourceDim(Operation *op, int64_t dim) {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (isa<BroadcastOp>(op)) {
    dim -= int64_t(shapeOf(result).size() - shapeOf(source).size());
    return dim >= 0 && shapeOf(source)[size_t(dim)] > 1 ? dim : -1;
  }
  if (isa<ReshapeOp>(op))
    return followReshape(shapeOf(result), shapeOf(source), dim);
  if (auto permute = dyn_cast<PermuteOp>(op))
    return permute.getPermutation()[size_t(dim)];
  return dim + (dim >= int64_t(*cast<ReduceOp>(op).getAxis()));
}

/// The same the other way round; -1 if the result needs the whole dimension.
static int64_t getResultDim(Operation *op, int64_t dim) {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (isa<BroadcastOp>(op))
    return dim + int64_t(shapeOf(result).size() - shapeOf(source).size());
  if (isa<ReshapeOp>(op))
    return followReshape(shapeOf(source), shapeOf(result), dim);
  if (auto permute = dyn_cast<PermuteOp>(op))
    return llvm::find(permute.getPermutation(), dim) - permute.getPermutation().begin();
  int64_t axis = int64_t(*cast<ReduceOp>(op).getAxis());
  return dim == axis ? -1 : dim - (dim > axis);
}

/// Operations of one tile to one tile whose dimensions correspond.
static bool movesDims(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return isa<BroadcastOp, ReshapeOp, PermuteOp>(op) ||
         (reduce && reduce.getAxis() && isTile(reduce.getResult()));
}

//===--- The dimensions ---------------------------------------------------===//

bool SplitSlices::mark(Value value, int64_t dim) {
  if (!isTile(value) || dim < 0 || dim >= int64_t(shapeOf(value).size()))
    return false;
  int64_t extent = shapeOf(value)[size_t(dim)];
  if (!llvm::isPowerOf2_64(uint64_t(extent)) || extent % parts)
    return false;
  if (isMadeAnew(value))
    return true;
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
    for (Value operand : op->getOperands())
      if (isTile(operand) && !mark(operand, *dim))
        return false;
    return llvm::all_of(op->getResults(), [&](Value result) { return mark(result, *dim); });
  }
  // A dimension of the tile along which a range of the view lies.
  auto markAccess = [&](auto access, Value tile, Value mask) {
    if (!isTile(tile) || isMadeAnew(tile) || (mask && isMadeAnew(mask)))
      return false;
    return llvm::is_contained(access.getTileDims(), *dim) && mark(tile, *dim) &&
           (!mask || !isTile(mask) || mark(mask, *dim));
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return markAccess(load, load.getResult(), load.getMask());
  if (auto inside = dyn_cast<InsideOp>(op))
    return markAccess(inside, inside.getResult(), Value());
  if (auto store = dyn_cast<StoreOp>(op))
    return markAccess(store, store.getValue(), store.getMask());
  if (!movesDims(op))
    return false;
  Value source = op->getOperand(0), result = op->getResult(0);
  if (dims.count(source))
    return mark(result, getResultDim(op, *dim));
  int64_t before = getSourceDim(op, *dim);
  return isa<BroadcastOp>(op) && before < 0 ? true : mark(source, before);
}

bool SplitSlices::follow() {
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *origin = value.getDefiningOp();
    if (origin && !visit(origin))
      return false;
    // From before the loop: made once more, which must not change anything.
    bool isInside = !origin || origin == loop.getOperation() || scope.contains(origin);
    if (!isInside && !isPure(origin))
      return false;
    for (Operation *user : value.getUsers())
      if (scope.contains(user) && !visit(user))
        return false;
  }
  return true;
}

/// What is stored of other states than the largest.
bool SplitSlices::markStores(ArrayRef<Operation *> rest) {
  for (Operation *op : rest) {
    auto store = dyn_cast<StoreOp>(op);
    if (!store || !isTile(store.getValue()) || dims.count(store.getValue()))
      continue;
    bool found = false;
    for (int64_t dim = 0; !found && dim < int64_t(shapeOf(store.getValue()).size()); ++dim) {
      SplitSlices before = *this;
      found = mark(store.getValue(), dim) && follow();
      if (!found)
        *this = before;
    }
    if (!found)
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
    if (slices.mark(largest, dim) && slices.follow() && slices.markStores(rest) &&
        slices.isHarmless(rest))
      return slices;
  }
  return std::nullopt;
}

/// The front end puts it right behind the loop.
MergePartsOp tile::gpu::getMerge(scf::ForOp loop) {
  for (Operation *user : loop->getUsers())
    if (auto merge = dyn_cast<MergePartsOp>(user))
      return merge;
  return {};
}

int64_t tile::gpu::getStateBytes(scf::ForOp loop) {
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tile ? tile.getShape() : ArrayRef<int64_t>({1}));
    for (int64_t &extent : shape)
      extent = int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
    types.push_back(RankedTensorType::get(shape, getElementTypeOrSelf(type)));
  }
  return PartStates(types).bytes;
}

std::optional<SplitSlices> SplitSlices::planCluster(scf::ForOp loop, MergePartsOp merge,
                                                    int64_t parts, const GPUTarget *target) {
  constexpr int64_t mostBlocks = 8;        // of a cluster, on every card
  constexpr int64_t mostBytes = 64 * 1024; // which loads ahead then do not have
  auto kernel = dyn_cast<KernelOp>(loop->getParentOp());
  if (!kernel || !target || !target->has(Feature::Clusters) || parts > mostBlocks ||
      !llvm::isPowerOf2_64(uint64_t(parts)) || getStateBytes(loop) > mostBytes)
    return std::nullopt;
  Operation *last = merge ? merge.getOperation() : loop.getOperation();
  SmallVector<Operation *> rest;
  for (Operation *op = last->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode())
    rest.push_back(op);
  return plan(loop, merge, rest, parts);
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
  int64_t dim = getDim(operand);
  if (isTile(operand) && isMadeAnew(operand) && op->getNumResults()) {
    dim = getDim(op->getResult(0));
    if (dim >= 0 && movesDims(op))
      dim = getSourceDim(op, dim);
    if (dim >= 0)
      return makeAnew(b, operand, dim, part, values);
  }
  if (Value known = values.lookupOrNull(operand))
    return known;
  if (dim < 0)
    return operand;
  clone(b, operand.getDefiningOp(), part, values);
  return values.lookup(operand);
}

/// The slice along `dim` of a tile that isMadeAnew().
Value SplitSlices::makeAnew(OpBuilder &b, Value value, int64_t dim, Value part,
                            const IRMapping &values) const {
  Operation *op = value.getDefiningOp();
  auto type = cut(cast<RankedTensorType>(value.getType()), dim, parts);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b, op->getLoc(), cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  IRMapping scalars = values; // not the whole tile in place of a slice
  Operation *copy = b.clone(*op, scalars);
  copy->getResult(0).setType(type);
  OpBuilder before(copy);
  if (auto load = dyn_cast<LoadOp>(copy))
    narrow(before, load, dim, part);
  if (auto iota = dyn_cast<IotaOp>(copy)) {
    Value length = arith::ConstantIndexOp::create(before, op->getLoc(),
                                                  type.getDimSize(0) * int64_t(iota.getStep()));
    Value moved = arith::MulIOp::create(before, op->getLoc(), part, length);
    iota.getStartMutable().set(arith::AddIOp::create(before, op->getLoc(), iota.getStart(), moved));
  }
  return copy->getResult(0);
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
  }
}
