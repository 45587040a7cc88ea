// Prints the AST as an indented tree: what --emit=ast shows.
#ifndef TILE_FRONTEND_AST_PRINTER_H
#define TILE_FRONTEND_AST_PRINTER_H

#include "frontend/Ast/Decl.h"

#include "llvm/Support/raw_ostream.h"

namespace tile::ast {

/// One line for each node: its kind, its names and literals, its place as <line:column-line:column>
/// with the end exclusive. The output depends on the source text alone.
void print(const Program &program, const SourceManager &sources, llvm::raw_ostream &os);

} // namespace tile::ast

#endif
