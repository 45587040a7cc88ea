// Which variant a call runs, on which device's code, and what it says when there is none; over a
// fake driver. (L3.1)
#include "runtime/include/tile_runtime.hpp"

#include "runtime/src/Module.h"
#include "test/unit/runtime/Cubin.h"
#include "test/unit/runtime/FakeDriver.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::testing;

/// A variant of matmul under a condition over one dimension, or an alignment of `a`.
static Kernel variant(const char *label, Expr condition) {
  Kernel kernel = matmul();
  kernel.symbol += std::string("_") + label;
  kernel.variant = label;
  kernel.facts = {{std::move(condition), "", 0, label, 9}};
  return kernel;
}
static Kernel aligned() {
  Kernel kernel = matmul();
  kernel.symbol += "_aligned";
  kernel.variant = "aligned";
  kernel.params[0].align = 128;
  kernel.facts = {{Expr(1), "a", 128, "align(a)=128", 9}};
  return kernel;
}
static Expr small() { return Expr::make(Expr::Op::Le, tile::runtime::testing::name("M"), 16); }
static Expr divided() {
  return Expr::make(Expr::Op::Eq, Expr::make(Expr::Op::Rem, tile::runtime::testing::name("K"), 64),
                    0);
}

class DispatchTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    std::memset(&fake(), 0, sizeof(FakeCuda));
    fake().major = 9;
    fake().optinShared = 232448;
    fake().symbols = "matmul_T_f16,matmul_T_f16_small,matmul_T_f16_divided,matmul_T_f16_aligned,"
                     "matmul_T_f16_large,"
                     "shift_T_f32,";
    fake().argumentCount = 4;
    fake().contextId = 1;
  }
  void add(const char *target, std::vector<Kernel> kernels, bool hasCubin = true) {
    PackageModule module;
    module.manifest = {"tilec 0.1.0", target, std::move(kernels)};
    std::string number = std::to_string(package.modules.size());
    if (hasCubin)
      module.files.push_back({"cubin", "code/" + number + ".cubin", cubin()});
    module.files.push_back({"ptx", "code/" + number + ".ptx", ".version 8.0\n"});
    package.modules.push_back(std::move(module));
  }
  void open() {
    std::string bytes;
    ASSERT_FALSE(writePackage(package, bytes));
    tile_error *error =
        tile_module_load_package(bytes.data(), bytes.size(), TILE_DEVICE_CUDA, &module);
    ASSERT_FALSE(error) << tile_error_message(error);
    error = tile_module_kernel(module, "matmul", &kernel);
    ASSERT_FALSE(error) << tile_error_message(error);
  }
  /// Launches a product of these extents; the name of the function that ran, or the error's text.
  std::string run(int64_t m, int64_t k, int64_t n, uint64_t a = 0x100000,
                  tile_kernel *which = nullptr) {
    int64_t aShape[] = {m, k}, bShape[] = {k, n}, cShape[] = {m, n};
    tile_argument arguments[] = {
        {TILE_TENSOR, TILE_F16, address(a), 2, aShape, nullptr, 0, 0},
        {TILE_TENSOR, TILE_F16, address(0x8000000), 2, bShape, nullptr, 0, 0},
        {TILE_TENSOR, TILE_F16, address(0x10000000), 2, cShape, nullptr, 0, 0}};
    tile_error *error = tile_kernel_launch(which ? which : kernel, arguments, 3, nullptr, 0);
    std::string text = error ? tile_error_message(error) : fake().lastFunction;
    tile_error_free(error);
    return text;
  }
  void TearDown() override { tile_module_free(module); }

  Package package;
  tile_module *module = nullptr;
  tile_kernel *kernel = nullptr;
};

TEST_F(DispatchTest, FirstVariantThatHoldsElseGeneric) {
  add("sm_90a", {variant("small", small()), variant("divided", divided()), aligned(), matmul()});
  open();
  EXPECT_EQ(run(16, 64, 8), "matmul_T_f16_small"); // the second holds too
  EXPECT_EQ(run(17, 64, 8), "matmul_T_f16_divided");
  EXPECT_EQ(run(17, 72, 8), "matmul_T_f16_aligned");
  EXPECT_EQ(run(17, 72, 8, 0x100010), "matmul_T_f16");
  EXPECT_EQ(fake().loads, 1);
}

TEST_F(DispatchTest, AContractBrokenIsReportedOnce) {
  add("sm_90a", {variant("small", small()), matmul()});
  open();
  EXPECT_EQ(
      run(16, 12, 8),
      "matmul: the contract 'K % 8 == 0' does not hold: K = 12 ('a', dimension 1) (matmul.tile:7)");
  EXPECT_EQ(
      run(17, 12, 8),
      "matmul: the contract 'K % 8 == 0' does not hold: K = 12 ('a', dimension 1) (matmul.tile:7)");
}

TEST_F(DispatchTest, WithoutAGenericOneTheNearestAreListed) {
  add("sm_90a", {variant("small", small()), aligned()});
  open();
  EXPECT_EQ(run(17, 64, 8, 0x100010),
            "matmul: no variant takes (f16[17, 64], f16[64, 8], f16[17, 8]); nearest: matmul[T = "
            "f16, BM = 128, BIAS = false, X "
            "= 1.5](a: in f16[M, K], b: in f16[K, N], c: out f16[M, N]) variant aligned: 'a' is "
            "aligned to 16 bytes, expected "
            "128; pass a copy, or lower that by 'align(a, n)' in the source (matmul.tile:4); "
            "matmul[T = f16, BM = "
            "128, BIAS = false, X = 1.5](a: in "
            "f16[M, K], b: in f16[K, N], c: out f16[M, N]) variant small: the variant's condition "
            "'small' does not hold: M = 17 "
            "('a', dimension 0) (matmul.tile:9)");
}

TEST_F(DispatchTest, AnEmptyCallNeedsNoVariantThatHolds) {
  // Neither holds for K = 72, but nothing would run. (L1.2)
  Kernel large = variant("large", Expr::make(Expr::Op::Ge, tile::runtime::testing::name("N"), 8));
  add("sm_90a", {variant("divided", divided()), large});
  open();
  std::strcpy(fake().lastFunction, "none");
  EXPECT_EQ(run(17, 72, 0), "none");
  EXPECT_EQ(fake().launches, 0);
  EXPECT_EQ(run(17, 72, 8), "matmul_T_f16_large");
}

TEST_F(DispatchTest, PinnedByName) {
  add("sm_90a", {variant("small", small()), variant("divided", divided()), matmul()});
  open();
  tile_kernel *pinned = nullptr;
  ASSERT_EQ(tile_module_kernel(module, "matmul:divided", &pinned), nullptr);
  EXPECT_EQ(run(16, 64, 8, 0x100000, pinned), "matmul_T_f16_divided");
  EXPECT_EQ(run(16, 72, 8, 0x100000, pinned), "matmul: the variant's condition 'divided' does not "
                                              "hold: K = 72 ('a', dimension 1) (matmul.tile:9)");
  tile_error *error = tile_module_kernel(module, "matmul:large", &pinned);
  EXPECT_EQ(tile_error_code(error), TILE_ERROR_KERNEL);
  tile_error_free(error);
  EXPECT_STREQ(tile_instance_variant(tile_kernel_instance(kernel, 0)), "small");
  EXPECT_STREQ(tile_instance_condition(tile_kernel_instance(kernel, 1), 0), "divided");
  EXPECT_EQ(tile_instance_condition(tile_kernel_instance(kernel, 2), 0), nullptr);
}

TEST_F(DispatchTest, TheDeviceChoosesTheCode) {
  add("sm_80", {matmul()});
  add("sm_90a", {variant("small", small()), matmul()});
  open();
  EXPECT_EQ(run(4, 64, 8), "matmul_T_f16_small"); // sm_90a's own
  fake().major = 8;
  fake().minor = 6;
  fake().contextId = 2;
  EXPECT_EQ(run(4, 64, 8), "matmul_T_f16"); // sm_80's cubin
  fake().major = 10;
  fake().minor = 0;
  fake().contextId = 3;
  EXPECT_EQ(run(4, 64, 8), "matmul_T_f16"); // sm_80's PTX: that of sm_90a runs nowhere else
  fake().major = 7;
  fake().minor = 5;
  fake().contextId = 4;
  EXPECT_EQ(run(4, 64, 8), "matmul: 'package in memory' has it for none of the targets that run on "
                           "the device, sm_75; there are sm_80, sm_90a; compile it with "
                           "--target sm_75 too");
}

TEST_F(DispatchTest, AKernelThatTheNewestTargetLacks) {
  add("sm_80", {matmul()});
  add("sm_90a", {shift()});
  open();
  EXPECT_EQ(run(4, 64, 8), "matmul_T_f16");
}

TEST_F(DispatchTest, WrongArchitecture) {
  add("sm_90a", {matmul()});
  fake().major = 8;
  open();
  EXPECT_EQ(run(4, 64, 8), "'package in memory' is compiled for sm_90a, but the device is sm_80; "
                           "compile it with --target sm_80");
}

TEST_F(DispatchTest, SeveralBinariesOfOneTarget) {
  add("sm_90a", {matmul()});
  add("sm_90a", {variant("small", small()), shift()});
  open();
  EXPECT_EQ(run(17, 64, 8), "matmul_T_f16");
  EXPECT_EQ(fake().loads, 1);
  EXPECT_EQ(run(16, 64, 8),
            "matmul_T_f16_small"); // facts come before generic ones, whatever package had them
  EXPECT_EQ(fake().loads, 2);
}

TEST_F(DispatchTest, OtherDevices) {
  add("sm_90a", {matmul()});
  std::string bytes;
  ASSERT_FALSE(writePackage(package, bytes));
  tile_error *error =
      tile_module_load_package(bytes.data(), bytes.size(), TILE_DEVICE_CPU, &module);
  EXPECT_EQ(tile_error_code(error), TILE_ERROR_TARGET);
  EXPECT_STREQ(tile_error_message(error), "'package in memory' has no code for the CPU, only for "
                                          "sm_90a; build it with --target cpu too");
  tile_error_free(error);
  error = tile_module_load_package(bytes.data(), bytes.size(), 7, &module);
  EXPECT_EQ(tile_error_code(error), TILE_ERROR_CALL);
  tile_error_free(error);
}

TEST_F(DispatchTest, FromManyThreads) {
  add("sm_80", {matmul()});
  add("sm_90a", {variant("small", small()), matmul()});
  open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j) {
        int64_t m = i % 2 ? 16 : 17, shape[] = {m, 64}, bShape[] = {64, 8}, cShape[] = {m, 8};
        tile_argument arguments[] = {
            {TILE_TENSOR, TILE_F16, address(0x100000), 2, shape, nullptr, 0, 0},
            {TILE_TENSOR, TILE_F16, address(0x8000000), 2, bShape, nullptr, 0, 0},
            {TILE_TENSOR, TILE_F16, address(0x10000000), 2, cShape, nullptr, 0, 0}};
        tile_launch_plan plan;
        EXPECT_EQ(tile_kernel_plan(kernel, arguments, 3, &plan, nullptr, 0), nullptr);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(DispatchTest, CodeByTarget) {
  add("sm_80", {matmul()}, /*hasCubin=*/false);
  add("sm_90a", {matmul()});
  open();
  size_t size = 0;
  const void *code = tile_module_code(module, "sm_90a", "cubin", &size);
  EXPECT_EQ(std::string(static_cast<const char *>(code), size), cubin());
  code = tile_module_code(module, "sm_80", "ptx", &size);
  EXPECT_EQ(std::string(static_cast<const char *>(code), size), ".version 8.0\n");
  EXPECT_EQ(tile_module_code(module, "sm_80", "cubin", &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(tile_module_code(module, "sm_75", "ptx", nullptr), nullptr);
}
