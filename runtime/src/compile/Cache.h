// Results of the compiler in a folder that any number of processes and threads use at once: the
// cache of tile_compile.h and of Python. An entry lists the files that were read with their hashes,
// and is good as long as they are the same. tilec's own cache is driver/cache/Cache.h.
#ifndef TILE_RUNTIME_SRC_COMPILE_CACHE_H
#define TILE_RUNTIME_SRC_COMPILE_CACHE_H

#include "manifest/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace tile::runtime {

/// The result of a call of the compiler.
struct CompileResult {
  std::string payload, messages;
  std::vector<std::string> dependencies; ///< files that were read
};

/// `tile` in XDG_CACHE_HOME, else in ~/.cache.
std::string getDefaultCacheFolder();

/// The result under `key`: from the folder, else by `make`, which one process does while the others
/// wait. `wasKept` says which; `problem` why nothing is kept. An empty folder keeps nothing.
Error obtain(const std::string &folder, const std::string &key,
             std::function<Error(CompileResult &)> make, CompileResult &result, bool &wasKept,
             std::string &problem);

/// Removes all results.
Error clearCache(const std::string &folder);

} // namespace tile::runtime

#endif
