// The table of words from other languages.
#include "frontend/Diag/Aliases.h"

using namespace tile;

static constexpr Alias table[] = {
#define ALIAS(word, replacement, note) {word, replacement, note},
#include "frontend/Diag/Aliases.def"
};

const Alias *tile::findAlias(llvm::StringRef word) {
  for (const Alias &row : table)
    if (row.word == word)
      return &row;
  return nullptr;
}
