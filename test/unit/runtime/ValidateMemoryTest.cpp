// The checks before a launch of memory: strides, sizes, alignment, overlap, the grid, fills; and
// the order of all checks. (L1.1, L1.2, L1.3)
#include "test/unit/runtime/ValidateCall.h"

using namespace tile::runtime;
using namespace tile::runtime::testing;
using Op = Expr::Op;

TEST(Validate, DenseStrides) {
  auto call = [](std::vector<int64_t> strides) {
    return std::move(Call()
                         .tensor(Dtype::F16, {4, 8}, std::move(strides))
                         .tensor(Dtype::F16, {8, 16})
                         .tensor(Dtype::F16, {4, 16}));
  };
  EXPECT_FALSE(check(matmul(), call({8, 1})));
  EXPECT_ERROR(check(matmul(), call({1, 4})), TILE_ERROR_STRIDE,
               "matmul: stride 1 of 'a' is 4, expected 1: the tensor is declared dense and "
               "row-major; pass a contiguous copy, or declare strides, as in [M, N; s, 1] "
               "(matmul.tile:4)");
  EXPECT_ERROR(check(matmul(), call({16, 1})), TILE_ERROR_STRIDE,
               "matmul: stride 0 of 'a' is 16, expected 8: the tensor is declared dense and "
               "row-major; pass a contiguous copy, or declare strides, as in [M, N; s, 1] "
               "(matmul.tile:4)");
  // A dimension of extent 1 has no stride to check.
  EXPECT_FALSE(check(matmul(), Call()
                                   .tensor(Dtype::F16, {1, 8}, {-5, 1})
                                   .tensor(Dtype::F16, {8, 16})
                                   .tensor(Dtype::F16, {1, 16})));
}

TEST(Validate, DeclaredStrides) {
  Kernel kernel = shift();
  kernel.dims = {dim("M", 1, 100), dim("N", 1, 100), dim("s", 1, 1000, 8),
                 dim("y.stride.0", 0, 1000)};
  kernel.params[0].dims = kernel.params[1].dims = {name("M"), name("N")};
  kernel.params[0].strides = {name("s"), Expr(1)};
  kernel.params[1].strides = {std::nullopt, Expr(1)};
  addArguments(kernel);
  auto call = [](int64_t m, std::vector<int64_t> x, std::vector<int64_t> y) {
    return std::move(
        Call().tensor(Dtype::F32, {m, 6}, std::move(x)).tensor(Dtype::F32, {m, 6}, std::move(y)));
  };
  Plan plan;
  ASSERT_FALSE(check(kernel, call(4, {16, 1}, {7, 1}), plan));
  EXPECT_EQ(plan.values, (std::vector<int64_t>{4, 6, 16, 7}));
  EXPECT_EQ(plan.cells[6], 7u);
  EXPECT_ERROR(check(kernel, call(4, {17, 1}, {7, 1})), TILE_ERROR_CONTRACT,
               "shift: s = 17 ('x', stride 0), expected a multiple of 8 (shift.tile:6)");
  EXPECT_ERROR(check(kernel, call(4, {16, 2}, {7, 1})), TILE_ERROR_STRIDE,
               "shift: stride 1 of 'x' is 2, expected 1; pass a contiguous copy (shift.tile:4)");
  EXPECT_ERROR(check(kernel, call(4, {16, 1}, {0, 1})), TILE_ERROR_STRIDE,
               "shift: stride 0 of 'y' is 0, expected 1 or more: the tensor is written; pass a "
               "contiguous one (shift.tile:4)");
  EXPECT_EQ(check(kernel, call(4, {16, 1}, {-7, 1})).code,
            TILE_ERROR_CONTRACT); // below the range of y.stride.0
  // One row: its stride says nothing, so that a value within the contract is passed.
  ASSERT_FALSE(check(kernel, call(1, {3, 1}, {-9, 1}), plan));
  EXPECT_EQ(plan.values[2], 8);
  EXPECT_EQ(plan.values[3], 6);
}

TEST(Validate, BroadcastStrideOnlyOnIn) {
  Kernel kernel = shift();
  kernel.params[0].strides = kernel.params[1].strides = {std::optional<Expr>()};
  EXPECT_FALSE(check(kernel, Call().tensor(Dtype::F32, {4}, {0}).tensor(Dtype::F32, {4}, {2})));
  EXPECT_EQ(check(kernel, Call().tensor(Dtype::F32, {4}, {2}).tensor(Dtype::F32, {4}, {0})).code,
            TILE_ERROR_STRIDE);
  EXPECT_EQ(check(kernel, Call().tensor(Dtype::F32, {4}, {-1}).tensor(Dtype::F32, {4}, {2})).code,
            TILE_ERROR_STRIDE);
}

TEST(Validate, MemoryTooSmall) {
  Call call = matmulCall(4, 8, 16);
  call.arguments[1].bytes = 255;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_DIM,
               "matmul: 'b' reaches over 256 bytes, but its memory has 255 (matmul.tile:4)");
  call.arguments[1].bytes = 256;
  EXPECT_FALSE(check(matmul(), call));
}

TEST(Validate, TooManyElements) {
  Kernel kernel = shift();
  kernel.dims = {dim("A", 0, INT64_MAX), dim("B", 0, INT64_MAX)};
  kernel.params[0].dims = kernel.params[1].dims = {name("A"), name("B")};
  kernel.grid = {1};
  kernel.arguments.clear();
  int64_t huge = int64_t(1) << 40;
  EXPECT_ERROR(
      check(kernel, Call().tensor(Dtype::F32, {huge, huge}).tensor(Dtype::F32, {huge, huge})),
      TILE_ERROR_DIM, "shift: 'x' has 2^60 elements or more (shift.tile:4)");
}

TEST(Validate, Alignment) {
  EXPECT_ERROR(check(matmul(), matmulCall().at(0, 0x1008)), TILE_ERROR_ALIGNMENT,
               "matmul: 'a' is aligned to 8 bytes, expected 16; pass a copy, or lower that by "
               "'align(a, n)' in the source (matmul.tile:4)");
  Kernel kernel = matmul();
  kernel.params[0].align = 8;
  EXPECT_FALSE(check(kernel, matmulCall().at(0, 0x1008)));
}

TEST(Validate, Overlap) {
  Call call;
  call.tensor(Dtype::F32, {64}).tensor(Dtype::F32, {64});
  uint64_t x = uint64_t(uintptr_t(call.arguments[0].data));
  EXPECT_ERROR(check(shift(), call.at(1, x)), TILE_ERROR_OVERLAP,
               "shift: 'y' is written and overlaps 'x' in memory; pass separate memory, or permit "
               "it with 'alias(x, y)' in the "
               "source (shift.tile:4)");
  EXPECT_EQ(check(shift(), call.at(1, x + 240)).code, TILE_ERROR_OVERLAP);
  EXPECT_FALSE(check(shift(), call.at(1, x + 256)));
  Kernel kernel = shift();
  kernel.aliases = {{"y", "x"}};
  EXPECT_FALSE(check(kernel, call.at(1, x)));
  // Two inputs may share memory.
  EXPECT_FALSE(check(matmul(), matmulCall(64, 64, 64).at(0, x).at(1, x)));
}

TEST(Validate, Programs) {
  Kernel kernel = matmul();
  kernel.grid = {name("M"), name("N")};
  EXPECT_ERROR(
      check(kernel, matmulCall(65536, 64, 65536)), TILE_ERROR_GRID,
      "matmul: the grid M x N has 4294967296 programs, at most 2147483647 can run (matmul.tile:3)");
  kernel.grid = {name("M"), 1};
  EXPECT_FALSE(check(kernel, matmulCall(65536, 64, 65536)));
  kernel.grid = {Expr::make(Op::Sub, name("M"), 5)};
  Plan plan;
  ASSERT_FALSE(check(kernel, matmulCall(4), plan)); // a negative extent counts as 0
  EXPECT_TRUE(plan.empty);
  kernel.grid = {Expr::make(Op::Mul, name("M"), INT64_MAX)};
  EXPECT_ERROR(check(kernel, matmulCall(4)), TILE_ERROR_GRID,
               "matmul: grid axis 0, M * 9223372036854775807, overflows: M = 4 ('a', dimension 0) "
               "(matmul.tile:3)");
  kernel.grid = {};
  ASSERT_FALSE(check(kernel, matmulCall(), plan));
  EXPECT_EQ(plan.programs, 1);
}

TEST(Validate, OrderOfChecks) {
  // Everything is wrong at once; repairing one thing after the other must bring out the next.
  Call call;
  call.tensor(Dtype::F32, {4, 5}, {1, 4})
      .tensor(Dtype::F16, {7, 12, 1})
      .tensor(Dtype::F16, {4, 12});
  call.at(0, 0).at(1, 0x10008).at(2, 0x10008);
  Call shorter;
  shorter.tensor(Dtype::F32, {4, 5}).at(0, 0);
  EXPECT_EQ(check(matmul(), shorter).code, TILE_ERROR_COUNT);
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_NULL);
  call.at(0, 0x10008);
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_DTYPE);
  call.arguments[0].dtype = TILE_F16;
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_RANK);
  call.arguments[1].rank = 2;
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_DIM);
  int64_t b[] = {5, 12}, a[] = {4, 8}, b8[] = {8, 16}, c[] = {4, 16}, dense[] = {8, 1};
  call.arguments[1].shape = b;
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_CONTRACT);
  call.arguments[0].shape = a;
  call.arguments[1].shape = b8;
  call.arguments[2].shape = c;
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_STRIDE);
  call.arguments[0].strides = dense;
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_ALIGNMENT);
  call.at(0, 0x10000).at(1, 0x10000).at(2, 0x10000);
  EXPECT_EQ(check(matmul(), call).code, TILE_ERROR_OVERLAP);
  call.at(2, 0x20000);
  EXPECT_FALSE(check(matmul(), call));
}

TEST(Validate, Fills) {
  Kernel kernel = shift();
  kernel.params[1].fill = 1.0;
  Plan plan;
  Call call;
  call.tensor(Dtype::F32, {100}).tensor(Dtype::F32, {100});
  ASSERT_FALSE(check(kernel, call, plan));
  ASSERT_EQ(plan.fills.size(), 1u);
  EXPECT_EQ(plan.fills[0].data, call.arguments[1].data);
  EXPECT_EQ(plan.fills[0].bits, 0x3f800000u);
  EXPECT_EQ(plan.fills[0].shape[0], 100);
  // An empty grid still fills.
  kernel.grid = {0};
  ASSERT_FALSE(check(kernel, call, plan));
  EXPECT_TRUE(plan.empty);
  EXPECT_EQ(plan.fills.size(), 1u);
}

TEST(Validate, Unchecked) {
  Plan plan;
  ASSERT_FALSE(check(matmul(), matmulCall(4, 12, 20).at(0, 0x1008), plan, /*unchecked=*/true));
  EXPECT_EQ(plan.programs, 1);
  EXPECT_EQ(check(matmul(), Call().tensor(Dtype::F16, {4}), plan, true).code, TILE_ERROR_COUNT);
}

TEST(Validate, KernelsThatCannotBeBound) {
  std::string error;
  Kernel kernel = matmul();
  kernel.dims.push_back(dim("Q"));
  EXPECT_FALSE(Validator::create(kernel, error));
  EXPECT_EQ(error, "kernel 'matmul_T_f16': nothing binds the dimension 'Q'");
  kernel = shift();
  kernel.params[2].defaultValue = std::string("x");
  EXPECT_FALSE(Validator::create(kernel, error));
  kernel = shift();
  kernel.params[0].fill = 0.0;
  EXPECT_FALSE(Validator::create(kernel, error));
  EXPECT_EQ(error, "kernel 'shift_T_f32': 'x' cannot be filled");
  kernel = shift();
  kernel.grid = {name("nothing")};
  EXPECT_FALSE(Validator::create(kernel, error));
  kernel = shift();
  kernel.params[0].strides = {Expr(1), Expr(1)};
  EXPECT_FALSE(Validator::create(kernel, error));
}

TEST(Validate, Fits) {
  auto f16 = make(shift(Dtype::F16)), f32 = make(shift(Dtype::F32));
  Call call;
  call.tensor(Dtype::F16, {4}).tensor(Dtype::F16, {4});
  EXPECT_EQ(f16->fits(call.arguments.data(), 2), Validator::Fit::Yes);
  EXPECT_EQ(f32->fits(call.arguments.data(), 2), Validator::Fit::No);
  EXPECT_EQ(f16->fits(call.arguments.data(), 1), Validator::Fit::No);
  call.arguments[1].rank = 0;
  EXPECT_EQ(f16->fits(call.arguments.data(), 2), Validator::Fit::DtypesOnly);
}

TEST(Validate, Signature) {
  EXPECT_EQ(describe(matmul()), "matmul[T = f16, BM = 128, BIAS = false, X = 1.5](a: in f16[M, K], "
                                "b: in f16[K, N], c: out f16[M, N])");
  Kernel kernel = shift();
  kernel.params[0].strides = {std::optional<Expr>()};
  EXPECT_EQ(describe(kernel), "shift[T = f32](x: in f32[N; *], y: out f32[N], eps: f32 = 1e-05)");
}
