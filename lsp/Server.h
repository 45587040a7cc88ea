// The language server: reads requests from standard input and answers on standard output.
#ifndef TILE_LSP_SERVER_H
#define TILE_LSP_SERVER_H

#include "target/Target.h"
#include <string>

namespace tile::lsp {

struct ServerOptions {
  std::string version; ///< that the server tells its client
  std::string cache;   ///< folder for copies of library files; empty: none
  /// Unless the client says another.
  std::string target = std::string(getFallbackTarget().name);
};

/// Serves till the client says `exit` or closes the stream. Returns the exit code: 0 after
/// `shutdown`, else 1.
int serve(const ServerOptions &options);

} // namespace tile::lsp

#endif
