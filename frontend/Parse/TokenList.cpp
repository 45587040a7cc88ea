// Tokens are made at once, with the lines and columns that ANTLR's lexer counts.
//
//   index     0       1         2      3
//   token     `let`   comment   `x`    EOF      blanks are no tokens: the lexer skips them
//   after     2       2         3      3        the next that the parser sees; of EOF itself
//   before    none    0         0      2
#include "frontend/Parse/TokenList.h"
#include "frontend/Parse/Automaton.h"

using namespace tile;
using antlr4::CommonToken;
using antlr4::Token;

namespace {
/// A token that is told its place: ANTLR's own asks the lexer for it, by two dynamic casts.
class PlacedToken : public CommonToken {
public:
  PlacedToken(std::pair<antlr4::TokenSource *, antlr4::CharStream *> source, size_t type,
              size_t channel, size_t begin, size_t stop, size_t line, size_t column, size_t index)
      : CommonToken(type) {
    _source = source;
    _channel = channel;
    _start = begin;
    _stop = stop;
    _line = line;
    _charPositionInLine = column;
    _index = index;
  }
};
} // namespace

TokenList::TokenList(llvm::StringRef text)
    : detail::LexedText(text), antlr4::CommonTokenStream(&lexer) {
  const Automaton &automaton = Automaton::get();
  size_t line = 1, lineStart = 0, counted = 0; // lines up to `counted`
  auto add = [&](size_t type, size_t channel, size_t begin, size_t end) {
    for (; counted < begin; ++counted)
      if (text[counted] == '\n') {
        ++line;
        lineStart = counted + 1;
      }
    _tokens.push_back(std::make_unique<PlacedToken>(
        std::pair<antlr4::TokenSource *, antlr4::CharStream *>(&lexer, &this->text), type, channel,
        begin, end - 1, line, begin - lineStart, _tokens.size()));
  };
  Lexeme found;
  for (uint32_t at = 0; automaton.next(text, at, found);)
    add(found.type, found.channel, found.begin, found.end);
  add(Token::EOF, Token::DEFAULT_CHANNEL, text.size(), text.size());
  // The base class would ask the lexer for more: there is nothing more to fetch, ever.
  _fetchedEOF = true;

  after.resize(_tokens.size());
  before.resize(_tokens.size());
  uint32_t last = uint32_t(_tokens.size() - 1), next = last, previous = none;
  for (uint32_t i = last; i != none; --i) {
    after[i] = next;
    if (_tokens[i]->getChannel() == Token::DEFAULT_CHANNEL)
      next = i;
  }
  for (uint32_t i = 0; i <= last; ++i) {
    before[i] = previous;
    if (_tokens[i]->getChannel() == Token::DEFAULT_CHANNEL)
      previous = i;
  }
  seek(0); // which is the first that the parser sees
}

Token *TokenList::LT(ssize_t k) {
  if (k == 0)
    return nullptr; // as ANTLR defines it
  uint32_t at = uint32_t(_p);
  for (; k > 1; --k)
    at = after[at];
  for (; k < 0 && at != none; ++k)
    at = before[at];
  return at == none ? nullptr : _tokens[at].get();
}

size_t TokenList::LA(ssize_t k) {
  Token *token = LT(k);
  return token ? token->getType() : Token::INVALID_TYPE;
}
