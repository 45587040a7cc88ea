// Products that an assembler has left out: ptxas 13.0 does where two begin a sum in the same
// registers, and says nothing.
#ifndef TILE_CODEGEN_LOSTPRODUCTS_H
#define TILE_CODEGEN_LOSTPRODUCTS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tile {

/// What is wrong, for a message, where a kernel of the cubin has fewer products by wgmma than its
/// PTX, or one whose sums go nowhere. None where all are there, and of bytes that are no cubin.
std::optional<std::string> findLostProducts(llvm::StringRef ptx, llvm::StringRef cubin);

} // namespace tile

#endif
