// What a launch would have to promise so that TMA may copy the operands of a kernel's products.
// Internal to elaboration.
#ifndef TILE_FRONTEND_LOWER_ALIGNEDROWS_H
#define TILE_FRONTEND_LOWER_ALIGNEDROWS_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Sema/ArgItem.h"

namespace tile {

/// Divisors of named dimensions and strides under which the rows of all tensors that loops of
/// `kernel` load operands of products from begin at multiples of 16 bytes. Empty where contracts
/// say so already, where no product stands in a loop, or where no divisor of a name would do.
std::vector<ArgItem> findRowDivisors(KernelOp kernel);

} // namespace tile

#endif
