// How far a long command has come, on standard error.
#ifndef TILE_DRIVER_SUPPORT_PROGRESS_H
#define TILE_DRIVER_SUPPORT_PROGRESS_H

#include "llvm/ADT/Twine.h"
#include <chrono>
#include <string>

namespace tile {

/// A bar with the time left on a terminal, written over and over; elsewhere a line for each step.
class Progress {
public:
  Progress();
  void start(llvm::StringRef name, size_t total);
  void step(const llvm::Twine &what);
  /// Where there was less to do than expected: what is written next starts a line.
  void finish();

private:
  bool terminal;
  std::string name;
  size_t total = 0, done = 0;
  std::chrono::steady_clock::time_point begin;
};

} // namespace tile

#endif
