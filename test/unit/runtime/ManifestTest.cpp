// The manifest's JSON: what is written is read back, and what is wrong is refused with its place.
#include "manifest/Hash.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tile::runtime;
using namespace tile::runtime::testing;

static Manifest sample() {
  Manifest manifest{"tilec 0.1.0", "sm_90a", {matmul(), shift()}};
  Kernel &kernel = manifest.kernels[1];
  kernel.params[1].strides = {std::optional<Expr>()};
  kernel.params[1].fill = -std::numeric_limits<double>::infinity();
  kernel.params[1].align = 4;
  kernel.aliases = {{"x", "y"}};
  Kernel &product = manifest.kernels[0];
  product.tensorMaps = {{"b", {1, 0}, {64, 128}, 128}};
  product.arguments.push_back({Argument::Kind::TensorMap, "", 0});
  product.launch.persistent = true;
  product.launch.cluster = 2;
  product.launch.sharedTaken = Expr::make(Expr::Op::Mul, Expr::makeName("K"), Expr(512));
  product.arguments.push_back({Argument::Kind::Scratch, "", 0});
  product.launch.scratchBytes = 4096;
  product.launch.scratchShared = true;
  return manifest;
}

/// The error of the sample's JSON after one replacement.
static std::string errorAfter(const std::string &from, const std::string &to) {
  std::string json = toJson(sample()), error;
  size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos)
    json.replace(at, from.size(), to);
  EXPECT_FALSE(parseManifest(json, error)) << "no error for " << to;
  return error;
}

TEST(Manifest, RoundTrip) {
  std::string json = toJson(sample()), error;
  std::optional<Manifest> read = parseManifest(json, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(toJson(*read), json);
  EXPECT_EQ(read->target, "sm_90a");
  ASSERT_EQ(read->kernels.size(), 2u);
  const Kernel &kernel = read->kernels[0];
  EXPECT_EQ(kernel.constants, matmul().constants);
  EXPECT_EQ(kernel.contracts[0].condition, matmul().contracts[0].condition);
  EXPECT_EQ(kernel.launch.sharedBytes, 98304u);
  EXPECT_FALSE(kernel.params[0].strides);
  ASSERT_EQ(kernel.tensorMaps.size(), 1u);
  EXPECT_EQ(kernel.tensorMaps[0].param, "b");
  EXPECT_EQ(kernel.tensorMaps[0].order, (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(kernel.tensorMaps[0].box, (std::vector<unsigned>{64, 128}));
  EXPECT_EQ(kernel.tensorMaps[0].swizzle, 128u);
  EXPECT_EQ(kernel.arguments[kernel.arguments.size() - 2].kind, Argument::Kind::TensorMap);
  EXPECT_EQ(kernel.arguments.back().kind, Argument::Kind::Scratch);
  EXPECT_EQ(kernel.launch.scratchBytes, 4096u);
  EXPECT_TRUE(kernel.launch.scratchShared);
  EXPECT_TRUE(kernel.launch.persistent);
  EXPECT_EQ(kernel.launch.cluster, 2u);
  EXPECT_EQ(kernel.launch.sharedTaken, sample().kernels[0].launch.sharedTaken);
  EXPECT_FALSE(read->kernels[1].launch.sharedTaken);
  EXPECT_FALSE(read->kernels[1].launch.persistent);
  EXPECT_EQ(read->kernels[1].launch.cluster, 1u);
  const Param &y = read->kernels[1].params[1];
  ASSERT_TRUE(y.strides && y.fill);
  EXPECT_FALSE((*y.strides)[0]);
  EXPECT_EQ(std::get<double>(*y.fill), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(y.align, 4u);
  EXPECT_EQ(std::get<double>(*read->kernels[1].params[2].defaultValue), 1e-5);
}

TEST(Manifest, KeysInFixedOrder) {
  std::string json = toJson(sample());
  EXPECT_EQ(json.rfind("{\n \"format\": \"tile-manifest\",\n \"version\": 4,", 0), 0u)
      << json.substr(0, 80);
  EXPECT_EQ(json.back(), '\n');
}

TEST(Manifest, BelongsToOneBinary) {
  std::string error;
  std::optional<Manifest> read = parseManifest(toJson(sample(), "the code"), error);
  ASSERT_TRUE(read && read->binary) << error;
  EXPECT_EQ(read->binary->bytes, 8u);
  EXPECT_FALSE(checkBinary(*read, "the code", "k.cubin"));
  Error wrong = checkBinary(*read, "The code", "k.cubin");
  EXPECT_EQ(wrong.code, TILE_ERROR_BINARY);
  EXPECT_EQ(wrong.message.find("'k.cubin' is not the file that its manifest describes: expected 8 "
                               "bytes with the hash xxh3-128:"),
            0u)
      << wrong.message;
  wrong = checkBinary(sample(), "the code", "k.cubin");
  EXPECT_NE(wrong.message.find("its manifest has no 'binary'"), std::string::npos) << wrong.message;
}

/// Vectors of the reference implementation (`xxhsum -H2`).
TEST(Manifest, HashIsXxh3) {
  EXPECT_EQ(contentHash(""), "xxh3-128:99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(contentHash("abc"), "xxh3-128:06b05ab6733a618578af5f94892f3950");
  std::string large(100000, 'x');
  std::string before = contentHash(large);
  large[99999] ^= 1;
  EXPECT_NE(contentHash(large), before);
}

TEST(Manifest, ExtremeIntegers) {
  Manifest manifest = sample();
  manifest.kernels[0].dims[0].min = INT64_MIN;
  manifest.kernels[0].dims[0].max = INT64_MAX;
  std::string error;
  std::optional<Manifest> read = parseManifest(toJson(manifest), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->kernels[0].dims[0].min, INT64_MIN);
  EXPECT_EQ(read->kernels[0].dims[0].max, INT64_MAX);
}

TEST(Manifest, LargeUnsigned) {
  Manifest manifest = sample();
  manifest.kernels[1].params[2].dtype = Dtype::U64;
  manifest.kernels[1].params[2].defaultValue = UINT64_MAX;
  std::string error;
  std::optional<Manifest> read = parseManifest(toJson(manifest), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->kernels[1].params[2].defaultValue, Constant(UINT64_MAX));
}

TEST(Manifest, Malformed) {
  std::string error, json = toJson(sample());
  for (size_t length : {size_t(0), size_t(1), json.size() / 2, json.size() - 3}) {
    EXPECT_FALSE(parseManifest(json.substr(0, length), error));
    EXPECT_NE(error.find("not valid JSON at byte"), std::string::npos) << error;
  }
  EXPECT_FALSE(parseManifest("[]", error));
  EXPECT_EQ(error, "manifest: expected an object, found array");
  EXPECT_FALSE(parseManifest(std::string(100000, '['), error));
}

TEST(Manifest, WrongFormatOrVersion) {
  EXPECT_EQ(errorAfter("\"tile-manifest\"", "\"other\""),
            "manifest: expected format 'tile-manifest', found 'other'");
  std::string error = errorAfter("\"version\": 4", "\"version\": 5");
  EXPECT_NE(error.find("version 5 is newer than this runtime reads (4): update"), std::string::npos)
      << error;
  error = errorAfter("\"version\": 4", "\"version\": 3");
  EXPECT_NE(error.find("version 3 is older than this runtime reads (4): compile it again"),
            std::string::npos)
      << error;
}

TEST(Manifest, StepsOfTensorMaps) {
  Manifest manifest = sample();
  EXPECT_EQ(toJson(manifest).find("\"steps\""), std::string::npos); // those of 1 are not written
  manifest.kernels[0].tensorMaps[0].steps = {1, 2};
  std::string json = toJson(manifest), error;
  std::optional<Manifest> read = parseManifest(json, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->kernels[0].tensorMaps[0].steps, (std::vector<unsigned>{1, 2}));
}

TEST(Manifest, ErrorsNameThePlace) {
  EXPECT_EQ(errorAfter("\"dtype\": \"f16\"", "\"dtype\": \"f12\""),
            "manifest: kernels[0].params[0]: unknown dtype 'f12'");
  EXPECT_EQ(errorAfter("\"symbol\"", "\"symbal\""), "manifest: kernels[0]: missing key 'symbol'");
  EXPECT_EQ(errorAfter("\"threads\": 256", "\"threads\": \"many\""),
            "manifest: kernels[0].launch.threads: expected an integer of 64 bits, found \"many\"");
  EXPECT_EQ(errorAfter("\"threads\": 256", "\"threads\": 0"),
            "manifest: kernels[0].launch: expected at least one thread");
  EXPECT_EQ(errorAfter("\"access\": \"in\"", "\"access\": \"ro\""),
            "manifest: kernels[0].params[0]: expected access 'in', 'out' or 'inout', found 'ro'");
  EXPECT_EQ(errorAfter("\"cdiv\",", "\"floor\","),
            "manifest: kernels[0].grid[0]: no operator 'floor' with 2 operands");
  EXPECT_EQ(errorAfter("\"swizzle\": 128", "\"swizzle\": 48"),
            "manifest: kernels[0].tensor_maps[0]: expected a swizzle of 0, 32, 64 or 128 bytes, "
            "found 48");
  EXPECT_EQ(errorAfter("\"order\": [\n      1,", "\"order\": [\n      0,"),
            "manifest: kernels[0]: tensor map of 'b': expected an order of its 2 dimensions, from "
            "1 to 5, and as many extents of the box");
  EXPECT_EQ(errorAfter("\"tensor_map\": 0", "\"tensor_map\": 1"),
            "manifest: kernels[0]: argument: there is no tensor map 1");
  EXPECT_EQ(errorAfter("\"box\": [\n      64,", "\"box\": [\n      0,"),
            "manifest: kernels[0].tensor_maps[0].box[0]: expected a number from 1 to 256");
  EXPECT_EQ(errorAfter("\"swizzle\": 128", "\"steps\": [1, 9], \"swizzle\": 128"),
            "manifest: kernels[0].tensor_maps[0].steps[1]: expected a number from 1 to 8");
  EXPECT_EQ(
      errorAfter("\"swizzle\": 128", "\"steps\": [2, 1], \"swizzle\": 128"),
      "manifest: kernels[0]: tensor map of 'b': expected a step for each dimension, 1 for the "
      "fastest");
  EXPECT_EQ(errorAfter("\"cluster\": 2", "\"cluster\": 0"),
            "manifest: kernels[0].launch.cluster: expected a number from 1 to 16, found 0");
  std::string error = errorAfter("\"param\": \"a\"", "\"param\": \"z\"");
  EXPECT_NE(error.find("argument 'z' is no parameter of the kernel"), std::string::npos) << error;
  error = errorAfter("\"name\": \"M\"", "\"name\": \"Q\"");
  EXPECT_NE(error.find("'M' is neither a dimension nor an integral scalar"), std::string::npos)
      << error;
}

TEST(Manifest, ConstantText) {
  EXPECT_EQ(toString(Constant(true)), "true");
  EXPECT_EQ(toString(Constant(int64_t(-3))), "-3");
  EXPECT_EQ(toString(Constant(0.1)), "0.1");
  EXPECT_EQ(toString(Constant(std::nan(""))), "nan");
}
