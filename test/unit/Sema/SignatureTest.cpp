// Signatures, contracts and launch expressions as values: this program links no MLIR.
#include "CheckedKernel.h"

using namespace tile;

namespace {

TEST(Signature, bindsDimensionsAndStridesInOrder) {
  Checked kernel("kernel k(x: in f16[M, N + 1; S, 1], n: i32, y: out f32[M] = 0.5) {}");
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  EXPECT_EQ(checked->dimensions, (std::vector<std::string>{"M", "N", "S"}));
  const runtime::Kernel &record = checked->record;
  ASSERT_EQ(record.params.size(), 3u);
  EXPECT_EQ(record.params[0].dtype, runtime::Dtype::F16);
  EXPECT_EQ(record.params[0].access, runtime::Access::In);
  EXPECT_EQ(record.params[0].dims[1].toString(), "N + 1");
  EXPECT_EQ(record.params[1].kind, runtime::Param::Kind::Scalar);
  EXPECT_EQ(record.params[2].fill, runtime::Constant(0.5));
  std::string order;
  for (const runtime::Argument &argument : record.arguments)
    order += argument.name + " ";
  EXPECT_EQ(order, "x n y M N S ");
}

TEST(Signature, listsEachTensorOfAnArray) {
  Checked kernel("kernel k[C: int = 2](xs: in f32[N] * C, y: out f32[N]) {}");
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  ASSERT_EQ(checked->record.params.size(), 3u);
  EXPECT_EQ(checked->record.params[1].name, "xs[1]");
}

TEST(Signature, leavesOutWhatAConditionDrops) {
  Checked kernel("kernel k[B: bool = false](x: in f32[N], b: in f32[K] if B, y: out f32[N]) {}");
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  EXPECT_EQ(checked->record.params.size(), 2u);
  EXPECT_EQ(checked->dimensions, (std::vector<std::string>{"N"}));
}

TEST(Signature, reportsANameThatNothingBinds) {
  Checked kernel("kernel k(x: in f32[M * K], y: out f32[1]) {}");
  EXPECT_FALSE(kernel.check());
  EXPECT_EQ(kernel.messages(), "E0404 1:20 nothing binds the dimension 'M'\n");
}

TEST(Contracts, rangesBoundDimensions) {
  Checked kernel("kernel k(x: in f32[M], y: out f32[M])\n"
                 "  where M in 1..=4096 opt 64, M % 8 == 0 {}");
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  const runtime::Dim &dim = checked->record.dims[0];
  EXPECT_EQ(dim.min, 1);
  EXPECT_EQ(dim.max, 4096);
  EXPECT_EQ(dim.opt, 64);
  EXPECT_EQ(dim.multipleOf, 8);
  ASSERT_EQ(checked->record.contracts.size(), 1u);
  EXPECT_EQ(checked->record.contracts[0].condition.toString(), "(M % 8) == 0");
}

TEST(Contracts, overCompileTimeParametersAreDecidedNow) {
  const char *text = "kernel k[B: int = 12](y: out f32[M]) where B % 8 == 0 {}";
  Checked kernel(text);
  EXPECT_FALSE(kernel.check());
  EXPECT_NE(kernel.messages().find("B = 12"), std::string::npos) << kernel.messages();
  SemaOptions options;
  options.defines = {{"B", "16"}};
  Checked defined(text, options);
  EXPECT_TRUE(defined.check()) << defined.messages();
}

TEST(Contracts, refuseOperandsThatDoNotMix) {
  Checked kernel("kernel k(s: f32, y: out f32[M]) where s + M > 0 {}");
  EXPECT_FALSE(kernel.check());
  EXPECT_NE(kernel.messages().find("f32"), std::string::npos) << kernel.messages();
}

TEST(LaunchExprs, gridsAreForTheLauncher) {
  Checked kernel("const W = 2;\n"
                 "kernel k[B: int = 16](x: in f32[M], y: out f32[M])\n"
                 "  grid (i: cdiv(M, B * W), j: max(M / 4, 1)) {}");
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  ASSERT_EQ(checked->record.grid.size(), 2u);
  std::string reason;
  EXPECT_EQ(checked->record.grid[0].evaluate({{"M", 100}}, reason), 4);
  EXPECT_EQ(checked->record.grid[1].evaluate({{"M", 100}}, reason), 25);
}

TEST(Attributes, haveTheNamesOfTheIR) {
  SemaOptions options;
  options.attributes = {{"stages", "3"}};
  Checked kernel("kernel k(y: out f32[M]) with warps(8), cluster(2), fp(\"fast\") {}", options);
  std::optional<CheckedKernel> checked = kernel.check();
  ASSERT_TRUE(checked) << kernel.messages();
  std::map<std::string, size_t> kinds;
  for (const AttributeValue &each : checked->attributes)
    kinds[each.name.str()] = each.value.index();
  EXPECT_EQ(kinds["tile.num_warps"], 1u);
  EXPECT_EQ(kinds["tile.num_stages"], 1u);
  EXPECT_EQ(kinds.count("tile.grouped"), 0u);
}

TEST(Attributes, namesAndValuesAreChecked) {
  Checked kernel("kernel k(y: out f32[M]) with warps(3), warmth(1) {}");
  EXPECT_FALSE(kernel.check());
  EXPECT_NE(kernel.messages().find("power of two"), std::string::npos) << kernel.messages();
  EXPECT_NE(kernel.messages().find("warmth"), std::string::npos) << kernel.messages();
}

} // namespace
