// The tokens of a text as ANTLR's parser takes them, found by the automaton.
#ifndef TILE_FRONTEND_PARSE_TOKENLIST_H
#define TILE_FRONTEND_PARSE_TOKENLIST_H

#include "frontend/Parse/ByteStream.h"

#include "TileLexer.h"

#include "llvm/ADT/ArrayRef.h"

namespace tile {

namespace detail {
/// What TokenList's base class is made of.
struct LexedText {
  explicit LexedText(llvm::StringRef source) : text(source), lexer(&text) {}

  ByteStream text;
  TileLexer lexer; // finds no token; the parser asks it for its factory and for the text
};
} // namespace detail

/// All tokens of a text, comments among them. Each knows the next one and the one before that the
/// parser sees, so that looking ahead takes no search.
class TokenList : private detail::LexedText, public antlr4::CommonTokenStream {
public:
  explicit TokenList(llvm::StringRef text);

  llvm::ArrayRef<std::unique_ptr<antlr4::Token>> all() const { return _tokens; }

  void consume() override { _p = after[_p]; }
  size_t LA(ssize_t k) override;
  antlr4::Token *LT(ssize_t k) override;

private:
  // By the index of a token: of those on the parser's channel the next one behind it, which at the
  // end is the end itself, and the one before it, or `none`.
  static constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> after, before;
};

} // namespace tile

#endif
