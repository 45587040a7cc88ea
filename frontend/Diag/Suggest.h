// "Did you mean": the candidate that a misspelt word most resembles.
#ifndef TILE_FRONTEND_DIAG_SUGGEST_H
#define TILE_FRONTEND_DIAG_SUGGEST_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tile {

/// The closest of `candidates` to `word`, by edit distance with swaps, case counting less than a
/// letter; empty when none is close (about one edit for three letters). Of equally close ones the
/// first.
std::string suggest(llvm::StringRef word, const std::vector<std::string> &candidates);

} // namespace tile

#endif // TILE_FRONTEND_DIAG_SUGGEST_H
