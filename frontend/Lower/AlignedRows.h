// What a launch would have to promise so that TMA may copy the operands of a kernel's products.
// Internal to elaboration.
#ifndef TILE_FRONTEND_LOWER_ALIGNEDROWS_H
#define TILE_FRONTEND_LOWER_ALIGNEDROWS_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Sema/ArgItem.h"

#include <map>

namespace tile {

/// Divisors of named dimensions and strides under which the rows of all tensors that loops of
/// `kernel` load operands of products from begin at multiples of 16 bytes. Empty where contracts
/// say so already, where no product stands in a loop that lasts, or where no divisor of a name
/// would do. `extents` are those that the kernel is compiled for; of others `opt` is expected.
/// Any loop will do where the version's tiles are chosen for it.
std::vector<ArgItem> findRowDivisors(KernelOp kernel, const std::map<std::string, int64_t> &extents,
                                     bool choosesTiles);

} // namespace tile

#endif
