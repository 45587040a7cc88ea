// The symbols that machine code for the host may take from the libraries it is linked with.
#ifndef TILE_CODEGEN_HOSTSYMBOLS_H
#define TILE_CODEGEN_HOSTSYMBOLS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tile {

/// An error that names a symbol which `object`, an object file, leaves undefined and no C library,
/// mathematical library or libgcc of every supported age has: the code could not be loaded.
llvm::Error checkHostSymbols(llvm::StringRef object);

} // namespace tile

#endif
