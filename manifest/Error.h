// Errors as values, inside the runtime: a code of the C interface and one line of text.
#ifndef TILE_MANIFEST_ERROR_H
#define TILE_MANIFEST_ERROR_H

#include "runtime/include/tile_runtime.h"

#include <string>
#include <utility>

namespace tile::runtime {

/// An error or none: converts to true when there is one.
struct Error {
  tile_code code = TILE_OK;
  std::string message;

  Error() = default;
  Error(tile_code code, std::string message) : code(code), message(std::move(message)) {}
  explicit operator bool() const { return code != TILE_OK; }
};

} // namespace tile::runtime

#endif
