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

unsigned tile::gpu::getRowDivisor(KernelOp kernel, unsigned vector) {
  if (!kernel->hasAttr(unevenName))
    return vector;
  int64_t least = vector;
  auto visit = [&](Value value, Type moved) {
    ViewOp view = findView(value);
    if (!view || !isa<RankedTensorType>(moved))
      return;
    for (Value stride : view.getStrides())
      if (auto divisor = getUnevenDivisor(kernel, stride, vector))
        least = std::min(least, std::gcd(*divisor, int64_t(vector)));
  };
  kernel.getBody().walk([&](LoadOp load) { visit(load.getView(), load.getType()); });
  kernel.getBody().walk([&](StoreOp store) { visit(store.getView(), store.getValue().getType()); });
  return least;
}
