// Names of the attributes that the passes for the CPU leave for each other and for the driver.
#ifndef TILE_DIALECT_CPUATTRIBUTENAMES_H
#define TILE_DIALECT_CPUATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::cpu {

/// Of a kernel's function: the number of the machine argument behind all others, which points to
/// memory for tiles where the kernel needs such (i64).
inline constexpr llvm::StringLiteral scratchArgumentName = "tile.scratch_argument";
/// Of a kernel's function: bytes of that memory, which each thread has for itself (i64).
inline constexpr llvm::StringLiteral scratchBytesName = "tile.scratch_bytes";

} // namespace tile::cpu

#endif
