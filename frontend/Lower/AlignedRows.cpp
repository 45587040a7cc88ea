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
  explicit RowDivisors(KernelOp kernel) : kernel(kernel) {}

  std::vector<ArgItem> run();

private:
  void collectLoads(Value operand);
  bool isFetchable(LoadOp load);
  int64_t getDivisor(Value stride);
  bool askFor(Value stride, int64_t wanted);
  void ask(LoadOp load);

  KernelOp kernel;
  llvm::SetVector<LoadOp> loads;
  llvm::SmallDenseSet<Value> seen;
  /// By name, in the order in which they are found.
  llvm::MapVector<StringRef, int64_t> divisors;
};

} // namespace

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

std::vector<ArgItem> tile::findRowDivisors(KernelOp kernel) { return RowDivisors(kernel).run(); }
