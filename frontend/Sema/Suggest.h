// "Did you mean": the nearest of a list of names.
#ifndef TILE_FRONTEND_SEMA_SUGGEST_H
#define TILE_FRONTEND_SEMA_SUGGEST_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tile {

/// The candidate nearest to `name` if it is near enough to be meant, else an empty string. Ties take the first.
std::string suggest(llvm::StringRef name, const std::vector<std::string> &candidates);

/// "a, b or c".
std::string joinWords(const std::vector<std::string> &words, llvm::StringRef last = "or");

} // namespace tile

#endif // TILE_FRONTEND_SEMA_SUGGEST_H
