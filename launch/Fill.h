// Filling a strided tensor with one value before a launch.
#pragma once

#include "manifest/Error.h"

#include <cstdint>

namespace tile::runtime {

/// One tensor to fill. Built by `makeFill`: dimensions that lie densely in each other are one.
struct Fill {
  static constexpr unsigned maxRank = 8;
  void *data = nullptr;
  /// The element's bits, in the low bytes.
  uint64_t bits = 0;
  unsigned elementBytes = 1;
  /// Strides in elements, falling. Rank 0 is one element.
  unsigned rank = 0;
  int64_t shape[maxRank] = {};
  int64_t strides[maxRank] = {};
};

/// The fill of a tensor that is not empty, of rank <= maxRank; dimensions are sorted and merged.
Fill makeFill(void *data, uint64_t bits, unsigned elementBytes, unsigned rank, const int64_t *shape,
              const int64_t *strides);

/// `rows` times `width` cells of `cellBytes` (1, 2 or 4), rows `pitchBytes` apart, each cell set to
/// `value`.
struct FillBlock {
  char *data;
  uint32_t value;
  unsigned cellBytes;
  int64_t pitchBytes, width, rows;
};

/// Calls `write(FillBlock) -> Error` until everything is covered or it fails. 8-byte elements whose
/// halves differ are TILE_ERROR_FILL.
template <typename Write> Error forEachBlock(const Fill &fill, Write write) {
  unsigned cellBytes = fill.elementBytes;
  int64_t cells = 1;
  if (cellBytes == 8) {
    if (uint32_t(fill.bits) != uint32_t(fill.bits >> 32))
      return Error(TILE_ERROR_FILL, "a fill value of 8 bytes must have equal halves");
    cellBytes = 4;
    cells = 2;
  }
  // The innermost dimension is a row if it is dense; the one outside it counts rows; loops run over
  // the rest.
  unsigned inner = fill.rank;
  int64_t width = 1, rows = 1, pitch = fill.elementBytes;
  if (inner > 0 && fill.strides[inner - 1] == 1)
    width = fill.shape[--inner];
  pitch *= width;
  if (inner > 0) {
    --inner;
    rows = fill.shape[inner];
    pitch = fill.strides[inner] * fill.elementBytes;
  }
  int64_t index[Fill::maxRank] = {};
  while (true) {
    int64_t offset = 0;
    for (unsigned i = 0; i < inner; ++i)
      offset += index[i] * fill.strides[i];
    if (Error error = write(FillBlock{static_cast<char *>(fill.data) + offset * fill.elementBytes,
                                      uint32_t(fill.bits), cellBytes, pitch, width * cells, rows}))
      return error;
    unsigned axis = inner;
    while (axis > 0 && ++index[axis - 1] == fill.shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return {};
  }
}

/// Fills a tensor in this process's memory, any value.
void fillHost(const Fill &fill);

} // namespace tile::runtime
