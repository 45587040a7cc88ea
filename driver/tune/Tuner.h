// One call of `tilec tune`: from the kernel's space to the result.
#ifndef TILE_DRIVER_TUNE_TUNER_H
#define TILE_DRIVER_TUNE_TUNER_H

#include "driver/measure/Child.h"
#include "driver/measure/WorkerPool.h"
#include "driver/request/Request.h"
#include "driver/search/TuneSearch.h"
#include "driver/support/Output.h"
#include "driver/support/Progress.h"
#include "driver/tune/Tune.h"

namespace tile {

class Tuner {
public:
  Tuner(Options &options, Session &session)
      : options(options), tune(options.tune), session(session) {}

  bool run();

private:
  using Clock = std::chrono::steady_clock;

  // Tune.cpp: what there is to choose, and the result.
  bool readSpace();
  bool keepListed();
  std::string describeValues() const;
  bool chooseDevices();
  bool openLog();
  bool compile();
  bool writeResult();

  // TuneMeasure.cpp: what it takes.
  bool makeReferences();
  bool search();
  bool startWorkers();
  SearchSpace describeSpace() const;
  bool measure(llvm::ArrayRef<Trial> trials);
  MeasureJob makeJob(const Trial &trial) const;
  void record(const Trial &trial, const MeasureReply &reply, double seconds, std::string &error);
  std::optional<Outcome> outcomeOf(size_t config, size_t shape, unsigned effort) const;
  double bestOf(size_t shape) const;
  /// True if the configuration gave no time at some shape: it cannot be chosen, and may take long
  /// to fail again.
  bool hasFailed(size_t config) const;
  bool isOverBudget() const { return tune.budget > 0 && secondsSinceStart() > tune.budget; }
  double secondsSinceStart() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  runtime::CompileRequest makeRequest(llvm::StringRef config) const;
  bool writeRequest(const runtime::CompileRequest &request, TemporaryFile &file);
  std::vector<std::string> referenceWords(size_t shape, llvm::StringRef request) const;
  std::string imagePath(size_t config) const;
  std::string referencePath(size_t shape, llvm::StringRef output) const;
  std::string workPath(const llvm::Twine &name) const;
  bool isOnGPU() const { return options.device == "cuda"; }
  /// Results of the CPU, in files, are what a GPU's are compared with.
  bool isCheckedByFiles() const { return tune.check == "cpu" && isOnGPU(); }

  Options &options;
  const TuneOptions &tune;
  Session &session;
  Clock::time_point begin = Clock::now();
  Progress progress;
  std::string kernel, deviceName;
  std::string source,
      allSources; ///< hashes of the file with its definitions, and of what it imports too
  std::vector<std::string> outputs; ///< names of the tensors that the kernel writes
  TuneSpace space;
  std::vector<std::string> configs, shapes; ///< as text
  std::vector<bool> usable;                 ///< compiled
  std::vector<std::vector<double>>
      estimates; ///< milliseconds by configuration and shape; empty: there are none
  std::optional<TuneLog> log;
  TemporaryFile workersRequest; ///< what every worker compiles, but for the configuration
  std::unique_ptr<WorkerPool> workers;
};

/// The last line that says what went wrong.
std::string getReason(const ChildResult &result, double timeout);

} // namespace tile

#endif
