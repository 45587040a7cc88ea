// .npy files: every dtype and version, both orders, and what is refused.
#include "formats/Npy.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tile::runtime;

/// A file of that version with that header and that many data bytes, counting up.
static std::string file(const std::string &dict, size_t bytes, int version = 1) {
  std::string text("\x93NUMPY", 6);
  text += char(version);
  text += '\0';
  size_t length = dict.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += char(length >> (8 * i) & 0xff);
  text += dict + "\n";
  for (size_t i = 0; i < bytes; ++i)
    text += char(i);
  return text;
}

static Error parse(const std::string &bytes, NpyArray &array,
                   std::optional<Dtype> expected = std::nullopt) {
  return parseNpy(bytes, "x.npy", expected, array);
}
static std::string errorOf(const std::string &bytes, std::optional<Dtype> expected = std::nullopt) {
  NpyArray array;
  return parse(bytes, array, expected).message;
}

TEST(Npy, RoundTripOfEveryDtype) {
  for (Dtype dtype :
       {Dtype::Bool, Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64, Dtype::U8, Dtype::U16,
        Dtype::U32, Dtype::U64, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64, Dtype::F8E4M3})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {2, 1, 3, 1}}) {
      NpyArray written{dtype, shape, {}}, read;
      for (int64_t i = 0; i < written.elementCount() * dtypeBits(dtype) / 8; ++i)
        written.data.push_back(char(i));
      std::string bytes;
      ASSERT_FALSE(formatNpy(dtype, shape, written.data.data(), bytes));
      EXPECT_EQ((bytes.size() - written.data.size()) % 64, 0u);
      Error error = parse(bytes, read, dtype);
      ASSERT_FALSE(error) << error.message;
      EXPECT_EQ(read.dtype, dtype);
      EXPECT_EQ(read.shape, shape);
      EXPECT_EQ(read.data, written.data);
    }
}

TEST(Npy, VersionsAndHeaderSpellings) {
  NpyArray array;
  for (int version : {1, 2, 3}) {
    ASSERT_FALSE(parse(
        file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, version), array));
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  }
  ASSERT_FALSE(
      parse(file("{\"shape\":(2L,),\"descr\":\"<i8\",\"fortran_order\":False}", 16), array));
  EXPECT_EQ(array.dtype, Dtype::I64);
  EXPECT_NE(errorOf(file("{}", 0, 4)).find("version 4, expected 1, 2 or 3"), std::string::npos);
}

TEST(Npy, FortranOrder) {
  NpyArray array;
  ASSERT_FALSE(parse(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6), array));
  EXPECT_EQ(std::string(array.data.begin(), array.data.end()), std::string("\0\2\4\1\3\5", 6));
  ASSERT_FALSE(
      parse(file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2, 2), }", 16), array));
  EXPECT_EQ(std::string(array.data.begin(), array.data.end()),
            std::string("\0\1\x8\x9\4\5\xc\xd\2\3\xa\xb\6\7\xe\xf", 16));
}

TEST(Npy, Bf16AndF8AreTakenAsBits) {
  NpyArray array;
  for (const char *descr : {"<u2", "V2", "|V2"}) {
    ASSERT_FALSE(parse(
        file(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,)}", 4),
        array, Dtype::BF16));
    EXPECT_EQ(array.dtype, Dtype::BF16);
  }
  EXPECT_EQ(
      errorOf(file("{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", 4), Dtype::BF16),
      "'x.npy' holds f16, expected bf16");
  EXPECT_EQ(errorOf(file("{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", 4), Dtype::F16),
            "'x.npy' holds elements '|V2', expected f16");
}

TEST(Npy, Refused) {
  std::string good = file("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 24);
  EXPECT_EQ(errorOf(good, Dtype::F32), "'x.npy' holds f64, expected f32");
  for (size_t length = 0; length < good.size(); ++length) {
    NpyArray array;
    EXPECT_EQ(parse(good.substr(0, length), array).code, TILE_ERROR_IO) << length;
  }
  EXPECT_EQ(errorOf(good.substr(0, good.size() - 1)),
            "'x.npy' is truncated: 3 elements of 8 bytes expected, 23 bytes found");
  EXPECT_EQ(errorOf(good + "x"),
            "'x.npy' is too long: 3 elements of 8 bytes expected, 25 bytes found");
  EXPECT_NE(errorOf("PK\3\4").find("is no .npy file"), std::string::npos);
  EXPECT_NE(errorOf(file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4))
                .find("big-endian"),
            std::string::npos);
  EXPECT_NE(
      errorOf(file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8)).find("'<c8'"),
      std::string::npos);
  EXPECT_NE(errorOf(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4))
                .find("structured"),
            std::string::npos);
  EXPECT_NE(errorOf(file("{'descr': '<f4', 'shape': (1,)}", 4)).find("lacks"), std::string::npos);
  for (const char *shape :
       {"(-1,)", "(99999999999999999999,)", "3", "(4294967296, 4294967296, 2)", "(1 2)"})
    EXPECT_NE(
        errorOf(file(
            std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + "}", 4)),
        "")
        << shape;
}

TEST(Npy, Files) {
  std::string path = ::testing::TempDir() + "tile-npy-test.npy";
  float data[] = {1, 2, 3, 4, 5, 6};
  ASSERT_FALSE(writeNpy(path, Dtype::F32, {2, 3}, data));
  NpyArray array;
  ASSERT_FALSE(readNpy(path, Dtype::F32, array));
  EXPECT_EQ(std::memcmp(array.data.data(), data, sizeof data), 0);
  std::remove(path.c_str());
  Error error = readNpy(path, Dtype::F32, array);
  EXPECT_EQ(error.code, TILE_ERROR_IO);
  EXPECT_NE(error.message.find("No such file"), std::string::npos) << error.message;
  EXPECT_EQ(writeNpy("/no-such-folder/x.npy", Dtype::F32, {2, 3}, data).code, TILE_ERROR_IO);
  std::string bytes;
  EXPECT_EQ(formatNpy(Dtype::U4, {2}, data, bytes).code, TILE_ERROR_DTYPE);
}

/// NumPy takes the last of two: no reader may take another.
TEST(Npy, EmptyArraysMayHaveAnyOtherExtent) {
  NpyArray array;
  EXPECT_FALSE(parse(file("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (1614, 9000000623780008, 0), }",
                          0),
                     array));
  EXPECT_EQ(array.elementCount(), 0);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{1614, 9000000623780008, 0}));
  EXPECT_FALSE(parse(file("{'descr': '<f4', 'fortran_order': True, "
                          "'shape': (1614, 9000000623780008, 8000000, 0), }",
                          0),
                     array));
  EXPECT_EQ(array.elementCount(), 0);
}

TEST(Npy, KeysOnce) {
  for (const char *again : {"'shape': (3,)", "'descr': '<f8'", "'fortran_order': True"}) {
    std::string message = errorOf(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), " +
                                           std::string(again) + ", }",
                                       24));
    EXPECT_NE(message.find("twice"), std::string::npos) << message;
  }
}
