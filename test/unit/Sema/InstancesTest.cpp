// Instances, variants and the space of `tune` as values: this program links no MLIR.
#include "CheckedKernel.h"

using namespace tile;

namespace {

std::string symbols(const std::vector<Instance> &instances) {
  std::string out;
  for (const Instance &each : instances)
    out += each.symbol + " ";
  return out;
}

TEST(Instances, areMadeForEachValueThatArgumentsBind) {
  Checked kernel("kernel k[T: dtype in {f16, bf16}, B: int = 64](x: in T[N], y: out T[N]) {}");
  EXPECT_EQ(symbols(kernel.instances()), "k_T_f16 k_T_bf16 ") << kernel.messages();
}

TEST(Instances, followTheCommandLine) {
  SemaOptions options;
  options.defines = {{"B", "32,128"}};
  Checked kernel("kernel k[B: int = 64](y: out f32[N]) {}", options);
  std::vector<Instance> instances = kernel.instances();
  EXPECT_EQ(symbols(instances), "k_B_32 k_B_128 ");
  ASSERT_EQ(instances.size(), 2u);
  EXPECT_EQ(instances[1].values[0].getInt(), 128);
}

TEST(Instances, useConstantsAndEarlierParameters) {
  Checked kernel("const W = 4 * 2;\n"
                 "kernel k[B: int = W + 1, C: int = min(B, 3) * 2](y: out f32[N]) {}");
  std::vector<Instance> instances = kernel.instances();
  ASSERT_EQ(instances.size(), 1u) << kernel.messages();
  EXPECT_EQ(instances[0].values[0].getInt(), 9);
  EXPECT_EQ(instances[0].values[1].getInt(), 6);
}

TEST(Instances, dependOnTheTarget) {
  const char *text = "kernel k[B: int = target.arch](y: out f32[N]) {}";
  SemaOptions options;
  options.target = "sm_90a";
  EXPECT_EQ(Checked(text, options).instances().front().values[0].getInt(), 90);
  EXPECT_EQ(Checked(text).instances().front().values[0].getInt(), 0);
}

TEST(Instances, valuesAreOfTheKindAndTheSet) {
  SemaOptions options;
  options.defines = {{"B", "48"}};
  Checked outside("kernel k[B: int in {16, 64} = 16](y: out f32[N]) {}", options);
  EXPECT_TRUE(outside.instances().empty());
  EXPECT_NE(outside.messages().find("48"), std::string::npos) << outside.messages();
  Checked lacking("kernel k[B: int](y: out f32[N]) {}");
  EXPECT_TRUE(lacking.instances().empty());
  EXPECT_NE(lacking.messages().find("'B'"), std::string::npos) << lacking.messages();
  Checked circular("const A = B; const B = A; kernel k(y: out f32[N]) {}");
  EXPECT_TRUE(circular.instances().empty());
  EXPECT_NE(circular.messages().find("itself"), std::string::npos) << circular.messages();
}

TEST(Variants, combineListedValues) {
  Checked kernel("kernel k(x: in f32[M, K], y: out f32[M])\n"
                 "  specialize K in {64, 128}, M in 1..=16\n"
                 "  specialize M % 8 == 0 {}");
  std::optional<std::vector<Variant>> variants = kernel.variants();
  ASSERT_TRUE(variants) << kernel.messages();
  ASSERT_EQ(variants->size(), 3u);
  std::vector<Instance> instances = kernel.instances();
  std::optional<CheckedKernel> second = kernel.check(instances[0], (*variants)[1]);
  ASSERT_TRUE(second) << kernel.messages();
  EXPECT_EQ(second->record.variant, "K=128,M=1..16");
  EXPECT_EQ(second->fixed.at("K"), 128);
  ASSERT_EQ(second->record.facts.size(), 2u);
  // What is fixed is no argument of the ABI.
  for (const runtime::Argument &argument : second->record.arguments)
    EXPECT_NE(argument.name, "K");
  std::optional<CheckedKernel> third = kernel.check(instances[0], (*variants)[2]);
  ASSERT_TRUE(third) << kernel.messages();
  EXPECT_EQ(third->record.dims[0].multipleOf, 8);
}

TEST(Variants, areRuledOutByTheCommandLine) {
  SemaOptions options;
  std::string error;
  options.arguments = {*parseArgItem("K=64", error)};
  options.arguments[0].number = 64;
  Checked kernel("kernel k(x: in f32[M, K], y: out f32[M]) specialize K in {128} {}", options);
  std::vector<Instance> instances = kernel.instances();
  std::optional<std::vector<Variant>> variants = kernel.variants();
  ASSERT_TRUE(variants && variants->size() == 1);
  EXPECT_FALSE(kernel.check(instances[0], variants->front()));
  EXPECT_TRUE(kernel.ruledOut);
  EXPECT_EQ(kernel.messages(), "");
}

TEST(TuneSpace, isTheProductThatConditionsLetThrough) {
  Checked kernel("kernel k[A: int = 1, B: int = 2](y: out f32[N])\n"
                 "  tune { A in {1, 2, 4}; B in {2, 3}; where A * B < 8; } {}");
  std::optional<TuneSpace> space = kernel.tuneSpace();
  ASSERT_TRUE(space) << kernel.messages();
  EXPECT_EQ(space->combinations, 6u);
  // The defaults first, then 1x2, 1x3, 2x2, 2x3 in the clause's order.
  ASSERT_EQ(space->configs.size(), 5u);
  EXPECT_TRUE(space->configs[0].empty());
  EXPECT_EQ(space->configs[4], (TuneConfig{{"A", "2"}, {"B", "3"}}));
  EXPECT_EQ(space->likeFirst, std::optional<size_t>(1));
}

/// Counts the values that names and expressions got.
struct CountingObserver : ValueObserver {
  unsigned values = 0;
  void onValue(Range, const SemValue &) override { ++values; }
};

TEST(TuneSpace, conditionsAreAskedAsSoonAsTheirNamesHaveValues) {
  // Of ten values of A two are let through, and 20 combinations of these with B: C is asked about
  // for them alone. That all 1000 combinations have values would take thousands.
  CountingObserver observer;
  SemaOptions options;
  options.observer = &observer;
  std::string ten = "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}";
  Checked kernel("kernel k[A: int = 1, B: int = 1, C: int = 1](y: out f32[N])\n  tune { A in " +
                     ten + "; B in " + ten + "; C in " + ten +
                     "; where C != 5; where A < 3; where A * B == 6; } {}",
                 options);
  std::optional<TuneSpace> space = kernel.tuneSpace();
  ASSERT_TRUE(space) << kernel.messages();
  EXPECT_EQ(space->combinations, 1000u);
  EXPECT_EQ(space->configs.size(), 1 + 2 * 9u);
  EXPECT_EQ(space->configs[1], (TuneConfig{{"A", "1"}, {"B", "6"}, {"C", "1"}}));
  EXPECT_EQ(space->configs[18], (TuneConfig{{"A", "2"}, {"B", "3"}, {"C", "10"}}));
  EXPECT_LT(observer.values, 800u);
}

TEST(TuneSpace, aConditionThatMayBeAnErrorWaitsForThoseAheadOfIt) {
  // B % A with A = 0 would be an error: the condition on B, which is known later, rules it out.
  Checked kernel("kernel k[A: int = 1, B: int = 2](y: out f32[N])\n"
                 "  tune { A in {0, 2}; B in {2, 3}; where A + B > 3; where 6 % A == 0; } {}");
  std::optional<TuneSpace> space = kernel.tuneSpace();
  ASSERT_TRUE(space) << kernel.messages();
  EXPECT_EQ(space->configs.size(), 3u); // with the defaults
}

TEST(TuneSpace, conditionsSeeDefaultsOfWhatTheSetsName) {
  Checked kernel("kernel k[A: int = 1, B: int = 2, C: int = A * B](y: out f32[N])\n"
                 "  tune { A in {1, 2, 4}; B in {2, 3}; where C < 8; } {}");
  std::optional<TuneSpace> space = kernel.tuneSpace();
  ASSERT_TRUE(space) << kernel.messages();
  EXPECT_EQ(space->configs.size(), 5u);
}

TEST(TuneSpace, namesAreParametersOrAttributes) {
  Checked kernel("kernel k[A: int = 1](y: out f32[N]) tune { Q in {1, 2}; } {}");
  EXPECT_FALSE(kernel.tuneSpace());
  EXPECT_NE(kernel.messages().find("'Q'"), std::string::npos) << kernel.messages();
}

} // namespace
