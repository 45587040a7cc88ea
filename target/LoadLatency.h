// How long a load takes, and how much must be on its way meanwhile to keep memory busy.
#ifndef TILE_TARGET_LOADLATENCY_H
#define TILE_TARGET_LOADLATENCY_H

#include "target/Target.h"

namespace tile {

/// Microseconds from a thread's load to its value, under load: fitted to measured times, as the
/// cost model's other constants are (docs/CostModel.md).
inline constexpr double loadLatency = 0.8;

/// Bytes that a multiprocessor moves in that time, read and written, when memory is busy.
inline double getBytesInFlight(const GPUCard &card) {
  constexpr double bytesPerMicrosecond = 1e3; // of GB/s
  return card.copied / double(card.processors) * loadLatency * bytesPerMicrosecond;
}

} // namespace tile

#endif
