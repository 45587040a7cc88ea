// The parser: from source text to the AST.
#ifndef TILE_FRONTEND_PARSE_PARSER_H
#define TILE_FRONTEND_PARSE_PARSER_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"

namespace tile {

/// Parses one file. Reports every error to `diagnostics` and then returns null; never throws, never
/// prints.
std::unique_ptr<ast::Program> parseFile(const SourceManager &sources, FileID file,
                                        DiagnosticEngine &diagnostics);

/// Brackets, blocks and prefix operators may be nested this deep, and expression trees may be this
/// high.
constexpr unsigned maxNesting = 200;
constexpr unsigned maxExprDepth = 1000;

} // namespace tile

#endif
