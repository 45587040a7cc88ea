// Fills: merging of dimensions, and the host's loop.
#include "launch/Fill.h"

#include <cstring>

namespace tile::runtime {

Fill makeFill(void *data, uint64_t bits, unsigned elementBytes, unsigned rank, const int64_t *shape,
              const int64_t *strides) {
  Fill fill;
  fill.data = data;
  fill.bits = bits;
  fill.elementBytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i) {
    if (shape[i] == 1 || strides[i] == 0)
      continue;
    unsigned at = fill.rank++;
    for (; at > 0 && fill.strides[at - 1] < strides[i]; --at) {
      fill.shape[at] = fill.shape[at - 1];
      fill.strides[at] = fill.strides[at - 1];
    }
    fill.shape[at] = shape[i];
    fill.strides[at] = strides[i];
  }
  unsigned merged = 0;
  for (unsigned i = 1; i < fill.rank; ++i) {
    if (fill.strides[merged] == fill.shape[i] * fill.strides[i]) {
      fill.shape[merged] *= fill.shape[i];
      fill.strides[merged] = fill.strides[i];
      continue;
    }
    ++merged;
    fill.shape[merged] = fill.shape[i];
    fill.strides[merged] = fill.strides[i];
  }
  fill.rank = fill.rank ? merged + 1 : 0;
  return fill;
}

static void fillAxis(const Fill &fill, unsigned axis, char *data) {
  if (axis == fill.rank) {
    std::memcpy(data, &fill.bits, fill.elementBytes); // little endian: the low bytes come first
    return;
  }
  for (int64_t i = 0; i < fill.shape[axis]; ++i)
    fillAxis(fill, axis + 1, data + i * fill.strides[axis] * fill.elementBytes);
}

void fillHost(const Fill &fill) { fillAxis(fill, 0, static_cast<char *>(fill.data)); }

} // namespace tile::runtime
