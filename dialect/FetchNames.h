// The name of the attribute by which a kernel does without copies by TMA. Apart from
// AttributeNames.h, as few passes look at it.
#ifndef TILE_DIALECT_FETCHNAMES_H
#define TILE_DIALECT_FETCHNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// Of a kernel: its threads load what products read, since rings of fetches do not fit into shared
/// memory beside the rest. By tile-gpu-specialize-warps, which says so on its failure, for
/// tile-gpu-use-tma of the next try.
inline constexpr llvm::StringLiteral loadsItselfName = "tile_gpu.loads_itself";

} // namespace tile::gpu

#endif
