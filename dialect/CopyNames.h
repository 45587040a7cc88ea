// The name of the attribute by which a kernel's copies stay whole. Apart from AttributeNames.h, as
// few files look at it.
#ifndef TILE_DIALECT_COPYNAMES_H
#define TILE_DIALECT_COPYNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a kernel: copies by cp.async are not taken apart between a product's steps, since threads
/// that hold their places throughout the steps have spilled. By a further try, for
/// tile-gpu-pipeline-copies.
inline constexpr llvm::StringLiteral wholeCopiesName = "tile_gpu.whole_copies";

} // namespace tile::gpu

#endif
