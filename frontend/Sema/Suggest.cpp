// "Did you mean": edit distance with a limit that grows with the name.
#include "frontend/Sema/Suggest.h"

using namespace tile;

std::string tile::suggest(llvm::StringRef name, const std::vector<std::string> &candidates) {
  // A name of one or two letters is near to everything: only another case of it is meant.
  unsigned limit = name.size() <= 2 ? 0 : name.size() <= 4 ? 1 : name.size() <= 8 ? 2 : 3;
  std::string best;
  for (const std::string &candidate : candidates) {
    if (name.equals_insensitive(candidate))
      return candidate;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit + 1);
    if (distance <= limit && (best.empty() || distance < name.edit_distance(best)))
      best = candidate;
  }
  return best;
}

std::string tile::joinWords(const std::vector<std::string> &words, llvm::StringRef last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? " " + last.str() + " " : ", ";
    text += words[i];
  }
  return text;
}
