// The C and C++ interfaces from loading to launch, over a fake driver. (L1.4, L2.2, L3.3)
#include "runtime/include/tile_runtime.hpp"

#include "runtime/src/Module.h"
#include "test/unit/runtime/Cubin.h"
#include "test/unit/runtime/FakeDriver.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::testing;

extern "C" int tileHeaderTest(void);

static Manifest manifest(const char *target = "sm_90a") {
  return {"tilec 0.1.0", target, {shift(Dtype::F16), shift(Dtype::F32), matmul()}};
}

static tile::Status load(tile::Module &module, const std::string &image = cubin(),
                         const Manifest &text = manifest()) {
  return tile::Module::load(image.data(), image.size(), toJson(text, image), module);
}

class ModuleTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    ASSERT_TRUE(&fake());
    std::memset(&fake(), 0, sizeof(FakeCuda));
    fake().major = 9;
    fake().optinShared = 232448;
    fake().symbols = "shift_T_f16,shift_T_f32,matmul_T_f16,";
    fake().argumentCount = 4;
    fake().contextId = 1;
  }
  tile::Kernel kernel(tile::Module &module, const char *name) {
    tile::Kernel found;
    tile::Status status = module.kernel(name, found);
    EXPECT_FALSE(status) << status.message();
    return found;
  }
};

#define EXPECT_STATUS(call, expectedCode, expectedText)                                            \
  do {                                                                                             \
    tile::Status status_ = (call);                                                                 \
    EXPECT_EQ(status_.code(), expectedCode);                                                       \
    EXPECT_NE(std::string(status_.message()).find(expectedText), std::string::npos)                \
        << status_.message();                                                                      \
  } while (false)

TEST_F(ModuleTest, CHeader) { EXPECT_EQ(tileHeaderTest(), 0); }

TEST_F(ModuleTest, LaunchOfTheInstanceThatFits) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  EXPECT_EQ(fake().loads, 0); // lazy
  tile::Kernel shift = kernel(module, "shift");
  void *stream = address(0x77);
  tile::Status status = shift.launch(
      {{TILE_F32, address(0x10000), {5000}}, {TILE_F32, address(0x80000), {5000}}, 2.0f}, stream);
  ASSERT_FALSE(status) << status.message();
  EXPECT_EQ(fake().loads, 1);
  EXPECT_EQ(fake().launches, 1);
  EXPECT_STREQ(fake().lastFunction, "shift_T_f32");
  EXPECT_EQ(fake().grid[0], 5u);
  EXPECT_EQ(fake().grid[1] * fake().grid[2], 1u);
  EXPECT_EQ(fake().block[0], 128u);
  EXPECT_EQ(fake().stream, stream);
  EXPECT_EQ(fake().arguments[0], 0x10000u);
  EXPECT_EQ(fake().arguments[1], 0x80000u);
  EXPECT_EQ(fake().arguments[2], 0x40000000u);
  EXPECT_EQ(fake().arguments[3], 5000u);
  // Default, the other instance; loaded once.
  ASSERT_FALSE(
      shift.launch({{TILE_F16, address(0x10000), {1}}, {TILE_F16, address(0x80000), {1}}}));
  EXPECT_STREQ(fake().lastFunction, "shift_T_f16");
  EXPECT_EQ(fake().loads, 1);
  EXPECT_EQ(fake().retains, 1); // no context was current at first
}

TEST_F(ModuleTest, NoInstanceFits) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  EXPECT_STATUS(kernel(module, "shift")
                    .launch({{TILE_F64, address(0x10000), {5}}, {TILE_F64, address(0x80000), {5}}}),
                TILE_ERROR_INSTANCE,
                "shift: no variant takes (f64[5], f64[5]); nearest: shift[T = f16](x: in f16[N], "
                "y: out f16[N], eps: f32 = "
                "1e-05): 'x' expects a tensor of f16, found f64 (shift.tile:4); shift[T = f32](");
  EXPECT_EQ(fake().launches, 0);
  // Where dtypes leave one instance, it says what is wrong.
  EXPECT_STATUS(
      kernel(module, "shift")
          .launch({{TILE_F32, address(0x10000), {5, 1}}, {TILE_F32, address(0x80000), {5}}}),
      TILE_ERROR_RANK, "'x' expects rank 1, found rank 2");
  tile::Kernel none;
  EXPECT_STATUS(module.kernel("shuft", none), TILE_ERROR_KERNEL,
                "has no kernel 'shuft'; it has shift, matmul");
  EXPECT_FALSE(none);
  // By symbol: that instance's own checks speak.
  EXPECT_STATUS(kernel(module, "shift_T_f16")
                    .launch({{TILE_F64, address(0x10000), {5}}, {TILE_F64, address(0x80000), {5}}}),
                TILE_ERROR_DTYPE, "'x' expects a tensor of f16, found f64");
}

TEST_F(ModuleTest, ChecksComeBeforeTheDevice) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  tile::Kernel matmul = kernel(module, "matmul");
  std::vector<tile::Argument> call = {{TILE_F16, address(0x10000), {4, 5}},
                                      {TILE_F16, address(0x20000), {7, 8}},
                                      {TILE_F16, address(0x30000), {4, 8}}};
  EXPECT_STATUS(matmul.launch(call), TILE_ERROR_DIM,
                "'b' has K = 7 in dimension 0, but 'a' has K = 5 in dimension 1");
  EXPECT_EQ(fake().loads, 0);
  EXPECT_FALSE(matmul.launch(call, nullptr, TILE_LAUNCH_UNCHECKED));
  EXPECT_EQ(fake().launches, 1);
  EXPECT_STATUS(matmul.launch(call, nullptr, 8), TILE_ERROR_CALL, "unknown launch flags 8");
  EXPECT_STATUS(matmul.launch({{TILE_F16, address(0x10000), {4, 5}, {5}}, call[1], call[2]}),
                TILE_ERROR_RANK, "'a' expects rank 2");
}

TEST_F(ModuleTest, SharedMemory) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  std::vector<tile::Argument> call = {{TILE_F16, address(0x10000), {8, 8}},
                                      {TILE_F16, address(0x20000), {8, 8}},
                                      {TILE_F16, address(0x30000), {8, 8}}};
  ASSERT_FALSE(kernel(module, "matmul").launch(call));
  EXPECT_EQ(fake().maxDynamicShared, 98304);
  EXPECT_EQ(fake().shared, 98304u);
  tile::Module other;
  ASSERT_FALSE(load(other));
  fake().optinShared = 100000;
  fake().staticShared = 2000;
  EXPECT_STATUS(kernel(other, "matmul").launch(call), TILE_ERROR_TARGET,
                "needs 100304 bytes of shared memory for a block, the device has 100000");
}

TEST_F(ModuleTest, EmptyGridAndFills) {
  Manifest text = manifest();
  text.kernels[1].params[1].fill = int64_t(0);
  text.kernels[1].params[1].strides = {std::optional<Expr>()};
  text.kernels[1].grid = {Expr::make(Expr::Op::Sub, tile::runtime::testing::name("N"), 4)};
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), text));
  tile::Kernel shift = kernel(module, "shift_T_f32");
  ASSERT_FALSE(shift.launch({{TILE_F32, address(0x10000), {4}}, {TILE_F32, address(0x80000), {4}}},
                            address(3)));
  EXPECT_EQ(fake().launches, 0);
  ASSERT_EQ(fake().memsets, 1);
  EXPECT_EQ(fake().memset[0].address, 0x80000u);
  EXPECT_EQ(fake().memset[0].width, 4u);
  EXPECT_EQ(fake().memset[0].cellBytes, 4u);
  EXPECT_EQ(fake().memset[0].stream, address(3));
  ASSERT_FALSE(
      shift.launch({{TILE_F32, address(0x10000), {5}}, {TILE_F32, address(0x80000), {5}, {2}}}));
  EXPECT_EQ(fake().launches, 1);
  ASSERT_EQ(fake().memsets, 2);
  EXPECT_EQ(fake().memset[1].rows, 5u);
  EXPECT_EQ(fake().memset[1].pitch, 8u);
}

TEST_F(ModuleTest, OncePerContext) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  std::vector<tile::Argument> call = {{TILE_F32, address(0x10000), {5}},
                                      {TILE_F32, address(0x80000), {5}}};
  tile::Kernel shift = kernel(module, "shift");
  int contexts[2];
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 2; ++i) {
      fake().current = &contexts[i];
      fake().contextId = unsigned(i);
      ASSERT_FALSE(shift.launch(call));
    }
  EXPECT_EQ(fake().loads, 2);
  // A new context at the address of a destroyed one.
  fake().contextId = 9;
  ASSERT_FALSE(shift.launch(call));
  EXPECT_EQ(fake().loads, 3);
  fake().contextId = 9;
  module = tile::Module();
  EXPECT_EQ(fake().unloads, 1); // the contexts with other numbers are gone
  EXPECT_EQ(fake().strictUnloads, 0);
  EXPECT_EQ(fake().captureMode, 0); // is what it was
}

TEST_F(ModuleTest, UnloadedIsLoadedAgain) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  std::vector<tile::Argument> call = {{TILE_F32, address(0x10000), {5}},
                                      {TILE_F32, address(0x80000), {5}}};
  tile::Kernel shift = kernel(module, "shift");
  int contexts[2];
  for (int i = 0; i < 2; ++i) {
    fake().current = &contexts[i];
    fake().contextId = unsigned(i);
    ASSERT_FALSE(shift.launch(call));
  }
  module.unload();
  EXPECT_EQ(fake().unloads, 1); // the other context is gone
  module.unload();
  EXPECT_EQ(fake().unloads, 1);
  ASSERT_FALSE(shift.launch(call));
  ASSERT_FALSE(shift.launch(call));
  EXPECT_EQ(fake().loads, 3);
  EXPECT_EQ(fake().launches, 4);
  tile_module_unload(nullptr);
}

TEST_F(ModuleTest, Threads) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  int context;
  fake().current = &context;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_FALSE(module.prepare()); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake().loads, 1);
}

/// matmul with tensor maps of a and c, as a binary for sm_90 has it.
static Manifest mapped() {
  Manifest text = manifest();
  Kernel &kernel = text.kernels[2];
  kernel.tensorMaps = {{"a", {1, 0}, {64, 128}, 128}, {"c", {1, 0}, {16, 64}, 32}};
  kernel.arguments.push_back({Argument::Kind::TensorMap, "", 1});
  kernel.arguments.push_back({Argument::Kind::TensorMap, "", 0});
  for (Param &param : kernel.params)
    param.strides = {std::nullopt, tile::runtime::Expr(1)};
  for (Dim &dim : kernel.dims)
    dim.min = 0;
  return text;
}

/// a[M, K], b[K, N], c[M, N] with rows of a `pitch` elements apart.
static std::vector<tile::Argument> product(uint64_t a, int64_t m, int64_t k, int64_t n,
                                           int64_t pitch) {
  return {{TILE_F16, address(a), {m, k}, {pitch, 1}},
          {TILE_F16, address(0x20000000), {k, n}, {n, 1}},
          {TILE_F16, address(0x30000000), {m, n}, {n, 1}}};
}

TEST_F(ModuleTest, TensorMaps) {
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), mapped()));
  fake().argumentCount = 8;
  tile::Kernel matmul = kernel(module, "matmul");
  tile::Status status = matmul.launch(product(0x10000000, 100, 40, 72, 48));
  ASSERT_FALSE(status) << status.message();
  ASSERT_EQ(fake().encodings, 2);
  const FakeMap &a = fake().map[0], &c = fake().map[1];
  EXPECT_EQ(a.address, 0x10000000u);
  EXPECT_EQ(a.dataType, 6);
  EXPECT_EQ(a.rank, 2u);
  EXPECT_EQ(a.extents[0], 40u);
  EXPECT_EQ(a.extents[1], 100u);
  EXPECT_EQ(a.strides[1], 96u);
  EXPECT_EQ(a.box[0], 64u);
  EXPECT_EQ(a.box[1], 128u);
  EXPECT_EQ(a.swizzle, 3);
  EXPECT_EQ(a.promotion, 2); // lines of 128 bytes
  EXPECT_EQ(c.address, 0x30000000u);
  EXPECT_EQ(c.extents[0], 72u);
  EXPECT_EQ(c.swizzle, 1);
  // Where the ABI has them, in its order.
  EXPECT_EQ(fake().arguments[6], 0x3a90001u);
  EXPECT_EQ(fake().arguments[7], 0x3a90000u);

  // Encoded once for the same tensors, also after others.
  ASSERT_FALSE(matmul.launch(product(0x10000000, 100, 40, 72, 48)));
  EXPECT_EQ(fake().encodings, 2);
  for (uint64_t i = 1; i <= 7; ++i)
    ASSERT_FALSE(matmul.launch(product(0x10000000 + 256 * i, 100, 40, 72, 48)));
  EXPECT_EQ(fake().encodings, 16);
  ASSERT_FALSE(matmul.launch(product(0x10000000, 100, 40, 72, 48)));
  EXPECT_EQ(fake().encodings, 16);
  EXPECT_EQ(fake().arguments[7], 0x3a90000u);
  ASSERT_FALSE(matmul.launch(
      product(0x10000000, 100, 40, 72, 64))); // pushes the oldest out, which is 0x10000100
  EXPECT_EQ(fake().encodings, 18);
  ASSERT_FALSE(matmul.launch(product(0x10000200, 100, 40, 72, 48)));
  EXPECT_EQ(fake().encodings, 18);
  ASSERT_FALSE(matmul.launch(product(0x10000100, 100, 40, 72, 48)));
  EXPECT_EQ(fake().encodings, 20);
}

TEST_F(ModuleTest, TensorMapsOfOddTensors) {
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), mapped()));
  fake().argumentCount = 8;
  tile::Kernel matmul = kernel(module, "matmul");
  // One row: nothing depends on its stride.
  tile::Status status = matmul.launch(product(0x10000000, 1, 40, 72, 3));
  ASSERT_FALSE(status) << status.message();
  EXPECT_EQ(fake().map[0].strides[1], 80u);
  // No elements: a zero of the runtime's own for what is read, never the caller's address.
  status = matmul.launch(product(0, 100, 0, 72, 48));
  ASSERT_FALSE(status) << status.message();
  EXPECT_EQ(fake().map[2].address, 0x1000u);
  EXPECT_EQ(fake().map[2].extents[0], 1u);
  EXPECT_EQ(fake().map[2].extents[1], 1u);
  EXPECT_EQ(fake().map[3].address, 0x30000000u);
  EXPECT_EQ(fake().allocations, 1);
  fake().encodeResult = 1;
  EXPECT_STATUS(matmul.launch(product(0x10000000, 9, 40, 72, 48)), TILE_ERROR_CUDA,
                "matmul: cannot describe 'a' to the hardware (extents 9 40, strides in bytes 96): "
                "CUDA_ERROR_INVALID_VALUE");
  fake().encodeResult = 0;
  fake().contextId = 1;
  module = tile::Module();
  EXPECT_EQ(fake().frees, 1);
}

TEST_F(ModuleTest, TensorMapsThatCut) {
  tile::Module module;
  Manifest text = mapped();
  text.kernels[2].tensorMaps[1] = {"c", {1, 0, 0}, {16, 64, 1}, 32};
  ASSERT_FALSE(load(module, cubin(), text));
  fake().argumentCount = 8;
  tile::Kernel matmul = kernel(module, "matmul");
  tile::Status status = matmul.launch(product(0x10000000, 100, 40, 72, 48));
  ASSERT_FALSE(status) << status.message();
  auto check = [](const FakeMap &map, uint64_t address, std::vector<uint64_t> extents,
                  uint64_t stride) {
    EXPECT_EQ(map.rank, 3u);
    EXPECT_EQ(map.address, address);
    EXPECT_EQ(std::vector<uint64_t>(map.extents, map.extents + 3), extents);
    EXPECT_EQ(map.strides[1], stride);
    EXPECT_EQ(map.strides[2], stride);
  };
  check(fake().map[1], 0x30000000 - 64 * 144, {72, 64, 164}, 144);
  // One row, whose stride is nobody's concern.
  ASSERT_FALSE(matmul.launch(product(0x10000000, 1, 40, 72, 40)));
  check(fake().map[3], 0x30000000 - 64 * 144, {72, 64, 65}, 144);
}

TEST_F(ModuleTest, TensorMapsFromManyThreads) {
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), mapped()));
  fake().argumentCount = 0;
  tile::Kernel matmul = kernel(module, "matmul");
  ASSERT_FALSE(matmul.launch(product(0x10000000, 100, 40, 72, 48)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&] { EXPECT_FALSE(matmul.launch(product(0x10000000, 100, 40, 72, 48))); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake().encodings, 2);
}

TEST_F(ModuleTest, PersistentAndClusters) {
  fake().processors = 5;
  fake().blocksPerProcessor = 2;
  Manifest text = manifest();
  text.kernels[1].launch.persistent = true;
  text.kernels[2].launch.cluster = 2;
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), text));
  auto run = [&](int64_t n) {
    EXPECT_FALSE(
        kernel(module, "shift")
            .launch({{TILE_F32, address(0x10000), {n}}, {TILE_F32, address(0x800000), {n}}}));
    return fake().grid[0];
  };
  EXPECT_EQ(run(7 * 1024), 7u);
  EXPECT_EQ(run(70 * 1024), 10u);
  EXPECT_EQ(fake().cluster, 0u);
  // Whole clusters.
  ASSERT_FALSE(kernel(module, "matmul").launch(product(0x10000000, 300, 40, 72, 40)));
  EXPECT_EQ(fake().grid[0], 4u);
  EXPECT_EQ(fake().cluster, 2u);
  text.kernels[2].launch.persistent = true;
  fake().processors = 3;
  fake().blocksPerProcessor = 1;
  ASSERT_FALSE(load(module, cubin(), text));
  ASSERT_FALSE(kernel(module, "matmul").launch(product(0x10000000, 1000, 40, 72, 40)));
  EXPECT_EQ(fake().grid[0], 2u);
  // Three programs along the axis of the clusters, or three axes of one: each may need a cluster.
  fake().processors = 9;
  ASSERT_FALSE(load(module, cubin(), text));
  ASSERT_FALSE(kernel(module, "matmul").launch(product(0x10000000, 300, 40, 72, 40)));
  EXPECT_EQ(fake().grid[0], 6u);
}

TEST_F(ModuleTest, SharedMemoryByExtents) {
  Manifest text = manifest();
  text.kernels[1].launch.sharedBytes = 4096;
  text.kernels[1].launch.sharedTaken =
      Expr::make(Expr::Op::Sub, Expr::make(Expr::Op::Mul, Expr::makeName("N"), Expr(2)), Expr(64));
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), text));
  auto run = [&](int64_t n) {
    EXPECT_FALSE(
        kernel(module, "shift")
            .launch({{TILE_F32, address(0x10000), {n}}, {TILE_F32, address(0x800000), {n}}}));
    return fake().shared;
  };
  EXPECT_EQ(run(1000), 1936u);
  EXPECT_EQ(run(32), 0u);
  EXPECT_EQ(run(2080), 4096u);
  // Out of range: all that was asked for when the kernel was loaded.
  EXPECT_EQ(run(2081), 4096u);
  EXPECT_EQ(run(31), 4096u);
}

TEST_F(ModuleTest, ScratchMemory) {
  Manifest text = manifest();
  text.kernels[1].launch.scratchBytes = 256;
  text.kernels[1].arguments.push_back({Argument::Kind::Scratch, "", 0});
  fake().argumentCount = int(text.kernels[1].arguments.size());
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), text));
  auto run = [&](int64_t n, uintptr_t stream = 0) {
    tile::Status status =
        kernel(module, "shift")
            .launch({{TILE_F32, address(0x10000), {n}}, {TILE_F32, address(0x800000), {n}}},
                    reinterpret_cast<void *>(stream));
    EXPECT_FALSE(status) << status.message();
    return fake().arguments[fake().argumentCount - 1];
  };
  int memsets = fake().memsets;
  EXPECT_EQ(run(7 * 1024), 0x1000u);
  EXPECT_EQ(fake().allocations, 1);
  ASSERT_EQ(fake().memsets, memsets + 1);
  EXPECT_EQ(fake().memset[memsets].rows, 7u); // each program's count
  EXPECT_EQ(fake().memset[memsets].pitch, 256u);
  EXPECT_EQ(fake().memset[memsets].width, 128u);
  EXPECT_EQ(fake().memset[memsets].value, 0u);
  // Kept as long as the module, but a launch may need more; a stream of its own has its own.
  run(5 * 1024);
  EXPECT_EQ(fake().allocations, 1);
  run(9 * 1024);
  EXPECT_EQ(fake().allocations, 2);
  EXPECT_EQ(fake().frees, 1);
  run(1024, 0x77);
  EXPECT_EQ(fake().allocations, 3);
  EXPECT_EQ(fake().memset[memsets + 2].rows, 1u);
  EXPECT_EQ(fake().memset[memsets + 2].stream, reinterpret_cast<void *>(0x77));
  module = tile::Module();
  EXPECT_EQ(fake().frees, 3);
  EXPECT_EQ(fake().liveBytes, 0u);
}

TEST_F(ModuleTest, ScratchMemoryOfAllPrograms) {
  Manifest text = manifest();
  text.kernels[1].launch.scratchBytes = 8;
  text.kernels[1].launch.scratchShared = true;
  text.kernels[1].arguments.push_back({Argument::Kind::Scratch, "", 0});
  fake().argumentCount = int(text.kernels[1].arguments.size());
  tile::Module module;
  ASSERT_FALSE(load(module, cubin(), text));
  int memsets = fake().memsets;
  for (int64_t n : {3 * 1024, 70 * 1024}) {
    tile::Status status =
        kernel(module, "shift")
            .launch({{TILE_F32, address(0x10000), {n}}, {TILE_F32, address(0x800000), {n}}});
    EXPECT_FALSE(status) << status.message();
  }
  EXPECT_EQ(fake().allocations, 1);
  ASSERT_EQ(fake().memsets, memsets + 1);
  EXPECT_EQ(fake().memset[memsets].rows, 1u);
  EXPECT_EQ(fake().memset[memsets].width, 8u);
}

TEST_F(ModuleTest, DriverErrors) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  std::vector<tile::Argument> call = {{TILE_F32, address(0x10000), {5}},
                                      {TILE_F32, address(0x80000), {5}}};
  tile::Kernel shift = kernel(module, "shift");
  fake().loadResult = 200;
  EXPECT_STATUS(shift.launch(call), TILE_ERROR_BINARY,
                "CUDA_ERROR_INVALID_IMAGE (text of the fake driver): ptxas: line 1, what is wrong");
  fake().loadResult = 0;
  fake().launchResult = 700;
  EXPECT_STATUS(shift.launch(call), TILE_ERROR_CUDA,
                "shift: cannot launch: CUDA_ERROR_ILLEGAL_ADDRESS");
  fake().launchResult = 0;
  EXPECT_FALSE(shift.launch(call));
  fake().symbols = "shift_T_f32,";
  EXPECT_STATUS(module.prepare(), TILE_ERROR_BINARY,
                "has no function 'shift_T_f16', which its manifest lists");
}

TEST_F(ModuleTest, WrongDevice) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  fake().major = 8;
  EXPECT_STATUS(module.prepare(), TILE_ERROR_TARGET,
                "is compiled for sm_90a, but the device is sm_80");
}

TEST_F(ModuleTest, Targets) {
  EXPECT_TRUE(runsOn(ImageKind::Cubin, "sm_80", 8, 6));
  EXPECT_FALSE(runsOn(ImageKind::Cubin, "sm_80", 9, 0));
  EXPECT_FALSE(runsOn(ImageKind::Cubin, "sm_89", 8, 0));
  EXPECT_TRUE(runsOn(ImageKind::Ptx, "sm_80", 9, 0));
  EXPECT_FALSE(runsOn(ImageKind::Ptx, "sm_90a", 10, 0));
  EXPECT_TRUE(runsOn(ImageKind::Cubin, "sm_121", 12, 1));
  tile::Module module;
  EXPECT_STATUS(load(module, cubin(), manifest("cpu")), TILE_ERROR_TARGET, "is compiled for 'cpu'");
}

TEST_F(ModuleTest, CorruptBinaries) {
  tile::Module module;
  std::string good = cubin();
  for (size_t length = 0; length < good.size(); ++length) {
    tile::Status status = load(module, good.substr(0, length));
    ASSERT_EQ(status.code(), TILE_ERROR_BINARY) << length;
  }
  EXPECT_STATUS(load(module, good.substr(0, 70)), TILE_ERROR_BINARY, "is truncated or corrupt");
  std::string foreign = good;
  foreign[18] = 62; // x86-64
  EXPECT_STATUS(load(module, foreign), TILE_ERROR_BINARY,
                "is an ELF file but no 64-bit CUDA binary");
  EXPECT_STATUS(load(module, "some text"), TILE_ERROR_BINARY, "is neither a cubin nor PTX");
  EXPECT_FALSE(load(module, "// made by a compiler\n.version 8.0\n.target sm_90a\n"));
  EXPECT_EQ(module.get() != nullptr, true);
}

TEST_F(ModuleTest, Files) {
  std::string path = ::testing::TempDir() + "tile-module-test.cubin";
  std::ofstream(path) << cubin();
  std::remove((path + ".json").c_str());
  tile::Module module;
  EXPECT_STATUS(tile::Module::load(path, module), TILE_ERROR_IO, ".cubin.json': No such file");
  std::ofstream(path + ".json") << "{";
  EXPECT_STATUS(tile::Module::load(path, module), TILE_ERROR_MANIFEST, "not valid JSON");
  std::ofstream(path + ".json") << toJson(manifest(), cubin());
  tile::Status status = tile::Module::load(path, module);
  EXPECT_FALSE(status) << status.message();
  EXPECT_STREQ(module.target(), "sm_90a");
  std::remove(path.c_str());
  std::remove((path + ".json").c_str());
  EXPECT_STATUS(tile::Module::load("/", module), TILE_ERROR_IO, "cannot read '/'");
}

TEST_F(ModuleTest, Questions) {
  tile::Module module;
  ASSERT_FALSE(load(module));
  ASSERT_EQ(tile_module_kernel_count(module.get()), 2u);
  EXPECT_EQ(tile_module_kernel_at(module.get(), 2), nullptr);
  tile_kernel *matmul = tile_module_kernel_at(module.get(), 1);
  EXPECT_STREQ(tile_kernel_name(matmul), "matmul");
  EXPECT_STREQ(tile_kernel_doc(matmul), "C = A B");
  ASSERT_EQ(tile_kernel_instance_count(matmul), 1u);
  const tile_instance *instance = tile_kernel_instance(matmul, 0);
  EXPECT_STREQ(tile_instance_symbol(instance), "matmul_T_f16");
  tile_param_info param;
  ASSERT_TRUE(tile_instance_param(instance, 2, &param));
  EXPECT_STREQ(param.name, "c");
  EXPECT_EQ(param.access, TILE_OUT);
  EXPECT_EQ(param.rank, 2);
  EXPECT_EQ(param.align, 16u);
  EXPECT_FALSE(tile_instance_param(instance, 3, &param));
  tile_dim_info dim;
  ASSERT_TRUE(tile_instance_dim(instance, 1, &dim));
  EXPECT_STREQ(dim.name, "K");
  EXPECT_EQ(dim.min, 8);
  EXPECT_EQ(dim.opt, -1);
  tile_launch_info launch;
  tile_instance_launch_info(instance, &launch);
  EXPECT_EQ(launch.threads, 256u);

  tile_launch_plan plan;
  std::vector<tile::Argument> call = {{TILE_F16, address(0x10000), {300, 8}},
                                      {TILE_F16, address(0x20000), {8, 8}},
                                      {TILE_F16, address(0x30000), {300, 8}}};
  ASSERT_FALSE(kernel(module, "matmul").plan(call, plan));
  EXPECT_EQ(plan.programs, 3);
  EXPECT_EQ(plan.axes, 2);
  EXPECT_EQ(plan.extents[0], 3);
  EXPECT_EQ(plan.instance, instance);
  EXPECT_EQ(fake().loads, 0);

  EXPECT_STREQ(tile_dtype_name(TILE_BF16), "bf16");
  EXPECT_EQ(tile_dtype_name(-1), nullptr);
  EXPECT_EQ(tile_dtype_from_name("f8e5m2"), TILE_F8E5M2);
  EXPECT_EQ(tile_dtype_from_name("f12"), -1);
  uint64_t bits = 0;
  EXPECT_EQ(tile_scalar_bits(TILE_F16, 1.0, &bits), nullptr);
  EXPECT_EQ(bits, 0x3c00u);
  EXPECT_STATUS(tile::Status(tile_scalar_bits(TILE_U8, 256, &bits)), TILE_ERROR_DTYPE,
                "256 is no value of u8");
}

TEST_F(ModuleTest, NullHandles) {
  EXPECT_STATUS(tile::Status(tile_module_load(nullptr, nullptr)), TILE_ERROR_CALL, "path is null");
  EXPECT_STATUS(tile::Status(tile_kernel_launch(nullptr, nullptr, 0, nullptr, 0)), TILE_ERROR_CALL,
                "kernel is null");
  EXPECT_STATUS(tile::Status(tile_module_prepare(nullptr)), TILE_ERROR_CALL, "module is null");
  tile::Module module;
  ASSERT_FALSE(load(module));
  EXPECT_STATUS(tile::Status(tile_kernel_launch(tile_module_kernel_at(module.get(), 0), nullptr, 2,
                                                nullptr, 0)),
                TILE_ERROR_CALL, "the array of arguments is null");
}

TEST(CudaDriver, MissingLibrary) {
  CudaDriver driver;
  Error error = CudaDriver::load("libno-such-driver.so.1", driver);
  EXPECT_EQ(error.code, TILE_ERROR_DRIVER);
  EXPECT_NE(error.message.find("cannot load the CUDA driver"), std::string::npos) << error.message;
  // A library, but no driver.
  error = CudaDriver::load("libc.so.6", driver);
  EXPECT_NE(error.message.find("lacks cuInit"), std::string::npos) << error.message;
}
