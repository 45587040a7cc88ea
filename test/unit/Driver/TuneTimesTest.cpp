// Which measurements of a log `tilec tune` may rest its choice on.
#include "driver/search/TuneSearch.h"
#include "driver/tune/Tune.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tile;

namespace {

/// A log in a file of its own, of the configurations "A", "B", … at the shapes "N=1", "N=2", …
class Log {
public:
  Log() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("tune", "jsonl", path));
    name = path.str().str();
    llvm::sys::fs::remove(name);
    std::string stale, error;
    log = TuneLog::open(name, {{"kernel", "k"}}, /*startOver=*/false, stale, error);
    EXPECT_TRUE(log) << error;
  }
  ~Log() {
    llvm::sys::fs::remove(name);
    llvm::sys::fs::remove(name + ".lock");
  }
  void add(char config, int shape, unsigned effort, double milliseconds,
           const char *status = "ok") {
    Measurement measurement;
    measurement.config = std::string(1, config);
    measurement.shape = "N=" + std::to_string(shape);
    measurement.status = status;
    measurement.milliseconds = milliseconds;
    measurement.effort = effort;
    std::string error;
    EXPECT_TRUE(log->append(std::move(measurement), error)) << error;
  }
  std::vector<std::vector<double>> read(size_t configs, size_t shapes) const {
    std::vector<std::string> names, extents;
    for (size_t c = 0; c < configs; ++c)
      names.emplace_back(1, char('A' + c));
    for (size_t s = 1; s <= shapes; ++s)
      extents.push_back("N=" + std::to_string(s));
    return readTimes(*log, names, extents);
  }
  size_t best(size_t configs, size_t shapes = 1) const {
    std::vector<size_t> chosen = chooseVariants(read(configs, shapes), 1);
    return chosen.empty() ? configs : chosen.front();
  }

private:
  std::string name;
  std::optional<TuneLog> log;
};

TEST(ReadTimes, WhatWasTooSlowNeverBeatsTheBest) {
  // The winner had no rival within 15%, so that no log of an earlier version times it with care.
  Log log;
  log.add('A', 1, 0, 0.5);
  log.add('B', 1, 0, 0.148);
  log.add('B', 1, 1, 0.148);
  log.add('C', 1, 0, 0.285, "slow");
  EXPECT_EQ(log.best(3), 1u);
  EXPECT_EQ(log.read(3, 1)[2][0], 0.285);
}

TEST(ReadTimes, TheBestOfEveryShapeIsKept) {
  Log log;
  log.add('A', 1, 1, 0.0164);
  log.add('B', 1, 0, 0.165, "slow");
  log.add('B', 2, 1, 0.148);
  log.add('A', 2, 0, 0.3, "slow");
  EXPECT_EQ(chooseVariants(log.read(2, 2), 2), (std::vector<size_t>{0, 1}));
}

TEST(ReadTimes, ARoughTimeNeverBeatsACarefulOne) {
  Log log;
  log.add('A', 1, fullEffort, 1.0);
  log.add('B', 1, 0, 0.9); // a lucky first look
  log.add('C', 1, 0, 0.8, "slow");
  EXPECT_EQ(log.best(3), 0u);
  EXPECT_TRUE(std::isinf(log.read(3, 1)[1][0]));
  EXPECT_GT(log.read(3, 1)[2][0], 1.0);
}

TEST(ReadTimes, WhatWasComparedInTurnsComesFirst) {
  Log log;
  log.add('A', 1, fullEffort, 0.5); // before the clocks fell
  for (unsigned round = 1; round <= rounds; ++round) {
    log.add('B', 1, fullEffort + round, 1.0);
    log.add('C', 1, fullEffort + round, round % 2 ? 0.5 : 1.0);
  }
  EXPECT_EQ(log.best(3), 2u);
  EXPECT_NEAR(log.read(3, 1)[2][0], std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(log.read(3, 1)[0][0], std::sqrt(0.5) * (1 + 1e-6), 1e-12);
}

TEST(ReadTimes, ASearchThatWasCutOffCountsEverything) {
  Log log;
  log.add('A', 1, fullEffort, 1.0);
  log.add('B', 1, 0, 1.2);
  log.add('A', 2, 0, 1.0);
  log.add('B', 2, 0, 0.4);
  EXPECT_EQ(log.best(2, 2), 1u);
  EXPECT_EQ(log.read(2, 2)[1][0], 1.2);
}

TEST(ReadTimes, AFailureCountsAtEveryShape) {
  Log log;
  log.add('A', 1, fullEffort, 2.0);
  log.add('A', 2, fullEffort, 2.0);
  log.add('B', 1, fullEffort, 1.0);
  log.add('B', 2, fullEffort, 0, "wrong");
  EXPECT_TRUE(std::isinf(log.read(2, 2)[1][0]));
  EXPECT_EQ(log.best(2, 2), 0u);
}

} // namespace
