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

/// "1 argument", "2 or 3 arguments", "at least 2 arguments"; `high` is ~0u for any number.
inline std::string countText(unsigned low, unsigned high) {
  if (high == ~0u)
    return "at least " + countText(low, low);
  if (low == high)
    return std::to_string(low) + (low == 1 ? " argument" : " arguments");
  return std::to_string(low) + (high == low + 1 ? " or " : " to ") + std::to_string(high) +
         " arguments";
}

} // namespace tile

#endif
