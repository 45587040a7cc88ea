// Calls by name and shapes of outputs, in C++ over the C interface. No device is touched but for
// one launch.
#include "runtime/include/tile.hpp"

#include "test/unit/runtime/FakeCuda.h"
#include "test/unit/runtime/Kernels.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace tile::runtime;
using namespace tile::runtime::testing;

static const int environment = setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);

static void *address(uint64_t value) { return reinterpret_cast<void *>(value); }

class NamedTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    Kernel windows = shift();
    windows.name = windows.symbol = "windows";
    windows.params.push_back(
        tensor("w", Access::Out, Dtype::I64,
               {Expr::make(Expr::Op::Mul, 2, name("N")), Expr::make(Expr::Op::Add, name("P"), 1)}));
    windows.params.push_back(
        tensor("v", Access::In, Dtype::I32, {Expr::make(Expr::Op::Add, name("P"), 1)}));
    windows.dims.push_back(dim("P"));
    addArguments(windows);
    Manifest manifest{
        "tilec 0.1.0", "sm_90a", {shift(Dtype::F16), shift(Dtype::F32), matmul(), windows}};
    std::string ptx = ".version 8.0\n";
    ASSERT_FALSE(tile::Module::load(ptx.data(), ptx.size(), toJson(manifest, ptx), module));
    ASSERT_FALSE(module.kernel("shift", shiftKernel));
    ASSERT_FALSE(module.kernel("matmul", matmulKernel));
    ASSERT_FALSE(module.kernel("windows", windowsKernel));
  }
  tile::Module module;
  tile::Kernel shiftKernel, matmulKernel, windowsKernel;
  tile::Argument x{TILE_F32, address(0x10000), {500}}, y{TILE_F32, address(0x80000), {500}};
};

TEST_F(NamedTest, LaunchInAnyOrder) {
  void *handle = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  FakeCuda &fake = *reinterpret_cast<FakeCuda *(*)()>(dlsym(handle, "fakeCuda"))();
  std::memset(&fake, 0, sizeof fake);
  fake.major = 9;
  fake.symbols = "shift_T_f16,shift_T_f32,matmul_T_f16,windows,";
  fake.argumentCount = 3;
  tile::Status status = tile::launch(shiftKernel, {{"y", y}, {"x", x}}, address(0x55));
  EXPECT_FALSE(status) << status.message();
  EXPECT_STREQ(fake.lastFunction, "shift_T_f32");
  EXPECT_EQ(fake.arguments[0], 0x10000u);
  EXPECT_EQ(fake.arguments[1], 0x80000u);
  EXPECT_EQ(fake.stream, address(0x55));
  EXPECT_FALSE(tile::launch(shiftKernel, {{"eps", 2.0f}, {"y", y}, {"x", x}}));
  EXPECT_EQ(uint32_t(fake.arguments[2]), 0x40000000u);
}

TEST_F(NamedTest, WrongNames) {
  EXPECT_STREQ(tile::launch(shiftKernel, {{"x", x}, {"z", y}}).message(),
               "shift: 'z' is no parameter; there are x, y, eps");
  EXPECT_STREQ(tile::launch(shiftKernel, {{"x", x}, {"x", y}}).message(),
               "shift: 'x' is given twice");
  EXPECT_STREQ(tile::launch(shiftKernel, {{"x", x}}).message(), "shift: 'y' is missing");
  EXPECT_EQ(tile::launch(shiftKernel, {{"x", x}}).code(), TILE_ERROR_COUNT);
  EXPECT_EQ(tile::Status(tile_kernel_launch_named(nullptr, nullptr, nullptr, 0, nullptr, 0)).code(),
            TILE_ERROR_CALL);
  EXPECT_EQ(tile_kernel_param(shiftKernel.get(), "eps"), 2);
  EXPECT_EQ(tile_kernel_param(shiftKernel.get(), "nothing"), -1);
}

TEST_F(NamedTest, ShapesOfOutputs) {
  tile::Shape shape;
  tile::Argument a{TILE_F16, nullptr, {100, 64}}, b{TILE_F16, nullptr, {64, 32}};
  tile::Status status = tile::getShape(matmulKernel, "c", {{"a", a}, {"b", b}}, shape);
  ASSERT_FALSE(status) << status.message();
  EXPECT_EQ(shape.dtype, TILE_F16);
  EXPECT_EQ(shape.extents, (std::vector<int64_t>{100, 32}));
  // The dtype chooses the instance; 2 * N and P + 1 from a vector of P + 1.
  ASSERT_FALSE(tile::getShape(shiftKernel, "y", {{"x", x}}, shape));
  EXPECT_EQ(shape.dtype, TILE_F32);
  tile::Argument v{TILE_I32, nullptr, {9}};
  ASSERT_FALSE(tile::getShape(windowsKernel, "w", {{"x", x}, {"v", v}}, shape));
  EXPECT_EQ(shape.dtype, TILE_I64);
  EXPECT_EQ(shape.extents, (std::vector<int64_t>{1000, 9}));
}

TEST_F(NamedTest, ShapesThatDoNotFollow) {
  tile::Shape shape;
  tile::Argument a{TILE_F16, nullptr, {100, 64}}, wrong{TILE_BF16, nullptr, {4}};
  EXPECT_STREQ(tile::getShape(matmulKernel, "c", {{"a", a}}, shape).message(),
               "matmul: dimension 1 of 'c' does not follow from the arguments that are given: 'N' "
               "has no value");
  EXPECT_STREQ(tile::getShape(shiftKernel, "y", {{"x", wrong}}, shape).message(),
               "shift: no instance takes the arguments that are given");
  EXPECT_EQ(tile::getShape(shiftKernel, "nothing", {{"x", x}}, shape).code(), TILE_ERROR_COUNT);
}
