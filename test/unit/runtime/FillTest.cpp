// Fills: merged dimensions, and blocks that cover exactly the tensor.
#include "launch/Fill.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace tile::runtime;

static int countBlocks(const Fill &fill, FillBlock &last) {
  int count = 0;
  EXPECT_FALSE(forEachBlock(fill, [&](const FillBlock &block) {
    ++count;
    last = block;
    return Error();
  }));
  return count;
}

TEST(Fill, DenseIsOneRow) {
  int64_t shape[] = {4, 5, 6}, strides[] = {30, 6, 1}, transposed[] = {1, 4, 20};
  FillBlock block{};
  for (const int64_t *laidOut : {strides, transposed}) {
    EXPECT_EQ(countBlocks(makeFill(nullptr, 7, 4, 3, shape, laidOut), block), 1);
    EXPECT_EQ(block.width, 120);
    EXPECT_EQ(block.rows, 1);
    EXPECT_EQ(block.cellBytes, 4u);
  }
}

TEST(Fill, RowsWithGaps) {
  int64_t shape[] = {4, 5}, strides[] = {8, 1};
  FillBlock block{};
  EXPECT_EQ(countBlocks(makeFill(nullptr, 7, 2, 2, shape, strides), block), 1);
  EXPECT_EQ(block.width, 5);
  EXPECT_EQ(block.rows, 4);
  EXPECT_EQ(block.pitchBytes, 16);
}

TEST(Fill, EightByteElements) {
  int64_t shape[] = {3}, strides[] = {1};
  FillBlock block{};
  EXPECT_EQ(countBlocks(makeFill(nullptr, 0, 8, 1, shape, strides), block), 1);
  EXPECT_EQ(block.width, 6);
  EXPECT_EQ(block.cellBytes, 4u);
}

TEST(Fill, HalvesThatDifferAreTwoTensors) {
  int64_t shape[] = {2, 50, 3}, strides[] = {500, 8, 1};
  std::vector<FillBlock> blocks;
  EXPECT_FALSE(forEachBlock(makeFill(nullptr, 0x500000007, 8, 3, shape, strides),
                            [&](const FillBlock &block) {
                              blocks.push_back(block);
                              return Error();
                            }));
  ASSERT_EQ(blocks.size(), 12u); // the longest dimension is the rows of a block
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].value, i < 6 ? 7u : 5u);
    EXPECT_EQ(blocks[i].cellBytes, 4u);
    EXPECT_EQ(blocks[i].width, 1);
    EXPECT_EQ(blocks[i].rows, 50);
    EXPECT_EQ(blocks[i].pitchBytes, 64);
  }
}

TEST(Fill, BlocksAndHostAgree) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    unsigned elementBytes = 1u << random() % 4, rank = random() % 5;
    // Nested strides with gaps, in a random order of dimensions.
    int64_t shape[5], strides[5], span = 1;
    for (unsigned i = 0; i < rank; ++i) {
      shape[i] = 1 + random() % 4;
      strides[i] = span + (random() % 3 == 0 ? random() % 3 : 0);
      span = strides[i] * shape[i];
    }
    for (unsigned i = 0; i + 1 < rank; ++i) {
      unsigned j = i + random() % (rank - i);
      std::swap(shape[i], shape[j]);
      std::swap(strides[i], strides[j]);
    }
    std::vector<char> host(size_t(span) * elementBytes, 0), blocks = host, expected = host;
    uint64_t bits = random() % 2 ? 0x1122334411223344u : 0x1122334455667788u;
    Fill fill = makeFill(host.data(), bits, elementBytes, rank, shape, strides);
    fillHost(fill);
    fill.data = blocks.data();
    EXPECT_FALSE(forEachBlock(fill, [&](const FillBlock &block) {
      for (int64_t row = 0; row < block.rows; ++row)
        for (int64_t i = 0; i < block.width; ++i)
          std::memcpy(block.data + row * block.pitchBytes + i * block.cellBytes, &block.value,
                      block.cellBytes);
      return Error();
    }));
    std::vector<int64_t> index(rank);
    while (true) {
      int64_t at = 0;
      for (unsigned i = 0; i < rank; ++i)
        at += index[i] * strides[i];
      std::memcpy(expected.data() + at * elementBytes, &bits, elementBytes);
      size_t axis = rank;
      while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
        index[--axis] = 0;
      if (axis == 0)
        break;
    }
    ASSERT_EQ(host, expected) << "trial " << trial;
    ASSERT_EQ(blocks, expected) << "trial " << trial;
  }
}
