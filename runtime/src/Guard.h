// How functions of the C interface report: errors as objects, and no exception that leaves.
#ifndef TILE_RUNTIME_SRC_GUARD_H
#define TILE_RUNTIME_SRC_GUARD_H

#include "manifest/Error.h"
#include "runtime/include/tile_runtime.h"

#include <exception>
#include <new>
#include <string>

/// Freed by tile_error_free alone; NULL is success.
struct tile_error {
  tile::runtime::Error error;
};

namespace tile::runtime {

/// For when there is no memory to make an error: not freed.
tile_error &outOfMemory();

/// Runs `body`, which returns an Error, and makes an object of what it returns or throws.
/// Nothing is thrown past this: callers are C, Python and XLA.
template <typename Body> tile_error *guard(Body body) {
  try {
    Error error = body();
    return error ? new tile_error{std::move(error)} : nullptr;
  } catch (const std::bad_alloc &) {
    return &outOfMemory();
  } catch (const std::exception &problem) {
    tile_error *error = new (std::nothrow) tile_error;
    if (!error)
      return &outOfMemory();
    error->error.code = TILE_ERROR_CALL;
    try {
      // Copying the text may fail as well; the code is enough then.
      error->error.message = problem.what();
    } catch (...) {
    }
    return error;
  }
}

inline Error nullCall(const char *what) {
  return Error(TILE_ERROR_CALL, std::string(what) + " is null");
}

} // namespace tile::runtime

#endif
