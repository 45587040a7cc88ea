// Programs that run beside this one, each with a time limit: what they do wrong stays with them.
#ifndef TILE_DRIVER_MEASURE_CHILD_H
#define TILE_DRIVER_MEASURE_CHILD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tile {

/// How a program ended.
struct ChildResult {
  enum class End { Exited, Crashed, TimedOut, NotStarted };
  End end = End::NotStarted;
  int code = 0;         ///< of the exit, or the signal
  std::string messages; ///< what it wrote to standard error; or why it did not start
  bool isGood() const { return end == End::Exited && code == 0; }
};

/// Runs `count` programs, `jobs` at a time, each killed after `timeout` seconds. `arguments(i)`
/// gives program i's command line, its path first; nothing if it is not to run. `done(i, result)`
/// is called in the order of their ends, in this thread.
void runChildren(size_t count, unsigned jobs, double timeout,
                 llvm::function_ref<std::vector<std::string>(size_t)> arguments,
                 llvm::function_ref<void(size_t, const ChildResult &)> done);

} // namespace tile

#endif
