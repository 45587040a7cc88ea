// The lexer's grammar as a deterministic automaton over bytes.
#ifndef TILE_FRONTEND_PARSE_AUTOMATON_H
#define TILE_FRONTEND_PARSE_AUTOMATON_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tile {

/// One token of a text; `type` and `channel` are those of TileLexer.
struct Lexeme {
  size_t type = 0, channel = 0;
  uint32_t begin = 0, end = 0;
};

/// Finds the tokens that ANTLR's lexer finds, a table look-up for each byte: ANTLR's simulation of
/// its network takes thousands of instructions for a token, as it works with sets of states, locks
/// and actions. The table is made of that network, so the grammar is the one definition of tokens.
class Automaton {
public:
  /// The automaton of TileLexer. It is made when it is asked for first, and never changes.
  static const Automaton &get();

  /// Moves `at` behind the next token that the grammar does not skip. False at the end of `text`.
  bool next(llvm::StringRef text, uint32_t &at, Lexeme &found) const;

private:
  friend class AutomatonBuilder;

  static constexpr uint16_t none = UINT16_MAX;

  struct State {
    std::array<uint16_t, 256> next; // none: no token goes on with this byte
    uint16_t accepts = none;        // a rule
  };
  struct Rule {
    size_t type = 0, channel = 0;
    bool isSkipped = false;
  };

  std::vector<State> states; // the first is where each token begins
  std::vector<Rule> rules;   // those of the grammar, fragments among them
};

} // namespace tile

#endif
