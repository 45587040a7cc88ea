// "Did you mean": the candidate that a misspelt word most resembles.
#ifndef TILE_FRONTEND_DIAG_SUGGEST_H
#define TILE_FRONTEND_DIAG_SUGGEST_H

#include "frontend/Diag/Engine.h"

#include <string>
#include <vector>

namespace tile {

/// The closest of `candidates` to `word`, by edit distance with swaps, case counting less than a
/// letter; empty when none is close (about one edit for three letters). Of equally close ones the
/// first.
std::string suggest(llvm::StringRef word, const std::vector<std::string> &candidates);

/// Adds to an error about `name`, which stands at `range`, what was probably meant: what a word of
/// another language is called here, else the closest of `candidates`.
void addSuggestion(DiagnosticBuilder &report, Range range, llvm::StringRef name,
                   const std::vector<std::string> &candidates);

/// Adds to an error about `np.exp`, all of which stands at `whole`, how its member is written here.
void addPrefixHint(DiagnosticBuilder &report, Range whole, llvm::StringRef member,
                   const std::vector<std::string> &candidates);

} // namespace tile

#endif
