// Divides a file into its declarations, whatever state it is in.
#ifndef TILE_LSP_SPLIT_H
#define TILE_LSP_SPLIT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tile::lsp {

/// The bytes [begin, end) of a file: one declaration with the comments before it.
struct Piece {
  uint32_t begin = 0, end = 0;
};

/// The pieces of `text` in order; only blanks lie between them. A piece begins at `kernel`,
/// `import`, `fn NAME` and `const NAME`, which no body contains: a brace that is missing in one
/// declaration does not reach the next. Linear in the text.
std::vector<Piece> splitDeclarations(llvm::StringRef text);

} // namespace tile::lsp

#endif
