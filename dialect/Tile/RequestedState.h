// The attributes by which a source asks something of its kernels and loops
// (dialect/AttributeNames.h).
#ifndef TILE_DIALECT_TILE_REQUESTEDSTATE_H
#define TILE_DIALECT_TILE_REQUESTEDSTATE_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// Checks those of the kernel and of everything in it: kind of value, place, and that the name is
/// one that somebody reads.
mlir::LogicalResult verifyRequests(KernelOp kernel);

} // namespace tile

#endif
