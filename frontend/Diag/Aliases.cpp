// The table of words from other languages.
#include "frontend/Diag/Aliases.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile;

static constexpr Alias table[] = {
#define ALIAS(word, replacement, note) {word, replacement, note},
#include "frontend/Diag/Aliases.def"
};

bool tile::isForeignModule(llvm::StringRef word) {
  static const llvm::StringRef words[] = {"np",   "numpy", "tl",   "triton", "torch", "F",
                                          "nn",   "math",  "jnp",  "jax",    "lax",   "cupy",
                                          "cp",   "std",   "cuda", "thrust", "numba", "libdevice",
                                          "Base", "ct",    "tle",  "cmath"};
  return llvm::is_contained(words, word);
}

bool tile::isDtypeWord(llvm::StringRef word) {
  static const llvm::StringRef words[] = {
#define DTYPE(name, spelling, ...) spelling,
#include "manifest/Dtypes.def"
      "index"};
  return llvm::is_contained(words, word);
}

std::string tile::dtypeOfC(llvm::StringRef type) {
  static const std::pair<llvm::StringRef, llvm::StringRef> widths[] = {
      {"float", "f32"}, {"int", "i32"}, {"long", "i64"},
      {"short", "i16"}, {"char", "i8"}, {"unsigned", "u32"}};
  for (auto [word, dtype] : widths)
    if (word == type)
      return dtype.str();
  const Alias *alias = findAlias(type);
  llvm::StringRef known = alias ? alias->replacement : type;
  return isDtypeWord(known) ? known.str() : "";
}

const Alias *tile::findAlias(llvm::StringRef word) {
  for (const Alias &row : table)
    if (row.word == word)
      return &row;
  return nullptr;
}
