// Workers of `tilec tune`: processes that live on over many candidates, and are replaced when one
// of these takes them down.
#ifndef TILE_DRIVER_MEASURE_WORKERPOOL_H
#define TILE_DRIVER_MEASURE_WORKERPOOL_H

#include "driver/measure/Measure.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <chrono>
#include <memory>
#include <sys/types.h>

namespace tile {

/// One measurement for any worker, or a certain one.
struct MeasureJob {
  MeasureRequest request;
  int worker = -1;     ///< -1: any
  double timeout = 60; ///< seconds, once the shape is prepared
};

class WorkerPool {
public:
  /// One worker for each command line, its path first; `prepareTimeout`: seconds for a new shape.
  WorkerPool(std::vector<std::vector<std::string>> commands, double prepareTimeout);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  size_t size() const { return workers.size(); }

  /// Does `count` jobs, one at a time on each worker. `job(i)` is asked when job i's turn has come:
  /// nothing if it is no longer wanted. `done(i, reply)` is called in the order of their ends, in
  /// this thread. A reply's status may also be "timeout". What goes wrong on a worker that has run
  /// other candidates is tried again on a new one: those may have harmed it.
  void run(size_t count, llvm::function_ref<std::optional<MeasureJob>(size_t)> job,
           llvm::function_ref<void(size_t, const MeasureReply &)> done);

private:
  struct Worker;
  bool start(Worker &worker, std::string &error);
  void stop(Worker &worker);
  bool begin(Worker &worker);
  std::optional<MeasureReply> receive(Worker &worker);

  std::vector<std::unique_ptr<Worker>> workers;
  double prepareTimeout;
};

} // namespace tile

#endif
