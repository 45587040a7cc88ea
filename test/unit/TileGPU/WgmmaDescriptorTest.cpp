// Matrix descriptors against an emulation of how wgmma addresses its operands.
#include "dialect/TileGPU/WgmmaDescriptor.h"

#include "gtest/gtest.h"

using namespace tile::gpu;

namespace {

/// The address of the 16-byte piece with element (row, k) of an instruction's operand, as the PTX
/// ISA's canonical layouts give it: what the hardware makes of a descriptor.
uint32_t address(uint64_t descriptor, bool kMajor, unsigned bytes, int64_t row, int64_t k) {
  int64_t start = int64_t(descriptor & 0x3FFF) * 16,
          leading = int64_t(descriptor >> 16 & 0x3FFF) * 16,
          stride = int64_t(descriptor >> 32 & 0x3FFF) * 16;
  unsigned mode = descriptor >> 62;
  int64_t width = mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 16;
  int64_t offset;
  if (kMajor) { // ((8, n), 2) : ((width, stride), 16)
    offset = row % 8 * width + row / 8 * stride + k * bytes;
  } else if (mode) { // ((width, n), (8, k)) : ((1, leading), (width, stride))
    offset = row * bytes % width + row * bytes / width * leading + k % 8 * width + k / 8 * stride;
  } else { // ((8, n), (8, k)) : ((1, stride), (16, leading))
    offset = row * bytes % 16 + row * bytes / 16 * stride + k % 8 * 16 + k / 8 * leading;
  }
  uint32_t linear = start + offset;
  return linear ^ (linear / 128 & (width / 16 - 1)) * 16;
}

void checkOperand(int64_t rows, int64_t depth, bool kMajor, unsigned bytes, int64_t instructionRows,
                  unsigned kDim) {
  SCOPED_TRACE(testing::Message() << rows << " x " << depth << ", K "
                                  << (kMajor ? "fastest" : "slowest") << ", " << bytes
                                  << " bytes, kDim " << kDim);
  int64_t shape[2];
  shape[kDim] = depth;
  shape[1 - kDim] = rows;
  int64_t fastest = kMajor ? kDim : 1 - kDim, rowBytes = shape[fastest] * bytes;
  unsigned swizzle = rowBytes >= 128 ? 128 : rowBytes >= 64 ? 64 : rowBytes >= 32 ? 32 : 0;
  SharedLayout shared(shape, {fastest, 1 - fastest}, bytes, swizzle);
  WgmmaDescriptor descriptor(shared, kDim);
  ASSERT_TRUE(descriptor.isLegal());
  ASSERT_EQ(descriptor.isKMajor(), kMajor);
  const uint32_t base = 3 * 1024;
  int64_t step = 32 / bytes;
  for (int64_t row0 = 0; row0 < rows; row0 += instructionRows)
    for (int64_t k0 = 0; k0 < depth; k0 += step) {
      uint64_t bits = descriptor.getBits() + base / 16 + descriptor.getOffset(row0, k0) / 16;
      for (int64_t row = 0; row < instructionRows; ++row)
        for (int64_t k = 0; k < step; ++k) {
          Coord coord(2);
          coord[kDim] = k0 + k;
          coord[1 - kDim] = row0 + row;
          ASSERT_EQ(address(bits, kMajor, bytes, row, k), base + shared.getOffset(coord))
              << row0 + row << ", " << k0 + k;
        }
    }
}

TEST(WgmmaDescriptor, KFastest) {
  for (unsigned kDim : {0u, 1u})
    for (unsigned bytes : {1u, 2u, 4u})
      for (int64_t depthBytes : {32, 64, 128, 256})
        for (int64_t rows : {8, 16, 64, 256})
          checkOperand(rows, depthBytes / bytes, true, bytes, std::min<int64_t>(rows, 64), kDim);
}

TEST(WgmmaDescriptor, KSlowest) {
  for (unsigned kDim : {0u, 1u})
    for (int64_t depth : {16, 32, 64, 128})
      for (int64_t rows : {8, 16, 32, 64, 128, 256}) {
        checkOperand(rows, depth, false, 2, std::min<int64_t>(rows, 64), kDim);
        checkOperand(rows, depth, false, 2, rows, kDim);
      }
}

// The layouts of the hand-written kernels that have been measured.
TEST(WgmmaDescriptor, KnownBits) {
  EXPECT_EQ(WgmmaDescriptor(SharedLayout({128, 64}, {1, 0}, 2, 128), 1).getBits(),
            uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62);
  EXPECT_EQ(WgmmaDescriptor(SharedLayout({128, 128}, {1, 0}, 2, 128), 0).getBits(),
            uint64_t(128 * 128 / 16) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62);
}

TEST(WgmmaDescriptor, WhatHardwareCannotRead) {
  EXPECT_FALSE(WgmmaDescriptor(SharedLayout({64, 64}, {0, 1}, 1, 64), 1).isLegal());
  EXPECT_FALSE(WgmmaDescriptor(SharedLayout({64, 64}, {0, 1}, 4, 128), 1).isLegal());
  EXPECT_FALSE(WgmmaDescriptor(SharedLayout({64, 64}, {1, 0}, 2, 0), 1).isLegal());
  EXPECT_FALSE(WgmmaDescriptor(SharedLayout({64, 64}, {0, 1}, 2, 0), 1).isLegal());
}

} // namespace
