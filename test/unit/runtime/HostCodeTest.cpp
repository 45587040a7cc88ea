// Code for the CPU out of a package, without a compiler: a shared object that the test brings
// along.
#include "launch/HostCode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace tile::runtime;

static std::string libraryBytes() {
  std::ifstream file(FAKE_CUDA_PATH, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST(HostCode, LoadsFromMemory) {
  std::unique_ptr<HostLibrary> first, second;
  Error error = HostLibrary::open(libraryBytes(), "p", first);
  ASSERT_FALSE(error) << error.message;
  ASSERT_FALSE(HostLibrary::open(libraryBytes(), "p", second));
  EXPECT_TRUE(first->find("fakeCuda"));
  EXPECT_NE(first->find("fakeCuda"), second->find("fakeCuda")); // two libraries, not one
  EXPECT_FALSE(first->find("nothing"));
  EXPECT_FALSE(first->find("abort")); // of the C library, which the library needs
}

TEST(HostCode, RefusesOtherBytes) {
  std::unique_ptr<HostLibrary> library;
  for (const std::string &bytes :
       {std::string(), std::string("no library"), libraryBytes().substr(0, 100)}) {
    Error error = HostLibrary::open(bytes, "p", library);
    EXPECT_EQ(error.code, TILE_ERROR_BINARY);
    EXPECT_EQ(error.message.find("'p': its code for the CPU cannot be loaded: "), 0u)
        << error.message;
  }
}

TEST(HostCode, Levels) {
  EXPECT_TRUE(hasCpuLevel("x86-64"));
  EXPECT_FALSE(hasCpuLevel("x86-64-v99"));
  EXPECT_FALSE(hasCpuLevel(""));
}

TEST(HostCode, EveryProgramOnce) {
  static int counts[1000];
  auto kernel = [](const void *const *, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++counts[i];
  };
  for (unsigned threads : {0u, 1u, 3u, 64u}) {
    std::fill(std::begin(counts), std::end(counts), 0);
    runPrograms(kernel, nullptr, 1000, threads);
    for (int count : counts)
      ASSERT_EQ(count, 1);
  }
}
