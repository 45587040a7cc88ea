// The cost model: what must hold of its estimates whatever its constants are.
#include "driver/Dialects.h"
#include "driver/compile/ConfigChoice.h"
#include "frontend/Parse/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tile;

namespace {

constexpr const char *vectorAdd = R"(
kernel add[T: dtype in {f16, f32}, BLOCK: int = 2048](x: in T[N], y: in T[N], z: out T[N])
  where N in 1..=1073741824 opt 16777216
  grid (i: cdiv(N, BLOCK))
{
  let n = block(i, BLOCK);
  z[n] = x[n] + y[n];
}
)";

constexpr const char *product = R"(
kernel matmul[BM: int = 128, BN: int = 128, BK: int = 64, SPLIT: int = 1](
    a: in f16[M, K], b: in f16[K, N], c: out f16[M, N])
  where M in 1..=65536 opt 4096, N in 8..=65536 opt 4096, K in 8..=65536 opt 4096,
        K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, BM), j: cdiv(N, BN))
  with persistent
{
  var acc = zeros(f32, [BM, BN]);
  for k in blocks(K, BK) with split(SPLIT) {
    acc = dot(a[block(i, BM), k], b[k, block(j, BN)], acc);
  }
  c[block(i, BM), block(j, BN)] = acc as f16;
}
)";

constexpr const char *parabola = R"(
kernel sums[BM: int = 64](x: in f32[M, N], y: out f32[M])
  where M in 1..=65536 opt 4096, N in 1..=65536 opt 4096
  grid (i: cdiv(M, BM))
{
  var acc = zeros(f32, [BM]);
  for n in blocks(0, min(N, i * i), 64) { acc += sum(x[block(i, BM), n], axis: 1); }
  y[block(i, BM)] = acc;
}
)";

// Two products, the second too small to differ for 8 warps.
constexpr const char *products = R"(
kernel two[BM: int = 128, BN: int = 64](
    a: in f16[M, K], b: in f16[K, N], c: out f32[M, N], d: out f32[N, N])
  where M in 1..=65536 opt 4096, N in 8..=64 opt 64, K in 8..=65536 opt 4096,
        K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, BM))
{
  var acc = zeros(f32, [BM, BN]);
  var small = zeros(f32, [BN, BN]);
  for k in blocks(K, 64) {
    let right = b[k, at(0, BN)];
    acc = dot(a[block(i, BM), k], right, acc);
    small = dot(right.T, right, small);
  }
  c[block(i, BM), at(0, BN)] = acc;
  d[at(0, BN), at(0, BN)] = small;
}
)";

// A loop of copies within a loop, as over the places of a filter.
constexpr const char *places = R"(
kernel places[SPLIT: int = 1](a: in f16[R, M, K], b: in f16[R, K, N], c: out f16[M, N])
  where R in 1..=64 opt 25, M in 1..=65536 opt 4096, N in 8..=65536 opt 4096,
        K in 8..=65536 opt 128, K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, 128), j: cdiv(N, 128))
{
  var acc = zeros(f32, [128, 128]);
  for r in 0..R with split(SPLIT) {
    for k in blocks(K, 64) { acc = dot(a[r, block(i, 128), k], b[r, k, block(j, 128)], acc); }
  }
  c[block(i, 128), block(j, 128)] = acc as f16;
}
)";

// Products of one matrix by wgmma, or of several at once by mma.sync.
constexpr const char *batched = R"(
kernel batched[BZ: int = 1, BM: int = 64, BN: int = 64](
    a: in f16[B, M, K], b: in f16[B, K, N], c: out f16[B, M, N])
  where B in 1..=65536 opt 64, M in 1..=65536 opt 512, N in 8..=65536 opt 512,
        K in 8..=65536 opt 512, K % 8 == 0, N % 8 == 0
  grid (g: cdiv(B, BZ), i: cdiv(M, BM), j: cdiv(N, BN))
{
  let m = block(i, BM);
  let n = block(j, BN);
  const if BZ == 1 {
    var acc = zeros(f32, [BM, BN]);
    for k in blocks(K, 64) { acc = dot(a[g, m, k], b[g, k, n], acc); }
    c[g, m, n] = acc as f16;
  } else {
    let z = block(g, BZ);
    var acc = zeros(f32, [BZ, BM, BN]);
    for k in blocks(K, 64) { acc = dot(a[z, m, k], b[z, k, n], acc); }
    c[z, m, n] = acc as f16;
  }
}
)";

// Operands of 8 bits.
constexpr const char *eight = R"(
kernel eight[BM: int = 128, BN: int = 128](
    a: in f8e4m3[M, K], b: in f8e4m3[N, K], c: out f16[M, N])
  where M in 1..=65536 opt 4096, N in 8..=65536 opt 4096, K in 16..=65536 opt 4096, K % 16 == 0,
        N % 8 == 0
  grid (i: cdiv(M, BM), j: cdiv(N, BN))
{
  var acc = zeros(f32, [BM, BN]);
  for k in blocks(K, 128) { acc = dot(a[block(i, BM), k], b[block(j, BN), k].T, acc); }
  c[block(i, BM), block(j, BN)] = acc as f16;
}
)";

// Products that are scaled before they are added.
constexpr const char *scaled = R"(
kernel scaled[BM: int = 64, BN: int = 128](
    a: in f16[M, K], b: in f16[N, K], s: in f32[M], c: out f16[M, N])
  where M in 1..=65536 opt 64, N in 8..=65536 opt 128, K in 16..=65536 opt 4096, K % 16 == 0,
        N % 8 == 0
  grid (i: cdiv(M, BM), j: cdiv(N, BN))
{
  let m = block(i, BM);
  let scale = s[m];
  var acc = zeros(f32, [BM, BN]);
  for k in blocks(K, 64) { acc += dot(a[m, k], b[block(j, BN), k].T) * scale[:, None]; }
  c[m, block(j, BN)] = acc as f16;
}
)";

// A flat grid: which programs share columns, a division tells.
constexpr const char *flat = R"(
kernel flat[BM: int = 128, BN: int = 256](a: in f16[M, K], b: in f16[K, N], c: out f16[M, N])
  where M in 1..=65536 opt 16384, N in 8..=65536 opt 16384, K in 8..=65536 opt 4096,
        K % 8 == 0, N % 8 == 0
  grid (p: cdiv(M, BM) * cdiv(N, BN))
{
  let m = block(p % cdiv(M, BM), BM);
  let n = block(p / cdiv(M, BM), BN);
  var acc = zeros(f32, [BM, BN]);
  for k in blocks(K, 64) { acc = dot(a[m, k], b[k, n], acc); }
  c[m, n] = acc as f16;
}
)";

// Rows with a vector for all of them.
constexpr const char *rows = R"(
kernel rows[ROWS: int = 1](x: in f32[M, N], w: in f32[N], y: out f32[M, N])
  where M in 1..=65536 opt 4096, N in 1..=4096 opt 4096
  grid (i: cdiv(M, ROWS))
{
  let m = block(i, ROWS);
  let n = at(0, 4096);
  let v = x[m, n];
  let weight = w[n];
  y[m, n] = v * rsqrt(sum(v * v, axis: 1))[:, None] * weight;
}
)";

// Attention, whose rows wait for a maximum and a sum in each trip.
constexpr const char *attention = R"(
kernel attention[D: int = 64, CAUSAL: bool = false, BM: int = 64, BN: int = 64](
    q: in f16[B, H, S, D], k: in f16[B, H, S, D], v: in f16[B, H, S, D], o: out f16[B, H, S, D])
  where B in 1..=65535 opt 4, H in 1..=1024 opt 32, S in 1..=1048576 opt 4096
  grid (b: B, h: H, i: cdiv(S, BM))
  with fp("fast"), grouped(8)
{
  let m = block(i, BM);
  let end = where(CAUSAL, min(S, cdiv(m.end, BN) * BN), S);
  let qt = q[b, h, m, :];
  var top = full(f32, [BM], lowest(f32));
  var den = zeros(f32, [BM]);
  var acc = zeros(f32, [BM, D]);
  for n in blocks(0, end, BN) {
    let s = where(inside(k[b, h, n, 0]), dot(qt, k[b, h, n, :].T), -inf);
    let t = max(top, max(s, axis: 1));
    let r = exp2(top - t);
    let p = exp2(s - t[:, None]);
    den = den * r + sum(p, axis: 1);
    acc = dot(p as f16, v[b, h, n, :], acc * r[:, None]);
    top = t;
  }
  o[b, h, m, :] = (acc / den[:, None]) as f16;
}
)";

class CostModel : public ::testing::Test {
protected:
  cost::CostEstimate estimate(const char *text, TuneConfig config, TuneShape shape,
                              const char *target = "sm_90a") {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    FileID file = sources.addText("kernel.tile", text);
    std::unique_ptr<ast::Program> program = parseFile(sources, file, diagnostics);
    mlir::DialectRegistry registry;
    registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    ElaborateOptions options;
    options.target = target;
    const auto *kernel = llvm::cast<ast::KernelDecl>(program->decls.front().get());
    return estimateConfigs(*program, *kernel, options, {config}, shape, sources, context).front();
  }
};

TEST_F(CostModel, CountsBytesAndOperations) {
  cost::CostEstimate add = estimate(vectorAdd, {}, {{"N", 1 << 24}});
  ASSERT_TRUE(add.valid) << add.reason;
  EXPECT_DOUBLE_EQ(add.dramBytes, 3.0 * 2 * (1 << 24)); // the first instance is of f16
  EXPECT_EQ(add.programs, (1 << 24) / 2048);
  cost::CostEstimate matmul = estimate(product, {}, {{"M", 1024}, {"N", 2048}, {"K", 512}});
  ASSERT_TRUE(matmul.valid) << matmul.reason;
  EXPECT_DOUBLE_EQ(matmul.operations, 2.0 * 1024 * 2048 * 512);
  EXPECT_EQ(matmul.programs, 8 * 16);
}

TEST_F(CostModel, AveragesTripsThatHangOnTheProgram) {
  // Below a parabola lies a third; the program in the middle alone would have a quarter.
  cost::CostEstimate part = estimate(parabola, {}, {{"M", 4096}, {"N", 4096}});
  ASSERT_TRUE(part.valid) << part.reason;
  EXPECT_NEAR(part.l2Bytes / (4096.0 * 4096 * 4), 1.0 / 3, 0.05);
}

TEST_F(CostModel, TakesLongerForMore) {
  double last = 0;
  for (int64_t n : {1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    double now = estimate(vectorAdd, {}, {{"N", n}}).milliseconds;
    EXPECT_GT(now, last);
    last = now;
  }
  last = 0;
  for (int64_t k : {512, 1024, 4096, 16384}) {
    double now = estimate(product, {}, {{"M", 4096}, {"N", 4096}, {"K", k}}).milliseconds;
    EXPECT_GT(now, last);
    last = now;
  }
}

TEST_F(CostModel, IsNeverBelowTheRoofline) {
  for (int64_t m : {1, 16, 100, 4096})
    for (const char *bm : {"16", "64", "128"}) {
      cost::CostEstimate found =
          estimate(product, {{"BM", bm}}, {{"M", m}, {"N", 4096}, {"K", 4096}});
      ASSERT_TRUE(found.valid) << found.reason;
      EXPECT_GE(found.milliseconds, found.rooflineMilliseconds);
    }
}

TEST_F(CostModel, LargerTilesHoldMoreRegistersAndFewerWarpsToo) {
  TuneShape shape = {{"M", 4096}, {"N", 4096}, {"K", 4096}};
  auto registers = [&](const char *bm, const char *bn, const char *warps) {
    return estimate(product, {{"BM", bm}, {"BN", bn}, {"warps", warps}}, shape).registers;
  };
  EXPECT_LT(registers("128", "64", "8"), registers("128", "128", "8"));
  EXPECT_LT(registers("128", "128", "8"), registers("256", "128", "8"));
  EXPECT_LT(registers("128", "128", "8"), registers("128", "128", "4"));
}

TEST_F(CostModel, CountsRegistersAsThreadsShareThem) {
  // The sums of 128 x 64 are shared by 8 warps, those of 64 x 64 by 4 only: 32 and 32 registers.
  cost::CostEstimate both = estimate(products, {{"warps", "8"}}, {});
  ASSERT_TRUE(both.valid) << both.reason;
  EXPECT_GE(both.registers, 64);
  EXPECT_LT(both.registers, 64 + 40);
  // 4 warps on 4 rows: each has a whole row, and with it all of the vector; on one row each has a
  // quarter of it.
  cost::CostEstimate four = estimate(rows, {{"ROWS", "4"}, {"warps", "4"}}, {}),
                     one = estimate(rows, {{"ROWS", "1"}, {"warps", "4"}}, {});
  ASSERT_TRUE(one.valid) << one.reason;
  EXPECT_GE(estimate(rows, {{"ROWS", "4"}, {"warps", "16"}}, {}).registers, one.registers);
  EXPECT_GT(four.registers, 2 * 128);
}

TEST_F(CostModel, WaitsForTheFirstTilesOnce) {
  // The producer goes on from one place to the next: 25 loops of 2 trips take about as long as one
  // of 50, not two and a half times.
  cost::CostEstimate nested = estimate(places, {{"warps", "8"}}, {});
  ASSERT_TRUE(nested.valid) << nested.reason;
  cost::CostEstimate one = estimate(places, {{"warps", "8"}}, {{"R", 1}, {"K", 3200}});
  EXPECT_LT(nested.milliseconds, 1.3 * one.milliseconds);
}

TEST_F(CostModel, FlatGridsReadAgainWhatTheyShare) {
  cost::CostEstimate found = estimate(flat, {{"warps", "8"}}, {});
  double once = 2.0 * (16384.0 * 4096 * 2 + 16384.0 * 16384), all = 2.0 * 16384 * 4096 * (64 + 128);
  EXPECT_GT(found.dramBytes, once);
  EXPECT_LT(found.dramBytes, all / 2);
}

TEST_F(CostModel, LeavesOutWhatDoesNotFit) {
  TuneShape shape = {{"M", 4096}, {"N", 4096}, {"K", 4096}};
  cost::CostEstimate spilling =
      estimate(product, {{"BM", "256"}, {"BN", "256"}, {"warps", "4"}}, shape);
  EXPECT_FALSE(spilling.valid);
  EXPECT_NE(spilling.reason.find("registers"), std::string::npos) << spilling.reason;
  EXPECT_TRUE(std::isinf(spilling.milliseconds));
  cost::CostEstimate large =
      estimate(product, {{"BM", "128"}, {"BN", "256"}, {"BK", "512"}}, shape);
  EXPECT_FALSE(large.valid);
  EXPECT_NE(large.reason.find("shared memory"), std::string::npos) << large.reason;
  cost::CostEstimate outside = estimate(product, {}, {{"M", 100000}, {"N", 4096}, {"K", 4096}});
  EXPECT_FALSE(outside.valid);
  EXPECT_EQ(outside.reason, "M=100000 is not in 1..=65536");
}

TEST_F(CostModel, StagesThatDoNotFitAreNotCounted) {
  cost::CostEstimate asked =
      estimate(product, {{"BM", "128"}, {"BN", "256"}, {"stages", "8"}, {"warps", "8"}}, {});
  ASSERT_TRUE(asked.valid) << asked.reason;
  EXPECT_LT(asked.stages, 8);
  EXPECT_LE(asked.sharedBytes, 227 * 1024);
}

TEST_F(CostModel, FewRowsPreferFewRowsOfATile) {
  TuneShape shape = {{"M", 16}, {"N", 8192}, {"K", 8192}};
  EXPECT_LT(estimate(product, {{"BM", "16"}, {"BN", "64"}, {"BK", "128"}}, shape).milliseconds,
            estimate(product, {{"BM", "128"}, {"BN", "256"}, {"BK", "64"}}, shape).milliseconds);
}

// As in bench/results/async_copies.json, code for sm_80: warps of one block meet in each
// trip, so two blocks of few warps overlap products and exponentials where one of many does not.
TEST_F(CostModel, SmallBlocksOverlapWhatALargeOneDoesInTurns) {
  for (const char *size : {"64", "128"})
    for (const char *causal : {"false", "true"}) {
      auto take = [&](const char *rows, const char *columns, const char *warps) {
        return estimate(attention,
                        {{"D", size},
                         {"CAUSAL", causal},
                         {"BM", rows},
                         {"BN", columns},
                         {"warps", warps}},
                        {}, "sm_80")
            .milliseconds;
      };
      EXPECT_LT(take("64", "64", "4"), take("128", "128", "8")) << size << " " << causal;
      if (size == std::string("64")) {
        EXPECT_LT(take("128", "64", "4"), take("128", "128", "8")) << causal;
        EXPECT_LT(take("128", "64", "4"), take("128", "64", "8")) << causal;
      }
    }
}

// With one program a multiprocessor there is no next one whose tiles could be there earlier.
TEST_F(CostModel, PersistenceHidesTheStartOfAllProgramsButTheFirst) {
  auto take = [&](const char *persistent, int64_t rows) {
    return estimate(product, {{"warps", "8"}, {"persistent", persistent}},
                    {{"M", rows}, {"N", 1024}, {"K", 1024}})
        .milliseconds;
  };
  EXPECT_DOUBLE_EQ(take("true", 1024), take("false", 1024));
  EXPECT_LT(take("true", 8192), 0.95 * take("false", 8192));
}

// Of a few products as large, those by mma.sync, of three dimensions, take longer than by wgmma.
TEST_F(CostModel, ProductsWithoutWgmmaStartLater) {
  TuneShape shape = {{"B", 1}, {"M", 64}, {"N", 640}, {"K", 128}};
  cost::CostEstimate flat = estimate(batched, {{"warps", "4"}}, shape),
                     batch = estimate(batched, {{"BZ", "2"}, {"BM", "32"}, {"BN", "32"}}, shape);
  ASSERT_TRUE(flat.valid && batch.valid) << flat.reason << batch.reason;
  EXPECT_LT(flat.milliseconds, batch.milliseconds);
}

// Two warpgroups of 64 columns each read as much of shared memory as of 128, for half the products.
TEST_F(CostModel, NarrowProductsOfEightBitsWaitForSharedMemory) {
  auto take = [&](const char *columns, int64_t all) {
    return estimate(eight, {{"BN", columns}, {"warps", "8"}},
                    {{"M", 128}, {"N", all}, {"K", 32768}})
        .milliseconds;
  };
  EXPECT_GT(take("64", 64 * 64), 0.6 * take("128", 64 * 128));
}

// Rows of 8256 bytes begin at lines or in the middle of one, where a box takes half of two.
TEST_F(CostModel, RowsThatBeginWithinALineTakeMoreOfTheCache) {
  auto move = [&](int64_t inner) {
    return estimate(product, {{"warps", "8"}}, {{"M", 4096}, {"N", 4096}, {"K", inner}}).l2Bytes;
  };
  EXPECT_GT(move(4128), 1.05 * move(4160));
}

// The second block of a pair has no rows here: it fetches its half of the columns for the first.
TEST_F(CostModel, PairsSaveNothingWhereOneBlockHasNoProgram) {
  auto move = [&](const char *blocks, int64_t rows) {
    return estimate(product, {{"warps", "8"}, {"cluster", blocks}, {"grouped", "8"}},
                    {{"M", rows}, {"N", 8192}, {"K", 2048}})
        .l2Bytes;
  };
  EXPECT_DOUBLE_EQ(move("2", 128), move("1", 128));
  EXPECT_LT(move("2", 256), 0.8 * move("1", 256));
}

// Squares of blocks that fill a group of multiprocessors wait for its way to L2: 24 of 23.
TEST_F(CostModel, SquaresThatFillAGroupWaitForL2) {
  auto take = [&](int64_t squares) {
    return estimate(
               product,
               {{"BM", "64"}, {"BN", "64"}, {"warps", "4"}, {"cluster", "4"}, {"grouped", "8"}},
               {{"M", 128 * squares}, {"N", 128}, {"K", 4104}})
        .milliseconds;
  };
  EXPECT_GT(take(24) / take(23), 1.05);
  EXPECT_LT(take(23) / take(22), 1.03);
}

// As many programs of the same tiles, whose last columns exist or do not.
TEST_F(CostModel, PaddingOfOperandsTakesPower) {
  auto take = [&](int64_t columns) {
    return estimate(product, {{"warps", "8"}}, {{"M", 4096}, {"N", columns}, {"K", 4096}})
        .milliseconds;
  };
  EXPECT_GT(take(128 + 8), 1.015 * take(256));
}

// As many products and bytes, in one loop or in two: parts leave the same sums.
TEST_F(CostModel, PartsOfALoopAroundAnotherShareItsSums) {
  cost::CostEstimate one = estimate(product, {{"SPLIT", "8"}, {"warps", "8"}},
                                    {{"M", 512}, {"N", 512}, {"K", 64 * 64}}),
                     two = estimate(places, {{"SPLIT", "8"}, {"warps", "8"}},
                                    {{"R", 32}, {"M", 512}, {"N", 512}, {"K", 128}});
  ASSERT_TRUE(one.valid && two.valid) << one.reason << two.reason;
  EXPECT_GT(two.milliseconds, 0.9 * one.milliseconds);
}

// All blocks ask for their first tiles at once: two trips of half the bytes begin earlier.
TEST_F(CostModel, LargeTilesAreWaitedForAtTheStart) {
  auto take = [&](const char *inner) {
    return estimate(product, {{"BK", inner}, {"BN", "64"}, {"warps", "4"}},
                    {{"M", 128 * 11}, {"N", 64 * 12}, {"K", 128}})
        .milliseconds;
  };
  EXPECT_GT(take("128"), take("64"));
}

// One warpgroup has its next tiles while it scales a result: a trip takes what both take, no more.
TEST_F(CostModel, OneWarpgroupHandsOverWhileItComputes) {
  auto take = [&](int64_t inner) {
    return estimate(scaled, {{"warps", "4"}}, {{"K", inner}}).milliseconds;
  };
  EXPECT_LT(take(16384) - take(8192), 128 * 0.38e-3);
}

// Rows of 64 bytes are as many requests as rows of 128.
TEST_F(CostModel, ShortRowsTakeMoreOfTheCache) {
  auto move = [&](const char *inner) {
    return estimate(product, {{"BK", inner}, {"warps", "8"}}, {}).l2Bytes;
  };
  EXPECT_GT(move("32"), 1.05 * move("64"));
}

// What L2 brings takes power and shared memory that products take, too: together they take longer
// than either alone.
TEST_F(CostModel, ProductsAndTheirTilesTakeTimeFromEachOther) {
  cost::CostEstimate found =
      estimate(product, {{"BN", "64"}, {"warps", "4"}}, {{"M", 8192}, {"N", 8192}, {"K", 8192}});
  auto limits = cost::findTargetLimits("sm_90a");
  double cache = found.l2Bytes / limits->cache * 1e-6;
  EXPECT_GT(found.milliseconds, std::hypot(cache, found.rooflineMilliseconds / 0.7));
}

// One warpgroup becomes two teams where its result is large: one stores while the other multiplies,
// which is worth the more the shorter programs are.
TEST_F(CostModel, OneTeamEndsWhileTheOtherMultiplies) {
  auto take = [&](const char *warps) {
    return estimate(product, {{"warps", warps}}, {{"M", 8192}, {"N", 2304}, {"K", 768}});
  };
  cost::CostEstimate teams = take("4"), one = take("8");
  ASSERT_TRUE(teams.valid) << teams.reason;
  EXPECT_EQ(teams.threads, one.threads);
  EXPECT_LT(teams.milliseconds, 0.98 * one.milliseconds);
}

TEST_F(CostModel, SaysTheSameTwice) {
  TuneShape shape = {{"M", 4096}, {"N", 4096}};
  EXPECT_EQ(estimate(parabola, {}, shape).milliseconds, estimate(parabola, {}, shape).milliseconds);
}

TEST(TargetLimits, EveryTargetHasACardOfItsOwn) {
  EXPECT_EQ(cost::findTargetLimits("sm_90a")->processors, 132);
  EXPECT_EQ(cost::findTargetLimits("sm_86")->device, "RTX 3090");
  EXPECT_EQ(cost::findTargetLimits("sm_86", findCard("A10"))->device, "A10");
  EXPECT_EQ(cost::findTargetLimits("sm_120a")->threads, 1536);
  EXPECT_EQ(cost::findTargetLimits("sm_120")->device, "RTX 5090");
  EXPECT_FALSE(cost::findTargetLimits("cpu")->target);
  EXPECT_FALSE(cost::findTargetLimits("gfx90a"));
  for (const GPUTarget &target : getGPUTargets())
    EXPECT_TRUE(cost::findTargetLimits(target.name)->isOwnDevice) << target.name;
}

} // namespace
