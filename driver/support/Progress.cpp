// How far a long command has come, on standard error.
#include "driver/support/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile {

using Clock = std::chrono::steady_clock;

Progress::Progress() : terminal(sys::Process::StandardErrIsDisplayed()), begin(Clock::now()) {}

void Progress::start(StringRef newName, size_t newTotal) {
  name = newName.str();
  total = newTotal;
  done = 0;
  begin = Clock::now();
}

void Progress::step(const Twine &what) {
  constexpr size_t width = 24;
  ++done;
  total = std::max(total, done);
  // All steps are taken to last as long as those so far did on average.
  double left = std::chrono::duration<double>(Clock::now() - begin).count() / done * (total - done);
  if (terminal) {
    size_t full = width * done / total, columns = sys::Process::StandardErrColumns();
    std::string line;
    raw_string_ostream(line) << name << " [" << std::string(full, '=')
                             << std::string(width - full, ' ') << "] " << done << "/" << total
                             << ", " << format("%.0f", left) << " s left: " << what;
    // One line that is written anew in a terminal; where the output is a file, a line for each
    // step.
    errs() << "\r\033[K" << StringRef(line).take_front(columns > 1 ? columns - 1 : 79)
           << (done == total ? "\n" : "");
  } else {
    errs() << name << " " << done << "/" << total << ", " << format("%.0f", left)
           << " s left: " << what << "\n";
  }
  errs().flush();
}

void Progress::finish() {
  if (terminal && done > 0 && done < total)
    errs() << "\n";
  done = total = 0;
}

} // namespace tile
