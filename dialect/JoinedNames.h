// Names of attributes that say what stands for several programs of the source. Apart from
// AttributeNames.h, as few passes look at them.
#ifndef TILE_DIALECT_JOINEDNAMES_H
#define TILE_DIALECT_JOINEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a kernel and its function: programs of the source along each axis of the grid that one
/// program is (array of i64). By tile-gpu-widen-tiles.
inline constexpr llvm::StringLiteral joinedProgramsName = "tile_gpu.joined_programs";

/// Of a kernel: its programs or trips are several of the source's (unit). By
/// tile-gpu-widen-tiles.
inline constexpr llvm::StringLiteral widenedName = "tile_gpu.widened";

/// Of a kernel: its programs and trips stay the source's, as longer tiles have found no room
/// (unit). By the driver.
inline constexpr llvm::StringLiteral crowdedName = "tile_gpu.crowded";

} // namespace tile::gpu

#endif
