// Attributes of accesses whose rows begin elsewhere than others.
#ifndef TILE_DIALECT_SHIFTNAMES_H
#define TILE_DIALECT_SHIFTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a load with rotatedName: it begins anywhere, not at a multiple of 16 bytes, as rows of other
/// tensors do; its tensor begins at one (unit). By tile-gpu-rotate-rows.
inline constexpr llvm::StringLiteral shiftedName = "tile_gpu.shifted";

} // namespace tile::gpu

#endif
