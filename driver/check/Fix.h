// `tilec fix`: puts the changes that diagnostics propose into the sources.
#ifndef TILE_DRIVER_CHECK_FIX_H
#define TILE_DRIVER_CHECK_FIX_H

#include "driver/Session.h"

namespace tile {

/// One change of a text.
struct Edit {
  uint32_t begin = 0, end = 0; ///< bytes
  std::string replacement;
};

/// The text with all edits that do not overlap one before them, by their place; `applied` gets
/// their numbers.
std::string applyEdits(llvm::StringRef text, const std::vector<Edit> &edits,
                       std::vector<size_t> &applied);

/// Changes the files in place, says what was changed, and reports what is left. Returns the exit
/// code.
int fixSources(const Options &options, Session &session);

} // namespace tile

#endif
