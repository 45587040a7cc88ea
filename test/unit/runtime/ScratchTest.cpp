// Scratch memory has an owner: graphs that may be replayed side by side share none, what a stream
// has outgrown is given back, and nothing grows with the number of launches or streams. By the core
// itself, which generated C carries, over a fake driver that counts bytes.
#include "launch/core/Scratch.h"
#include "launch/CudaDriver.h"
#include "test/unit/runtime/FakeDriver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

using namespace tile::runtime;
using namespace tile::runtime::testing;

namespace {

constexpr size_t each = 16512; // bytes of a program

class ScratchTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    std::memset(&fake(), 0, sizeof(FakeCuda));
    ASSERT_FALSE(CudaDriver::load(FAKE_CUDA_PATH, driver));
    destroyGraph = reinterpret_cast<void (*)(int)>(
        dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), "fakeDestroyGraph"));
    ASSERT_TRUE(destroyGraph);
  }
  void TearDown() override { tk_scratch_free(&list, &driver); }

  /// The address that a launch of `rows` programs gets, which is in the stream when this returns.
  CUdeviceptr launch(size_t rows, uintptr_t stream = 0x30, int instance = 0) {
    tk_scratch *taken = nullptr;
    const char *what = "";
    int result =
        tk_scratch_take(&list, &driver, instance, each, rows, address(stream), &taken, &what);
    EXPECT_EQ(result, 0) << what;
    if (result)
      return 0;
    EXPECT_GE(taken->rows, rows);
    EXPECT_EQ(tk_scratch_done(&driver, taken, address(stream)), 0);
    return taken->memory;
  }

  CudaDriver driver;
  tk_scratch *list = nullptr;
  void (*destroyGraph)(int) = nullptr;
};

} // namespace

TEST_F(ScratchTest, GraphsCapturedOnOneStreamShareNothing) {
  CUdeviceptr eager = launch(64);
  std::set<CUdeviceptr> buffers = {eager};
  for (int capture : {1, 2, 3}) {
    fake().capturing = capture;
    int memsets = fake().memsets;
    CUdeviceptr first = launch(64);
    EXPECT_TRUE(buffers.insert(first).second) << "capture " << capture;
    // Its counts are cleared by the graph itself, in the stream that is captured.
    ASSERT_EQ(fake().memsets, memsets + 1);
    EXPECT_EQ(fake().memset[memsets].address, first);
    EXPECT_EQ(fake().memset[memsets].rows, 64u);
    EXPECT_EQ(fake().memset[memsets].width, 128u);
    // What follows on the stream is ordered, and finds the counts as the first left them.
    EXPECT_EQ(launch(32), first);
    EXPECT_EQ(fake().memsets, memsets + 1);
    // Another branch of the graph, another kernel, more programs: memory of their own.
    EXPECT_TRUE(buffers.insert(launch(64, 0x40)).second);
    EXPECT_TRUE(buffers.insert(launch(64, 0x30, 1)).second);
    EXPECT_TRUE(buffers.insert(launch(65)).second);
    fake().capturing = 0;
  }
  EXPECT_EQ(launch(64), eager);
}

TEST_F(ScratchTest, AGraphKeepsItsMemoryAndNoLonger) {
  launch(1);
  size_t before = fake().liveBytes;
  for (int capture = 1; capture <= 20; ++capture) { // captured again and again
    fake().capturing = capture;
    fake().memsets = 0;
    launch(64);
    fake().capturing = 0;
    EXPECT_EQ(fake().liveBytes, before + 64 * each);
    destroyGraph(capture);
  }
  fake().capturing = 21;
  launch(100); // none of these suffices
  fake().capturing = 0;
  launch(2);
  EXPECT_EQ(fake().liveBytes, 2 * each + 100 * each);
  // The module goes before the graph: its memory stays.
  EXPECT_TRUE(tk_scratch_free(&list, &driver));
  EXPECT_EQ(fake().liveBytes, 100 * each);
  destroyGraph(21);
  EXPECT_EQ(list, nullptr);
}

TEST_F(ScratchTest, MemoryWithoutATieStaysWithTheModule) {
  driver.userObjectCreate = nullptr;
  fake().capturing = 1;
  CUdeviceptr first = launch(64);
  fake().capturing = 2;
  EXPECT_NE(launch(64), first);
  fake().capturing = 0;
  EXPECT_FALSE(tk_scratch_free(&list, &driver));
  EXPECT_EQ(fake().liveBytes, 0u);
}

TEST_F(ScratchTest, WhatIsOutgrownIsGivenBack) {
  for (bool lacksPools : {false, true}) {
    fake().lacksPools = lacksPools;
    fake().peakBytes = fake().allocations = 0;
    for (size_t i = 1; i <= 96; ++i) {
      fake().memsets = 0;
      launch(64 * i, 0x30, lacksPools);
      EXPECT_LE(fake().liveBytes,
                64 * i * each * 22 / 10 + (lacksPools ? 96 * 64 * each * 3 / 2 : 0));
    }
    EXPECT_LE(fake().allocations, 14);
    EXPECT_EQ(fake().frees, (lacksPools + 1) * (fake().allocations - 1));
    EXPECT_EQ(fake().freeStream, address(0x30)); // in the stream's order
  }
  EXPECT_GT(fake().asyncAllocations, 0);
  EXPECT_EQ(tk_scratch_free(&list, &driver), 0);
  EXPECT_EQ(fake().liveBytes, 0u);
}

TEST_F(ScratchTest, GrowthTakesNoMoreThanThereIs) {
  fake().memoryBytes = 110 * each;
  launch(90);
  launch(100); // half as much again would not fit
  EXPECT_EQ(fake().liveBytes, 100 * each);
  tk_scratch *taken = nullptr;
  const char *what = "";
  EXPECT_EQ(tk_scratch_take(&list, &driver, 0, each, 111, address(0x30), &taken, &what), 2);
  EXPECT_STREQ(what, "cannot allocate scratch memory");
  EXPECT_EQ(fake().liveBytes, 0u);
  launch(20);
}

TEST_F(ScratchTest, AsMuchAsThereAreLaunchesAtOnce) {
  // Ten thousand streams, one after the other: one buffer of the first, one for all others.
  for (int i = 0; i < 10000; ++i) {
    fake().memsets = 0;
    launch(64, uintptr_t(0x1000 + 16 * i));
  }
  EXPECT_EQ(fake().allocations, 2);
  // At once: as many.
  fake().isBusy = 1;
  std::set<CUdeviceptr> buffers;
  for (int i = 0; i < 5; ++i)
    buffers.insert(launch(64, uintptr_t(0x100000 + 16 * i)));
  EXPECT_EQ(buffers.size(), 5u);
  // Who launches between take and done holds it, whatever the events say.
  fake().isBusy = 0;
  tk_scratch *first = nullptr, *second = nullptr;
  const char *what = "";
  fake().memsets = 0;
  ASSERT_EQ(tk_scratch_take(&list, &driver, 0, each, 64, address(0x200), &first, &what), 0);
  ASSERT_EQ(tk_scratch_take(&list, &driver, 0, each, 64, address(0x210), &second, &what), 0);
  EXPECT_NE(first->memory, second->memory);
  // Nor is it given back before.
  int frees = fake().frees;
  launch(1000, 0x200);
  EXPECT_EQ(std::set<CUdeviceptr>({first->memory, second->memory}).size(), 2u);
  EXPECT_NE(launch(1000, 0x200), first->memory);
  EXPECT_LE(fake().frees, frees + 1);
  tk_scratch_done(&driver, first, address(0x200));
  tk_scratch_done(&driver, second, address(0x210));
}

TEST_F(ScratchTest, ANewStreamAtAKnownAddressIsAnother) {
  CUdeviceptr old = launch(64);
  EXPECT_EQ(fake().eventRecords, 0); // the first stream's launches cost no event
  fake().streamAge = 1;              // it was destroyed with its launch under way
  fake().isBusy = 1;
  EXPECT_NE(launch(64), old);
  EXPECT_EQ(fake().eventRecords, 1);
}

TEST_F(ScratchTest, WithoutNumbersOfStreamsALaunchWaits) {
  fake().lacksStreamIds = 1;
  fake().isBusy = 1;
  CUdeviceptr first = launch(64);
  EXPECT_EQ(launch(64), first);
  EXPECT_EQ(fake().eventWaits, 1); // for the launch before, should that be another stream's
  EXPECT_NE(launch(64, 0x40), first);
}
