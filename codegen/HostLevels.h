// Levels of processors that code for the CPU is compiled for.
#ifndef TILE_CODEGEN_HOSTLEVELS_H
#define TILE_CODEGEN_HOSTLEVELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

/// The levels of this machine's family of processors that code can be compiled for, each with all
/// of those before it: four of x86-64, of 64-bit ARM "armv8-a" alone.
llvm::ArrayRef<llvm::StringRef> getHostLevels();

/// The level that code for other machines is compiled for where nobody asks for one; may be empty.
llvm::StringRef getDefaultHostLevel();

} // namespace tile

#endif
