// `tilec tune`: what is measured, by which workers, and how it gets into the log.
#include "driver/tune/Tuner.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace tile {

std::string getReason(const ChildResult &result, double timeout) {
  if (result.end == ChildResult::End::TimedOut)
    return "no end after " + std::to_string(int(timeout)) + " s";
  StringRef found;
  SmallVector<StringRef> lines;
  StringRef(result.messages).split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains("error:") && found.empty())
      found = line.substr(line.find("error:") + 7);
  if (!found.empty())
    return found.str();
  return result.end == ChildResult::End::Crashed
             ? "it crashed (" + StringRef(result.messages).trim().str() + ")"
             : "exit code " + std::to_string(result.code);
}

//===--- Known measurements -----------------------------------------------===//

/// A configuration that does not compile has failed at every effort.
std::optional<Outcome> Tuner::outcomeOf(size_t config, size_t shape, unsigned effort) const {
  if (!usable[config])
    return Outcome{effort, true, 0};
  const Measurement *found = log->find(configs[config], shapes[shape], effort);
  return found ? std::optional(
                     Outcome{std::min(found->effort, effort), !found->isTimed(), found->mean})
               : std::nullopt;
}

/// Milliseconds; 0 where nothing has a time yet.
double Tuner::bestOf(size_t shape) const {
  double best = 0;
  for (size_t c = 0; c < configs.size(); ++c)
    if (const Measurement *found = log->findBest(configs[c], shapes[shape]);
        found && found->isTimed() && (best == 0 || found->mean < best))
      best = found->mean;
  return best;
}

/// One failure anywhere is enough: such a configuration cannot be chosen, so its other shapes are
/// not measured.
bool Tuner::hasFailed(size_t config) const {
  return any_of(shapes, [&](const std::string &shape) {
    const Measurement *found = log->findBest(configs[config], shape);
    return found && !found->isTimed();
  });
}

//===--- Workers ----------------------------------------------------------===//

bool Tuner::startWorkers() {
  if (!writeRequest(makeRequest(""), workersRequest))
    return false;
  std::vector<std::string> words = {options.executable,
                                    "tune",
                                    "--request=" + workersRequest.getPath().str(),
                                    "--serve",
                                    "--seed=" + std::to_string(options.seed),
                                    "--tolerance=" + std::to_string(options.tolerance),
                                    "--threads=" + std::to_string(options.threads),
                                    "--memory=" + std::to_string(isOnGPU() ? 0 : tune.memory)};
  for (const NameValue &argument : options.arguments)
    words.push_back("--arg=" + argument.first + "=" + argument.second);
  std::vector<std::vector<std::string>> commands;
  for (size_t i = 0; i < std::max<size_t>(1, isOnGPU() ? options.ordinals.size() : 1); ++i) {
    commands.push_back(words);
    commands.back().push_back(
        isOnGPU()
            ? "--device=cuda:" + std::to_string(options.ordinals.empty() ? 0 : options.ordinals[i])
            : "--device=cpu");
  }
  workers = std::make_unique<WorkerPool>(std::move(commands), std::max(tune.timeout, 120.0));
  return true;
}

std::vector<std::string> Tuner::referenceWords(size_t shape, StringRef request) const {
  std::vector<std::string> words = {options.executable,
                                    "run",
                                    "--request=" + request.str(),
                                    "--random=" + shapes[shape],
                                    "--seed=" + std::to_string(options.seed),
                                    "--device=cpu"};
  for (const NameValue &argument : options.arguments)
    words.push_back("--arg=" + argument.first + "=" + argument.second);
  for (const std::string &output : outputs)
    words.push_back("--out=" + output + "=" + referencePath(shape, output));
  return words;
}

/// With --check cpu: what the first configuration gives on the CPU, in files.
bool Tuner::makeReferences() {
  if (!isCheckedByFiles())
    return true;
  std::vector<size_t> missing;
  for (size_t s = 0; s < shapes.size(); ++s)
    if (any_of(outputs, [&](const std::string &output) {
          return !sys::fs::exists(referencePath(s, output));
        }))
      missing.push_back(s);
  progress.start("expected results", missing.size());
  std::string failure;
  runtime::CompileRequest request = makeRequest(configs[0]);
  request.targets = {"cpu"};
  TemporaryFile file;
  if (!writeRequest(request, file))
    return false;
  const double limit = std::max(tune.timeout, 600.0); // the CPU is slower than what it checks
  runChildren(
      missing.size(), 1, limit,
      [&](size_t i) { return referenceWords(missing[i], file.getPath()); },
      [&](size_t i, const ChildResult &result) {
        if (!result.isGood() && failure.empty())
          failure = shapes[missing[i]] + ": " + getReason(result, limit);
        progress.step(shapes[missing[i]]);
      });
  return failure.empty() || session.failData("the first configuration ('" + configs.front() +
                                             "') does not run, so there is nothing to compare "
                                             "results with; " +
                                             failure);
}

//===--- Measuring --------------------------------------------------------===//

MeasureJob Tuner::makeJob(const Trial &trial) const {
  // By effort: fewest and most batches, milliseconds that are enough. The last is a round of the
  // comparison of finalists, which has many rounds in place of one long measurement.
  constexpr TimingLimits efforts[] = {
      {3, 8, 8, 0}, {5, 30, 50, 0}, {5, 100, 300, 0}, {3, 25, 25, 0}};
  MeasureJob job;
  MeasureRequest &request = job.request;
  request.config = configs[trial.config];
  request.shape = shapes[trial.shape];
  request.reference = configs[0];
  // Results are compared when a configuration is new to the shape, and once more before it may win.
  const Measurement *before = log->findBest(request.config, request.shape);
  bool mayWin = trial.effort == fullEffort + 1 ||
                (trial.effort == fullEffort && before && before->effort < fullEffort);
  request.check = tune.check != "none" && (!before || mayWin);
  if (isOnGPU()) {
    request.image = imagePath(trial.config);
    request.referenceImage = imagePath(0);
  }
  if (isCheckedByFiles())
    for (const std::string &output : outputs)
      request.expected.emplace_back(output, referencePath(trial.shape, output));
  double best = bestOf(trial.shape);
  request.limits = efforts[std::min(trial.effort, fullEffort + 1)];
  // A candidate this many times slower than the best so far is not worth its time.
  request.limits.giveUp = trial.slack * best;
  // Of a binary that is there, only running it takes time; a limit that was asked for is the limit.
  job.timeout = tune.timeout;
  if (!tune.hasTimeout && isOnGPU() && best > 0)
    job.timeout = std::min(job.timeout, 20 + 2 * best);
  // All of a shape on one device where there are shapes enough, and always what is compared in
  // turns.
  if (shapes.size() >= workers->size() || trial.effort > fullEffort)
    job.worker = int(trial.shape);
  return job;
}

void Tuner::record(const Trial &trial, const MeasureReply &reply, double seconds,
                   std::string &error) {
  Measurement measurement;
  measurement.config = configs[trial.config];
  measurement.shape = shapes[trial.shape];
  measurement.status = reply.status;
  measurement.reason = reply.reason;
  measurement.milliseconds = reply.timing.median;
  measurement.effort = trial.effort;
  measurement.seconds = seconds;
  double best = bestOf(trial.shape);
  std::string what = shapes[trial.shape] + " " +
                     (configs[trial.config].empty() ? "defaults" : configs[trial.config]);
  if (measurement.isTimed())
    raw_string_ostream(what) << ": " << format("%.4g ms", measurement.milliseconds)
                             << (reply.status == "slow" ? ", too slow" : "")
                             << format(" (best %.4g)",
                                       best > 0 ? std::min(best, measurement.milliseconds)
                                                : measurement.milliseconds);
  else
    what += ": left out, " + measurement.reason;
  log->append(std::move(measurement), error);
  progress.step(what);
}

/// False when the budget is used up or a message was given. Trials whose result the log has are
/// skipped, so that a search that was broken off goes on where it was.
bool Tuner::measure(ArrayRef<Trial> trials) {
  std::vector<Trial> missing;
  for (const Trial &trial : trials) {
    if (usable[trial.config] &&
        !log->find(configs[trial.config], shapes[trial.shape], trial.effort))
      missing.push_back(trial);
  }
  std::string error, unprepared;
  bool cut = false;
  std::vector<Clock::time_point> begun(missing.size());
  workers->run(
      missing.size(),
      [&](size_t i) -> std::optional<MeasureJob> {
        cut |= isOverBudget();
        if (cut || !error.empty() || !unprepared.empty() || hasFailed(missing[i].config))
          return std::nullopt;
        begun[i] = Clock::now();
        return makeJob(missing[i]);
      },
      [&](size_t i, const MeasureReply &reply) {
        if (reply.status == "unprepared")
          unprepared = shapes[missing[i].shape] + ": " + reply.reason;
        else
          record(missing[i], reply, std::chrono::duration<double>(Clock::now() - begun[i]).count(),
                 error);
      });
  if (!error.empty())
    return session.failCall(error);
  if (!unprepared.empty())
    return session.failData("the first configuration ('" + configs.front() +
                            "') does not run, so there is nothing to compare results with; " +
                            unprepared);
  return !cut;
}

/// Features are numbers of values, by first occurrence, in one column for each name; shapes are
/// logarithms of extents, as a shape twice as large is as near to one half as large.
SearchSpace Tuner::describeSpace() const {
  SearchSpace result;
  std::vector<std::string> names;
  for (const TuneConfig &config : space.configs)
    for (const auto &[name, value] : config)
      if (!is_contained(names, name))
        names.push_back(name);
  std::vector<std::vector<std::string>> values(
      names.size(), {""}); // "": the configuration leaves it to the source
  for (const TuneConfig &config : space.configs) {
    std::vector<unsigned> &row = result.features.emplace_back(names.size(), 0);
    for (const auto &[name, value] : config) {
      size_t n = find(names, name) - names.begin();
      if (!is_contained(values[n], value))
        values[n].push_back(value);
      row[n] = find(values[n], value) - values[n].begin();
    }
  }
  for (const TuneShape &shape : tune.shapes) {
    std::vector<double> &row = result.shapes.emplace_back();
    for (const auto &[name, extent] : tune.shapes.front()) {
      auto same =
          find_if(shape, [&, &name = name](const auto &other) { return other.first == name; });
      row.push_back(same == shape.end() ? 0 : std::log(double(std::max<int64_t>(same->second, 1))));
    }
  }
  for (size_t c = 0; c < configs.size(); ++c)
    if (usable[c] && (c % tune.shards == tune.shard || c == 0))
      result.configs.push_back(c);
  result.estimates = estimates;
  return result;
}

bool Tuner::search() {
  if (!usable[0])
    return session.failData("the first configuration ('" + configs.front() +
                            "') does not compile, so there is nothing to compare results with");
  if (!startWorkers())
    return false;
  SearchSpace described = describeSpace();
  SearchOptions chosen;
  chosen.variants = tune.variants;
  chosen.lanes = unsigned(workers->size());
  chosen.seed = options.seed;
  constexpr size_t few = 8;
  auto measureThem = [&](ArrayRef<Trial> trials) { return measure(trials); };
  auto findThem = [&](size_t config, size_t shape, unsigned effort) {
    return outcomeOf(config, shape, effort);
  };
  Search search(described, chosen, measureThem, findThem);
  bool exhaustive = tune.exhaustive || described.configs.size() <= few;
  size_t missing = 0;
  if (exhaustive) {
    for (size_t config : described.configs)
      for (size_t shape = 0; shape < shapes.size(); ++shape)
        missing += !outcomeOf(config, shape, fullEffort);
    size_t compared = llvm::count_if(
        log->getMeasurements(), [](const Measurement &each) { return each.effort > fullEffort; });
    // For the progress alone: how many steps are still to come.
    missing += search.countComparisons() - std::min(compared, search.countComparisons());
  } else {
    missing = search.countTrials();
  }
  progress.start("measuring", missing);
  bool good = exhaustive ? search.runExhaustive() : search.run();
  progress.finish();
  workers.reset();
  return good || session.getExitCode() == exitDone; // over the budget
}

} // namespace tile
