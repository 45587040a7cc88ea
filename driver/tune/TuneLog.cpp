// The log of a search, and the choice of what to keep.
//
//   {"kernel": .., "source": .., ...}             the search; of another one, the log is set aside
//   {"config": .., "shape": .., "status": ..}     a measurement, written when it is known
//   {"config": .., "sha                           torn, as the process was killed: measured again
//
// A search that goes on reads it and measures what is missing. One process at a time writes it: the
// lock goes with the process.
#include "driver/search/TuneSearch.h"
#include "driver/support/Output.h"
#include "driver/tune/Tune.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace tile {

static json::Object toObject(const std::vector<NameValue> &identity) {
  json::Object object;
  for (const auto &[name, value] : identity)
    object[name] = value;
  return object;
}

/// The difference between the log's first line and the search to be run; empty if none.
static std::string compare(StringRef line, const std::vector<NameValue> &identity) {
  Expected<json::Value> value = parseJson(line);
  if (!value) {
    consumeError(value.takeError());
    return "its first line cannot be read";
  }
  const json::Object *object = value->getAsObject();
  for (const auto &[name, expected] : identity) {
    std::optional<StringRef> found = object ? object->getString(name) : std::nullopt;
    if (!found)
      return "it names no " + name;
    if (*found != expected)
      return name + " was " + found->str() + " and is " + expected;
  }
  return "";
}

/// Takes the lock of a log; it goes with the process, however that ends.
/// A lock beside the log, not on it: the log itself may be renamed (`.stale`). It is not waited
/// for, since a search may take hours.
static std::shared_ptr<int> takeLock(const std::string &path, std::string &error) {
  int descriptor = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    error = "cannot write '" + path + ".lock': " + std::strerror(errno);
    return nullptr;
  }
  std::shared_ptr<int> lock(new int(descriptor), [](int *each) {
    ::close(*each);
    delete each;
  });
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return lock;
  error = "another search is writing '" + path +
          "': wait for it, or give this one a folder of its own by --work";
  return nullptr;
}

TuneLog TuneLog::inMemory(const std::vector<NameValue> &identity) {
  TuneLog log;
  log.identity = identity;
  return log;
}

std::optional<TuneLog> TuneLog::open(const std::string &path,
                                     const std::vector<NameValue> &identity, bool startOver,
                                     std::string &stale, std::string &error) {
  TuneLog log;
  log.path = path;
  log.identity = identity;
  log.lock = takeLock(path, error);
  if (!log.lock)
    return std::nullopt;
  if (auto file = MemoryBuffer::getFile(path); file && !(*file)->getBuffer().empty()) {
    auto [first, rest] = (*file)->getBuffer().split('\n');
    stale = startOver ? std::string("--force was given") : compare(first, identity);
    if (stale.empty()) {
      log.read(rest);
      // A torn last line stays on its own.
      std::error_code code;
      if (!(*file)->getBuffer().ends_with("\n")) {
        raw_fd_ostream end(path, code, sys::fs::OF_Append);
        end << "\n";
        if (!code)
          code = finish(end);
        if (code) {
          error = "cannot write '" + path + "': " + code.message();
          return std::nullopt;
        }
      }
      return log;
    }
    if (std::error_code code = sys::fs::rename(path, path + ".stale")) {
      error = "cannot set '" + path + "' aside: " + code.message();
      return std::nullopt;
    }
  }
  std::error_code code;
  raw_fd_ostream file(path, code);
  if (code) {
    error = "cannot write '" + path + "': " + code.message();
    return std::nullopt;
  }
  file << formatv("{0}\n", json::Value(toObject(identity))).str();
  if ((code = finish(file))) {
    error = "cannot write '" + path + "': " + code.message();
    return std::nullopt;
  }
  return log;
}

bool TuneLog::merge(const std::string &other, std::string &error) {
  auto file = MemoryBuffer::getFile(other);
  if (!file) {
    error = "cannot read '" + other + "': " + file.getError().message();
    return false;
  }
  auto [first, rest] = (*file)->getBuffer().split('\n');
  std::string difference = compare(first, identity);
  if (!difference.empty()) {
    error = "'" + other + "' is of another search: " + difference;
    return false;
  }
  read(rest);
  return true;
}

void TuneLog::read(StringRef lines) {
  while (!lines.empty()) {
    auto [line, rest] = lines.split('\n');
    lines = rest;
    // The last line of a search that was killed may be torn: it is measured again.
    Expected<json::Value> value = parseJson(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    if (!object || !object->getString("config") || !object->getString("shape") ||
        !object->getString("status"))
      continue;
    Measurement measurement;
    measurement.config = object->getString("config")->str();
    measurement.shape = object->getString("shape")->str();
    measurement.status = object->getString("status")->str();
    measurement.reason = object->getString("reason").value_or("").str();
    measurement.milliseconds = object->getNumber("ms").value_or(0);
    measurement.effort = unsigned(object->getInteger("effort").value_or(fullEffort));
    measurement.seconds = object->getNumber("seconds").value_or(0);
    keep(std::move(measurement));
  }
}

static std::string keyOf(StringRef config, StringRef shape) {
  return (config + "\n" + shape).str();
}

/// Answers "need this be measured?": a time of this very effort, else a failure, else a time of
/// more effort, which is as good. Null: it is to be measured.
const Measurement *TuneLog::find(StringRef config, StringRef shape, unsigned effort) const {
  auto found = index.find(keyOf(config, shape));
  const Measurement *other = nullptr;
  if (found != index.end())
    for (size_t i : llvm::reverse(found->second)) {
      const Measurement &each = measurements[i];
      if (each.status == "ok" && each.effort == effort)
        return &each;
      if (each.status != "ok" || each.effort > effort)
        other = !other || other->status == "ok" ? &each : other;
    }
  return other;
}

/// Of times, the one of most effort; of several, the latest.
const Measurement *TuneLog::findBest(StringRef config, StringRef shape) const {
  auto found = index.find(keyOf(config, shape));
  const Measurement *best = nullptr;
  if (found != index.end())
    for (size_t i : found->second) {
      const Measurement &each = measurements[i];
      // A failure is final, however it comes up.
      if (!best || (best->isTimed() && (!each.isTimed() || each.effort >= best->effort)))
        best = &each;
    }
  return best;
}

/// Efforts above `fullEffort` are rounds of the comparison of finalists: `mean` is the geometric
/// mean of all such rounds so far, so that one that was disturbed weighs little.
void TuneLog::keep(Measurement measurement) {
  std::vector<size_t> &same = index[keyOf(measurement.config, measurement.shape)];
  measurement.mean = measurement.milliseconds;
  if (measurement.effort > fullEffort && measurement.status == "ok") {
    double sum = std::log(measurement.milliseconds), count = 1;
    for (size_t i : same)
      if (const Measurement &each = measurements[i];
          each.effort > fullEffort && each.status == "ok") {
        sum += std::log(each.milliseconds);
        ++count;
      }
    measurement.mean = std::exp(sum / count);
  }
  same.push_back(measurements.size());
  measurements.push_back(std::move(measurement));
}

bool TuneLog::append(Measurement measurement, std::string &error) {
  json::Object line{{"config", measurement.config},
                    {"shape", measurement.shape},
                    {"status", measurement.status},
                    {"effort", measurement.effort},
                    {"seconds", std::round(measurement.seconds * 1e4) / 1e4}};
  if (measurement.isTimed())
    line["ms"] = measurement.milliseconds;
  else
    line["reason"] = json::fixUTF8(measurement.reason);
  std::error_code code;
  raw_fd_ostream file(path, code, sys::fs::OF_Append);
  if (code) {
    error = "cannot write '" + path + "': " + code.message();
    return false;
  }
  // One write, so that a line is there or not.
  file << formatv("{0}\n", json::Value(std::move(line))).str();
  if ((code = finish(file))) {
    error = "cannot write '" + path + "': " + code.message();
    return false;
  }
  keep(std::move(measurement));
  return true;
}

/// How far a time can be trusted: not at all where it was given up, else by its effort. Rounds are
/// alike.
static int careOf(const Measurement &measurement) {
  return measurement.status == "slow" ? -1 : int(std::min(measurement.effort, fullEffort + 1));
}

/// times[config][shape] in milliseconds; infinity where it is not known, or the configuration
/// failed at some shape: a variant has to run at all of them. Only times of equal care can be
/// compared, so one that was taken with less is never better than the best of those with most.
std::vector<std::vector<double>> readTimes(const TuneLog &log, ArrayRef<std::string> configs,
                                           ArrayRef<std::string> shapes) {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<std::vector<const Measurement *>> found(configs.size());
  for (size_t c = 0; c < configs.size(); ++c) {
    for (const std::string &shape : shapes)
      found[c].push_back(log.findBest(configs[c], shape));
    if (llvm::any_of(found[c], [](const Measurement *each) { return each && !each->isTimed(); }))
      found[c].assign(shapes.size(), nullptr);
  }
  std::vector<int> mostCare(shapes.size(), -1);
  for (size_t s = 0; s < shapes.size(); ++s)
    for (const auto &row : found)
      if (row[s])
        mostCare[s] = std::max(mostCare[s], careOf(*row[s]));
  bool isComplete =
      llvm::all_of(mostCare, [](int care) { return care >= int(fullEffort); }); // else: cut off
  std::vector<std::vector<double>> times(configs.size(), std::vector<double>(shapes.size(), none));
  for (size_t s = 0; s < shapes.size(); ++s) {
    double best = none;
    for (const auto &row : found)
      if (row[s] && careOf(*row[s]) == mostCare[s])
        best = std::min(best, row[s]->mean);
    for (size_t c = 0; c < configs.size(); ++c) {
      const Measurement *each = found[c][s];
      if (!each || (isComplete && each->status == "ok" && each->effort < fullEffort))
        continue;
      times[c][s] =
          careOf(*each) == mostCare[s] ? each->mean : std::max(each->mean, best * (1 + 1e-6));
    }
  }
  return times;
}

/// The loss at a shape is the logarithm of how many times longer the best of the set takes than the
/// best of all; 0 is perfect. Where the winners of all shapes fit they are the answer. Else the
/// choice is greedy, as trying all sets would take exponential time. Nothing where some shape has
/// no time at all.
std::vector<size_t> chooseVariants(const std::vector<std::vector<double>> &milliseconds,
                                   unsigned variants, bool worst) {
  constexpr double none = std::numeric_limits<double>::infinity(),
                   missing = 1e3; // what counts for a time that is not known
  size_t shapes = milliseconds.empty() ? 0 : milliseconds.front().size();
  std::vector<double> best(shapes, none);
  for (const std::vector<double> &times : milliseconds)
    for (size_t s = 0; s < shapes; ++s)
      best[s] = std::min(best[s], times[s]);
  if (shapes == 0 || llvm::is_contained(best, none))
    return {};
  // The loss of a set of configurations: by the objective, and where that is the same, on the
  // whole.
  auto lossOf = [&](ArrayRef<size_t> chosen) {
    double sum = 0, most = 0;
    for (size_t s = 0; s < shapes; ++s) {
      double least = missing;
      for (size_t c : chosen)
        if (std::isfinite(milliseconds[c][s]))
          least = std::min(least, std::log(milliseconds[c][s] / best[s]));
      sum += least;
      most = std::max(most, least);
    }
    return worst ? std::pair(most, sum) : std::pair(sum, most);
  };
  auto isBetter = [](std::pair<double, double> a, std::pair<double, double> b) {
    return a.first < b.first - 1e-9 || (a.first < b.first + 1e-9 && a.second < b.second - 1e-9);
  };
  std::vector<size_t> winners, chosen;
  for (size_t s = 0; s < shapes; ++s)
    for (size_t c = 0; c < milliseconds.size(); ++c)
      if (milliseconds[c][s] == best[s]) {
        if (!llvm::is_contained(winners, c))
          winners.push_back(c);
        break;
      }
  if (winners.size() <= variants) {
    llvm::stable_sort(winners, [&](size_t a, size_t b) { return isBetter(lossOf(a), lossOf(b)); });
    return winners;
  }
  while (chosen.size() < variants) { // greedily: the one that helps most beside those chosen
    std::vector<size_t> with = chosen;
    with.push_back(0);
    std::pair<double, double> least = lossOf(chosen);
    std::optional<size_t> next;
    for (size_t c = 0; c < milliseconds.size(); ++c) {
      with.back() = c;
      if (std::pair<double, double> loss = lossOf(with); isBetter(loss, least)) {
        least = loss;
        next = c;
      }
    }
    if (!next)
      break;
    chosen.push_back(*next);
  }
  for (size_t s = 0; s < shapes; ++s)
    if (llvm::none_of(chosen, [&](size_t c) { return std::isfinite(milliseconds[c][s]); }))
      return {};
  return chosen;
}

} // namespace tile
