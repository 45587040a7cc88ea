// Independent pieces of work, some at once.
#ifndef TILE_DRIVER_SUPPORT_JOBS_H
#define TILE_DRIVER_SUPPORT_JOBS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tile {

/// Calls `work` with 0 to count - 1, at most `jobs` at a time (0: one for each processor); waits
/// for all. An exception of one ends this call after the others have come to their end.
inline void runJobs(unsigned jobs, size_t count, llvm::function_ref<void(size_t)> work) {
  if (jobs == 0)
    jobs = std::max(1u, std::thread::hardware_concurrency());
  size_t threads = std::min<size_t>(jobs, count);
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i)
      work(i);
    return;
  }
  // Numbers are taken in order, but end in any: `work` writes to places of its own number only.
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> problems(count);
  auto take = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      try {
        work(i);
      } catch (...) {
        problems[i] = std::current_exception();
      }
  };
  std::vector<std::thread> pool;
  for (size_t i = 1; i < threads; ++i)
    pool.emplace_back(take);
  // This thread works as well, so that `jobs` threads in all are busy.
  take();
  for (std::thread &thread : pool)
    thread.join();
  for (const std::exception_ptr &problem : problems)
    if (problem)
      std::rethrow_exception(problem);
}

} // namespace tile

#endif
