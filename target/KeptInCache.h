// What the second-level cache keeps from one launch to the next.
#ifndef TILE_TARGET_KEPTINCACHE_H
#define TILE_TARGET_KEPTINCACHE_H

#include <cstdint>

namespace tile {

/// Bytes that a tensor may take to be in a cache of `cacheBytes` when the next launch begins: what
/// a launch reads and writes beside it takes the rest. By it the cost model expects reads of memory
/// (CostModel/Traffic.cpp), and tile-gpu-set-eviction-policies lets tensors go.
inline int64_t getKeptBytes(int64_t cacheBytes) {
  constexpr double kept = 0.6;
  return int64_t(kept * double(cacheBytes));
}

} // namespace tile

#endif
