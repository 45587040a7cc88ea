// Packages: round trips, what is refused and how, joining, and mutated files, none of which may
// crash a program.
#include "formats/Package.h"
#include "formats/Link.h"
#include "formats/Zip.h"
#include "runtime/src/Module.h"
#include "test/unit/runtime/Cubin.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile::runtime;
using namespace tile::runtime::testing;

static PackageModule moduleFor(const std::string &target,
                               std::vector<Kernel> kernels = {shift(Dtype::F16), matmul()}) {
  PackageModule module;
  module.manifest = {"tilec 0.1.0", target, std::move(kernels)};
  module.files = {{"cubin", "code/" + target + ".cubin", cubin()},
                  {"ptx", "code/" + target + ".ptx", ".version 8.0\n.target " + target + "\n"}};
  return module;
}

static Package sample() {
  Package package;
  package.compiler = "tilec 0.1.0";
  package.modules = {moduleFor("sm_80"), moduleFor("sm_90a")};
  package.sources = {{"", "source/matmul.tile", "kernel matmul"}};
  return package;
}

static std::string write(const Package &package) {
  std::string bytes;
  Error error = writePackage(package, bytes);
  EXPECT_FALSE(error) << error.message;
  return bytes;
}

static Error read(const std::string &bytes) {
  Package package;
  return readPackage(bytes, "p.tilepkg", package);
}

/// A package whose manifest is `json`, with the sample's files.
static std::string withManifest(const std::string &json) {
  std::vector<ZipEntry> entries = {{"manifest.json", json}};
  for (const PackageModule &module : sample().modules)
    for (const PackageFile &file : module.files)
      entries.push_back({file.path, file.bytes});
  entries.push_back({"source/matmul.tile", "kernel matmul"});
  std::string bytes;
  EXPECT_FALSE(writeZip(entries, bytes));
  return bytes;
}

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Package, RoundTripAndSameBytes) {
  std::string bytes = write(sample());
  EXPECT_EQ(bytes, write(sample()));
  Package package;
  Error error = readPackage(bytes, "p", package);
  ASSERT_FALSE(error) << error.message;
  EXPECT_EQ(toJson(package), toJson(sample()));
  ASSERT_EQ(package.modules.size(), 2u);
  EXPECT_EQ(package.modules[1].manifest.target, "sm_90a");
  EXPECT_EQ(package.modules[1].files[0].bytes, cubin());
  EXPECT_EQ(package.sources[0].bytes, "kernel matmul");
  EXPECT_EQ(write(package), bytes);
}

TEST(Package, WhatIsNoPackage) {
  for (const char *text : {"", "PK", "PK\3\4", "not a package at all",
                           "\x7f"
                           "ELF"}) {
    Error error = read(text);
    EXPECT_EQ(error.code, TILE_ERROR_BINARY);
    EXPECT_NE(error.message.find("'p.tilepkg' is no package, or a damaged or truncated one"),
              std::string::npos)
        << error.message;
  }
}

TEST(Package, TruncationsAreErrors) {
  std::string bytes = write(sample());
  for (size_t length = 0; length < bytes.size(); ++length) {
    Error error = read(bytes.substr(0, length));
    ASSERT_TRUE(error) << length;
    EXPECT_EQ(error.message.find("'p.tilepkg'"), 0u);
  }
}

TEST(Package, DamagedContents) {
  // Bytes of a file's own data: the checksum speaks.
  std::vector<ZipEntry> entries = {{"manifest.json", toJson(sample())}};
  for (const PackageModule &module : sample().modules)
    for (const PackageFile &file : module.files)
      entries.push_back({file.path, file.kind == "cubin" ? cubin("other bytes here") : file.bytes});
  entries.push_back({"source/matmul.tile", "kernel matmul"});
  std::string bytes;
  ASSERT_FALSE(writeZip(entries, bytes));
  Error error = read(bytes);
  EXPECT_EQ(error.code, TILE_ERROR_BINARY);
  EXPECT_NE(error.message.find("'code/sm_80.cubin' is not the file that the manifest describes"),
            std::string::npos)
      << error.message;
  entries.erase(entries.begin() + 1);
  ASSERT_FALSE(writeZip(entries, bytes));
  EXPECT_NE(read(bytes).message.find("it lacks 'code/sm_80.cubin'"), std::string::npos)
      << read(bytes).message;
}

TEST(Package, ManifestErrorsNameThePlace) {
  std::string json = toJson(sample());
  auto expect = [&](const std::string &from, const std::string &to, const std::string &message) {
    Error error = read(withManifest(replaced(json, from, to)));
    EXPECT_EQ(error.code, TILE_ERROR_MANIFEST);
    EXPECT_NE(error.message.find(message), std::string::npos) << error.message;
  };
  expect("\"tile-package\"", "\"zip\"", "expected format 'tile-package', found 'zip'");
  expect("\"version\": 2", "\"version\": 3",
         "version 3 is newer than this runtime reads (2): update the runtime");
  expect("\"version\": 2", "\"version\": 1",
         "version 1 is older than this runtime reads (2): build the package again");
  expect("\"manifest_version\": 4", "\"manifest_version\": 9",
         "modules[0]: manifest: version 9 is newer");
  expect("\"kind\": \"cubin\"", "\"kind\": \"dll\"",
         "modules[0].files[0].kind: expected cubin, ptx or so, found 'dll'");
  expect("code/sm_80.cubin", "../sm_80.cubin", "'../sm_80.cubin' is no path inside a package");
  expect("\"modules\"", "\"moduls\"", "missing key 'modules'");
  expect("\"dtype\": \"f16\"", "\"dtype\": \"f12\"",
         "modules[0]: manifest: kernels[0].params[0]: unknown dtype 'f12'");
  EXPECT_NE(read(withManifest("{")).message.find("not valid JSON at byte"), std::string::npos);
  EXPECT_NE(read(withManifest("[]")).message.find("expected an object"), std::string::npos);
}

/// An archive in which programs find different files under one path is no package.
TEST(Package, AmbiguousArchives) {
  std::vector<ZipEntry> entries = {{"manifest.json", toJson(sample())}};
  for (const PackageModule &module : sample().modules)
    for (const PackageFile &file : module.files)
      entries.push_back({file.path, file.bytes});
  entries.push_back({"source/matmul.tile", "kernel matmul"});
  auto withEntry = [&](const char *path) {
    std::vector<ZipEntry> more = entries;
    more.push_back({path, "other"});
    std::string bytes;
    EXPECT_FALSE(writeZip(more, bytes));
    return read(bytes);
  };
  EXPECT_FALSE(withEntry("notes.txt"));
  for (const char *path : {"manifest.json", "code/sm_80.cubin"}) {
    Error error = withEntry(path);
    EXPECT_EQ(error.code, TILE_ERROR_BINARY);
    EXPECT_NE(error.message.find("'" + std::string(path) + "' is there twice"), std::string::npos)
        << error.message;
  }
  auto message = [](const std::string &from, const std::string &to) {
    return read(withManifest(replaced(toJson(sample()), from, to))).message;
  };
  std::string twice = message("\"path\": \"code/sm_80.ptx\"",
                              "\"path\": \"code/sm_90a.ptx\", \"path\": \"code/sm_80.ptx\"");
  EXPECT_NE(twice.find("the key 'path' is there twice in one object"), std::string::npos) << twice;
  std::string zero = message("source/matmul.tile", "source/matmul\\u0000.tile");
  EXPECT_NE(zero.find("a string has a zero byte"), std::string::npos) << zero;
}

/// What a program does with a package, up to where a device comes in.
static void use(const std::string &bytes) {
  tile_module *module = nullptr;
  tile_error *error =
      tile_module_load_package(bytes.data(), bytes.size(), TILE_DEVICE_CUDA, &module);
  if (error) {
    EXPECT_NE(tile_error_message(error)[0], '\0');
    EXPECT_EQ(module, nullptr);
    tile_error_free(error);
    return;
  }
  int64_t shape[] = {16, 16};
  tile_argument arguments[3] = {};
  for (tile_argument &argument : arguments)
    argument = {
        TILE_TENSOR,
        TILE_F16,
        reinterpret_cast<void *>(uintptr_t(0x10000) * uintptr_t(1 + (&argument - arguments))),
        2,
        shape,
        nullptr,
        0,
        0};
  for (size_t i = 0; i < tile_module_kernel_count(module); ++i) {
    tile_launch_plan plan;
    tile_error_free(
        tile_kernel_plan(tile_module_kernel_at(module, i), arguments, 3, &plan, nullptr, 0));
  }
  tile_module_free(module);
}

TEST(Package, MutatedFilesNeverCrash) {
  std::mt19937 random(7);
  std::string whole = write(sample()), json = toJson(sample());
  auto below = [&](size_t n) { return size_t(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (size_t edits = 1 + below(4); edits-- > 0;) {
      switch (below(5)) {
      case 0:
        bytes[below(bytes.size())] ^= char(1 << below(8));
        break;
      case 1:
        bytes[below(bytes.size())] = char(random());
        break;
      case 2:
        bytes.erase(below(bytes.size()), 1 + below(40));
        break;
      case 3:
        bytes.insert(below(bytes.size()), std::string(1 + below(40), char(random())));
        break;
      default: { // a length or offset becomes large
        size_t at = below(bytes.size() - 4);
        uint32_t value = below(2) ? 0xffffffffu : uint32_t(random());
        std::memcpy(&bytes[at], &value, 4);
      }
      }
      if (bytes.size() < 64)
        break;
    }
    use(bytes);
  }
  // The archive is whole, its manifest is not: numbers, words and structure change.
  for (int round = 0; round < 1500; ++round) {
    std::string text = json;
    for (size_t edits = 1 + below(3); edits-- > 0;) {
      size_t at = below(text.size());
      switch (below(4)) {
      case 0:
        text[at] = "0123456789-\"[]{},:aZ "[below(21)];
        break;
      case 1:
        text.erase(at, 1 + below(30));
        break;
      case 2: {
        size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos)
          text.replace(digit, 1, below(2) ? "99999999999" : "-1");
        break;
      }
      default:
        text.insert(at, text.substr(below(text.size()), 1 + below(60)));
      }
    }
    use(withManifest(text));
  }
}

//===--- Joining ----------------------------------------------------------===//

static Kernel ranged(int64_t min, int64_t max, bool isVariant) {
  Kernel kernel = matmul();
  kernel.dims[0].min = min;
  kernel.dims[0].max = max;
  if (isVariant) {
    Expr m = name("M");
    kernel.variant = "M=" + std::to_string(min) + ".." + std::to_string(max);
    kernel.symbol += "_" + std::to_string(min);
    kernel.facts = {{Expr::make(Expr::Op::And, Expr::make(Expr::Op::Le, min, m),
                                Expr::make(Expr::Op::Le, m, max)),
                     "", 0, kernel.variant, 6}};
  }
  return kernel;
}

static Error link(std::vector<Kernel> a, std::vector<Kernel> b, Package &joined) {
  Package first, second;
  first.modules = {moduleFor("sm_90a", std::move(a))};
  second.modules = {moduleFor("sm_90a", std::move(b))};
  return linkPackages({first, second}, {"a.tilepkg", "b.tilepkg"}, joined);
}

TEST(Package, LinkJoins) {
  Package joined;
  ASSERT_FALSE(link({ranged(1, 16, false)}, {ranged(17, 8192, false)}, joined));
  ASSERT_EQ(joined.modules.size(), 2u);
  EXPECT_EQ(joined.modules[1].files[0].path, "code/sm_90a-2.cubin");
  EXPECT_FALSE(read(write(joined)));
  // The same twice is taken once.
  Package twice;
  ASSERT_FALSE(link({shift()}, {shift()}, twice));
  EXPECT_EQ(twice.modules.size(), 1u);
  // Other kernels, other dtypes, a variant of a generic kernel.
  Package mixed;
  EXPECT_FALSE(link({shift(Dtype::F16), ranged(1, 65536, false)},
                    {shift(Dtype::F32), ranged(1, 16, true)}, mixed));
}

TEST(Package, LinkRefusesAmbiguity) {
  Package joined;
  Error error = link({ranged(1, 16, false)}, {ranged(16, 8192, false)}, joined);
  EXPECT_EQ(error.code, TILE_ERROR_INSTANCE);
  EXPECT_EQ(error.message, "for sm_90a a call of 'matmul' could mean its generic variant of "
                           "'a.tilepkg' or its generic variant of "
                           "'b.tilepkg'; give them ranges that do not overlap, or build one of the "
                           "two with --no-generic");
  Package variants;
  error = link({ranged(1, 16, true)}, {ranged(8, 32, true)}, variants);
  EXPECT_NE(error.message.find(
                "the variant M=1..16 of 'a.tilepkg' or the variant M=8..32 of 'b.tilepkg'"),
            std::string::npos)
      << error.message;
  Kernel other = matmul();
  other.params[2].name = "d";
  addArguments(other);
  Package differing;
  error = link({matmul()}, {other}, differing);
  EXPECT_NE(error.message.find("have different kernels of the name 'matmul'"), std::string::npos)
      << error.message;
}
