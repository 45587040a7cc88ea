// Lists of words in messages.
#ifndef TILE_FRONTEND_SEMA_WORDS_H
#define TILE_FRONTEND_SEMA_WORDS_H

#include <string>
#include <vector>

namespace tile {

/// "a, b or c".
inline std::string joinWords(const std::vector<std::string> &words, const std::string &last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? " " + last + " " : ", ";
    text += words[i];
  }
  return text;
}

} // namespace tile

#endif // TILE_FRONTEND_SEMA_WORDS_H
