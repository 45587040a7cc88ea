// Each limit of docs/Packages.md, "Limits of what is read": what has it is read, one more is
// refused by its name. The limits of depth are in JsonTest.
#include "formats/Npy.h"
#include "formats/Package.h"
#include "formats/Zip.h"
#include "launch/Validate.h"
#include "manifest/Json.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

using namespace tile::runtime;
using namespace tile::runtime::testing;

static std::string errorOfJson(const std::string &text) {
  std::string error;
  return parseJson(text, error) ? "" : error;
}

static std::string errorOfManifest(const Kernel &kernel) {
  Manifest manifest;
  manifest.compiler = "tilec 0.1.0";
  manifest.target = "sm_90";
  manifest.kernels = {kernel};
  std::string error;
  return parseManifest(toJson(manifest), error) ? "" : error;
}

TEST(Limits, ValuesOfJson) {
  auto zeros = [](size_t count) {
    std::string text = "[0";
    for (size_t i = 2; i < count; ++i)
      text += ",0";
    return text + "]";
  };
  EXPECT_EQ(errorOfJson(zeros(size_t(1) << 20)), "");
  EXPECT_NE(errorOfJson(zeros((size_t(1) << 20) + 1)).find("more than 1048576"), std::string::npos)
      << errorOfJson(zeros((size_t(1) << 20) + 1));
}

TEST(Limits, BytesOfJson) {
  auto spaces = [](size_t bytes) { return std::string(bytes - 1, ' ') + "0"; };
  EXPECT_EQ(errorOfJson(spaces(size_t(16) << 20)), "");
  EXPECT_NE(errorOfJson(spaces((size_t(16) << 20) + 1)).find("expected at most 16777216"),
            std::string::npos)
      << errorOfJson(spaces((size_t(16) << 20) + 1));
}

TEST(Limits, DepthOfExpressions) {
  auto nested = [](unsigned depth) {
    Kernel kernel = matmul();
    Expr expr = name("M");
    for (unsigned i = 0; i < depth; ++i)
      expr = Expr::make(Expr::Op::Add, expr, 1);
    kernel.grid = {expr};
    return errorOfManifest(kernel);
  };
  EXPECT_EQ(nested(maxExprDepth - 2), "");
  EXPECT_NE(nested(maxExprDepth + 1).find("expression nested deeper than 64 levels"),
            std::string::npos)
      << nested(maxExprDepth + 1);
}

TEST(Limits, NamesOfAKernel) {
  auto dims = [](size_t count) {
    Kernel kernel = matmul();
    while (kernel.dims.size() < count)
      kernel.dims.push_back(dim(("d" + std::to_string(kernel.dims.size())).c_str()));
    addArguments(kernel);
    return errorOfManifest(kernel);
  };
  EXPECT_EQ(dims(maxKernelNames).find("at most"), std::string::npos) << dims(maxKernelNames);
  EXPECT_NE(dims(maxKernelNames + 1).find("expected at most 4096"), std::string::npos)
      << dims(maxKernelNames + 1);
}

TEST(Limits, FilesOfAPackage) {
  auto open = [](size_t count) {
    std::vector<ZipEntry> entries;
    for (size_t i = 0; i < count; ++i)
      entries.push_back({"f" + std::to_string(i), ""});
    std::string bytes;
    if (Error error = writeZip(entries, bytes))
      return error.message;
    ZipReader reader;
    return ZipReader::open(bytes, "p", reader).message;
  };
  EXPECT_EQ(open(maxZipEntries), "");
  EXPECT_NE(open(maxZipEntries + 1).find("more than 65534 files"), std::string::npos)
      << open(maxZipEntries + 1);
}

TEST(Limits, BytesOfAPackage) {
  Package package;
  package.compiler = "tilec 0.1.0";
  const std::string ptx = ".version 8.0\n.target sm_90\n";
  PackageModule module;
  module.manifest = {"tilec 0.1.0", "sm_90", {shift(Dtype::F16)}};
  module.files = {{"ptx", "code/sm_90.ptx", ptx}};
  package.modules = {module};
  package.sources = {{"", "source/a.tile", "a"}, {"", "source/b.tile", "b"}};
  std::string json = toJson(package), one = "\"bytes\": 1,";
  size_t first = json.find(one), second = json.find(one, first + 1);
  ASSERT_NE(second, std::string::npos) << json;
  auto read = [&](const std::string &a, const std::string &b) {
    std::string text = json, bytes;
    text.replace(second, one.size(), "\"bytes\": " + b + ",");
    text.replace(first, one.size(), "\"bytes\": " + a + ",");
    EXPECT_FALSE(writeZip({{"manifest.json", text},
                           {"code/sm_90.ptx", ptx},
                           {"source/a.tile", "a"},
                           {"source/b.tile", "b"}},
                          bytes));
    Package result;
    return readPackage(bytes, "p", result).message;
  };
  EXPECT_EQ(read("1", "1"), "");
  EXPECT_NE(read("1", "1000000000").find("'source/b.tile'"), std::string::npos); // it has fewer
  EXPECT_NE(read("1", "1073741824").find("with those of the other files up to 1073741824"),
            std::string::npos);
}

TEST(Limits, RankOfNpy) {
  auto array = [](int rank) {
    std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < rank; ++i)
      dict += "1,";
    dict += "), }\n";
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += char(dict.size());
    bytes += char(dict.size() >> 8);
    NpyArray result;
    return parseNpy(bytes + dict + std::string(4, '\0'), "a", std::nullopt, result).message;
  };
  EXPECT_EQ(array(32), "");
  EXPECT_NE(array(33).find("more than 32 dimensions"), std::string::npos) << array(33);
}

TEST(Limits, RankOfALaunch) {
  auto builds = [](size_t rank) {
    Kernel kernel = shift(Dtype::F16);
    kernel.params[0].dims.assign(rank, Expr(1));
    kernel.params[0].strides.reset();
    std::string reason;
    return Validator::create(kernel, reason) ? std::string() : reason;
  };
  EXPECT_EQ(builds(TK_MAX_RANK).find("more than 8 dimensions"), std::string::npos)
      << builds(TK_MAX_RANK);
  EXPECT_NE(builds(TK_MAX_RANK + 1).find("more than 8 dimensions"), std::string::npos)
      << builds(TK_MAX_RANK + 1);
}
