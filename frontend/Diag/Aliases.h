// Words of other languages and their counterparts in this one.
#ifndef TILE_FRONTEND_DIAG_ALIASES_H
#define TILE_FRONTEND_DIAG_ALIASES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// A row of Aliases.def.
struct Alias {
  llvm::StringRef word;
  /// A replacement that means the same; may be empty.
  llvm::StringRef replacement;
  /// Advice; empty where the replacement says all.
  llvm::StringRef note;
};

/// The row for a word, or null.
const Alias *findAlias(llvm::StringRef word);

/// Is this what people write before the functions of a library that are built in here: `np.exp`,
/// `tl.load`, `std::max`?
bool isForeignModule(llvm::StringRef word);

/// Is this the name of a dtype?
bool isDtypeWord(llvm::StringRef word);

/// The dtype that a type of C has, "float" or "unsigned"; empty if there is none. A dtype's own
/// name and its names elsewhere are taken, too.
std::string dtypeOfC(llvm::StringRef type);

} // namespace tile

#endif
