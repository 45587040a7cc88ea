// The divisors that rows of products' operands lack.
//
//   dot(a[m, k], b[k, n], acc) of f16     strides of a: K, 1     wanted: K % 8 == 0
//                                         strides of b: N, 1             N % 8 == 0
//
// Asked of the IR as it is emitted, before any pass: whether TMA takes an operand in the end, the
// passes decide. What they could never take (memory that is written, a mask, rows shorter than 16
// bytes, a stride that has no name) asks for no divisor, since a version for it would be compiled
// for nothing.
#include "frontend/Lower/AlignedRows.h"
#include "dialect/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tile;

/// TMA's unit of strides, in bits.
static constexpr int64_t granuleBits = 128;

namespace {

class RowDivisors {
public:
  RowDivisors(KernelOp kernel, const std::map<std::string, int64_t> &extents, bool choosesTiles)
      : kernel(kernel), extents(extents), choosesTiles(choosesTiles) {}

  std::vector<ArgItem> run();

private:
  bool isOver(DotOp dot);
  std::optional<int64_t> getExpected(Value bound);
  void collectLoads(Value operand);
  bool isFetchable(LoadOp load);
  int64_t getDivisor(Value stride);
  bool askFor(Value stride, int64_t wanted);
  void ask(LoadOp load);

  KernelOp kernel;
  const std::map<std::string, int64_t> &extents;
  bool choosesTiles;
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
  auto found = extents.find(dim.getDim().getName().str());
  return found == extents.end() ? dim.getDim().getOpt() : found->second;
}

/// Whether the product's loop is expected to end before a ring of slots has been filled again.
/// Then nothing is fetched beside a product that the launch's own loads would not bring as early,
/// and barriers, a warp that fetches and the wait for it are for nothing: on an H100 products of 64
/// terms by mma.sync took 1.2 to 1.26 of the time, of 128 1.06, of 256 1.0, of 1024 0.81. Not where
/// each version has tiles of its own: those for TMA took 0.64 to 0.97 of the others' time.
bool RowDivisors::isOver(DotOp dot) {
  constexpr int64_t slots = 4;
  auto loop = dot->getParentOfType<scf::ForOp>();
  if (choosesTiles || !loop || loop->getParentOfType<LoopLikeOpInterface>() || isLong(dot))
    return false;
  std::optional<int64_t> from = getExpected(loop.getLowerBound()),
                         to = getExpected(loop.getUpperBound()), step = getExpected(loop.getStep());
  return from && to && step && *step > 0 && llvm::divideCeil(*to - *from, *step) <= slots;
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
static int64_t getBits(LoadOp load) {
  Type type = load.getView().getType().getElementType();
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

/// Elements that the load reads of a row, where it reads the tensor as it is declared; of another
/// view no fewer.
static int64_t getRowLength(LoadOp load, ViewOp view) {
  if (load.getView() == view.getResult())
    for (auto [stride, size] : llvm::zip(view.getStrides(), load.getSizes()))
      if (matchPattern(stride, m_One()))
        return size;
  return *llvm::max_element(load.getTileShape());
}

bool RowDivisors::isFetchable(LoadOp load) {
  ViewOp view = findView(load.getView());
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!view || load.getMask() || !tile || tile.getRank() < 2 || kernel->hasAttr(mayAliasName) ||
      getRowLength(load, view) * getBits(load) < granuleBits)
    return false;
  auto param = dyn_cast<BlockArgument>(view.getBase());
  return param && kernel.getParam(param.getArgNumber()).getAccess() == Access::In &&
         llvm::any_of(view.getStrides(),
                      [](Value stride) { return matchPattern(stride, m_One()); });
}

/// What is known to divide a stride, with the divisors that have been asked for.
int64_t RowDivisors::getDivisor(Value stride) {
  APInt constant;
  if (matchPattern(stride, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto dim = stride.getDefiningOp<DimOp>()) {
    auto asked = divisors.find(dim.getDim().getName());
    return std::lcm(dim.getDim().getMultipleOf(), asked == divisors.end() ? 1 : asked->second);
  }
  if (auto product = stride.getDefiningOp<arith::MulIOp>()) {
    // Only powers of two up to the granule count.
    int64_t left = getDivisor(product.getLhs()), right = getDivisor(product.getRhs());
    return std::gcd(left, granuleBits) * std::gcd(right, granuleBits);
  }
  return 1;
}

/// Asks for a divisor of one name in `stride`, the last one: rows of a tensor without strides of
/// its own are products of the extents behind theirs, so that all of them have the last in common.
bool RowDivisors::askFor(Value stride, int64_t wanted) {
  if (auto dim = stride.getDefiningOp<DimOp>()) {
    // A name with a dot is a stride that the source does not name.
    StringRef name = dim.getDim().getName();
    if (name.contains('.') || dim.getDim().getMax() < wanted)
      return false;
    int64_t &divisor = divisors.insert({name, 1}).first->second;
    divisor = std::lcm(divisor, wanted);
    return true;
  }
  if (auto product = stride.getDefiningOp<arith::MulIOp>())
    return askFor(product.getRhs(), wanted) || askFor(product.getLhs(), wanted);
  return false;
}

/// Leaves `divisors` as they were where a stride has no name.
void RowDivisors::ask(LoadOp load) {
  ViewOp view = findView(load.getView());
  int64_t wanted = granuleBits / getBits(load);
  llvm::MapVector<StringRef, int64_t> before = divisors;
  for (Value stride : llvm::reverse(view.getStrides())) {
    if (matchPattern(stride, m_One()) || getDivisor(stride) % wanted == 0)
      continue;
    if (!askFor(stride, wanted)) {
      divisors = std::move(before);
      return;
    }
  }
}

std::vector<ArgItem> RowDivisors::run() {
  // Without a fetch in a loop nothing would overlap, and a kernel gets none.
  kernel.getBody().walk([&](DotOp dot) {
    if (isOver(dot))
      return;
    collectLoads(dot.getA());
    collectLoads(dot.getB());
  });
  loads.remove_if(
      [&](LoadOp load) { return !load->getParentOfType<scf::ForOp>() || !isFetchable(load); });
  for (LoadOp load : loads)
    ask(load);
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

std::vector<ArgItem> tile::findRowDivisors(KernelOp kernel,
                                           const std::map<std::string, int64_t> &extents,
                                           bool choosesTiles) {
  return RowDivisors(kernel, extents, choosesTiles).run();
}
