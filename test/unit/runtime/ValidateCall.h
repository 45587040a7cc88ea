// Calls under test for the checks before a launch, and how a test looks at their errors.
#ifndef TILE_TEST_UNIT_RUNTIME_VALIDATECALL_H
#define TILE_TEST_UNIT_RUNTIME_VALIDATECALL_H

#include "launch/Validate.h"
#include "test/unit/runtime/Kernels.h"

#include <gtest/gtest.h>

namespace tile::runtime::testing {

/// A call under test: arguments whose shapes and strides stay alive.
struct Call {
  std::vector<tile_argument> arguments;
  std::vector<std::unique_ptr<std::vector<int64_t>>> lists;
  uint64_t nextAddress = 0x10000000000;

  Call &tensor(Dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
    tile_argument argument{};
    argument.kind = TILE_TENSOR;
    argument.dtype = int32_t(dtype);
    argument.data = reinterpret_cast<void *>(nextAddress);
    argument.rank = int32_t(shape.size());
    lists.push_back(std::make_unique<std::vector<int64_t>>(std::move(shape)));
    argument.shape = lists.back()->data();
    if (!strides.empty()) {
      lists.push_back(std::make_unique<std::vector<int64_t>>(std::move(strides)));
      argument.strides = lists.back()->data();
    }
    nextAddress += uint64_t(1) << 36;
    arguments.push_back(argument);
    return *this;
  }
  Call &scalar(Dtype dtype, uint64_t bits) {
    tile_argument argument{};
    argument.kind = TILE_SCALAR;
    argument.dtype = int32_t(dtype);
    argument.bits = bits;
    arguments.push_back(argument);
    return *this;
  }
  Call &at(size_t index, uint64_t address) {
    arguments[index].data = reinterpret_cast<void *>(address);
    return *this;
  }
};

inline std::unique_ptr<Validator> make(const Kernel &kernel) {
  std::string error;
  std::unique_ptr<Validator> validator = Validator::create(kernel, error);
  EXPECT_TRUE(validator) << error;
  return validator;
}

inline Error check(const Kernel &kernel, const Call &call, Plan &plan, bool unchecked = false) {
  std::unique_ptr<Validator> validator = make(kernel);
  return validator ? validator->check(call.arguments.data(), call.arguments.size(), plan, unchecked)
                   : Error(TILE_ERROR_MANIFEST, "no validator");
}
inline Error check(const Kernel &kernel, const Call &call) {
  Plan plan;
  return check(kernel, call, plan);
}

inline Call matmulCall(int64_t m = 200, int64_t k = 64, int64_t n = 512) {
  return std::move(
      Call().tensor(Dtype::F16, {m, k}).tensor(Dtype::F16, {k, n}).tensor(Dtype::F16, {m, n}));
}

#define EXPECT_ERROR(result, expectedCode, expectedText)                                           \
  do {                                                                                             \
    Error error_ = (result);                                                                       \
    EXPECT_EQ(error_.code, expectedCode);                                                          \
    EXPECT_EQ(error_.message, expectedText);                                                       \
  } while (false)

} // namespace tile::runtime::testing

#endif
