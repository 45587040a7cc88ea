// The log of a search, and the choice of what to keep.
#include "driver/Tune.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace tile {

static json::Object toObject(const std::vector<NameValue> &identity) {
  json::Object object;
  for (const auto &[name, value] : identity)
    object[name] = value;
  return object;
}

/// What differs between the log's first line and what is to be tuned now; empty if nothing does.
static std::string compare(StringRef line, const std::vector<NameValue> &identity) {
  Expected<json::Value> value = json::parse(line);
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

std::optional<TuneLog> TuneLog::open(const std::string &path, const std::vector<NameValue> &identity, bool startOver,
                                     std::string &stale, std::string &error) {
  TuneLog log;
  log.path = path;
  log.identity = identity;
  if (auto file = MemoryBuffer::getFile(path); file && !(*file)->getBuffer().empty()) {
    auto [first, rest] = (*file)->getBuffer().split('\n');
    stale = startOver ? std::string("--force was given") : compare(first, identity);
    if (stale.empty()) {
      log.read(rest);
      // A torn last line stays on its own.
      std::error_code code;
      if (!(*file)->getBuffer().ends_with("\n"))
        raw_fd_ostream(path, code, sys::fs::OF_Append) << "\n";
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
  file << json::Value(toObject(identity)) << "\n";
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
    Expected<json::Value> value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    if (!object || !object->getString("config") || !object->getString("shape") || !object->getString("status"))
      continue;
    Measurement measurement;
    measurement.config = object->getString("config")->str();
    measurement.shape = object->getString("shape")->str();
    measurement.status = object->getString("status")->str();
    measurement.reason = object->getString("reason").value_or("").str();
    measurement.milliseconds = object->getNumber("ms").value_or(0);
    measurements.push_back(std::move(measurement));
  }
}

const Measurement *TuneLog::find(StringRef config, StringRef shape) const {
  for (const Measurement &each : reverse(measurements))
    if (each.config == config && each.shape == shape)
      return &each;
  return nullptr;
}

bool TuneLog::append(Measurement measurement, std::string &error) {
  json::Object line{{"config", measurement.config}, {"shape", measurement.shape}, {"status", measurement.status}};
  if (measurement.isTimed())
    line["ms"] = measurement.milliseconds;
  else
    line["reason"] = measurement.reason;
  std::error_code code;
  raw_fd_ostream file(path, code, sys::fs::OF_Append);
  if (code) {
    error = "cannot write '" + path + "': " + code.message();
    return false;
  }
  // One write, so that a line is there or not.
  file << formatv("{0}\n", json::Value(std::move(line))).str();
  measurements.push_back(std::move(measurement));
  return true;
}

std::vector<size_t> chooseVariants(const std::vector<std::vector<double>> &milliseconds, unsigned variants) {
  constexpr double none = std::numeric_limits<double>::infinity();
  size_t shapes = milliseconds.empty() ? 0 : milliseconds.front().size();
  std::vector<double> best(shapes, none), reached(shapes, none);
  for (const std::vector<double> &times : milliseconds)
    for (size_t s = 0; s < shapes; ++s)
      best[s] = std::min(best[s], times[s]);
  std::vector<size_t> chosen;
  while (chosen.size() < variants) {
    // Greedy: the one that helps most beside those chosen.
    std::optional<size_t> next;
    double least = 0;
    for (double time : reached)
      least += std::log(time);
    for (size_t c = 0; c < milliseconds.size(); ++c) {
      double sum = 0;
      for (size_t s = 0; s < shapes; ++s)
        sum += std::log(std::min(reached[s], milliseconds[c][s]));
      if (sum < least - 1e-9 || (chosen.empty() && !next && std::isfinite(sum))) {
        least = sum;
        next = c;
      }
    }
    if (!next)
      break;
    chosen.push_back(*next);
    for (size_t s = 0; s < shapes; ++s)
      reached[s] = std::min(reached[s], milliseconds[*next][s]);
  }
  return chosen;
}

} // namespace tile
