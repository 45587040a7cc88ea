// Programs that run beside this one, each with a time limit: what they do wrong stays with them.
#include "driver/measure/Child.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

using namespace llvm;

namespace tile {

namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  size_t index = 0;
  sys::ProcessInfo process;
  SmallString<128> messages; ///< file of standard error
  Clock::time_point deadline;
};

/// Reads the file and removes it: called once for each child that has started.
std::string takeMessages(const Running &child) {
  std::string text;
  if (auto file = MemoryBuffer::getFile(child.messages))
    text = (*file)->getBuffer().str();
  sys::fs::remove(child.messages);
  return text;
}

/// Starts a program; fills `failure` where that fails.
std::optional<Running> start(size_t index, const std::vector<std::string> &words, double timeout,
                             ChildResult &failure) {
  Running child;
  child.index = index;
  if (std::error_code error = sys::fs::createTemporaryFile("tilec", "err", child.messages)) {
    failure.messages = "no temporary file can be made: " + error.message();
    return std::nullopt;
  }
  std::vector<StringRef> arguments(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef(child.messages)};
  bool failed = false;
  child.process = sys::ExecuteNoWait(words.front(), arguments, std::nullopt, redirects, 0,
                                     &failure.messages, &failed);
  if (failed) {
    sys::fs::remove(child.messages);
    return std::nullopt;
  }
  child.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(timeout));
  return child;
}

/// The result of a program that has ended, or whose time is over.
std::optional<ChildResult> poll(Running &child) {
  ChildResult result;
  std::string error;
  sys::ProcessInfo now =
      sys::Wait(child.process, /*SecondsToWait=*/0, &error, nullptr, /*Polling=*/true);
  if (now.Pid == child.process.Pid) {
    result.end = now.ReturnCode >= 0 ? ChildResult::End::Exited : ChildResult::End::Crashed;
    result.code = now.ReturnCode;
    result.messages = takeMessages(child);
    if (result.end == ChildResult::End::Crashed)
      result.messages += error;
    return result;
  }
  if (Clock::now() < child.deadline)
    return std::nullopt;
  // A compiler that hangs need not react to anything gentler, and leaves only temporary files.
  ::kill(child.process.Pid, SIGKILL);
  sys::Wait(child.process, std::nullopt, &error);
  result.end = ChildResult::End::TimedOut;
  result.messages = takeMessages(child);
  return result;
}

} // namespace

/// Callbacks need no lock: all are called on this thread. An index that is skipped by an empty list
/// of words gets no call of `done`; one whose program cannot be started gets it at once.
void runChildren(size_t count, unsigned jobs, double timeout,
                 function_ref<std::vector<std::string>(size_t)> arguments,
                 function_ref<void(size_t, const ChildResult &)> done) {
  if (jobs == 0)
    jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Running> running;
  for (size_t next = 0; next < count || !running.empty();) {
    while (next < count && running.size() < jobs) {
      size_t index = next++;
      std::vector<std::string> words = arguments(index);
      if (words.empty())
        continue;
      ChildResult failure;
      if (std::optional<Running> child = start(index, words, timeout, failure))
        running.push_back(std::move(*child));
      else
        done(index, failure);
    }
    bool ended = false;
    for (size_t i = 0; i < running.size();) {
      std::optional<ChildResult> result = poll(running[i]);
      if (!result) {
        ++i;
        continue;
      }
      size_t index = running[i].index;
      running.erase(running.begin() + i);
      done(index, *result);
      ended = true;
    }
    if (!ended && !running.empty())
      // LLVM's Wait can wait for one process only, not for the first of several.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace tile
