// What `tilec tune` keeps, and which of it a launch takes.
#include "driver/tune/Tune.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tile;

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

TEST(ChooseVariants, TakesTheBestGeometricMean) {
  // The second is never best, but loses least: 2 * 2 against 1 * 5.
  EXPECT_EQ(chooseVariants({{1, 5}, {2, 2}, {5, 1}}, 1), std::vector<size_t>{1});
}

TEST(ChooseVariants, AddsWhatHelpsMost) {
  EXPECT_EQ(chooseVariants({{1, 8, 8}, {2, 2, 2}, {8, 1.5, 8}, {8, 8, 1.9}}, 2),
            (std::vector<size_t>{1, 0}));
}

TEST(ChooseVariants, TakesTheBestOfEveryShapeWhereThereIsRoom) {
  // The one that loses least on the whole comes first, whatever the order.
  EXPECT_EQ(chooseVariants({{8, 1.5}, {2, 2}, {1, 8}}, 2), (std::vector<size_t>{2, 0}));
  EXPECT_EQ(chooseVariants({{1, none}, {none, 4}, {2, 8}}, 2),
            (std::vector<size_t>{0, 1})); // not everything is measured everywhere
}

TEST(ChooseVariants, MayLookAtTheWorst) {
  std::vector<std::vector<double>> times = {{1, 1, 3}, {2, 2, 1}};
  EXPECT_EQ(chooseVariants(times, 1), std::vector<size_t>{0});
  EXPECT_EQ(chooseVariants(times, 1, /*worst=*/true), std::vector<size_t>{1});
}

TEST(ChooseVariants, StopsWhereNothingHelps) {
  EXPECT_EQ(chooseVariants({{1, 1}, {2, 2}}, 3), std::vector<size_t>{0});
}

TEST(ChooseVariants, LeavesOutWhatFailedSomewhere) {
  EXPECT_EQ(chooseVariants({{1, none}, {4, 4}}, 1), std::vector<size_t>{1});
  EXPECT_TRUE(chooseVariants({{1, none}, {none, 4}}, 1).empty());
  EXPECT_TRUE(chooseVariants({}, 1).empty());
}

TEST(FindNearest, MeasuresInLogarithms) {
  TuneResult result;
  result.entries = {{{{"M", 16}, {"N", 4096}}, {{"BM", "16"}}, 1, {}},
                    {{{"M", 4096}, {"N", 4096}}, {{"BM", "128"}}, 1, {}}};
  auto nearest = [&](TuneShape shape) {
    const TuneEntry *entry = findNearest(result, shape);
    return entry ? entry->config.front().second : "none";
  };
  EXPECT_EQ(nearest({{"M", 200}, {"N", 4096}}), "16"); // below the geometric mean, 256
  EXPECT_EQ(nearest({{"N", 8192}, {"M", 300}}), "128");
  EXPECT_EQ(nearest({{"M", 0}, {"N", 1}}), "16");
  EXPECT_EQ(nearest({{"M", 16}}), "none"); // N is not known
}

TEST(TuneResult, SurvivesJson) {
  TuneResult result;
  result.kernel = "matmul";
  result.target = "sm_90a";
  result.compiler = "tilec 1";
  result.source = "abc";
  result.best = {{"BM", "128"}, {"warps", "8"}};
  result.entries = {{{{"M", 16}}, {{"BM", "64"}}, 0.5, {}}};
  std::string error;
  std::optional<TuneResult> back = parseTuneResult(toJson(result), error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(toJson(*back), toJson(result));
  EXPECT_FALSE(parseTuneResult("{", error));
  EXPECT_FALSE(parseTuneResult("{\"schema\": 1}", error));
  EXPECT_EQ(error, "a field is missing or has another type");
  EXPECT_FALSE(parseTuneResult("{\"schema\": 2}", error));
  EXPECT_EQ(error, "its schema is 2, this version reads 1");
  EXPECT_FALSE(parseTuneResult("[1]", error));
}

TEST(TuneConfig, ParsesWhatItPrints) {
  TuneConfig config = {{"BM", "128"}, {"ACT", "gelu"}};
  EXPECT_EQ(toText(config), "BM=128,ACT=gelu");
  EXPECT_EQ(parseConfig(" BM = 128, ACT=gelu"), config);
  EXPECT_EQ(parseConfig(""), TuneConfig());
  EXPECT_FALSE(parseConfig("BM"));
  EXPECT_FALSE(parseConfig("BM="));
}

} // namespace
