// A range that an integer is sure to lie in, where that is easy to see while a kernel is
// elaborated.
#ifndef TILE_FRONTEND_LOWER_EASYRANGE_H
#define TILE_FRONTEND_LOWER_EASYRANGE_H

#include "mlir/IR/Value.h"

#include <cstdint>
#include <utility>

namespace tile {

/// The least and the greatest number that `value`, or an element of it, can be, read with a sign:
/// enough to leave out guards of divisions, and of positions that might pass 64 bits.
std::pair<int64_t, int64_t> easyRange(mlir::Value value, int depth = 8);

/// No position of a tensor, and none that arithmetic on dimensions and programs reaches, is as far
/// from 0. Two such numbers add up without passing 64 bits.
constexpr int64_t farthestPosition = (int64_t(1) << 62) - 1;

} // namespace tile

#endif
