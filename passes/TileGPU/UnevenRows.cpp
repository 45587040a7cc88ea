// Rows that begin anywhere.
//
//   kernel k[...](x: in T[M, N], ...) specialize N % 8 == 0
//
//   variant          thread | 0 0 0 0 0 0 0 0 | 1 1 1 1 1 1 1 1 | ...      one access of 16 bytes
//   plain version    thread | 0 1 2 3 4 5 6 7 | 8 9 10 ...                 a warp's access is 32
//                                                                          neighbours
//
// Neighbours of one thread would lie across two windows of 16 bytes: loads twice as many and
// selections, which wait for each other, and stores exchanges between lanes. Neighbours of a warp
// are one access however a row begins, and all of a thread's are on their way at once.
#include "passes/TileGPU/UnevenRows.h"
#include "dialect/AttributeNames.h"
#include "dialect/VersionNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

bool tile::gpu::isUneven(KernelOp kernel, StringRef name, int64_t vector) {
  auto uneven = kernel->getAttrOfType<DictionaryAttr>(unevenName);
  auto divisor = uneven ? uneven.getAs<IntegerAttr>(name) : IntegerAttr();
  return divisor && vector % divisor.getInt() == 0;
}

/// What is known to divide a stride, if it is a multiple of something that is uneven.
static std::optional<int64_t> getUnevenDivisor(KernelOp kernel, Value stride, int64_t vector) {
  if (auto dim = stride.getDefiningOp<DimOp>()) {
    if (!isUneven(kernel, dim.getDim().getName(), vector))
      return std::nullopt;
    return std::gcd(dim.getDim().getMultipleOf(), vector);
  }
  auto product = stride.getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())})
    if (auto divisor = getUnevenDivisor(kernel, factor, vector)) {
      APInt constant;
      bool isConstant = matchPattern(other, m_ConstantInt(&constant));
      return *divisor * (isConstant ? std::gcd(constant.getSExtValue(), vector) : 1);
    }
  return std::nullopt;
}

static ViewOp findView(Value view) {
  while (true) {
    if (auto subview = view.getDefiningOp<SubviewOp>())
      view = subview.getSource();
    else if (auto permuted = view.getDefiningOp<PermuteViewOp>())
      view = permuted.getSource();
    else
      return view.getDefiningOp<ViewOp>();
  }
}

/// What divides the beginnings of the view's rows, if it is less than `vector`: constant strides of
/// the dimensions around the one that goes on in memory.
static int64_t getConstantDivisor(ViewOp view, int64_t vector) {
  int64_t divisor = vector;
  bool goesOn = false;
  for (Value stride : view.getStrides()) {
    APInt constant;
    if (!matchPattern(stride, m_ConstantInt(&constant)))
      continue;
    if (constant.isOne())
      goesOn = true;
    else
      divisor = std::gcd(divisor, constant.getSExtValue());
  }
  return goesOn && divisor > 0 ? divisor : vector;
}

bool tile::gpu::mayBeUneven(KernelOp kernel, Value stride, int64_t vector) {
  if (auto dim = stride.getDefiningOp<DimOp>()) {
    auto uneven = kernel->getAttrOfType<DictionaryAttr>(unevenName);
    return uneven && uneven.contains(dim.getDim().getName()) &&
           dim.getDim().getMultipleOf() % vector != 0;
  }
  auto product = stride.getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())}) {
    APInt constant;
    int64_t known = matchPattern(other, m_ConstantInt(&constant)) ? constant.getSExtValue() : 1;
    if (known % vector != 0 && mayBeUneven(kernel, factor, vector))
      return true;
  }
  return false;
}

unsigned tile::gpu::getRowDivisor(KernelOp kernel, unsigned vector) {
  if (kernel->hasAttr(rotationName)) // tiles go round, so that each vector is aligned
    return vector;
  SmallVector<std::pair<ViewOp, int64_t>> moved; // and how many elements at once
  auto visit = [&](Value value, Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (ViewOp view = findView(value); view && tile)
      moved.push_back({view, tile.getNumElements()});
  };
  kernel.getBody().walk([&](LoadOp load) { visit(load.getView(), load.getType()); });
  kernel.getBody().walk([&](StoreOp store) { visit(store.getView(), store.getValue().getType()); });
  int64_t least = vector, most = 0;
  for (auto [view, elements] : moved)
    most = std::max(most, elements);
  for (auto [view, elements] : moved) {
    // What small tiles beside them would gain, large ones would lose.
    if (elements == most)
      least = std::min(least, getConstantDivisor(view, vector));
    if (kernel->hasAttr(unevenName))
      for (Value stride : view.getStrides())
        if (auto divisor = getUnevenDivisor(kernel, stride, vector))
          least = std::min(least, std::gcd(*divisor, int64_t(vector)));
  }
  return least;
}
