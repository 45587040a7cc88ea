// Numbers as bits: rounding, saturation, ranges.
#include "manifest/Encode.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile::runtime;

TEST(Encode, F16) {
  EXPECT_EQ(encodeFloat(1.0, Dtype::F16), 0x3c00u);
  EXPECT_EQ(encodeFloat(-2.0, Dtype::F16), 0xc000u);
  EXPECT_EQ(encodeFloat(65504.0, Dtype::F16), 0x7bffu);
  EXPECT_EQ(encodeFloat(65519.9, Dtype::F16), 0x7bffu);
  EXPECT_EQ(encodeFloat(65520.0, Dtype::F16), 0x7c00u); // ties to even, which is infinity
  EXPECT_EQ(encodeFloat(std::ldexp(1.0, -24), Dtype::F16), 1u);
  EXPECT_EQ(encodeFloat(std::ldexp(1.0, -25), Dtype::F16), 0u);
  EXPECT_EQ(encodeFloat(1.0 + std::ldexp(1.0, -11), Dtype::F16), 0x3c00u);
  EXPECT_EQ(encodeFloat(1.0 + 3 * std::ldexp(1.0, -11), Dtype::F16), 0x3c02u);
  EXPECT_EQ(encodeFloat(-0.0, Dtype::F16), 0x8000u);
}

TEST(Encode, OtherFloats) {
  EXPECT_EQ(encodeFloat(1.0, Dtype::BF16), 0x3f80u);
  EXPECT_EQ(encodeFloat(1.0, Dtype::F32), 0x3f800000u);
  EXPECT_EQ(encodeFloat(448.0, Dtype::F8E4M3), 0x7eu);
  EXPECT_EQ(encodeFloat(1e9, Dtype::F8E4M3), 0x7eu);
  EXPECT_EQ(encodeFloat(57344.0, Dtype::F8E5M2), 0x7bu);
  EXPECT_EQ(encodeFloat(INFINITY, Dtype::F8E5M2), 0x7bu);
  EXPECT_EQ(encodeFloat(NAN, Dtype::F8E4M3), 0x7fu);
}

TEST(Encode, EveryPatternSurvives) {
  for (Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F8E4M3, Dtype::F8E5M2})
    for (uint64_t bits = 0; bits < uint64_t(1) << dtypeBits(dtype); ++bits) {
      double value = decodeFloat(bits, dtype);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(encodeFloat(value, dtype), dtype)));
      else if (std::isfinite(value) || dtypeBits(dtype) == 16)
        ASSERT_EQ(encodeFloat(value, dtype), bits) << dtypeName(dtype) << " " << value;
    }
}

TEST(Encode, Integers) {
  std::string error;
  EXPECT_EQ(encode(int64_t(-1), Dtype::I32, error), 0xffffffffu);
  EXPECT_EQ(encode(INT64_MAX, Dtype::I64, error), uint64_t(INT64_MAX));
  EXPECT_EQ(encode(INT64_MIN, Dtype::I64, error), uint64_t(INT64_MIN));
  EXPECT_EQ(encode(3.0, Dtype::U8, error), 3u);
  EXPECT_EQ(encode(true, Dtype::Bool, error), 1u);
  EXPECT_FALSE(encode(int64_t(256), Dtype::U8, error));
  EXPECT_EQ(error, "256 is no value of u8");
  EXPECT_FALSE(encode(int64_t(-1), Dtype::U64, error));
  EXPECT_FALSE(encode(0.5, Dtype::I32, error));
  EXPECT_FALSE(encode(std::nan(""), Dtype::I32, error));
  EXPECT_FALSE(encode(int64_t(2), Dtype::Bool, error));
  EXPECT_FALSE(encode(std::string("f16"), Dtype::I32, error));
}

TEST(Encode, DecodeInteger) {
  EXPECT_EQ(decodeInteger(0xff, Dtype::I8), -1);
  EXPECT_EQ(decodeInteger(0xff, Dtype::U8), 255);
  EXPECT_FALSE(decodeInteger(uint64_t(1) << 63, Dtype::U64));
  EXPECT_FALSE(decodeInteger(0, Dtype::F32));
}

/// Above the signed range there are values that u64 alone has, and that a double does not tell
/// apart.
TEST(Encode, AllOfU64) {
  std::string error;
  for (uint64_t value : {uint64_t(1) << 63, (uint64_t(1) << 63) + 1, UINT64_MAX - 1, UINT64_MAX}) {
    EXPECT_EQ(encode(Constant(value), Dtype::U64, error), value);
    EXPECT_EQ(toString(Constant(value)), std::to_string(value));
    EXPECT_FALSE(encode(Constant(value), Dtype::I64, error));
    EXPECT_EQ(error, std::to_string(value) + " is no value of i64");
  }
  EXPECT_EQ(encode(Constant(UINT64_MAX), Dtype::F64, error), encodeFloat(0x1p64, Dtype::F64));
}
