// `tilec tune`: measures the configurations of a kernel and keeps the best.
#ifndef TILE_DRIVER_TUNE_H
#define TILE_DRIVER_TUNE_H

#include "driver/TuneConfig.h"

namespace tile {

/// One configuration at one shape.
struct Measurement {
  std::string config, shape; ///< as toText() writes them
  std::string status;        ///< "ok", "slow" (timed roughly), "wrong", "failed", "timeout"
  std::string reason;        ///< why it is not ok
  double milliseconds = 0;   ///< median; of "ok" and "slow"
  bool isTimed() const { return status == "ok" || status == "slow"; }
};

/// The log of a search: one line of JSON for each measurement, on disk as soon as it is made, so that a search that is cut off
/// goes on where it was.
class TuneLog {
public:
  /// Reads what the file has. A log of another source, compiler, target or device is set aside as FILE.stale, with the reason
  /// in `stale`. Nothing, with the reason in `error`, where the file cannot be used.
  static std::optional<TuneLog> open(const std::string &path, const std::vector<NameValue> &identity, bool startOver,
                                     std::string &stale, std::string &error);
  /// Reads a log of another shard.
  bool merge(const std::string &path, std::string &error);

  const Measurement *find(llvm::StringRef config, llvm::StringRef shape) const;
  bool append(Measurement measurement, std::string &error);
  const std::vector<Measurement> &getMeasurements() const { return measurements; }

private:
  void read(llvm::StringRef lines);

  std::string path;
  std::vector<NameValue> identity;
  std::vector<Measurement> measurements;
};

/// Chooses at most `variants` configurations by the geometric mean, over all shapes, of the best time over that of the best
/// chosen. Only configurations that were measured and right at every shape count. Empty if there is none.
std::vector<size_t> chooseVariants(const std::vector<std::vector<double>> &milliseconds, unsigned variants);

/// Runs the command. Returns the exit code.
int tuneKernel(Options &options, Session &session);

} // namespace tile

#endif
