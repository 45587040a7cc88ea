// Tensor maps: what a kernel's copies by TMA need to know of a tensor, encoded by the driver at
// launch.
#ifndef TILE_RUNTIME_SRC_TENSORMAP_H
#define TILE_RUNTIME_SRC_TENSORMAP_H

#include "launch/CudaDriver.h"
#include "launch/Validate.h"

#include <array>
#include <mutex>
#include <vector>

namespace tile::runtime {

/// The encoded maps of one kernel's latest launches, so that encoding, which costs about a
/// microsecond, is rare. Threads may share it.
class TensorMapCache {
public:
  /// Fills `maps` with an encoded map for each of the kernel's, in their order. `plan` is the
  /// launch's. A tensor without elements is stood in for by a single element: `empty` points to 32
  /// bytes of device memory, 16 zeros for tensors that are read, then 16 for those that are
  /// written. Allocates nothing once `maps` has its memory.
  Error get(const CudaDriver &driver, const Validator &validator, const tile_argument *arguments,
            const Plan &plan, CUdeviceptr empty, std::vector<tk_encoded> &maps);

private:
  struct Entry {
    std::vector<uint64_t> key; // addresses, extents and strides
    std::vector<tk_encoded> maps;
    uint64_t used = 0;
  };
  std::mutex mutex;
  std::array<Entry, 8> entries;
  uint64_t clock = 0;
};

} // namespace tile::runtime

#endif
