// Names of the attributes that say what of a kernel's shared memory launches of shorter rows need.
#ifndef TILE_DIALECT_ROWNAMES_H
#define TILE_DIALECT_ROWNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of the slots of tiles that loops over rows keep: which of the kernel's dimensions the rows go
/// along, elements of a trip, and the extent up to which no trip uses a slot (array of three i64).
/// By tile-gpu-keep-tiles.
inline constexpr llvm::StringLiteral rowTripsName = "tile_gpu.row_trips";
/// Of a kernel and its function: what of the shared memory a launch needs (array of seven i64): the
/// three numbers above, bytes that each launch needs, bytes that one needs whose first trip uses a
/// slot, bytes of each slot beside them, and how many of these there are. By
/// tile-gpu-allocate-shared.
inline constexpr llvm::StringLiteral sharedByRowName = "tile_gpu.shared_by_row";

} // namespace tile::gpu

#endif
