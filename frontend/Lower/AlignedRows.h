// What a launch would have to promise so that vectors, or TMA, may move a kernel's tiles.
// Internal to elaboration.
#ifndef TILE_FRONTEND_LOWER_ALIGNEDROWS_H
#define TILE_FRONTEND_LOWER_ALIGNEDROWS_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Sema/ArgItem.h"

#include <map>

namespace tile {

/// What decides beside the kernel itself which divisors are worth a version.
struct RowRequest {
  std::map<std::string, int64_t> extents; ///< that the kernel is compiled for; of others `opt`
                                          ///< is expected
  /// What divides extents of all calls, by name: asked of these names whatever `opt` says.
  std::map<std::string, int64_t> divisors;
  bool choosesTiles = false; ///< the version's tiles are chosen for it
  bool advises = false;      ///< asks for what a version would need, whatever it costs
  bool fetches = false;      ///< the target's TMA feeds products
};

/// Divisors of named dimensions and strides under which rows begin at multiples of 16 bytes: of
/// the tensors that loops of `kernel` load operands of products from, or, where those lack none, of
/// all tensors that it accesses in tiles. Empty where contracts say so already, where an expected
/// extent has no such divisor, or where no divisor of a name would do.
std::vector<ArgItem> findRowDivisors(KernelOp kernel, const RowRequest &request);

} // namespace tile

#endif
