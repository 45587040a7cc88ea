// Splits PTX into words (with their dots and double colons), numbers, strings and marks.
#include "test/emulator/Lexer.h"

#include <cctype>

namespace emu {

static bool isWordStart(char c) {
  return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool isWordPart(char c) { return isWordStart(c) || isdigit((unsigned char)c); }

std::vector<Token> readTokens(const std::string &text) {
  std::vector<Token> tokens;
  unsigned line = 1;
  size_t i = 0, size = text.size();
  while (i < size && text[i]) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      ++i;
    } else if (isspace((unsigned char)c)) {
      ++i;
    } else if (text.compare(i, 2, "//") == 0) {
      i = text.find('\n', i);
      i = i == std::string::npos ? size : i;
    } else if (text.compare(i, 2, "/*") == 0) {
      size_t end = text.find("*/", i);
      end = end == std::string::npos ? size : end + 2;
      for (; i < end; ++i)
        line += text[i] == '\n';
    } else if (c == '"') {
      size_t end = text.find('"', i + 1);
      if (end == std::string::npos)
        throw BadPtx(line, "a string does not end");
      tokens.push_back({Token::Text, text.substr(i + 1, end - i - 1), line});
      i = end + 1;
    } else if (isdigit((unsigned char)c)) {
      size_t end = i;
      while (end < size && (isalnum((unsigned char)text[end]) || text[end] == '.'))
        ++end;
      tokens.push_back({Token::Number, text.substr(i, end - i), line});
      i = end;
    } else if (isWordStart(c)) {
      size_t end = i;
      while (end < size) {
        if (isWordPart(text[end]))
          ++end;
        else if (text.compare(end, 2, "::") == 0)
          end += 2;
        else
          break;
      }
      tokens.push_back({Token::Word, text.substr(i, end - i), line});
      i = end;
    } else {
      tokens.push_back({Token::Mark, std::string(1, c), line});
      ++i;
    }
  }
  tokens.push_back({Token::End, "", line});
  return tokens;
}

} // namespace emu
