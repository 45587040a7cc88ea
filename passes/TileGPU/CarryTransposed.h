// Variables of loops that products of few rows accumulate into.
#ifndef TILE_PASSES_TILEGPU_CARRYTRANSPOSED_H
#define TILE_PASSES_TILEGPU_CARRYTRANSPOSED_H

#include "dialect/Tile/TileDialect.h"

namespace tile::gpu {

/// A tile that each trip of a loop transposes first and back last is carried transposed:
///
///   for iter_args(%a = %a0):            %t0 = permute %a0
///     %t = permute %a                   for iter_args(%t = %t0):
///     %u = product(…, %t)         ->      %u = product(…, %t)
///     yield permute %u                    yield %u
///                                       permute of the result
///
/// Nothing else then stands between the products of two trips.
void carryTransposed(KernelOp kernel);

} // namespace tile::gpu

#endif
