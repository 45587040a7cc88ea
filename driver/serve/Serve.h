// `tilec lsp`.
#ifndef TILE_DRIVER_SERVE_SERVE_H
#define TILE_DRIVER_SERVE_SERVE_H

namespace tile {

/// Serves an editor over standard input and output. Returns the exit code.
int serveEditors();

} // namespace tile

#endif
