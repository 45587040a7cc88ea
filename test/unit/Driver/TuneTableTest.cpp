// Which configuration goes with which key.
#include "frontend/Sema/TuneTable.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace tile;
using runtime::Bindings;
using runtime::Expr;

namespace {

/// The choice whose condition holds; checks that there is exactly one.
size_t find(const std::vector<Expr> &conditions, const Bindings &bindings) {
  size_t found = conditions.size(), count = 0;
  for (size_t i = 0; i < conditions.size(); ++i) {
    std::string error;
    if (conditions[i].evaluate(bindings, error).value_or(0)) {
      found = i;
      ++count;
    }
  }
  EXPECT_EQ(count, 1u);
  return found;
}

TEST(DivideKeys, LiesAtTheGeometricMean) {
  std::vector<Expr> conditions = divideKeys({Expr::makeName("M")}, {{{16}, 0}, {{4096}, 1}}, 2);
  EXPECT_EQ(conditions[0].toString(), "M <= 256");
  EXPECT_EQ(conditions[1].toString(), "M > 256");
}

TEST(DivideKeys, GivesEveryPointItsChoice) {
  std::mt19937 random(1);
  std::vector<Expr> keys = {Expr::makeName("A"), Expr::makeName("B"), Expr::makeName("C")};
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<TunedPoint> points;
    std::map<std::vector<int64_t>, size_t> known;
    for (unsigned i = 0; i < 1 + round % 12; ++i) {
      TunedPoint point{{int64_t(random() % 4), int64_t(1) << random() % 6, int64_t(random() % 100)},
                       random() % 4};
      if (known.emplace(point.key, point.choice).second)
        points.push_back(point);
    }
    std::vector<Expr> conditions = divideKeys(keys, points, 4);
    for (const TunedPoint &point : points)
      EXPECT_EQ(find(conditions, {{"A", point.key[0]}, {"B", point.key[1]}, {"C", point.key[2]}}),
                point.choice);
    for (unsigned i = 0; i < 20; ++i) // everything else gets one, too
      find(conditions, {{"A", int64_t(random() % 10)},
                        {"B", int64_t(random() % 100)},
                        {"C", int64_t(random() % 200)}});
  }
}

TEST(DivideKeys, TakesTheFirstOfEqualKeys) {
  std::vector<Expr> conditions = divideKeys({Expr::makeName("M")}, {{{16}, 1}, {{16}, 0}}, 2);
  EXPECT_EQ(conditions[0], Expr(0));
  EXPECT_EQ(conditions[1], Expr(1));
}

TEST(AgreeOnKeys, TakesWhatLosesLeast) {
  constexpr double none = std::numeric_limits<double>::infinity();
  auto agree = [](std::vector<size_t> own, std::vector<std::vector<double>> times) {
    std::vector<TunedPoint> points;
    for (size_t choice : own)
      points.push_back({{16}, choice});
    points.push_back({{99}, 2}); // another key
    times.push_back({3, 3, 1});
    agreeOnKeys(points, times, 3);
    EXPECT_EQ(points.back().choice, 2u);
    for (const TunedPoint &point : points)
      EXPECT_TRUE(point.key.front() == 99 || point.choice == points.front().choice);
    return points.front().choice;
  };
  EXPECT_EQ(agree({0, 1}, {{1, 1.1, 9}, {2, 1, 9}}), 1u);   // 10% are lost here, all there
  EXPECT_EQ(agree({0, 1}, {{1, 9, 1.1}, {9, 1, 1.1}}), 2u); // best nowhere, and near everywhere
  EXPECT_EQ(agree({0, 1}, {{1, none, none}, {none, 1, none}}), 0u); // the first
  EXPECT_EQ(agree({0, 1, 1}, {}), 1u);                              // most of them
}

TEST(DivideKeys, NeedsNoKey) { EXPECT_EQ(divideKeys({}, {{{}, 0}, {{}, 1}}, 2)[0], Expr(1)); }

} // namespace
