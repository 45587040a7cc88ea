// Checks of the token stream that come before parsing: tokens that are none, and nesting.
#ifndef TILE_FRONTEND_PARSE_TOKENCHECK_H
#define TILE_FRONTEND_PARSE_TOKENCHECK_H

#include "frontend/Diag/Engine.h"

#include "antlr4-runtime.h"

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// The bytes of a token; for the end of the file the empty range there.
Range tokenRange(FileID file, const antlr4::Token *token);

/// `text`, or its beginning and "..." if it is too long for a message.
std::string abbreviated(llvm::StringRef text);

/// Reports the first byte of `file` that is not UTF-8. Returns whether all are.
bool checkUtf8(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics);

/// Words, signs and comments of a file: more would take the parser seconds and a gigabyte.
constexpr size_t maxTokens = size_t(1) << 18;

/// Reports too many tokens, unknown characters, malformed numbers, unclosed strings and comments,
/// and reserved words. Returns whether there were none; if not, parsing would only repeat the
/// complaints.
bool checkTokens(llvm::ArrayRef<std::unique_ptr<antlr4::Token>> tokens, FileID file,
                 DiagnosticEngine &diagnostics);

/// Reports the first place that is nested deeper than maxNesting, counting brackets, prefix
/// operators and `else if`: all that makes the parser recurse. Returns whether there was none.
bool checkNesting(llvm::ArrayRef<std::unique_ptr<antlr4::Token>> tokens, FileID file,
                  DiagnosticEngine &diagnostics);

} // namespace tile

#endif
