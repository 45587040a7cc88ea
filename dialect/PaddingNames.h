// The name of the attribute by which tile-gpu-pad-extents says what is padding.
#ifndef TILE_DIALECT_PADDINGNAMES_H
#define TILE_DIALECT_PADDINGNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of positions and of a test of positions: the extents before they were rounded up to powers of
/// two. Nobody asks for what is behind them.
inline constexpr llvm::StringLiteral realExtentsName = "tile_gpu.real_extents";

} // namespace tile::gpu

#endif
