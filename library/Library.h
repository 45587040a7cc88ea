// The library in Tile's own language that comes with the compiler: its files, held in the binary.
#ifndef TILE_LIBRARY_LIBRARY_H
#define TILE_LIBRARY_LIBRARY_H

#include "frontend/Parse/Imports.h"

namespace tile {

/// All files, in the order of their names: "std/activations.tile" and so on.
llvm::ArrayRef<LibraryFile> getLibrary();

} // namespace tile

#endif
