// The checks before a launch of arguments, shapes and contracts: each violation with its text, and
// the plan of a launch that is right. (L1.1, L1.2, L4.3)
#include "test/unit/runtime/ValidateCall.h"

#include <cmath>
#include <cstring>

using namespace tile::runtime;
using namespace tile::runtime::testing;
using Op = Expr::Op;

TEST(Validate, Plan) {
  Plan plan;
  Call call = matmulCall();
  ASSERT_FALSE(check(matmul(), call, plan));
  EXPECT_FALSE(plan.empty);
  EXPECT_EQ(plan.extents, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(plan.programs, 4);
  EXPECT_EQ(plan.values, (std::vector<int64_t>{200, 64, 512}));
  ASSERT_EQ(plan.cells.size(), 6u);
  EXPECT_EQ(plan.cells[0], uint64_t(uintptr_t(call.arguments[0].data)));
  EXPECT_EQ(plan.cells[5], 512u);
  EXPECT_EQ(*static_cast<uint64_t *>(plan.pointers[3]), 200u);
  EXPECT_TRUE(plan.fills.empty());
}

TEST(Validate, PlanIsReused) {
  auto validator = make(matmul());
  Plan plan;
  Call first = matmulCall(1000), second = matmulCall(1);
  ASSERT_FALSE(validator->check(first.arguments.data(), 3, plan));
  EXPECT_EQ(plan.programs, 16);
  ASSERT_FALSE(validator->check(second.arguments.data(), 3, plan));
  EXPECT_EQ(plan.programs, 2);
  EXPECT_EQ(*static_cast<uint64_t *>(plan.pointers[3]), 1u);
}

TEST(Validate, Count) {
  Call call = matmulCall();
  call.arguments.pop_back();
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_COUNT,
               "matmul: expected 3 arguments (a, b, c), found 2 (matmul.tile:3)");
  EXPECT_ERROR(check(shift(), call.scalar(Dtype::F32, 0).scalar(Dtype::F32, 0)), TILE_ERROR_COUNT,
               "shift: expected 2 to 3 arguments (x, y, eps), found 4 (shift.tile:1)");
}

TEST(Validate, Null) {
  EXPECT_ERROR(check(matmul(), matmulCall().at(1, 0)), TILE_ERROR_NULL,
               "matmul: 'b' is null, expected a tensor's address (matmul.tile:4)");
  Plan plan;
  EXPECT_FALSE(check(matmul(), matmulCall(0).at(0, 0).at(2, 0), plan));
  EXPECT_TRUE(plan.empty);
}

TEST(Validate, Dtype) {
  Call call = matmulCall();
  call.arguments[1].dtype = TILE_F32;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_DTYPE,
               "matmul: 'b' expects a tensor of f16, found f32 (matmul.tile:4)");
  call.arguments[1].dtype = 99;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_DTYPE,
               "matmul: 'b' expects a tensor of f16, found the unknown dtype 99 (matmul.tile:4)");
  call.arguments[1].kind = TILE_SCALAR;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_DTYPE,
               "matmul: 'b' expects a tensor of f16, found a scalar (matmul.tile:4)");
  EXPECT_ERROR(
      check(shift(), Call().tensor(Dtype::F32, {4}).tensor(Dtype::F32, {4}).scalar(Dtype::F64, 0)),
      TILE_ERROR_DTYPE, "shift: 'eps' expects a scalar of f32, found f64 (shift.tile:5)");
}

TEST(Validate, Rank) {
  EXPECT_ERROR(
      check(
          matmul(),
          Call().tensor(Dtype::F16, {8, 8}).tensor(Dtype::F16, {8, 8, 8}).tensor(Dtype::F16, {8})),
      TILE_ERROR_RANK, "matmul: 'b' expects rank 2, found rank 3 (matmul.tile:4)");
  Call call = matmulCall();
  call.arguments[0].shape = nullptr;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_CALL, "matmul: 'a' has rank 2 but no shape");
  call.arguments[0].rank = -1;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_RANK,
               "matmul: 'a' expects rank 2, found rank -1 (matmul.tile:4)");
}

TEST(Validate, EqualNames) {
  EXPECT_ERROR(
      check(
          matmul(),
          Call().tensor(Dtype::F16, {4, 5}).tensor(Dtype::F16, {7, 8}).tensor(Dtype::F16, {4, 8})),
      TILE_ERROR_DIM,
      "matmul: 'b' has K = 7 in dimension 0, but 'a' has K = 5 in dimension 1 (matmul.tile:4)");
}

TEST(Validate, NegativeExtent) {
  EXPECT_ERROR(check(matmul(), matmulCall(-3)), TILE_ERROR_DIM,
               "matmul: dimension 0 of 'a' is -3, expected 0 or more (matmul.tile:4)");
}

TEST(Validate, ConstantsAndExpressionsInDims) {
  Kernel kernel = matmul();
  kernel.params[1].dims = {64, name("N")};
  kernel.params[2].dims = {name("M"),
                           Expr::make(Op::Div, name("N"), Expr::make(Op::Div, name("K"), 8))};
  auto call = [](int64_t b0, int64_t c1) {
    return std::move(Call()
                         .tensor(Dtype::F16, {4, 16})
                         .tensor(Dtype::F16, {b0, 32})
                         .tensor(Dtype::F16, {4, c1}));
  };
  EXPECT_FALSE(check(kernel, call(64, 16)));
  EXPECT_ERROR(check(kernel, call(65, 16)), TILE_ERROR_DIM,
               "matmul: dimension 0 of 'b' is 65, expected 64 (matmul.tile:4)");
  EXPECT_ERROR(check(kernel, call(64, 15)), TILE_ERROR_DIM,
               "matmul: dimension 1 of 'c' is 15, expected N / (K / 8) = 16: N = 32 ('b', "
               "dimension 1), K = 16 ('a', "
               "dimension 1) (matmul.tile:5)");
}

TEST(Validate, NamesBoundByAffineForms) {
  Kernel kernel = shift();
  kernel.dims = {dim("E", 1, 100), dim("H", 1, 100)};
  kernel.params[0].dims = {Expr::make(Op::Add, name("E"), 1)};
  kernel.params[1].dims = {Expr::make(Op::Mul, 2, name("H"))};
  kernel.grid = {name("E")};
  addArguments(kernel);
  Plan plan;
  ASSERT_FALSE(check(kernel, Call().tensor(Dtype::F32, {9}).tensor(Dtype::F32, {6}), plan));
  EXPECT_EQ(plan.values, (std::vector<int64_t>{8, 3}));
  EXPECT_ERROR(check(kernel, Call().tensor(Dtype::F32, {0}).tensor(Dtype::F32, {6})),
               TILE_ERROR_DIM,
               "shift: dimension 0 of 'x' is 0, expected the form E + 1 of a whole number of 0 or "
               "more (shift.tile:4)");
  EXPECT_ERROR(check(kernel, Call().tensor(Dtype::F32, {9}).tensor(Dtype::F32, {7})),
               TILE_ERROR_DIM,
               "shift: dimension 0 of 'y' is 7, expected the form 2 * H of a whole number of 0 or "
               "more (shift.tile:4)");
  // A bare name binds before an affine form that stands earlier, which becomes a check.
  kernel.params[1].dims = {name("E")};
  kernel.dims.pop_back();
  addArguments(kernel);
  EXPECT_ERROR(check(kernel, Call().tensor(Dtype::F32, {9}).tensor(Dtype::F32, {9})),
               TILE_ERROR_DIM,
               "shift: dimension 0 of 'x' is 9, expected E + 1 = 10: E = 9 ('y', dimension 0) "
               "(shift.tile:4)");
}

/// y[N] = x[N] + n where the grid has N programs and n is below 10.
static Kernel limited() {
  Kernel kernel = shift();
  kernel.params.push_back(scalar("n", Dtype::I32));
  kernel.params.push_back(scalar("m", Dtype::I32));
  for (Param &param : kernel.params)
    param.defaultValue.reset();
  kernel.params[3].min = 0;
  kernel.params[3].max = 9;
  kernel.params[3].contract = "n in 0..10";
  kernel.params[3].contractLine = 7;
  kernel.contracts = {{Expr::make(Op::Lt, name("m"), name("n")), "m < n", 8},
                      {Expr::make(Op::Lt, name("m"), name("N")), "m < N", 9}};
  kernel.grid = {name("N")};
  addArguments(kernel);
  return kernel;
}

TEST(Validate, AnEmptyGridDoesNotSkipContractsOfScalars) {
  auto call = [](int64_t n, uint64_t scalar, uint64_t other) {
    return std::move(Call()
                         .tensor(Dtype::F32, {n})
                         .tensor(Dtype::F32, {n})
                         .scalar(Dtype::F32, 0)
                         .scalar(Dtype::I32, scalar)
                         .scalar(Dtype::I32, other));
  };
  EXPECT_ERROR(check(limited(), call(0, 12, 3)), TILE_ERROR_CONTRACT,
               "shift: 'n' = 12, expected n in 0..10 (shift.tile:7)");
  EXPECT_ERROR(check(limited(), call(0, 5, 5)), TILE_ERROR_CONTRACT,
               "shift: the contract 'm < n' does not hold: m = 5, n = 5 (shift.tile:8)");
  // N = 0 is below its bound, and what names N is not looked at.
  EXPECT_FALSE(check(limited(), call(0, 5, 4)));
  EXPECT_ERROR(check(limited(), call(3, 5, 4)), TILE_ERROR_CONTRACT,
               "shift: the contract 'm < N' does not hold: m = 4, N = 3 ('x', dimension 0) "
               "(shift.tile:9)");
}

/// y[M] = x[M, 0] for x[M, N; s, 1] with s in 0..=64 and s % 4 == 0 && s >= N.
static Kernel firstColumn(bool hasCondition) {
  Kernel kernel;
  kernel.name = kernel.symbol = "first";
  kernel.file = "first.tile";
  kernel.dims = {dim("M"), dim("N"), dim("s", 0, hasCondition ? 1 << 20 : 64)};
  Param x = tensor("x", Access::In, Dtype::F32, {name("M"), name("N")});
  x.strides = {Expr(name("s")), Expr(1)};
  x.align = 4;
  kernel.params = {x, tensor("y", Access::Out, Dtype::F32, {name("M")})};
  if (hasCondition)
    kernel.contracts = {{Expr::make(Op::Eq, Expr::make(Op::Rem, name("s"), 4), 0), "s % 4 == 0", 3},
                        {Expr::make(Op::Ge, name("s"), name("N")), "s >= N", 3}};
  kernel.grid = {name("M")};
  addArguments(kernel);
  return kernel;
}

TEST(Validate, AnExtentOfOneHasNoStrideToCheck) {
  auto call = [](int64_t m, int64_t n, std::vector<int64_t> strides) {
    return std::move(Call().tensor(Dtype::F32, {m, n}, std::move(strides)).tensor(Dtype::F32, {m}));
  };
  Plan plan;
  // The caller's stride is as good for one row as for two.
  EXPECT_FALSE(check(firstColumn(false), call(2, 100, {64, 1})));
  ASSERT_FALSE(check(firstColumn(false), call(1, 100, {64, 1}), plan));
  EXPECT_EQ(plan.values[2], 64);
  ASSERT_FALSE(check(firstColumn(true), call(1, 3, {4, 1}), plan));
  EXPECT_EQ(plan.values[2], 4);
  // Where the contracts do not allow it, or there is none, it is one that they do.
  ASSERT_FALSE(check(firstColumn(false), call(1, 100, {100, 1}), plan));
  EXPECT_EQ(plan.values[2], 64);
  ASSERT_FALSE(check(firstColumn(false), call(1, 100, {}), plan));
  EXPECT_EQ(plan.values[2], 64);
  ASSERT_FALSE(check(firstColumn(true), call(1, 8, {1, 1}), plan));
  EXPECT_EQ(plan.values[2], 8);
  ASSERT_FALSE(check(firstColumn(false), call(1, 100, {-7, 1}), plan));
  EXPECT_GE(plan.values[2], 0);
  EXPECT_EQ(check(firstColumn(false), call(2, 100, {100, 1})).code, TILE_ERROR_CONTRACT);
}

TEST(Validate, HostileNumbersDoNotOverflow) {
  // A stride whose least multiple is above 2^63 - 1.
  Kernel kernel = firstColumn(false);
  kernel.dims[2].min = kernel.dims[2].max = INT64_MAX;
  kernel.dims[2].multipleOf = 4;
  EXPECT_EQ(check(kernel, Call().tensor(Dtype::F32, {1, 1}).tensor(Dtype::F32, {1})).code,
            TILE_ERROR_CONTRACT);
  // Extents whose product does, with strides that do, unchecked: a plan is made, nothing is read.
  Kernel filled = shift();
  filled.params[1].fill = int64_t(0);
  filled.params[1].strides.emplace(1);
  filled.grid = {Expr(1)};
  Plan plan;
  int64_t huge = int64_t(1) << 62;
  EXPECT_FALSE(check(filled, Call().tensor(Dtype::F32, {huge}).tensor(Dtype::F32, {huge}, {huge}),
                     plan, true));
}

TEST(Validate, OfAnotherRankNothingIsRead) {
  // As long as the caller says that it is, the list of extents is not there.
  Call call = matmulCall();
  call.arguments[1].rank = 1 << 30;
  call.arguments[1].data = nullptr;
  EXPECT_ERROR(check(matmul(), call), TILE_ERROR_RANK,
               "matmul: 'b' expects rank 2, found rank 1073741824 (matmul.tile:4)");
}

TEST(Validate, ZeroGridComesBeforeContracts) {
  Plan plan;
  // M = 0 is below its bound and K = 5 breaks its contract, but there is nothing to run.
  ASSERT_FALSE(check(matmul(), matmulCall(0, 5), plan));
  EXPECT_TRUE(plan.empty);
  EXPECT_EQ(plan.programs, 0);
  // Dimensions are checked before.
  EXPECT_EQ(
      check(matmul(),
            Call().tensor(Dtype::F16, {0, 5}).tensor(Dtype::F16, {7, 8}).tensor(Dtype::F16, {0, 8}))
          .code,
      TILE_ERROR_DIM);
}

TEST(Validate, Bounds) {
  EXPECT_ERROR(check(matmul(), matmulCall(65537)), TILE_ERROR_CONTRACT,
               "matmul: M = 65537 ('a', dimension 0), expected M in 1..=65536 (matmul.tile:6)");
  EXPECT_FALSE(check(matmul(), matmulCall(65536)));
  EXPECT_FALSE(check(matmul(), matmulCall(1, 8, 8)));
  Kernel kernel = matmul();
  kernel.dims[0] = Dim();
  kernel.dims[0].name = "M";
  kernel.contracts.clear();
  EXPECT_ERROR(check(kernel, matmulCall((1 << 30) + 1)), TILE_ERROR_CONTRACT,
               "matmul: M = 1073741825 ('a', dimension 0), expected M in 0..=1073741824");
}

TEST(Validate, Divisibility) {
  EXPECT_ERROR(
      check(matmul(), matmulCall(4, 12, 16)), TILE_ERROR_CONTRACT,
      "matmul: the contract 'K % 8 == 0' does not hold: K = 12 ('a', dimension 1) (matmul.tile:7)");
  Kernel kernel = matmul();
  kernel.contracts.clear();
  kernel.dims[1].multipleOf = 16;
  EXPECT_ERROR(check(kernel, matmulCall(4, 24, 16)), TILE_ERROR_CONTRACT,
               "matmul: K = 24 ('a', dimension 1), expected a multiple of 16 (matmul.tile:6)");
}

TEST(Validate, ContractOverflow) {
  Kernel kernel = matmul();
  Expr power = Expr::make(Op::Mul, name("M"), name("M"));
  power = Expr::make(Op::Mul, power, power);
  kernel.contracts = {{Expr::make(Op::Gt, power, 0), "M * M * M * M > 0", 8}};
  EXPECT_ERROR(check(kernel, matmulCall(65536)), TILE_ERROR_CONTRACT,
               "matmul: the contract 'M * M * M * M > 0' overflows 64 bits: M = 65536 ('a', "
               "dimension 0) (matmul.tile:8)");
}

TEST(Validate, ScalarsInDimsAndContracts) {
  Kernel kernel = shift();
  kernel.params[2] = scalar("w", Dtype::I32);
  addArguments(kernel);
  kernel.params[2].min = 1;
  kernel.params[2].max = 64;
  kernel.params[2].contract = "w in 1..=64";
  kernel.params[2].contractLine = 9;
  kernel.params[1].dims = {Expr::make(Op::Mul, name("N"), name("w"))};
  auto call = [](int64_t y, uint32_t w) {
    return std::move(Call().tensor(Dtype::F32, {4}).tensor(Dtype::F32, {y}).scalar(Dtype::I32, w));
  };
  Plan plan;
  ASSERT_FALSE(check(kernel, call(12, 3), plan));
  EXPECT_EQ(plan.values, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(plan.cells[2], 3u);
  EXPECT_ERROR(check(kernel, call(12, 2)), TILE_ERROR_DIM,
               "shift: dimension 0 of 'y' is 12, expected N * w = 8: N = 4 ('x', dimension 0), w = "
               "2 (shift.tile:4)");
  EXPECT_ERROR(check(kernel, call(260, 65)), TILE_ERROR_CONTRACT,
               "shift: 'w' = 65, expected w in 1..=64 (shift.tile:9)");
  kernel.params[1].dims = {name("w")};
  EXPECT_ERROR(check(kernel, call(12, 2)), TILE_ERROR_DIM,
               "shift: 'y' has w = 12 in dimension 0, but the argument w is 2 (shift.tile:4)");
}

TEST(Validate, FloatsInContracts) {
  Kernel kernel = shift();
  kernel.params[2] = scalar("s", Dtype::F32);
  addArguments(kernel);
  // s > 0.0 and s * 2.0 <= N: an integer that meets a float becomes one.
  Expr positive = Expr::make(Op::Gt, name("s"), Expr::makeFloat(0.0));
  Expr small = Expr::make(Op::Le, Expr::make(Op::Mul, name("s"), Expr::makeFloat(2.0)), name("N"));
  kernel.contracts = {{Expr::make(Op::And, positive, small), "s > 0.0 && s * 2.0 <= N", 7}};
  auto call = [](float s) {
    uint32_t bits;
    std::memcpy(&bits, &s, sizeof bits);
    return std::move(
        Call().tensor(Dtype::F32, {4}).tensor(Dtype::F32, {4}).scalar(Dtype::F32, bits));
  };
  Plan plan;
  ASSERT_FALSE(check(kernel, call(0.5f), plan));
  ASSERT_FALSE(check(kernel, call(2.0f), plan));
  Error error = check(kernel, call(2.5f));
  EXPECT_EQ(error.code, TILE_ERROR_CONTRACT);
  EXPECT_NE(error.message.find("s = 2.5"), std::string::npos) << error.message;
  EXPECT_EQ(check(kernel, call(0.0f)).code, TILE_ERROR_CONTRACT);
  EXPECT_EQ(check(kernel, call(std::nanf(""))).code, TILE_ERROR_CONTRACT);
  std::string reason;
  kernel.contracts = {{Expr::make(Op::Rem, name("s"), Expr::makeFloat(2.0)), "s % 2.0", 7}};
  EXPECT_FALSE(Validator::create(kernel, reason));
  EXPECT_NE(reason.find("'%' takes no floats"), std::string::npos) << reason;
}

TEST(Validate, ScalarsThatAreOnlyHandedOnMayBeAnything) {
  Kernel kernel = shift();
  kernel.params[2] = scalar("seed", Dtype::U64);
  addArguments(kernel);
  Plan plan;
  ASSERT_FALSE(check(
      kernel, Call().tensor(Dtype::F32, {4}).tensor(Dtype::F32, {4}).scalar(Dtype::U64, UINT64_MAX),
      plan));
  EXPECT_EQ(plan.cells[2], UINT64_MAX);
}

TEST(Validate, Defaults) {
  Plan plan;
  Call call;
  call.tensor(Dtype::F32, {4}).tensor(Dtype::F32, {4});
  ASSERT_FALSE(check(shift(), call, plan));
  float eps = 1e-5f;
  uint32_t bits;
  std::memcpy(&bits, &eps, sizeof bits);
  EXPECT_EQ(plan.cells[2], bits);
  call.scalar(Dtype::F32, 7);
  ASSERT_FALSE(check(shift(), call, plan));
  EXPECT_EQ(plan.cells[2], 7u);
  call.arguments[2].kind = TILE_DEFAULT;
  ASSERT_FALSE(check(shift(), call, plan));
  EXPECT_EQ(plan.cells[2], bits);
  call.arguments[1].kind = TILE_DEFAULT;
  EXPECT_ERROR(
      check(shift(), call), TILE_ERROR_DTYPE,
      "shift: 'y' expects a tensor of f32, found no value, and there is no default (shift.tile:4)");
}
