// Prepared calls, where memory lies, and warnings, over a fake driver.
#include "runtime/include/tile.hpp"

#include "runtime/src/Module.h"
#include "runtime/src/Residency.h"
#include "test/unit/runtime/Cubin.h"
#include "test/unit/runtime/FakeDriver.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::testing;

static Kernel named(Kernel kernel, const char *variant, Fact fact) {
  kernel.symbol += std::string("_") + variant;
  kernel.variant = variant;
  kernel.facts = {std::move(fact)};
  return kernel;
}

/// y[N] = x[N] + n, n <= 100, where the grid has n programs; y is filled with 7.
static Kernel counted() {
  Kernel kernel;
  kernel.name = kernel.symbol = "counted";
  kernel.file = "counted.tile";
  kernel.dims = {dim("N")};
  Param y = tensor("y", Access::Out, Dtype::F32, {name("N")});
  y.fill = int64_t(7);
  Param n = scalar("n", Dtype::I32), a = scalar("a", Dtype::F32);
  n.min = 0;
  n.max = 100;
  a.defaultValue = 0.5;
  kernel.params = {tensor("x", Access::In, Dtype::F32, {name("N")}), y, n, a};
  kernel.grid = {name("n")};
  addArguments(kernel);
  return kernel;
}

#define EXPECT_STATUS(call, expectedCode, text)                                                    \
  do {                                                                                             \
    tile::Status status = call;                                                                    \
    EXPECT_EQ(status.code(), expectedCode) << status.message();                                    \
    EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status.message();    \
  } while (false)

class PreparedTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    std::memset(&fake(), 0, sizeof(FakeCuda));
    fake().major = 9;
    fake().optinShared = 232448;
    fake().symbols = "matmul_T_f16,matmul_T_f16_small,matmul_T_f16_aligned,counted,";
    fake().argumentCount = 4;
    fake().contextId = 1;
  }
  /// A package of matmul with two variants, and of `counted`.
  void open(const char *target = "sm_90a", bool hasCubin = true) {
    Fact isSmall = {Expr::make(Expr::Op::Le, tile::runtime::testing::name("M"), 16), "", 0, "small",
                    9};
    Kernel aligned = named(matmul(), "aligned", {Expr(1), "a", 128, "align(a)=128", 9});
    aligned.params[0].align = 128;
    PackageModule one;
    one.manifest = {
        "tilec 0.1.0", target, {named(matmul(), "small", isSmall), aligned, matmul(), counted()}};
    if (hasCubin)
      one.files.push_back({"cubin", "code/0.cubin", cubin()});
    one.files.push_back({"ptx", "code/0.ptx", ".version 8.0\n"});
    Package package;
    package.modules.push_back(std::move(one));
    std::string bytes;
    ASSERT_FALSE(writePackage(package, bytes));
    tile_module *loaded = nullptr;
    tile::Status status(
        tile_module_load_package(bytes.data(), bytes.size(), TILE_DEVICE_CUDA, &loaded));
    ASSERT_FALSE(status) << status.message();
    module.reset(loaded);
  }
  tile::Kernel kernel(const char *wanted) {
    tile_kernel *found = nullptr;
    tile::Status status(tile_module_kernel(module.get(), wanted, &found));
    EXPECT_FALSE(status) << status.message();
    return tile::Kernel(found);
  }
  static std::vector<tile::Argument> product(int64_t m, int64_t k, int64_t n,
                                             uint64_t a = 0x100000) {
    return {tile::Argument(TILE_F16, address(a), {m, k}),
            tile::Argument(TILE_F16, address(0x8000000), {k, n}),
            tile::Argument(TILE_F16, address(0x10000000), {m, n})};
  }

  std::unique_ptr<tile_module, void (*)(tile_module *)> module{nullptr, tile_module_free};
};

TEST_F(PreparedTest, OtherAddressesAndStreams) {
  open();
  tile::Prepared prepared;
  ASSERT_FALSE(kernel("matmul").prepare(product(300, 64, 512), prepared));
  EXPECT_EQ(fake().launches, 0);
  EXPECT_STREQ(prepared.variant(), "aligned");
  ASSERT_FALSE(
      prepared.launch({address(0x200000), address(0x9000000), address(0x11000000)}, address(0x77)));
  EXPECT_STREQ(fake().lastFunction, "matmul_T_f16_aligned");
  EXPECT_EQ(fake().stream, address(0x77));
  EXPECT_EQ(fake().arguments[0], 0x200000u);
  EXPECT_EQ(fake().arguments[1], 0x9000000u);
  EXPECT_EQ(fake().arguments[2], 0x11000000u);
  EXPECT_EQ(fake().arguments[3], 300u); // M
  EXPECT_EQ(fake().grid[0], 6u);        // 3 x 2 blocks of 128 x 256
  // Those of the preparation.
  ASSERT_FALSE(prepared.relaunch());
  EXPECT_EQ(fake().arguments[0], 0x100000u);
  EXPECT_EQ(fake().launches, 2);
  EXPECT_EQ(fake().loads, 1);
}

TEST_F(PreparedTest, WrongShapesFailAtOnce) {
  open();
  tile::Prepared prepared;
  std::vector<tile::Argument> call = product(17, 64, 8);
  call[1] = tile::Argument(TILE_F16, address(0x8000000), {65, 8});
  EXPECT_STATUS(kernel("matmul").prepare(call, prepared), TILE_ERROR_DIM, "'b' has K = 65");
  EXPECT_FALSE(bool(prepared));
}

TEST_F(PreparedTest, AnotherSizeIsRefused) {
  open();
  tile::Prepared prepared;
  ASSERT_FALSE(kernel("matmul").prepare(product(300, 64, 512), prepared));
  auto launch = [&](const std::vector<tile::Argument> &arguments) {
    return prepared.launchArguments(arguments);
  };
  ASSERT_FALSE(launch(product(300, 64, 512, 0x200000)));
  EXPECT_EQ(fake().arguments[0], 0x200000u);
  // A smaller tensor would be written past its end.
  std::vector<tile::Argument> call = product(300, 64, 512);
  call[2] = tile::Argument(TILE_F16, address(0x10000000), {299, 512});
  EXPECT_STATUS(launch(call), TILE_ERROR_DIM,
                "matmul: 'c' has shape [299, 512], but was prepared with shape [300, 512]; prepare "
                "another call, or launch the kernel itself");
  call[2] = tile::Argument(TILE_F16, address(0x10000000), {300, 512}, {}, 300 * 512 * 2 - 1);
  EXPECT_STATUS(launch(call), TILE_ERROR_DIM, "'c' has memory of 307199 bytes");
  call[2] = tile::Argument(TILE_F16, address(0x10000000), {300, 512}, {600, 1});
  EXPECT_STATUS(launch(call), TILE_ERROR_STRIDE, "'c' has strides [600, 1]");
  call[2] = tile::Argument(TILE_F16, address(0x10000000), {300, 512, 1});
  EXPECT_STATUS(launch(call), TILE_ERROR_RANK, "'c' has rank 3");
  call[2] = tile::Argument(TILE_F32, address(0x10000000), {300, 512});
  EXPECT_STATUS(launch(call), TILE_ERROR_DTYPE, "'c' has a tensor of f32");
  call[2] = tile::Argument(TILE_F16, address(0x10000000), {300, 512}, {512, 1});
  EXPECT_FALSE(launch(call)); // dense, said
  call.pop_back();
  EXPECT_STATUS(launch(call), TILE_ERROR_COUNT, "expected 3 values");
  EXPECT_EQ(fake().launches, 2);
}

TEST_F(PreparedTest, AddressesAreCheckedStill) {
  open();
  tile::Prepared prepared;
  ASSERT_FALSE(kernel("matmul").prepare(product(300, 64, 512), prepared));
  void *b = address(0x9000000), *c = address(0x11000000);
  EXPECT_STATUS(prepared.launch({nullptr, b, c}), TILE_ERROR_NULL, "'a' is null");
  EXPECT_STATUS(prepared.launch({address(0x200040), b, c}), TILE_ERROR_ALIGNMENT,
                "'a' is aligned to 64 bytes, expected 128");
  EXPECT_STATUS(prepared.launch({address(0x200000), b, address(0x200000 + 300 * 64 * 2 - 64)}),
                TILE_ERROR_OVERLAP, "'c' is written and overlaps 'a'");
  EXPECT_STATUS(prepared.launch({address(0x11000000 + 300 * 512 * 2 - 128), b, c}),
                TILE_ERROR_OVERLAP, "overlaps");
  EXPECT_STATUS(prepared.launch({b, c}), TILE_ERROR_COUNT,
                "expected 3 values, as many as arguments were prepared, found 2");
  EXPECT_EQ(fake().launches, 0);
  // One beside the other, and two that are only read in one place.
  EXPECT_FALSE(
      prepared.launch({address(0x200000), address(0x200000), address(0x200000 + 64 * 512 * 2)}));
  EXPECT_FALSE(prepared.launch({address(0x200040), b, c}, nullptr, TILE_LAUNCH_UNCHECKED));
  EXPECT_EQ(fake().launches, 2);
}

TEST_F(PreparedTest, ScalarsAndFills) {
  open();
  tile::Prepared prepared;
  tile::Argument x(TILE_F32, address(0x100000), {64}), y(TILE_F32, address(0x200000), {64});
  ASSERT_FALSE(kernel("counted").prepare({x, y, tile::Argument(int32_t(5))}, prepared));
  ASSERT_FALSE(prepared.launch({address(0x100000), address(0x300000), int32_t(5)}));
  EXPECT_EQ(fake().grid[0], 5u);
  ASSERT_EQ(fake().memsets, 1);
  EXPECT_EQ(fake().memset[0].address, 0x300000u);        // the fill follows the address
  EXPECT_EQ(uint32_t(fake().arguments[3]), 0x3f000000u); // the default
  // What the grid depends on may change: then everything is checked again.
  ASSERT_FALSE(prepared.launch({address(0x100000), address(0x300000), int32_t(6)}));
  EXPECT_EQ(fake().grid[0], 6u);
  EXPECT_STATUS(prepared.launch({address(0x100000), address(0x300000), int32_t(101)}),
                TILE_ERROR_CONTRACT, "'n' = 101");
  ASSERT_FALSE(prepared.launch({address(0x100000), address(0x300000), int32_t(0)}));
  EXPECT_EQ(fake().launches, 2); // an empty grid: only the fill
  EXPECT_EQ(fake().memsets, 3);

  // One that nothing depends on is free, and bits past its dtype do not count.
  ASSERT_FALSE(kernel("counted").prepare({x, y, tile::Argument(int32_t(5)), tile::Argument(1.5f)},
                                         prepared));
  ASSERT_FALSE(prepared.launch(
      {address(0x100000), address(0x300000), tile::Value::ofBits(0xffffffff00000005), 2.5f}));
  EXPECT_EQ(uint32_t(fake().arguments[3]), 0x40200000u);
  EXPECT_EQ(fake().grid[0], 5u);
}

TEST_F(PreparedTest, AnotherVariantByName) {
  open();
  tile::Prepared prepared;
  ASSERT_FALSE(kernel("matmul").prepare(product(16, 64, 8), prepared));
  EXPECT_STREQ(prepared.variant(), "small");
  ASSERT_FALSE(prepared.pin("aligned"));
  ASSERT_FALSE(prepared.relaunch());
  EXPECT_STREQ(fake().lastFunction, "matmul_T_f16_aligned");
  ASSERT_FALSE(prepared.pin(""));
  ASSERT_FALSE(prepared.relaunch());
  EXPECT_STREQ(fake().lastFunction, "matmul_T_f16");
  EXPECT_STATUS(prepared.pin("large"), TILE_ERROR_KERNEL,
                "has no variant 'large' of it; there are 'small', 'aligned', ''");
  ASSERT_FALSE(kernel("matmul").prepare(product(17, 64, 8), prepared));
  EXPECT_STATUS(prepared.pin("small"), TILE_ERROR_CONTRACT,
                "the variant's condition 'small' does not hold: M = 17");
  EXPECT_STREQ(prepared.variant(), "aligned"); // as it was
  ASSERT_FALSE(kernel("matmul:small").prepare(product(8, 64, 8), prepared));
  EXPECT_STREQ(prepared.variant(), "small");
}

TEST_F(PreparedTest, FromManyThreads) {
  open();
  tile::Prepared prepared;
  ASSERT_FALSE(kernel("matmul").prepare(product(300, 64, 512), prepared));
  std::vector<int> failures(8);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < failures.size(); ++i)
    threads.emplace_back([&, i] {
      for (uint64_t n = 0; n < 200; ++n) {
        failures[i] += bool(prepared.launch(
            {address(0x200000 + 0x100 * n), address(0x9000000), address(0x11000000)}));
        failures[i] += prepared.launch({nullptr, address(0x9000000), address(0x11000000)}).code() !=
                       TILE_ERROR_NULL;
      }
    });
  for (unsigned i = 0; i < failures.size(); ++i) {
    threads[i].join();
    EXPECT_EQ(failures[i], 0);
  }
  EXPECT_EQ(fake().loads, 1);
}

TEST_F(PreparedTest, WhereMemoryLies) {
  open();
  fake().device = 1;
  fake().memory[0] = {0x100000, 0x200000, 2, 0, 1};     // this device's
  fake().memory[1] = {0x8000000, 0x9000000, 1, 0, 0};   // the host's, known to the driver
  fake().memory[2] = {0x10000000, 0x11000000, 2, 1, 0}; // managed
  fake().memory[3] = {0x20000000, 0x21000000, 2, 0, 0}; // another device's
  tile::Kernel matmul = kernel("matmul");
  EXPECT_FALSE(matmul.launch(product(17, 64, 8), nullptr, TILE_LAUNCH_CHECK_MEMORY));
  EXPECT_STATUS(matmul.launch(product(17, 64, 8, 0x20000000), nullptr, TILE_LAUNCH_CHECK_MEMORY),
                TILE_ERROR_RESIDENCY,
                "matmul: 'a' lies in memory of device 0, expected memory of device 1, on which the "
                "kernel runs; copy the tensor there (matmul.tile:4)");
  EXPECT_STATUS(
      matmul.launch(product(17, 64, 8, 0x30000000), nullptr, TILE_LAUNCH_CHECK_MEMORY),
      TILE_ERROR_RESIDENCY,
      "'a' lies in host memory that the driver does not know, expected memory of device 1");
  EXPECT_EQ(fake().launches, 1);
  // Only where it is asked for; a tensor without elements has no memory.
  int queries = fake().pointerQueries;
  EXPECT_FALSE(matmul.launch(product(17, 64, 8, 0x30000000)));
  EXPECT_EQ(fake().pointerQueries, queries);
  tile::Prepared prepared;
  ASSERT_FALSE(matmul.prepare(product(17, 64, 8), prepared));
  EXPECT_STATUS(prepared.launch({address(0x30000000), address(0x8000000), address(0x10000000)},
                                nullptr, TILE_LAUNCH_CHECK_MEMORY),
                TILE_ERROR_RESIDENCY, "'a' lies in host memory");
}

TEST_F(PreparedTest, WhereMemoryLiesForTheCpu) {
  fake().memory[0] = {0x100000, 0x200000, 2, 0, 1};
  fake().memory[1] = {0x8000000, 0x9000000, 1, 0, 0};
  fake().memory[2] = {0x10000000, 0x11000000, 2, 1, 0};
  int64_t shape[] = {8, 8}, none[] = {0, 8};
  tile_argument device = {TILE_TENSOR, TILE_F16, address(0x100000), 2, shape, nullptr, 0, 0};
  tile_argument pinned = device, managed = device, unknown = device, empty = device;
  pinned.data = address(0x8000000);
  managed.data = address(0x10000000);
  unknown.data = address(0x30000000);
  empty.shape = none;
  tile_argument right[] = {pinned, managed, unknown}, another[] = {empty},
                wrong[] = {unknown, device};
  std::string reason;
  std::unique_ptr<Validator> kernel = Validator::create(matmul(), reason);
  ASSERT_TRUE(kernel) << reason;
  EXPECT_FALSE(checkResidency(true, kernel->getTables(), right, 3));
  EXPECT_FALSE(checkResidency(true, kernel->getTables(), another, 1));
  EXPECT_EQ(checkResidency(true, kernel->getTables(), wrong, 2).message,
            "matmul: 'b' lies in memory of device 1, expected host memory: the kernel runs on the "
            "CPU; copy the tensor there (matmul.tile:4)");
}

TEST_F(PreparedTest, WarnsOnceOfPtx) {
  open("sm_80", /*hasCubin=*/false);
  EXPECT_EQ(tile_module_warning(module.get(), 0), nullptr); // the device is not known yet
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  EXPECT_STREQ(tile_module_warning(module.get(), 0),
               "'package in memory' has no cubin for the device, sm_90: the driver compiles its "
               "PTX for sm_80 when it is loaded, "
               "and what only newer targets have goes unused; compile it with --target sm_90a too");
  fake().contextId = 2;
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  EXPECT_EQ(tile_module_warning(module.get(), 1), nullptr);
}

TEST_F(PreparedTest, WarnsOfPtxOfTheRightTarget) {
  open("sm_90a", /*hasCubin=*/false);
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  EXPECT_STREQ(tile_module_warning(module.get(), 0),
               "'package in memory' has no cubin for the device, sm_90: the driver compiles its "
               "PTX for sm_90a when it is loaded, once in each process; compile it where there is "
               "ptxas");
}

TEST_F(PreparedTest, NoWarningForACubin) {
  open();
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  EXPECT_EQ(tile_module_warning(module.get(), 0), nullptr);
  // Of sm_80 the whole family runs the cubin.
  open("sm_80");
  fake().major = 8;
  fake().minor = 6;
  fake().contextId = 2;
  ASSERT_FALSE(kernel("matmul").launch(product(17, 64, 8)));
  EXPECT_EQ(tile_module_warning(module.get(), 0), nullptr);
}
