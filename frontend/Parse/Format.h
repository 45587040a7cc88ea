// The one layout of source text, for `tilec fmt`.
#ifndef TILE_FRONTEND_PARSE_FORMAT_H
#define TILE_FRONTEND_PARSE_FORMAT_H

#include "frontend/Diag/Engine.h"

#include <optional>
#include <string>

namespace tile {

/// The text of a file with its blanks and indentation in order. Where lines end is the author's
/// choice, and so are comments; empty lines are single, comments behind the code of neighbouring
/// lines stand in one column. Formatting twice changes nothing more. None after errors: a file that
/// does not parse is left alone.
std::optional<std::string> formatFile(const SourceManager &sources, FileID file,
                                      DiagnosticEngine &diagnostics);

} // namespace tile

#endif
