// How `tilec tune` chooses what to measure. At each shape, by successive halving:
//
//   first looks     a part of all, short: winners elsewhere, then two thirds of the rest by the
//                   model, corrected by what was measured, then the others; some at random
//   seconds         the best 3 of 10 of them, timed for longer
//   in turns        the best 4, if within 15%, with full care, each round begun by another one
//
// Where fewer configurations are kept than there are shapes, finalists are timed at all of them.
// What has failed at one shape is not used at any.
#include "driver/search/TuneSearch.h"
#include "driver/search/Residuals.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace llvm;

namespace tile {

static constexpr double none = std::numeric_limits<double>::infinity();

Search::Search(const SearchSpace &space, const SearchOptions &options,
               function_ref<bool(ArrayRef<Trial>)> measure,
               function_ref<std::optional<Outcome>(size_t, size_t, unsigned)> find)
    : space(space), options(options), measure(measure), find(find),
      known(space.features.size(), std::vector<std::optional<Outcome>>(space.shapes.size())) {}

/// Remembers what came of the trials even where the search is to end: measurements so far give a
/// result.
bool Search::look(ArrayRef<Trial> trials) {
  bool good = measure(trials);
  for (const Trial &trial : trials)
    if (std::optional<Outcome> outcome = find(trial.config, trial.shape, trial.effort))
      known[trial.config][trial.shape] = outcome;
  return good;
}

double Search::estimateOf(size_t config, size_t shape) const {
  return space.estimates.empty() ? 0 : space.estimates[config][shape];
}

/// False for a configuration that gave no right result at some shape: it cannot be kept.
bool Search::isUsable(size_t config) const {
  for (size_t shape = 0; shape < space.shapes.size(); ++shape)
    if (const std::optional<Outcome> &outcome = known[config][shape]; outcome && outcome->failed)
      return false;
  return true;
}

/// The measurements at a shape, from the best to the worst; those timed with more care stand
/// before the others.
std::vector<size_t> Search::rankAt(size_t shape) const {
  std::vector<std::tuple<int, double, size_t>> scores;
  for (size_t config : space.configs)
    if (const std::optional<Outcome> &outcome = known[config][shape];
        outcome && !outcome->failed && isUsable(config))
      scores.push_back({-int(outcome->effort), outcome->milliseconds, config});
  llvm::sort(scores);
  std::vector<size_t> result;
  for (const auto &score : scores)
    result.push_back(std::get<2>(score));
  return result;
}

//===--- Choice of candidates ---------------------------------------------===//

size_t Search::firstLooks() const {
  return std::min(space.configs.size(),
                  std::max<size_t>(8, size_t(std::ceil(options.share * space.configs.size()))));
}

/// Milliseconds expected of every configuration at a shape: the estimate, corrected by what was
/// measured so far.
/// Where the model has no estimate the logarithm of the time itself is learnt.
std::vector<double> Search::predict(size_t shape) const {
  Residuals residuals(space.features, space.shapes);
  for (size_t config : space.configs)
    for (size_t s = 0; s < space.shapes.size(); ++s) {
      const std::optional<Outcome> &outcome = known[config][s];
      double estimate = estimateOf(config, s);
      if (outcome && !outcome->failed && outcome->milliseconds > 0)
        residuals.add(config, s,
                      std::log(outcome->milliseconds) -
                          (estimate > 0 && std::isfinite(estimate) ? std::log(estimate) : 0));
    }
  residuals.fit();
  std::vector<double> times(space.features.size(), none);
  for (size_t config : space.configs) {
    double estimate = estimateOf(config, shape);
    if (std::isfinite(estimate))
      times[config] =
          std::exp(residuals.predict(config, shape) + (estimate > 0 ? std::log(estimate) : 0));
  }
  return times;
}

/// Configurations that nothing is known of at a shape: most by prediction, some at random.
std::vector<size_t> Search::choose(size_t shape, size_t count) {
  std::vector<size_t> fresh, chosen;
  for (size_t config : space.configs)
    if (!known[config][shape] && isUsable(config))
      fresh.push_back(config);
  // `guided` of them are the best by prediction; the others are taken as the shuffle left them.
  count = std::min(count, fresh.size());
  std::mt19937_64 random(options.seed * 0x9e3779b97f4a7c15ull + shape * 1000003 + fresh.size());
  for (size_t i = fresh.size(); i > 1;
       --i) // as std::shuffle, whose numbers are not the same everywhere
    std::swap(fresh[i - 1], fresh[random() % i]);
  size_t guided = options.guided ? count - size_t(options.randomShare * count) : 0;
  chosen.assign(fresh.begin() + guided, fresh.begin() + count);
  if (guided) {
    std::vector<double> times = predict(shape);
    std::vector<size_t> rest(fresh.begin(), fresh.end());
    llvm::erase_if(rest, [&](size_t config) { return is_contained(chosen, config); });
    llvm::stable_sort(rest, [&](size_t a, size_t b) { return times[a] < times[b]; });
    chosen.insert(chosen.begin(), rest.begin(), rest.begin() + guided);
  }
  return chosen;
}

//===--- Successive halving -----------------------------------------------===//

/// A candidate slower than this many times the best is not timed further.
static constexpr double slack = 1.5;
/// How many of those that were looked at are timed for longer; how many at most are timed in turns.
static size_t countSeconds(size_t looks) { return std::max<size_t>(2, looks * 3 / 10); }
static constexpr size_t mostCompared = 4;
/// A candidate that was slower than this many times the best, timed alone, is not the best.
static constexpr double near = 1.15;

/// The best of each shape once more, in turns, each round beginning with another one. A
/// configuration that stands alone is timed with full care.
bool Search::compareBest(ArrayRef<size_t> shapes) {
  std::vector<Trial> trials;
  for (size_t shape : shapes) {
    std::vector<size_t> ranked = rankAt(shape);
    ranked.resize(std::min(ranked.size(), mostCompared));
    double best = ranked.empty() ? 0 : known[ranked.front()][shape]->milliseconds;
    llvm::erase_if(ranked,
                   [&](size_t config) { return known[config][shape]->milliseconds > near * best; });
    if (ranked.size() == 1)
      trials.push_back({ranked.front(), shape, fullEffort, 2 * slack});
    if (ranked.size() < 2)
      continue;
    for (unsigned round = 1; round <= rounds; ++round)
      for (size_t i = 0; i < ranked.size(); ++i)
        trials.push_back(
            {ranked[(i + round) % ranked.size()], shape, fullEffort + round, 2 * slack});
  }
  return look(trials);
}

/// First looks in three steps, each guided by those before; then the better part for longer, and of
/// that the better part in turns.
bool Search::searchShapes(ArrayRef<size_t> shapes) {
  size_t looks = firstLooks();
  std::vector<size_t> winners; // what won elsewhere, and what is used without tuning
  winners.push_back(space.configs.front());
  if (options.guided)
    for (size_t shape = 0; shape < space.shapes.size(); ++shape)
      if (std::vector<size_t> ranked = rankAt(shape);
          !ranked.empty() && !is_contained(winners, ranked.front()) && winners.size() < looks / 2)
        winners.push_back(ranked.front());
  std::vector<size_t> given(space.shapes.size());
  for (size_t step = 0; step < 3; ++step) {
    std::vector<Trial> trials;
    for (size_t shape : shapes) {
      std::vector<size_t> chosen;
      if (step == 0)
        chosen = winners;
      else
        chosen = choose(shape, step == 1 ? (looks - std::min(looks, given[shape])) * 2 / 3
                                         : looks - std::min(looks, given[shape]));
      given[shape] += chosen.size();
      for (size_t config : chosen)
        trials.push_back({config, shape, 0, slack});
    }
    if (!look(trials))
      return false;
  }
  std::vector<Trial> trials;
  for (size_t shape : shapes) {
    std::vector<size_t> ranked = rankAt(shape);
    ranked.resize(std::min(ranked.size(), countSeconds(looks)));
    for (size_t config : ranked)
      trials.push_back({config, shape, 1, slack});
  }
  return look(trials) && compareBest(shapes);
}

/// Where fewer are kept than there are shapes, some must serve several: those that lose least, by
/// what is measured or expected, are timed at every shape.
bool Search::measureFinalists() {
  if (options.variants >= space.shapes.size())
    return true;
  std::vector<std::vector<double>> loss(space.features.size(),
                                        std::vector<double>(space.shapes.size(), none));
  std::vector<std::pair<double, size_t>> scores;
  for (size_t shape = 0; shape < space.shapes.size(); ++shape) {
    std::vector<double> times = predict(shape);
    double best = none;
    for (size_t config : space.configs) {
      if (const std::optional<Outcome> &outcome = known[config][shape])
        times[config] = outcome->failed ? none : outcome->milliseconds;
      best = std::min(best, times[config]);
    }
    for (size_t config : space.configs)
      loss[config][shape] = std::log(times[config] / best);
  }
  std::vector<size_t> finalists;
  std::vector<double> reached(space.shapes.size(), none);
  // Greedily: the one that helps most beside those before, then some more in case an expectation
  // was wrong.
  for (size_t count = 2 * options.variants + 2; finalists.size() < count;) {
    if (finalists.size() == options.variants || finalists.size() == 2 * options.variants)
      reached.assign(space.shapes.size(), none);
    std::optional<size_t> next;
    double least = none;
    for (size_t config : space.configs) {
      if (is_contained(finalists, config) || !isUsable(config))
        continue;
      double sum = 0;
      for (size_t shape = 0; shape < space.shapes.size(); ++shape)
        sum += std::min(reached[shape], loss[config][shape]);
      if (sum < least) {
        least = sum;
        next = config;
      }
    }
    if (!next)
      break;
    finalists.push_back(*next);
    for (size_t shape = 0; shape < space.shapes.size(); ++shape)
      reached[shape] = std::min(reached[shape], loss[*next][shape]);
  }
  if (!is_contained(finalists, space.configs.front()))
    finalists.push_back(space.configs.front()); // it runs everywhere: there is a result
  std::vector<Trial> trials;
  for (size_t shape = 0; shape < space.shapes.size(); ++shape)
    for (size_t config : finalists)
      trials.push_back({config, shape, fullEffort, 3});
  return look(trials);
}

/// Shapes in groups as large as there are lanes: a group's results guide the next one.
bool Search::run() {
  // From the middle outwards: the middle says most about the others.
  std::vector<size_t> order;
  size_t count = space.shapes.size();
  for (size_t i = 0; i < count; ++i)
    order.push_back((count / 2 + (i % 2 ? count - (i + 1) / 2 : i / 2)) % count);
  size_t lanes = std::max(1u, options.lanes);
  for (size_t begin = 0; begin < count; begin += lanes)
    if (!searchShapes(ArrayRef(order).slice(begin, std::min(lanes, count - begin))))
      return false;
  return measureFinalists();
}

bool Search::runExhaustive() {
  std::vector<Trial> trials;
  for (size_t shape = 0; shape < space.shapes.size(); ++shape)
    for (size_t config : space.configs)
      trials.push_back({config, shape, fullEffort, 3});
  if (!look(trials))
    return false;
  std::vector<size_t> shapes(space.shapes.size());
  std::iota(shapes.begin(), shapes.end(), size_t(0));
  return compareBest(shapes);
}

size_t Search::countTrials() const {
  size_t looks = firstLooks(), each = looks + countSeconds(looks);
  return space.shapes.size() *
             (each + (options.variants < space.shapes.size() ? 2 * options.variants + 2 : 0)) +
         countComparisons();
}

size_t Search::countComparisons() const {
  return space.shapes.size() * rounds * std::min(mostCompared, space.configs.size());
}

} // namespace tile
