// `tilec tune`: measures the configurations of a kernel and keeps the best.
#ifndef TILE_DRIVER_TUNE_TUNE_H
#define TILE_DRIVER_TUNE_TUNE_H

#include "driver/tune/TuneConfig.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tile {

/// One configuration at one shape.
struct Measurement {
  std::string config, shape; ///< as toText() writes them
  std::string status;        ///< "ok", "slow" (timed roughly), "wrong", "failed", "timeout"
  std::string reason;        ///< why it is not ok
  double milliseconds = 0;   ///< median; of "ok" and "slow"
  double mean = 0;           ///< the same; of a round, the geometric mean of it and those before
  unsigned effort =
      0;              ///< how carefully it was timed: 0 to fullEffort; above, the number of a round
  double seconds = 0; ///< that the measurement took, with all that belongs to it
  bool isTimed() const { return status == "ok" || status == "slow"; }
};

/// The log of a search: one line of JSON for each measurement, on disk as soon as it is made, so
/// that a search that is cut off goes on where it was. One process at a time writes it.
class TuneLog {
public:
  /// Reads what the file has. A log of another source, compiler, target or device is set aside as
  /// FILE.stale, with the reason in `stale`. Nothing, with the reason in `error`, where the file
  /// cannot be used.
  static std::optional<TuneLog> open(const std::string &path,
                                     const std::vector<NameValue> &identity, bool startOver,
                                     std::string &stale, std::string &error);
  /// A log without a file.
  static TuneLog inMemory(const std::vector<NameValue> &identity);
  /// Reads a log of another shard.
  bool merge(const std::string &path, std::string &error);

  /// The measurement of that effort; without one a failure, one that was too slow, or a more
  /// careful one. Null if there is none.
  const Measurement *find(llvm::StringRef config, llvm::StringRef shape, unsigned effort) const;
  /// The most careful measurement, or a failure.
  const Measurement *findBest(llvm::StringRef config, llvm::StringRef shape) const;
  bool append(Measurement measurement, std::string &error);
  const std::vector<Measurement> &getMeasurements() const { return measurements; }

private:
  void read(llvm::StringRef lines);
  void keep(Measurement measurement);

  std::string path;
  std::shared_ptr<int> lock; ///< descriptor of the file that says the log is being written
  std::vector<NameValue> identity;
  std::vector<Measurement> measurements;
  llvm::StringMap<std::vector<size_t>> index; ///< by configuration and shape, in the log's order
};

/// The times that a choice rests on: milliseconds by configuration and shape, infinite where
/// nothing was measured and for every shape of a configuration that failed at one. At each shape
/// the best of what was timed with the most care is the best: a time that was taken with less care,
/// or that was given up as too slow, never beats it. Where every shape has a time of full care,
/// rough times of configurations that were not too slow do not count.
std::vector<std::vector<double>> readTimes(const TuneLog &log, llvm::ArrayRef<std::string> configs,
                                           llvm::ArrayRef<std::string> shapes);

/// Chooses at most `variants` configurations: the best of every shape where these are not more,
/// else so that the geometric mean over the shapes of the time lost is least, or the largest loss
/// at one shape (`worst`). A time is infinite where nothing was measured. The first of them is the
/// best on the whole. Empty where no choice has a time at every shape.
std::vector<size_t> chooseVariants(const std::vector<std::vector<double>> &milliseconds,
                                   unsigned variants, bool worst = false);

/// Runs the command. Returns the exit code.
int tuneKernel(Options &options, Session &session);

} // namespace tile

#endif
