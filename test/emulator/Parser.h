// The parser of PTX: its state, and the parts that Parser.cpp (declarations, statements) and
// Operands.cpp share.
#ifndef TILE_TEST_EMULATOR_PARSER_H
#define TILE_TEST_EMULATOR_PARSER_H

#include "test/emulator/Lexer.h"

#include <unordered_map>

namespace emu {

/// Bits of a type's name without its dot; 0 where it is no type.
unsigned typeBits(const std::string &name);

struct Scope {
  std::unordered_map<std::string, int> registers;
  std::unordered_map<std::string, int64_t> labels;
  struct Use {
    size_t instruction, operand;
  };
  std::vector<std::pair<std::string, Use>> uses; ///< of labels that are not known yet
};

class Parser {
public:
  explicit Parser(const std::string &text) : tokens(readTokens(text)) {}
  Module run();

private:
  std::vector<Token> tokens;
  size_t at = 0;
  Module module;
  Function *function = nullptr;
  std::vector<Scope> scopes;

  const Token &peek(size_t ahead = 0) const {
    return tokens[at + ahead < tokens.size() ? at + ahead : tokens.size() - 1];
  }
  Token take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool isMark(char c, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Mark && peek(ahead).text[0] == c;
  }
  bool skip(char c) {
    if (!isMark(c))
      return false;
    take();
    return true;
  }
  [[noreturn]] void fail(const std::string &expected) const {
    throw BadPtx(peek().line, "expected " + expected + ", found '" + peek().text + "'");
  }
  void expect(char c) {
    if (!skip(c))
      fail(std::string("'") + c + "'");
  }
  std::string word() {
    if (peek().kind != Token::Word)
      fail("a name");
    return take().text;
  }
  int64_t integer();
  Operand number();
  Variable variable(const std::string &space);
  void functionAt(bool isEntry, bool isExtern);
  void body();
  void statement();
  void declareRegisters();
  Operand operand();
  Operand atom();
  int findRegister(const std::string &name) const;
  void closeScope();
};

} // namespace emu

#endif
