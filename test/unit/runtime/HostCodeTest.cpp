// Code for the CPU out of a package, without a compiler: a shared object that the test brings
// along.
#include "launch/HostCode.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace tile::runtime;

/// A kernel without tiles in memory.
static const tk_kernel plain = {};

/// Larger requests than this find no memory.
static std::atomic<size_t> mostBytes{SIZE_MAX};
extern "C" void *aligned_alloc(size_t alignment, size_t bytes) noexcept {
  void *memory = nullptr;
  alignment = std::max(alignment, sizeof memory);
  return bytes > mostBytes || posix_memalign(&memory, alignment, bytes) ? nullptr : memory;
}

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
  EXPECT_FALSE(first->find("abort"));  // of the C library, which the library needs
  EXPECT_FALSE(first->find("strlen")); // of a library that this one needs
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
    HostThreads pool;
    EXPECT_FALSE(pool.run(plain, kernel, nullptr, 0, 1000, threads));
    for (int count : counts)
      ASSERT_EQ(count, 1);
  }
}

/// Threads of this process.
static long countThreads() {
  long count = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++count;
  }
  return count;
}

TEST(HostCode, ThreadsStayFromLaunchToLaunchAndEndWithThePool) {
  static std::atomic<int> programs;
  auto kernel = [](const void *const *, int64_t begin, int64_t end) { programs += end - begin; };
  long before = countThreads();
  {
    HostThreads pool;
    for (int i = 0; i < 200; ++i) {
      programs = 0;
      EXPECT_FALSE(pool.run(plain, kernel, nullptr, 0, 64, 4));
      ASSERT_EQ(programs, 64);
      ASSERT_EQ(countThreads(), before + 3);
    }
    // Callers at once share them, and a kernel may be told to use fewer.
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&] {
        auto count = [](const void *const *arguments, int64_t begin, int64_t end) {
          *static_cast<std::atomic<int> *>(const_cast<void *>(arguments[0])) += end - begin;
        };
        for (int n = 1; n <= 100; ++n) {
          std::atomic<int> own{0};
          const void *arguments[] = {&own};
          EXPECT_FALSE(pool.run(plain, count, arguments, 0, n, 2 + unsigned(n % 3)));
          wrong += own != n;
        }
      });
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(countThreads(), before + 3);
  }
  EXPECT_EQ(countThreads(), before);
}

TEST(HostCode, AShortLaunchWakesNoOtherThread) {
  static std::thread::id caller;
  static std::atomic<int> programs, elsewhere;
  caller = std::this_thread::get_id();
  auto kernel = [](const void *const *, int64_t begin, int64_t end) {
    programs += end - begin;
    elsewhere += std::this_thread::get_id() != caller;
  };
  tk_pool pool = TK_POOL_START;
  tk_pool_run(&pool, kernel, nullptr, nullptr, 0, 64, 4);
  for (int i = 0; i < 100; ++i) {
    programs = elsewhere = 0;
    pool.timed = kernel;
    pool.cost = 255; // about 1 ns for each program; never measured, as 64 programs give fours
    tk_pool_run(&pool, kernel, nullptr, nullptr, 0, 64, 4);
    EXPECT_EQ(programs, 64);
    EXPECT_EQ(elsewhere, 0);
  }
  EXPECT_NE(pool.cost, 255); // it was measured again
  // Of threads that work together the caller measures, if it finds any work: others leave it some.
  static std::atomic<bool> began{false};
  auto together = [](const void *const *, int64_t begin, int64_t end) {
    if (std::this_thread::get_id() == caller)
      began = true;
    while (!began)
      std::this_thread::yield();
    programs += end - begin;
  };
  pool.cost = int64_t(1) << 62;
  tk_pool_run(&pool, together, nullptr, nullptr, 0, int64_t(1) << 20, 4);
  EXPECT_EQ(programs, 64 + (1 << 20));
  EXPECT_LT(pool.cost, int64_t(1) << 62);
  tk_pool_end(&pool);
}

/// A kernel with an argument and tiles of `bytes` bytes.
struct Tiled {
  tk_argument arguments[2] = {{TK_ARG_PARAM, 0}, {TK_ARG_SCRATCH, 0}};
  tk_kernel tables = {};
  explicit Tiled(unsigned bytes) {
    tables.name = "k";
    tables.arguments = arguments;
    tables.argument_count = 2;
    tables.scratch_bytes = bytes;
  }
};

// Each thread finds the arguments, and memory of its own, whole lines of the cache, behind the last
// of them.
TEST(HostCode, EachThreadHasMemoryForItsTiles) {
  constexpr unsigned bytes = 1000;
  static std::atomic<int64_t> sum, wrong;
  auto kernel = [](const void *const *arguments, int64_t begin, int64_t end) {
    auto *tiles = *static_cast<unsigned char *const *>(arguments[1]);
    wrong += reinterpret_cast<uintptr_t>(tiles) % 64 != 0;
    auto mark = static_cast<unsigned char>(begin);
    std::fill(tiles, tiles + bytes, mark);
    std::this_thread::yield();
    wrong += std::count(tiles, tiles + bytes, mark) != bytes;
    sum += (end - begin) * *static_cast<const int64_t *>(arguments[0]);
  };
  Tiled tiled(bytes);
  int64_t seven = 7;
  const void *const arguments[] = {&seven, nullptr};
  for (unsigned threads : {1u, 2u, 16u}) {
    HostThreads pool;
    for (int launch = 0; launch < 20; ++launch) {
      sum = 0;
      EXPECT_FALSE(pool.run(tiled.tables, kernel, arguments, 100, 1100, threads));
      EXPECT_EQ(sum, 7000);
    }
  }
  EXPECT_EQ(wrong, 0);
}

// Where there is memory for the tiles of one thread alone, a launch takes that one; where there is
// none it is refused before anything has run.
TEST(HostCode, LaunchesWithoutMemoryForTiles) {
  static std::atomic<int64_t> programs, elsewhere;
  static std::thread::id caller;
  caller = std::this_thread::get_id();
  auto kernel = [](const void *const *, int64_t begin, int64_t end) {
    programs += end - begin;
    elsewhere += std::this_thread::get_id() != caller;
  };
  Tiled tiled(4096);
  const void *const arguments[] = {nullptr, nullptr};
  HostThreads pool;
  mostBytes = 2 * 4096 - 1;
  EXPECT_FALSE(pool.run(tiled.tables, kernel, arguments, 0, 1 << 20, 4));
  EXPECT_EQ(programs, 1 << 20);
  EXPECT_EQ(elsewhere, 0);
  for (unsigned threads : {1u, 4u}) {
    programs = 0;
    mostBytes = 4096;
    Error error = pool.run(tiled.tables, kernel, arguments, 0, 1 << 20, threads);
    mostBytes = SIZE_MAX;
    EXPECT_EQ(error.code, TILE_ERROR_MEMORY);
    EXPECT_EQ(error.message.find("k: out of memory: the tiles of a program take 4096 bytes"), 0u);
    EXPECT_EQ(programs, 0);
    EXPECT_FALSE(pool.run(tiled.tables, kernel, arguments, 0, 1 << 20, threads));
    EXPECT_EQ(programs, 1 << 20);
  }
}

TEST(HostCode, AForkedProcessStartsThreadsOfItsOwn) {
  HostThreads pool;
  static std::atomic<int> programs;
  auto kernel = [](const void *const *, int64_t begin, int64_t end) { programs += end - begin; };
  EXPECT_FALSE(pool.run(plain, kernel, nullptr, 0, 64, 4));
  programs = 0;
  pid_t child = fork();
  if (child == 0) {
    EXPECT_FALSE(pool.run(plain, kernel, nullptr, 0, 64, 4));
    _exit(programs == 64 ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}
