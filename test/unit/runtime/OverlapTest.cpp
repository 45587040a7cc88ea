// Overlap of strided tensors, against a search over all elements.
#include "launch/core/Core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace {
struct Tensor {
  uint64_t address;
  unsigned bytes;
  std::vector<int64_t> shape, strides;

  tk_region region() const {
    return {address, int(bytes * 8), int(shape.size()), shape.data(), strides.data()};
  }
  bool isEmpty() const { return std::count(shape.begin(), shape.end(), 0); }
  std::set<uint64_t> touched() const {
    std::set<uint64_t> all;
    std::vector<int64_t> index(shape.size());
    if (isEmpty())
      return all;
    while (true) {
      uint64_t at = address;
      for (size_t i = 0; i < shape.size(); ++i)
        at += uint64_t(index[i] * strides[i]) * bytes;
      for (unsigned b = 0; b < bytes; ++b)
        all.insert(at + b);
      size_t axis = shape.size();
      while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
        index[--axis] = 0;
      if (axis == 0)
        return all;
    }
  }
};
uint64_t spanOf(const Tensor &tensor) {
  tk_region region = tensor.region();
  return tk_span(&region);
}
bool overlaps(const tk_region &a, const tk_region &b) { return tk_overlaps(&a, &b); }
} // namespace

TEST(Overlap, Simple) {
  Tensor a{1000, 4, {10}, {1}}, after{1040, 4, {10}, {1}}, last{1036, 4, {10}, {1}};
  EXPECT_FALSE(overlaps(a.region(), after.region()));
  EXPECT_FALSE(overlaps(after.region(), a.region()));
  EXPECT_TRUE(overlaps(a.region(), last.region()));
  EXPECT_TRUE(overlaps(a.region(), a.region()));
}

TEST(Overlap, Itself) {
  std::mt19937 random(7);
  int overlapping = 0, apart = 0;
  for (int round = 0; round < 20000; ++round) {
    Tensor tensor{4096, 1, {}, {}};
    for (size_t rank = random() % 5; tensor.shape.size() < rank;) {
      tensor.shape.push_back(random() % 5);
      tensor.strides.push_back(random() % 24);
    }
    uint64_t elements = 1;
    for (int64_t extent : tensor.shape)
      elements *= uint64_t(extent);
    tk_region region = tensor.region();
    bool shares = tensor.touched().size() < elements;
    EXPECT_EQ(!tensor.isEmpty() && tk_overlaps_itself(&region), shares);
    (shares ? overlapping : apart) += !tensor.isEmpty();
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(apart, 1000);
  Tensor columns{0, 4, {1 << 30, 1 << 30}, {1, 1 << 30}},
      huge{0, 4, {1 << 30, 3}, {1 << 30, 1 << 30}};
  tk_region region = columns.region();
  EXPECT_FALSE(tk_overlaps_itself(&region));
  region = huge.region();
  EXPECT_TRUE(tk_overlaps_itself(&region));
}

TEST(Overlap, InterleavedSlices) {
  // Left and right half of the columns of one buffer of 128 columns.
  Tensor left{4096, 2, {64, 64}, {128, 1}}, right{4096 + 128, 2, {64, 64}, {128, 1}};
  EXPECT_FALSE(overlaps(left.region(), right.region()));
  Tensor wider{4096, 2, {64, 65}, {128, 1}};
  EXPECT_TRUE(overlaps(wider.region(), right.region()));
  Tensor even{4096, 4, {100}, {2}}, odd{4100, 4, {100}, {2}};
  EXPECT_FALSE(overlaps(even.region(), odd.region()));
}

TEST(Overlap, EmptyAndScalars) {
  Tensor empty{1000, 4, {0, 5}, {5, 1}}, element{1000, 4, {}, {}}, inside{1002, 2, {}, {}},
      next{1004, 2, {}, {}};
  EXPECT_FALSE(overlaps(empty.region(), element.region()));
  EXPECT_TRUE(overlaps(element.region(), inside.region()));
  EXPECT_FALSE(overlaps(element.region(), next.region()));
}

TEST(Overlap, HugeStridesOfUnitExtents) {
  Tensor a{1000, 8, {1, 4}, {INT64_MAX, 1}}, b{1032, 8, {4}, {1}};
  EXPECT_FALSE(overlaps(a.region(), b.region()));
  EXPECT_EQ(spanOf(a), 32u);
  Tensor far{1000, 8, {2}, {INT64_MAX}};
  EXPECT_EQ(spanOf(far), UINT64_MAX);
  EXPECT_TRUE(overlaps(far.region(), b.region()));
}

TEST(Overlap, AgreesWithSearch) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return int(random() % unsigned(high - low + 1)) + low; };
  int disjoint = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Tensor tensors[2];
    for (Tensor &tensor : tensors) {
      tensor.address = uint64_t(1000 + pick(0, 60));
      tensor.bytes = 1u << pick(0, 3);
      for (int axis = pick(0, 3); axis > 0; --axis) {
        tensor.shape.push_back(pick(0, 4));
        tensor.strides.push_back(pick(0, 9));
      }
    }
    std::set<uint64_t> touched = tensors[0].touched();
    bool expected = false;
    for (uint64_t byte : tensors[1].touched())
      expected |= touched.count(byte);
    disjoint += !expected;
    ASSERT_EQ(overlaps(tensors[0].region(), tensors[1].region()), expected) << "trial " << trial;
  }
  EXPECT_GT(disjoint, 1000);
}
