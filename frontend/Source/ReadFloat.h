// Reads a float from text of any length.
#ifndef TILE_FRONTEND_SOURCE_READFLOAT_H
#define TILE_FRONTEND_SOURCE_READFLOAT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tile {

/// The number that all of `text` spells, rounded to nearest, infinite where it is too large; none
/// where it spells no number. By the C library: LLVM's APFloat overruns its buffers beyond some
/// 30,000 digits.
std::optional<double> readFloat(llvm::StringRef text);

} // namespace tile

#endif
