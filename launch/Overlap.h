// Whether two strided tensors share a byte of memory.
#pragma once

#include <cstdint>

namespace tile::runtime {

/// The memory of one tensor: extents and strides in elements, strides not negative.
struct Region {
  uint64_t address = 0;
  unsigned elementBits = 8;
  unsigned rank = 0;
  const int64_t *shape = nullptr;
  const int64_t *strides = nullptr;

  bool isEmpty() const;
  /// Bytes from the first element to the end of the last; 0 if empty. None (UINT64_MAX) where it
  /// does not fit in 63 bits.
  uint64_t spanBytes() const;
};

/// Exact for tensors of at most 8 dimensions, interleaved slices of one buffer included; where an
/// exact answer would take too long (strides that are not nested), or elements are smaller than a
/// byte, regions whose spans meet count as overlapping.
bool overlaps(const Region &a, const Region &b);

} // namespace tile::runtime
