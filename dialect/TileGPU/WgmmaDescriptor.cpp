// Matrix descriptors of wgmma from layouts in shared memory. All sizes are in units of 16 bytes:
//
//   bits   63 62    61 .. 46   45 .. 32   31 30   29 .. 16    15 14   13 .. 0
//          swizzle  0          stride     0       leading     0       address in shared memory
//
// The address is added where the operand is used (getOffset says how far a part is into the tile).
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", matrix descriptor.
#include "dialect/TileGPU/WgmmaDescriptor.h"

#include <cassert>

namespace tile::gpu {

WgmmaDescriptor::WgmmaDescriptor(const SharedLayout &shared, unsigned kDim)
    : shared(shared), kDim(kDim), kMajor(shared.getOrder()[0] == kDim) {
  assert(shared.getShape().size() == 2 && kDim < 2 && "an operand is a matrix");
}

bool WgmmaDescriptor::isLegal() const {
  unsigned bytes = shared.getElementBytes();
  if (kMajor)
    return bytes <= 4 && shared.getSwizzle() != 0;
  return bytes == 2 && (shared.getSwizzle() != 0 || shared.getShape()[1 - kDim] * bytes == 16);
}

uint64_t WgmmaDescriptor::getBits() const {
  uint64_t swizzle = shared.getSwizzle();
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  // In bytes. K fastest: 8 rows of M or N follow each other in `stride`; `leading` is not used, a
  // k-step lies within a panel. M or N fastest: 8 rows of K follow each other in `stride`, the
  // panels of M or N in `leading`. Without swizzle the names change places: here there is one
  // panel, whose groups of 8 rows are `leading` apart.
  uint64_t leading, stride;
  if (kMajor) {
    leading = 16;
    stride = 8 * swizzle;
  } else if (swizzle) {
    leading = shared.getPanelRows() * swizzle;
    stride = 8 * swizzle;
  } else {
    leading = 8 * 16;
    stride = 16;
  }
  return leading / 16 << 16 | stride / 16 << 32 | mode << 62;
}

uint32_t WgmmaDescriptor::getOffset(int64_t row, int64_t k) const {
  Coord coord(2, 0);
  coord[kDim] = k;
  coord[1 - kDim] = row;
  uint32_t offset = shared.getOffset(coord);
  // In a row of the swizzled pattern that is not moved; the hardware applies the pattern to what it
  // adds to this.
  assert((kMajor || row * shared.getElementBytes() % std::max(shared.getSwizzle(), 16u) == 0) &&
         row % 8 == 0 && offset % 16 == 0 && "parts begin where the swizzle's pattern begins");
  return offset;
}

} // namespace tile::gpu
