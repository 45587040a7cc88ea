// Filling a strided tensor with one value before a launch: the core's fills, for C++.
#ifndef TILE_LAUNCH_FILL_H
#define TILE_LAUNCH_FILL_H

#include "launch/core/Launch.h"
#include "manifest/Error.h"

namespace tile::runtime {

/// One tensor to fill, and a block of it: see launch/core/Core.h.
using Fill = tk_fill;
using FillBlock = tk_block;

/// The core's last message on this thread, as an error of that code.
inline Error lastError(tile_code code) { return Error(code, tk_text(tk_said())); }

/// The fill of a tensor that is not empty, of rank <= TK_MAX_RANK; dimensions are sorted and
/// merged.
inline Fill makeFill(void *data, uint64_t bits, unsigned elementBytes, unsigned rank,
                     const int64_t *shape, const int64_t *strides) {
  Fill fill;
  tk_make_fill(&fill, data, bits, elementBytes, rank, shape, strides);
  return fill;
}

/// Calls `write(FillBlock) -> Error` until everything is covered or it fails.
template <typename Write> Error forEachBlock(const Fill &fill, Write write) {
  struct Context {
    Write &write;
    Error error;
  } context{write, {}};
  auto step = [](const tk_block *block, void *pointer) -> tile_code {
    auto &state = *static_cast<Context *>(pointer);
    state.error = state.write(*block);
    return state.error.code;
  };
  tile_code code = tk_each_block(&fill, step, &context);
  return context.error || !code ? context.error : lastError(code);
}

/// Fills a tensor in this process's memory, any value.
inline void fillHost(const Fill &fill) { tk_fill_host(&fill); }

} // namespace tile::runtime

#endif
