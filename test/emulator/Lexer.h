// Words and marks of PTX text.
#ifndef TILE_TEST_EMULATOR_LEXER_H
#define TILE_TEST_EMULATOR_LEXER_H

#include "test/emulator/Ptx.h"

namespace emu {

struct Token {
  enum Kind { Word, Number, Text, Mark, End };
  Kind kind = End;
  std::string text;
  unsigned line = 0;
};

std::vector<Token> readTokens(const std::string &text);

} // namespace emu

#endif
