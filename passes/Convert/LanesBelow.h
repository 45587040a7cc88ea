// How many lanes of a range lie below a position, for steps so wide that a range passes the ends of
// 64 bits.
#ifndef TILE_PASSES_CONVERT_LANESBELOW_H
#define TILE_PASSES_CONVERT_LANESBELOW_H

#include "mlir/IR/Builders.h"

namespace tile {

/// True if the distance from the first to the last of `size` lanes leaves no room in 64 bits for
/// the differences that bounds are computed from.
bool isWide(int64_t size, int64_t step);

/// The number of lanes, out of `size`, for which start + lane * step < limit: an index, exact for
/// every start and limit.
mlir::Value lanesBelow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value start,
                       mlir::Value limit, int64_t size, int64_t step);

} // namespace tile

#endif
