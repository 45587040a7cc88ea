// Mistakes that an assembler has made and says nothing of, as its machine code shows them.
#ifndef TILE_CODEGEN_ASSEMBLERMISTAKES_H
#define TILE_CODEGEN_ASSEMBLERMISTAKES_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tile {

/// What is wrong, for a message, where a kernel of the cubin has fewer products by wgmma than its
/// PTX, or one whose sums go nowhere, or an instruction for two tests of which only one is kept,
/// where ptxas 13.0 may write the other. None where neither is found, and of bytes that are no
/// cubin.
std::optional<std::string> findMistake(llvm::StringRef ptx, llvm::StringRef cubin);

} // namespace tile

#endif
