// How `tilec tune` chooses what to measure: successive halving on the time spent on a candidate,
// guided by estimates that it corrects by what it has measured. Knows nothing of processes and
// devices.
#ifndef TILE_DRIVER_SEARCH_TUNESEARCH_H
#define TILE_DRIVER_SEARCH_TUNESEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace tile {

/// How carefully a candidate is timed: a first look, more, and on its own as well as it can be.
constexpr unsigned fullEffort = 2;
/// The best of a shape are then timed in turns, so that whatever the device's clocks do, they do to
/// all of them. Efforts above fullEffort number these rounds.
constexpr unsigned rounds = 4, lastRound = fullEffort + rounds;

struct SearchSpace {
  /// For each configuration and tuned name, which of the name's values it has; of the first
  /// configuration too.
  std::vector<std::vector<unsigned>> features;
  /// For each shape what characterises it: the logarithms of its extents.
  std::vector<std::vector<double>> shapes;
  /// Milliseconds for each configuration and shape: 0 unknown, infinite where it cannot run. May be
  /// empty.
  std::vector<std::vector<double>> estimates;
  /// Configurations that take part.
  std::vector<size_t> configs;
};

struct SearchOptions {
  double share = 0.2;       ///< of the configurations, that get a first look at each shape
  double randomShare = 0.2; ///< of these, chosen at random instead of by estimate
  unsigned variants = 1;    ///< configurations that will be kept
  unsigned lanes = 1;       ///< shapes that are measured at once
  uint64_t seed = 0;
  bool guided = true; ///< false: random choice alone, as something to compare with
};

/// A configuration at a shape, to be timed with an effort of 0 to lastRound. Whoever takes more
/// than `slack` times the best time so far at its shape is not timed further.
struct Trial {
  size_t config, shape;
  unsigned effort;
  double slack;
};

/// The outcome of a trial.
struct Outcome {
  unsigned effort = 0;
  bool failed = false;
  double milliseconds = 0; ///< of rounds, the mean so far
};

class Search {
public:
  /// `measure` does trials, fewer only where the search is to end: it then returns false. `find`
  /// gives what came of a trial of that effort, nothing where it was not done. A search asks only
  /// for what it has had measured: one that begins again with the outcomes of an earlier one takes
  /// the same way.
  Search(const SearchSpace &space, const SearchOptions &options,
         llvm::function_ref<bool(llvm::ArrayRef<Trial>)> measure,
         llvm::function_ref<std::optional<Outcome>(size_t config, size_t shape, unsigned effort)>
             find);

  /// False where `measure` was.
  bool run();
  /// Everything at every shape with full effort, the best in turns.
  bool runExhaustive();
  /// Measurements that run() will ask for, about.
  size_t countTrials() const;
  /// Of them, the most that rounds may take.
  size_t countComparisons() const;

private:
  bool look(llvm::ArrayRef<Trial> trials);
  size_t firstLooks() const;
  bool searchShapes(llvm::ArrayRef<size_t> shapes);
  bool compareBest(llvm::ArrayRef<size_t> shapes);
  bool measureFinalists();
  std::vector<size_t> choose(size_t shape, size_t count);
  std::vector<double> predict(size_t shape) const;
  std::vector<size_t> rankAt(size_t shape) const;
  bool isUsable(size_t config) const;
  double estimateOf(size_t config, size_t shape) const;

  const SearchSpace &space;
  SearchOptions options;
  llvm::function_ref<bool(llvm::ArrayRef<Trial>)> measure;
  llvm::function_ref<std::optional<Outcome>(size_t, size_t, unsigned)> find;
  std::vector<std::vector<std::optional<Outcome>>>
      known; ///< by configuration and shape, of the highest effort
};

} // namespace tile

#endif
