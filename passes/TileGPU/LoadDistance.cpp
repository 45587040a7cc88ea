// See the header.
#include "passes/TileGPU/LoadDistance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// A position as a sum of multiples of values and a constant.
struct Position {
  DenseMap<Value, int64_t> factors; // looked up only
  int64_t constant = 0;

  void add(Value value, int64_t factor) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number))) {
      constant += factor * number.getSExtValue();
    } else if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
      add(sum.getLhs(), factor);
      add(sum.getRhs(), factor);
    } else if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
      add(difference.getLhs(), factor);
      add(difference.getRhs(), -factor);
    } else if (int64_t &sum = factors[value]; (sum += factor) == 0) {
      factors.erase(value);
    }
  }
};

} // namespace

std::optional<LoadDistance> tile::gpu::getDistance(LoadOp from, LoadOp to) {
  if (from.getView() != to.getView() || from.getType() != to.getType() ||
      from.getPad() != to.getPad() || from.getSizes() != to.getSizes() ||
      from.getHasEnd() != to.getHasEnd() || from.getEnds() != to.getEnds() ||
      from.getCache() != to.getCache())
    return std::nullopt;
  std::optional<LoadDistance> found;
  for (auto [d, starts] : llvm::enumerate(llvm::zip(from.getStarts(), to.getStarts()))) {
    auto [a, b] = starts;
    if (a == b)
      continue;
    Position offset;
    offset.add(b, 1);
    offset.add(a, -1);
    if (!offset.factors.empty())
      return std::nullopt;
    if (offset.constant == 0)
      continue;
    if (found || to.isDropped(d))
      return std::nullopt;
    found = {unsigned(d), offset.constant};
  }
  return found;
}
