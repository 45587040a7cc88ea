// The divisors that rows lack: those of products' operands, else those of all tiles.
//
//   dot(a[m, k], b[k, n], acc) of f16     strides of a: K, 1     wanted: K % 8 == 0
//                                         strides of b: N, 1             N % 8 == 0
//   y[m, n] = exp(x[m, n]) of f16         strides of x, y: N, 1  wanted: N % 8 == 0
//
// Asked of the IR as it is emitted, before any pass: whether TMA takes an operand in the end, or
// vectors move a tile, the passes decide. What they could never take (for TMA memory that is
// written and a mask; rows shorter than 16 bytes, a stride that has no name, tiles that begin
// anywhere in a row) asks for no divisor, since a version for it would be compiled for nothing.
#include "frontend/Lower/AlignedRows.h"
#include "dialect/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tile;

/// TMA's unit of strides, in bits.
static constexpr int64_t granuleBits = 128;

namespace {

class RowDivisors {
public:
  RowDivisors(KernelOp kernel, const RowRequest &request) : kernel(kernel), request(request) {}

  std::vector<ArgItem> run();

private:
  bool isOver(DotOp dot);
  bool isLikely(DimOp dim, int64_t divisor);
  std::optional<int64_t> getExpected(Value bound);
  void collectLoads(Value operand);
  bool isFetchable(LoadOp load);
  int64_t getDivisor(Value value);
  bool askFor(Value stride, int64_t wanted);
  bool ask(ViewOp view, int64_t wanted);
  template <typename Access> void askForTile(Access access);
  void askForProducts();

  KernelOp kernel;
  const RowRequest &request;
  bool hasProducts = false, asksForTiles = false;
  llvm::SetVector<LoadOp> loads;
  llvm::SmallDenseSet<Value> seen;
  /// By name, in the order in which they are found.
  llvm::MapVector<StringRef, int64_t> divisors;
};

} // namespace

/// Whether wgmma could do it: 64 rows, or as many columns of the transposed product, of elements
/// that tensor cores take as they are. What that multiplies TMA brings in any case.
static bool isLong(DotOp dot) {
  constexpr int64_t rows = 64;
  constexpr unsigned halfBits = 16;
  ArrayRef<int64_t> shape = dot.getType().getShape().take_back(2);
  unsigned bits = cast<RankedTensorType>(dot.getA().getType()).getElementTypeBitWidth();
  return std::max(shape[0], shape[1]) >= rows &&
         (bits <= halfBits || dot.getPrecision() != DotPrecision::Full);
}

/// What a bound of a loop is expected to be, by the extents that the kernel is compiled for.
std::optional<int64_t> RowDivisors::getExpected(Value bound) {
  APInt constant;
  if (matchPattern(bound, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto dim = bound.getDefiningOp<DimOp>();
  if (!dim)
    return std::nullopt;
  auto found = request.extents.find(dim.getDim().getName().str());
  return found == request.extents.end() ? dim.getDim().getOpt() : found->second;
}

/// Whether the product's loop is expected to end before a ring of slots has been filled again.
/// Then nothing is fetched beside a product that the launch's own loads would not bring as early,
/// and barriers, a warp that fetches and the wait for it are for nothing: on an H100 products of 64
/// terms by mma.sync took 1.2 to 1.26 of the time, of 128 1.06, of 256 1.0, of 1024 0.81. Not where
/// each version has tiles of its own: those for TMA took 0.64 to 0.97 of the others' time.
bool RowDivisors::isOver(DotOp dot) {
  constexpr int64_t slots = 4;
  auto loop = dot->getParentOfType<scf::ForOp>();
  if (!request.fetches || request.choosesTiles || !loop ||
      loop->getParentOfType<LoopLikeOpInterface>() || isLong(dot))
    return false;
  std::optional<int64_t> from = getExpected(loop.getLowerBound()),
                         to = getExpected(loop.getUpperBound()), step = getExpected(loop.getStep());
  return from && to && step && *step > 0 && llvm::divideCeil(*to - *from, *step) <= slots;
}

/// Whether tiles may ask for it: only where the calls, or else the extents that the kernel is
/// compiled for, have it. A further version takes half as long again to compile, and few kernels
/// gain as much by it as products do.
bool RowDivisors::isLikely(DimOp dim, int64_t divisor) {
  if (!asksForTiles)
    return true;
  std::string name = dim.getDim().getName().str();
  auto given = request.divisors.find(name), extent = request.extents.find(name);
  if (given != request.divisors.end())
    return given->second % divisor == 0;
  if (request.advises && extent == request.extents.end())
    return dim.getDim().getOpt() % divisor == 0;
  return extent != request.extents.end() && extent->second % divisor == 0;
}

/// The loads that an operand is computed from.
void RowDivisors::collectLoads(Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!isa<RankedTensorType>(operand.getType()) || !op || !seen.insert(operand).second)
    return;
  if (auto load = dyn_cast<LoadOp>(op))
    loads.insert(load);
  else if (!isa<DotOp>(op)) // whose own operands are found by itself
    for (Value each : op->getOperands())
      collectLoads(each);
}

/// Of an element in memory.
static int64_t getBits(ViewType view) {
  Type type = view.getElementType();
  return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
}

static ViewOp findView(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto found = dyn_cast<ViewOp>(op))
      return found;
    if (auto subview = dyn_cast<SubviewOp>(op))
      view = subview.getSource();
    else if (auto permuted = dyn_cast<PermuteViewOp>(op))
      view = permuted.getSource();
    else
      break;
  }
  return {};
}

/// Elements that the access reaches of a row, where it reaches the tensor as it is declared; of
/// another view no fewer.
template <typename Access> static int64_t getRowLength(Access access, ViewOp view) {
  if (access.getView() == view.getResult())
    for (auto [stride, size] : llvm::zip(view.getStrides(), access.getSizes()))
      if (matchPattern(stride, m_One()))
        return size;
  SmallVector<int64_t> shape = access.getTileShape();
  return shape.empty() ? 1 : *llvm::max_element(shape);
}

static int64_t getElements(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getNumElements() : 1;
}

bool RowDivisors::isFetchable(LoadOp load) {
  ViewOp view = findView(load.getView());
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!view || load.getMask() || !tile || tile.getRank() < 2 || kernel->hasAttr(mayAliasName) ||
      getRowLength(load, view) * getBits(load.getView().getType()) < granuleBits)
    return false;
  auto param = dyn_cast<BlockArgument>(view.getBase());
  return param && kernel.getParam(param.getArgNumber()).getAccess() == Access::In &&
         llvm::any_of(view.getStrides(),
                      [](Value stride) { return matchPattern(stride, m_One()); });
}

/// What is known to divide a number, with the divisors that have been asked for: of strides and of
/// the positions where tiles begin.
int64_t RowDivisors::getDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (auto loop = dyn_cast_or_null<scf::ForOp>(value.getParentBlock()->getParentOp());
      loop && value == loop.getInductionVar())
    return std::gcd(getDivisor(loop.getLowerBound()), getDivisor(loop.getStep()));
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  if (auto dim = dyn_cast<DimOp>(op)) {
    auto asked = divisors.find(dim.getDim().getName());
    return std::lcm(dim.getDim().getMultipleOf(), asked == divisors.end() ? 1 : asked->second);
  }
  if (isa<arith::MulIOp>(op)) {
    // Only powers of two up to the granule count.
    int64_t left = getDivisor(op->getOperand(0)), right = getDivisor(op->getOperand(1));
    return std::gcd(left, granuleBits) * std::gcd(right, granuleBits);
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getDivisor(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::gcd(getDivisor(op->getOperand(0)), getDivisor(op->getOperand(1)));
  return 1;
}

/// Asks for a divisor of one name in `stride`, the last one: rows of a tensor without strides of
/// its own are products of the extents behind theirs, so that all of them have the last in common.
bool RowDivisors::askFor(Value stride, int64_t wanted) {
  if (auto dim = stride.getDefiningOp<DimOp>()) {
    // A name with a dot is a stride that the source does not name.
    StringRef name = dim.getDim().getName();
    if (name.contains('.') || dim.getDim().getMax() < wanted || !isLikely(dim, wanted))
      return false;
    int64_t &divisor = divisors.insert({name, 1}).first->second;
    divisor = std::lcm(divisor, wanted);
    return true;
  }
  if (auto product = stride.getDefiningOp<arith::MulIOp>())
    return askFor(product.getRhs(), wanted) || askFor(product.getLhs(), wanted);
  return false;
}

/// Leaves `divisors` as they were, and is false, where a stride has no name.
bool RowDivisors::ask(ViewOp view, int64_t wanted) {
  llvm::MapVector<StringRef, int64_t> before = divisors;
  for (Value stride : llvm::reverse(view.getStrides())) {
    if (matchPattern(stride, m_One()) || getDivisor(stride) % wanted == 0)
      continue;
    if (!askFor(stride, wanted)) {
      divisors = std::move(before);
      return false;
    }
  }
  return true;
}

/// Asks for what lets vectors of 16 bytes move the access's tile, if that is all that it lacks.
template <typename Access> void RowDivisors::askForTile(Access access) {
  ViewOp view = findView(access.getView());
  int64_t bits = getBits(access.getView().getType());
  int64_t length = view ? getRowLength(access, view) : 1;
  // One row decides at run time, once for the tile: a version gains less, and where a further one
  // has to be compiled, or products take most of the time, it is not worth that.
  bool isRow = getElements(access.getTileType()) <= length;
  if (length * bits < granuleBits || (isRow && (hasProducts || request.divisors.empty())))
    return;
  llvm::MapVector<StringRef, int64_t> before = divisors;
  bool isGranted = ask(view, granuleBits / bits);
  // Where a tile begins in its row counts as well, and may be a multiple of what is asked for.
  if (isGranted && access.getView() == view.getResult()) {
    unsigned next = 0;
    isGranted = false;
    for (auto [stride, size, step] :
         llvm::zip(view.getStrides(), access.getSizes(), access.getSteps())) {
      Value start = size == -2 ? Value() : access.getStarts()[next];
      next += size != -2;
      if (matchPattern(stride, m_One()) && size > 0 && step == 1)
        isGranted = getDivisor(start) * bits % granuleBits == 0;
    }
  }
  if (!isGranted)
    divisors = std::move(before);
}

/// Without a fetch in a loop nothing would overlap, and a kernel gets none.
void RowDivisors::askForProducts() {
  kernel.getBody().walk([&](DotOp dot) {
    if (isOver(dot))
      return;
    collectLoads(dot.getA());
    collectLoads(dot.getB());
  });
  loads.remove_if(
      [&](LoadOp load) { return !load->getParentOfType<scf::ForOp>() || !isFetchable(load); });
  for (LoadOp load : loads)
    ask(findView(load.getView()), granuleBits / getBits(load.getView().getType()));
}

std::vector<ArgItem> RowDivisors::run() {
  // Without TMA rows decide less, and a further version has to be compiled.
  if (request.fetches || !request.divisors.empty())
    askForProducts();
  // All operands or none: mixed ones wait for the slower half.
  bool isRefused = llvm::any_of(divisors, [&](const auto &each) {
    auto given = request.divisors.find(each.first.str());
    return given != request.divisors.end() && given->second % each.second != 0;
  });
  if (isRefused)
    return {};
  bool isShort = false;
  kernel.getBody().walk([&](DotOp dot) {
    hasProducts = true;
    isShort |= isOver(dot); // a version for aligned rows would fetch its operands
  });
  asksForTiles = true;
  if (!isShort && (!hasProducts || !request.divisors.empty()))
    kernel.getBody().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp>(
          [&](auto access) { askForTile(access); });
    });
  std::vector<ArgItem> items;
  for (const auto &[name, divisor] : divisors) {
    ArgItem item;
    item.kind = ArgItem::Kind::Multiple;
    item.name = name.str();
    item.number = divisor;
    item.text = item.name + " % " + std::to_string(divisor) + " == 0";
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<ArgItem> tile::findRowDivisors(KernelOp kernel, const RowRequest &request) {
  return RowDivisors(kernel, request).run();
}
