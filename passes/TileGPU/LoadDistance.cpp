// See the header.
#include "passes/TileGPU/LoadDistance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

Position tile::gpu::splitConstant(Value value) {
  Position position{value};
  APInt constant;
  while (true) {
    if (matchPattern(position.base, m_ConstantInt(&constant)))
      return {nullptr, position.constant + constant.getSExtValue()};
    if (auto add = position.base.getDefiningOp<arith::AddIOp>();
        add && matchPattern(add.getRhs(), m_ConstantInt(&constant))) {
      position = {add.getLhs(), position.constant + constant.getSExtValue()};
    } else if (auto sub = position.base.getDefiningOp<arith::SubIOp>();
               sub && matchPattern(sub.getRhs(), m_ConstantInt(&constant))) {
      position = {sub.getLhs(), position.constant - constant.getSExtValue()};
    } else {
      return position;
    }
  }
}

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
    Position first = splitConstant(a), second = splitConstant(b);
    int64_t offset = second.constant - first.constant;
    if (first.base != second.base)
      return std::nullopt;
    if (offset == 0)
      continue;
    if (found || to.isDropped(d))
      return std::nullopt;
    found = {unsigned(d), offset};
  }
  return found;
}
