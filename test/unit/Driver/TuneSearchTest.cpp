// The search of `tilec tune` on made-up times: how near it comes to the best, and what that takes.
#include "driver/search/TuneSearch.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace tile;

namespace {

/// Times of products by tiles of BM x BN x BK with some warps and stages, as a GPU of 132
/// processors might have them: waves, traffic, what is hidden by stages, and deviations that no
/// estimate knows.
class Surface {
public:
  explicit Surface(uint64_t seed) {
    std::mt19937_64 random(seed);
    auto normal = [&] {
      double u = double((random() >> 11) + 1) * 0x1p-53, v = double(random() >> 11) * 0x1p-53;
      return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
    };
    for (double m : {16.0, 128.0, 1024.0, 8192.0})
      for (double n : {1024.0, 8192.0}) {
        extents.push_back({m, n});
        space.shapes.push_back({std::log(m), std::log(n)});
      }
    for (unsigned bm = 0; bm < 4; ++bm)
      for (unsigned bn = 0; bn < 4; ++bn)
        for (unsigned bk = 0; bk < 2; ++bk)
          for (unsigned warps = 0; warps < 2; ++warps)
            for (unsigned stages = 0; stages < 3; ++stages)
              space.features.push_back({bm, bn, bk, warps, stages});
    for (size_t c = 0; c < space.features.size(); ++c) {
      space.configs.push_back(c);
      times.emplace_back();
      space.estimates.emplace_back();
      const std::vector<unsigned> &f = space.features[c];
      double own = 0.04 * normal();
      for (const auto &[m, n] : extents) {
        double bm = 32 << f[0], bn = 32 << f[1], tiles = std::ceil(m / bm) * std::ceil(n / bn),
               waves = std::ceil(tiles / 132);
        double estimate = waves * std::max(bm * bn, 4096 * (1 / bm + 1 / bn) * 40) * 1e-5 + 0.003;
        double truth = estimate * (1 + 0.25 / (1 + f[4]) * (f[2] ? 0.6 : 1)) *
                       (f[3] == (bm * bn > 8192) ? 1 : 1.2) * std::exp(own + 0.02 * normal());
        space.estimates.back().push_back(estimate);
        times.back().push_back(truth);
      }
    }
  }

  double best(size_t shape) const {
    double least = INFINITY;
    for (const auto &row : times)
      least = std::min(least, row[shape]);
    return least;
  }

  SearchSpace space;
  std::vector<std::pair<double, double>> extents;
  std::vector<std::vector<double>> times;
};

/// Does trials on a surface, and adds up what they cost: what a look needs beside the kernel, and
/// the time spent on timing.
class Meter {
public:
  explicit Meter(const Surface &surface) : surface(surface) {}

  bool measure(llvm::ArrayRef<Trial> trials) {
    for (const Trial &trial : trials) {
      Outcome &known = outcomes[{trial.config, trial.shape}];
      std::optional<double> &time = done[{trial.config, trial.shape, trial.effort}];
      if (time)
        continue;
      static constexpr double timed[] = {8, 50, 200, 25};
      cost += 20 + timed[std::min(trial.effort, fullEffort + 1)];
      ++count;
      known.effort = trial.effort;
      known.failed = fails && trial.config % 7 == 3;
      // A first look is not exact.
      static constexpr double noise[] = {0.02, 0.01, 0.003, 0.002};
      time = surface.times[trial.config][trial.shape] *
             (1 + noise[std::min(trial.effort, fullEffort + 1)] *
                      std::sin(double(trial.config * 31 + trial.shape)));
      known.milliseconds = surface.times[trial.config][trial.shape];
      if (count == last)
        return false;
    }
    return true;
  }
  std::optional<Outcome> find(size_t config, size_t shape, unsigned effort) const {
    auto found = done.find({config, shape, effort});
    for (unsigned more = effort; found == done.end() && more++ < lastRound;) // what is known better
      found = done.find({config, shape, more});
    if (found == done.end() || !found->second)
      return std::nullopt;
    return Outcome{effort, fails && config % 7 == 3, *found->second};
  }
  /// Time at a shape of the best that was timed with full effort, over the best there is.
  double loss(size_t shape) const {
    double least = INFINITY;
    for (const auto &[key, outcome] : outcomes)
      if (key.second == shape && outcome.effort >= fullEffort && !outcome.failed)
        least = std::min(least, outcome.milliseconds);
    return least / surface.best(shape);
  }
  double meanLoss() const {
    double sum = 0;
    for (size_t s = 0; s < surface.space.shapes.size(); ++s)
      sum += std::log(loss(s));
    return std::exp(sum / double(surface.space.shapes.size()));
  }

  const Surface &surface;
  std::map<std::pair<size_t, size_t>, Outcome> outcomes; ///< the most careful
  std::map<std::tuple<size_t, size_t, unsigned>, std::optional<double>> done;
  size_t last = 0; ///< the search is cut off after so many
  double cost = 0;
  size_t count = 0;
  bool fails = false;
};

SearchOptions keepAll() {
  SearchOptions options;
  options.variants = 8;
  return options;
}

bool runSearch(Meter &meter, const SearchOptions &options, bool exhaustive = false) {
  auto measure = [&](llvm::ArrayRef<Trial> trials) { return meter.measure(trials); };
  auto find = [&](size_t config, size_t shape, unsigned effort) {
    return meter.find(config, shape, effort);
  };
  Search search(meter.surface.space, options, measure, find);
  return exhaustive ? search.runExhaustive() : search.run();
}

TEST(Search, ComesWithinTwoPercentForAFractionOfTheCost) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Surface surface(seed);
    Meter all(surface), some(surface);
    runSearch(all, keepAll(), /*exhaustive=*/true);
    runSearch(some, keepAll());
    EXPECT_LT(some.meanLoss(), 1.02) << "seed " << seed;
    EXPECT_LT(some.cost, 0.15 * all.cost) << "seed " << seed;
  }
}

TEST(Search, IsBetterThanRandomChoice) {
  double guided = 0, random = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Surface surface(seed);
    Meter a(surface), b(surface);
    SearchOptions options = keepAll();
    runSearch(a, options);
    options.guided = false;
    options.seed = seed;
    runSearch(b, options);
    EXPECT_LE(a.count, b.count + b.count / 10);
    guided += std::log(a.meanLoss());
    random += std::log(b.meanLoss());
  }
  EXPECT_LT(guided, random / 3);
}

TEST(Search, LearnsWithoutEstimates) {
  Surface surface(7);
  surface.space.estimates.clear();
  Meter meter(surface);
  runSearch(meter, keepAll());
  EXPECT_LT(meter.meanLoss(), 1.04);
}

TEST(Search, IsDeterministicBySeed) {
  Surface surface(3);
  auto looked = [&](uint64_t seed) {
    Meter meter(surface);
    SearchOptions options = keepAll();
    options.seed = seed;
    runSearch(meter, options);
    std::vector<std::pair<size_t, size_t>> keys;
    for (const auto &[key, outcome] : meter.outcomes)
      keys.push_back(key);
    return keys;
  };
  EXPECT_EQ(looked(1), looked(1));
  EXPECT_NE(looked(1), looked(2));
}

TEST(Search, TimesTheBestInTurns) {
  for (bool exhaustive : {false, true}) {
    Surface surface(2);
    Meter meter(surface);
    std::map<std::pair<size_t, unsigned>, std::vector<size_t>>
        turns; // by shape and round, in the order of the trials
    auto measure = [&](llvm::ArrayRef<Trial> trials) {
      for (const Trial &trial : trials)
        if (trial.effort > fullEffort)
          turns[{trial.shape, trial.effort - fullEffort}].push_back(trial.config);
      return meter.measure(trials);
    };
    auto find = [&](size_t config, size_t shape, unsigned effort) {
      return meter.find(config, shape, effort);
    };
    SearchOptions options = keepAll();
    Search search(surface.space, options, measure, find);
    EXPECT_TRUE(exhaustive ? search.runExhaustive() : search.run());
    size_t compared = 0;
    for (const auto &[key, configs] : turns) {
      const std::vector<size_t> &first = turns[{key.first, 1}];
      compared += key.second == 1;
      EXPECT_GE(configs.size(), 2u);
      EXPECT_LE(configs.size(), 4u);
      EXPECT_TRUE(std::is_permutation(configs.begin(), configs.end(), first.begin(), first.end()));
      if (key.second == 2)
        EXPECT_NE(configs.front(), first.front()); // each round begins with another one
      EXPECT_EQ(turns.count({key.first, rounds}), 1u);
    }
    EXPECT_GT(compared, surface.space.shapes.size() / 2);
    EXPECT_LE(turns.size(), search.countComparisons());
  }
}

TEST(Search, TimesAWinnerWithoutRivalsWithFullCare) {
  Surface surface(2);
  for (auto *times : {&surface.times[17], &surface.space.estimates[17]})
    for (double &time : *times)
      time /= 10;
  Meter meter(surface);
  runSearch(meter, keepAll());
  for (size_t s = 0; s < surface.space.shapes.size(); ++s)
    EXPECT_GE((meter.outcomes[{17, s}].effort), fullEffort) << "shape " << s;
}

TEST(Search, DoesNotRepeatWhatIsKnown) {
  Surface surface(4);
  Meter meter(surface);
  runSearch(meter, keepAll());
  size_t count = meter.count;
  runSearch(meter, keepAll());
  EXPECT_EQ(meter.count, count);
}

TEST(Search, GoesOnWhereItWasCutOff) {
  Surface surface(4);
  Meter whole(surface), pieces(surface);
  runSearch(whole, keepAll());
  for (pieces.last = 50; !runSearch(pieces, keepAll());)
    pieces.last += 50;
  EXPECT_EQ(pieces.count, whole.count);
  EXPECT_EQ(pieces.meanLoss(), whole.meanLoss());
}

TEST(Search, LooksAtOneThatServesAllShapes) {
  Surface surface(5);
  Meter meter(surface);
  SearchOptions options; // one variant
  runSearch(meter, options);
  double least = INFINITY, found = INFINITY;
  for (size_t c = 0; c < surface.times.size(); ++c) {
    double sum = 0;
    bool known = true;
    for (size_t s = 0; s < surface.space.shapes.size(); ++s) {
      sum += std::log(surface.times[c][s] / surface.best(s));
      std::optional<Outcome> outcome = meter.find(c, s, fullEffort);
      known &= outcome.has_value();
    }
    least = std::min(least, sum);
    found = std::min(found, known ? sum : INFINITY);
  }
  EXPECT_LT(found / 8, least / 8 + 0.02);
}

TEST(Search, LeavesOutWhatFails) {
  Surface surface(6);
  Meter meter(surface);
  meter.fails = true;
  runSearch(meter, keepAll());
  std::map<size_t, size_t> failures;
  for (const auto &[key, outcome] : meter.outcomes) {
    failures[key.first] += outcome.failed;
    EXPECT_FALSE(outcome.failed && outcome.effort > 0);
  }
  for (const auto &[config, count] : failures)
    EXPECT_LE(count, 1u); // not tried at another shape
  for (size_t s = 0; s < surface.space.shapes.size(); ++s)
    EXPECT_LT(meter.loss(s), 1.2);
}

} // namespace
