// Code for the CPU out of a package: a shared object loaded from memory, and its kernels run by
// several threads.
#ifndef TILE_LAUNCH_HOSTCODE_H
#define TILE_LAUNCH_HOSTCODE_H

#include "launch/Fill.h"
#include "launch/core/Pool.h"
#include "manifest/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tile::runtime {

/// Runs programs begin to end - 1 of a kernel's grid; args[i] points to the i-th machine argument's
/// value.
using HostFunction = void (*)(const void *const *args, int64_t begin, int64_t end);

/// A shared object, loaded as long as this lives.
class HostLibrary {
public:
  /// `name` stands in messages. TILE_ERROR_BINARY where the loader refuses the bytes.
  static Error open(const std::string &bytes, const std::string &name,
                    std::unique_ptr<HostLibrary> &library);
  ~HostLibrary();
  HostLibrary(const HostLibrary &) = delete;
  HostLibrary &operator=(const HostLibrary &) = delete;

  /// The function of that name, or null.
  HostFunction find(const std::string &symbol) const;

private:
  HostLibrary() = default;
  int file = -1;
  void *handle = nullptr;
};

/// Does this processor have all of a level of x86-64: "x86-64", "x86-64-v2", "-v3", "-v4"? Not for
/// unknown names.
inline bool hasCpuLevel(const std::string &level) { return tk_has_level(level.c_str()); }

/// Threads that run the programs of grids, and stay from one launch to the next. They end with
/// this.
class HostThreads {
public:
  HostThreads() = default;
  ~HostThreads() { tk_pool_end(&pool); }
  HostThreads(const HostThreads &) = delete;
  HostThreads &operator=(const HostThreads &) = delete;

  /// Runs programs begin to end - 1 of a grid and waits for them. `tables` tells how much memory
  /// the kernel's tiles take: TILE_ERROR_MEMORY, before anything has run, where there is no such.
  /// `threads` 0: one for each processor.
  Error run(const tk_kernel &tables, HostFunction kernel, const void *const *arguments,
            int64_t begin, int64_t end, unsigned threads) {
    tile_code code = tk_pool_launch(&pool, &tables, kernel, arguments, begin, end, int(threads));
    return code ? lastError(code) : Error();
  }

private:
  tk_pool pool = TK_POOL_START;
};

} // namespace tile::runtime

#endif
