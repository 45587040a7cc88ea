// `tilec lsp`: the language server, told of this compiler's version and of where it may put copies.
#include "driver/serve/Serve.h"
#include "driver/support/Version.h"
#include "lsp/Server.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace tile {

int serveEditors() {
  lsp::ServerOptions options;
  options.version = getCompilerVersion();
  llvm::SmallString<256> cache;
  if (llvm::sys::path::cache_directory(cache)) {
    std::string folder = options.version;
    for (char &c : folder)
      c = llvm::isAlnum(c) || c == '.' || c == '-' ? c : '_';
    llvm::sys::path::append(cache, "tile", "library", folder);
    options.cache = cache.str().str();
  }
  return lsp::serve(options);
}

} // namespace tile
