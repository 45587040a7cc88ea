// `tilec tune`: measures the configurations of a kernel and keeps the best. docs/Tuning.md says how it searches.
#include "driver/Tune.h"
#include "codegen/Assemble.h"
#include "driver/Child.h"
#include "driver/Compile.h"
#include "driver/RunCuda.h"
#include "driver/Version.h"
#include "frontend/Sema/Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <cmath>
#include <limits>

using namespace llvm;

namespace tile {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// One line on a terminal that is written over; elsewhere a line for each step.
class Progress {
public:
  Progress() : terminal(sys::Process::StandardErrIsDisplayed()), begin(Clock::now()) {}

  void start(StringRef newName, size_t newTotal) {
    name = newName.str();
    total = newTotal;
    done = 0;
    begin = Clock::now();
  }
  void step(const Twine &what) {
    ++done;
    double left = secondsSince(begin) / done * (total > done ? total - done : 0);
    errs() << (terminal ? "\r\033[K" : "") << name << " " << done << "/" << total << ", " << format("%.0f", left) << " s left: " << what
           << (terminal && done < total ? "" : "\n");
    errs().flush();
  }

private:
  bool terminal;
  std::string name;
  size_t total = 0, done = 0;
  Clock::time_point begin;
};

class Tuner {
public:
  Tuner(Options &options, Session &session) : options(options), tune(options.tune), session(session) {}

  bool run();

private:
  bool readSpace();
  bool openLog();
  bool compile();
  bool makeReferences();
  bool search();
  bool writeResult();

  std::vector<std::string> commonWords(StringRef config) const;
  std::vector<std::string> measureWords(size_t config, size_t shape, bool reference, double giveUp) const;
  std::string imagePath(size_t config) const;
  std::string referencePath(size_t shape, StringRef output) const;
  std::string workPath(const Twine &name) const;
  /// Measures what `wanted` lists and the log does not have; false after an error that ends the search.
  bool measureAll(StringRef name, ArrayRef<std::pair<size_t, size_t>> wanted);
  double timeOf(size_t config, size_t shape) const;
  double bestOf(size_t shape) const;
  /// True if the configuration gave no time at some shape: it cannot be chosen, and may take long to fail again.
  bool hasFailed(size_t config) const {
    return any_of(log->getMeasurements(), [&](const Measurement &each) { return each.config == configs[config] && !each.isTimed(); });
  }
  bool isOverBudget() const { return tune.budget > 0 && secondsSince(begin) > tune.budget; }
  std::vector<size_t> rank(std::vector<size_t> configs, ArrayRef<size_t> shapes) const;

  Options &options;
  const TuneOptions &tune;
  Session &session;
  Clock::time_point begin = Clock::now();
  Progress progress;
  std::string kernel, source, device;
  std::vector<std::string> outputs; ///< names of the tensors that the kernel writes
  TuneSpace space;
  std::vector<std::string> configs, shapes; ///< as text
  std::vector<bool> usable;                 ///< compiled
  std::optional<TuneLog> log;
};

/// The last line that says what went wrong.
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
  return result.end == ChildResult::End::Crashed ? "it crashed (" + StringRef(result.messages).trim().str() + ")"
                                                 : "exit code " + std::to_string(result.code);
}

std::string Tuner::workPath(const Twine &name) const {
  SmallString<128> path(tune.directory);
  sys::path::append(path, name);
  return path.str().str();
}

std::string Tuner::imagePath(size_t config) const {
  std::string identity = source + '\0' + configs[config] + '\0' + options.target + '\0' + getCompilerVersion();
  return workPath(utohexstr(xxh3_64bits(identity), /*LowerCase=*/true) + (hasAssembler(options.ptxasPath, options.executable) ? ".cubin" : ".ptx"));
}

std::string Tuner::referencePath(size_t shape, StringRef output) const {
  return workPath("expected-" + utohexstr(xxh3_64bits(source + shapes[shape] + std::to_string(options.seed)), /*LowerCase=*/true) + "-" +
                  output + ".npy");
}

//===--- Before measuring ------------------------------------------------------------------------------------------===//

bool Tuner::readSpace() {
  Compiler compiler(options, session, options.inputs.front());
  if (!compiler.parse())
    return false;
  std::vector<const ast::KernelDecl *> kernels;
  for (const ast::DeclPtr &decl : compiler.getProgram()->decls)
    if (auto *each = dyn_cast<ast::KernelDecl>(decl.get()); each && (options.kernel.empty() || options.kernel == each->name.text))
      kernels.push_back(each);
  if (kernels.size() != 1)
    return session.failCall(kernels.empty() ? "the file has no such kernel: choose one with --kernel NAME"
                                            : "the file has several kernels: choose one with --kernel NAME");
  kernel = kernels.front()->name.text;
  options.kernel = kernel;
  for (const ast::Param &param : kernels.front()->params)
    if (param.access == ast::Access::out || param.access == ast::Access::inout)
      outputs.push_back(param.name.text);
  ElaborateOptions request;
  request.defines.assign(options.defines.begin(), options.defines.end());
  request.target = options.target;
  mlir::MLIRContext context;
  std::optional<TuneSpace> read = readTuneSpace(*compiler.getProgram(), *kernels.front(), request, session.getDiagnostics(), context);
  if (!read)
    return false;
  space = std::move(*read);
  if (space.configs.size() < 2)
    return session.failCall("kernel '" + kernel + "' has nothing to choose: give it a `tune` clause with sets, as in " +
                            "tune { BLOCK in {512, 1024, 2048}; warps in {4, 8}; }");
  source = hashTuned(compiler.getSource(), kernel, options.defines);
  for (const TuneConfig &config : space.configs)
    configs.push_back(toText(config));
  for (const TuneShape &shape : tune.shapes)
    shapes.push_back(toText(shape));
  usable.assign(configs.size(), true);
  return true;
}

bool Tuner::openLog() {
  std::vector<NameValue> identity = {{"kernel", kernel}, {"source", source}, {"compiler", getCompilerVersion()},
                                     {"target", options.target}, {"device", options.device}};
  std::string stale, error, name = tune.shards > 1 ? ("log-" + Twine(tune.shard) + "-of-" + Twine(tune.shards) + ".jsonl").str() : "log.jsonl";
  log = TuneLog::open(workPath(name), identity, tune.force, stale, error);
  if (!log)
    return session.failCall(error);
  if (!stale.empty())
    errs() << "tilec: note: the log is set aside as " << name << ".stale: " << stale << "\n";
  for (const std::string &other : tune.logs)
    if (!log->merge(other, error))
      return session.failCall(error);
  return true;
}

std::vector<std::string> Tuner::commonWords(StringRef config) const {
  std::vector<std::string> words = {options.inputs.front(), "--kernel=" + kernel, "-O" + std::to_string(options.level)};
  for (const NameValue &define : options.defines)
    words.push_back("-D" + define.first + "=" + define.second);
  for (const std::string &folder : options.includes)
    words.push_back("-I" + folder);
  if (!config.empty())
    words.push_back(("--config=" + config).str());
  for (const NameValue &attribute : options.attributes)
    words.push_back("--with=" + attribute.first + "=" + attribute.second);
  if (!options.ptxasPath.empty())
    words.push_back("--ptxas-path=" + options.ptxasPath);
  return words;
}

/// Compiles for the GPU ahead, several at a time; on the CPU each run compiles for itself.
bool Tuner::compile() {
  if (options.device != "cuda")
    return !tune.precompile || session.failCall("--precompile is for a GPU: name it by --target");
  std::vector<size_t> missing;
  for (size_t i = 0; i < configs.size(); ++i)
    if (i % tune.shards == tune.shard && !sys::fs::exists(imagePath(i)))
      missing.push_back(i);
  progress.start("compiling", missing.size());
  runChildren(
      missing.size(), tune.jobs, tune.timeout,
      [&](size_t i) {
        std::vector<std::string> words = {options.executable}, common = commonWords(configs[missing[i]]);
        words.insert(words.end(), common.begin(), common.end());
        // Written under another name first: what is there is whole.
        std::string part = imagePath(missing[i]);
        part.insert(part.rfind('.'), ".part");
        words.insert(words.end(), {"--target=" + options.target, "-o", part});
        return words;
      },
      [&](size_t i, const ChildResult &result) {
        std::string path = imagePath(missing[i]), part = path;
        part.insert(part.rfind('.'), ".part");
        usable[missing[i]] = result.isGood() && !sys::fs::rename(part + ".json", path + ".json") && !sys::fs::rename(part, path);
        progress.step((configs[missing[i]].empty() ? "defaults" : configs[missing[i]]) + (usable[missing[i]] ? "" : ": left out, " + getReason(result, tune.timeout)));
      });
  return true;
}

//===--- Measuring -------------------------------------------------------------------------------------------------===//

std::vector<std::string> Tuner::measureWords(size_t config, size_t shape, bool reference, double giveUp) const {
  std::vector<std::string> words = {options.executable, "run"}, common = commonWords(configs[config]);
  words.insert(words.end(), common.begin(), common.end());
  words.insert(words.end(), {"--random=" + shapes[shape], "--seed=" + std::to_string(options.seed)});
  for (const NameValue &argument : options.arguments)
    words.push_back("--arg=" + argument.first + "=" + argument.second);
  bool onHost = options.device != "cuda" || (reference && tune.check == "cpu");
  words.push_back(onHost ? "--device=cpu" : "--device=cuda");
  if (!onHost)
    words.insert(words.end(), {"--target=" + options.target, "--image=" + imagePath(config)});
  for (const std::string &output : outputs)
    if (reference)
      words.push_back("--out=" + output + "=" + referencePath(shape, output));
    else if (tune.check != "none")
      words.push_back("--expect=" + output + "=" + referencePath(shape, output));
  if (!reference) {
    words.push_back("--tolerance=" + std::to_string(options.tolerance));
    words.push_back("--measure=" + workPath("measured.json"));
    if (giveUp > 0)
      words.push_back("--give-up=" + std::to_string(giveUp));
  }
  return words;
}

/// What every candidate's outputs are compared with: those of the first configuration, or of the CPU.
bool Tuner::makeReferences() {
  if (tune.check == "none")
    return true;
  std::vector<size_t> missing;
  for (size_t s = 0; s < shapes.size(); ++s)
    if (any_of(outputs, [&](const std::string &output) { return !sys::fs::exists(referencePath(s, output)); }))
      missing.push_back(s);
  progress.start("expected results", missing.size());
  std::string failure;
  runChildren(
      missing.size(), 1, std::max(tune.timeout, 600.0), [&](size_t i) { return measureWords(0, missing[i], /*reference=*/true, 0); },
      [&](size_t i, const ChildResult &result) {
        if (!result.isGood() && failure.empty())
          failure = shapes[missing[i]] + ": " + getReason(result, tune.timeout);
        progress.step(shapes[missing[i]]);
      });
  return failure.empty() || session.failData("the first configuration ('" + configs.front() + "') does not run, so there is nothing to compare "
                                             "results with; " + failure);
}

bool Tuner::measureAll(StringRef name, ArrayRef<std::pair<size_t, size_t>> wanted) {
  std::vector<std::pair<size_t, size_t>> missing;
  for (const auto &[config, shape] : wanted)
    if (usable[config] && !log->find(configs[config], shapes[shape]))
      missing.push_back({config, shape});
  progress.start(name, missing.size());
  std::string error;
  // One at a time: two kernels on one device would disturb each other.
  runChildren(
      missing.size(), 1, tune.timeout,
      [&](size_t i) {
        if (isOverBudget() || !error.empty() || hasFailed(missing[i].first))
          return std::vector<std::string>();
        sys::fs::remove(workPath("measured.json"));
        auto [config, shape] = missing[i];
        return measureWords(config, shape, /*reference=*/false, 3 * bestOf(shape));
      },
      [&](size_t i, const ChildResult &result) {
        auto [config, shape] = missing[i];
        Measurement measurement;
        measurement.config = configs[config];
        measurement.shape = shapes[shape];
        auto file = MemoryBuffer::getFile(workPath("measured.json"));
        std::optional<double> time;
        bool slow = false;
        if (result.isGood() && file) {
          if (Expected<json::Value> record = json::parse((*file)->getBuffer())) {
            time = record->getAsObject() ? record->getAsObject()->getNumber("ms") : std::nullopt;
            slow = record->getAsObject() && record->getAsObject()->getBoolean("slow").value_or(false);
          } else {
            consumeError(record.takeError());
          }
        }
        if (time) {
          measurement.status = slow ? "slow" : "ok";
          measurement.milliseconds = *time;
        } else {
          measurement.reason = getReason(result, tune.timeout);
          measurement.status = result.end == ChildResult::End::TimedOut ? "timeout" : StringRef(measurement.reason).contains(" differs from ") ? "wrong" : "failed";
        }
        std::string what = shapes[shape] + " " + (configs[config].empty() ? "defaults" : configs[config]);
        raw_string_ostream(what) << (time ? ": " : ": left out, ");
        if (time)
          raw_string_ostream(what) << format("%.4g ms", *time) << format(" (best %.4g)", std::min(bestOf(shape) > 0 ? bestOf(shape) : *time, *time));
        else
          what += measurement.reason;
        log->append(std::move(measurement), error);
        progress.step(what);
      });
  return error.empty() || session.failCall(error);
}

double Tuner::timeOf(size_t config, size_t shape) const {
  const Measurement *found = log->find(configs[config], shapes[shape]);
  return found && found->isTimed() ? found->milliseconds : std::numeric_limits<double>::infinity();
}

/// The best time so far at a shape; 0 if there is none.
double Tuner::bestOf(size_t shape) const {
  double best = std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < configs.size(); ++c)
    best = std::min(best, timeOf(c, shape));
  return std::isfinite(best) ? best : 0;
}

/// Configurations from the best to the worst by the geometric mean over `over`; those that failed are left out.
std::vector<size_t> Tuner::rank(std::vector<size_t> candidates, ArrayRef<size_t> over) const {
  std::vector<std::pair<double, size_t>> scores;
  for (size_t config : candidates) {
    double sum = 0;
    for (size_t shape : over)
      sum += std::log(timeOf(config, shape));
    if (std::isfinite(sum))
      scores.push_back({sum, config});
  }
  sort(scores);
  std::vector<size_t> result;
  for (const auto &[score, config] : scores)
    result.push_back(config);
  return result;
}

/// Successive halving: all configurations at one shape, the better third at some more, and so on; the rest never see most
/// shapes. With --exhaustive, or where there are few, everything at every shape.
bool Tuner::search() {
  std::vector<size_t> alive, seen;
  for (size_t c = 0; c < configs.size(); ++c)
    if (c % tune.shards == tune.shard || c == 0)
      alive.push_back(c);
  std::vector<size_t> order; // from the middle outwards: the middle says most about the others
  for (size_t i = 0; i < shapes.size(); ++i)
    order.push_back((shapes.size() / 2 + (i % 2 ? shapes.size() - (i + 1) / 2 : i / 2)) % shapes.size());
  constexpr size_t few = 8, least = 3;
  bool halving = !tune.exhaustive && alive.size() > few;
  for (size_t round = 0; seen.size() < shapes.size(); ++round) {
    size_t more = halving ? std::max<size_t>(1, seen.size()) : shapes.size();
    for (size_t i = 0; i < more && seen.size() < shapes.size(); ++i)
      seen.push_back(order[seen.size()]);
    std::vector<std::pair<size_t, size_t>> wanted;
    for (size_t config : alive)
      for (size_t shape : seen)
        wanted.push_back({config, shape});
    if (!measureAll(halving ? ("round " + Twine(round + 1)).str() : "measuring", wanted))
      return false;
    if (isOverBudget())
      break;
    std::vector<size_t> ranked = rank(alive, seen);
    if (halving && seen.size() < shapes.size())
      ranked.resize(std::min(ranked.size(), std::max<size_t>(std::max<size_t>(least, tune.variants), (alive.size() + 2) / 3)));
    alive = std::move(ranked);
  }
  return true;
}

//===--- The result ------------------------------------------------------------------------------------------------===//

bool Tuner::writeResult() {
  std::vector<std::vector<double>> times;
  for (size_t c = 0; c < configs.size(); ++c) {
    times.emplace_back();
    for (size_t s = 0; s < shapes.size(); ++s)
      times.back().push_back(timeOf(c, s));
  }
  std::vector<size_t> chosen = chooseVariants(times, tune.variants);
  if (chosen.empty())
    return session.failData("no configuration was measured at every shape" + Twine(isOverBudget() ? ": the budget is too small" : "; the log says why: ") +
                            (isOverBudget() ? "" : workPath("log.jsonl")));
  TuneResult result;
  result.kernel = kernel;
  result.target = options.target;
  result.compiler = getCompilerVersion();
  result.source = source;
  result.best = space.configs[chosen.front()];
  for (size_t s = 0; s < shapes.size(); ++s) {
    size_t best = chosen.front();
    for (size_t c : chosen)
      if (times[c][s] < times[best][s])
        best = c;
    result.entries.push_back({tune.shapes[s], space.configs[best], times[best][s]});
    outs() << shapes[s] << ": " << format("%.4g ms", times[best][s]) << ", "
           << (configs[best].empty() ? std::string("the defaults") : configs[best]);
    if (std::isfinite(times[0][s]))
      outs() << format(" (%.2f of the time without tuning)", times[best][s] / times[0][s]);
    outs() << "\n";
  }
  size_t failed = 0;
  for (const Measurement &each : log->getMeasurements())
    failed += !each.isTimed();
  outs() << configs.size() << " configurations of " << space.combinations << " combinations, " << log->getMeasurements().size() << " measurements, "
         << failed << " left out, " << format("%.0f s", secondsSince(begin)) << "\n";
  if (options.output.empty())
    return true;
  std::error_code code;
  raw_fd_ostream file(options.output, code);
  if (code)
    return session.failCall("cannot write '" + options.output + "': " + code.message());
  file << toJson(result);
  return true;
}

bool Tuner::run() {
  if (options.device == "cuda" && options.target.empty() && !chooseCudaTarget(options, session))
    return false;
  if (!readSpace())
    return false;
  if (tune.directory.empty()) {
    SmallString<128> path(options.inputs.front());
    sys::path::replace_extension(path, "tune");
    options.tune.directory = path.str().str();
  }
  if (std::error_code code = sys::fs::create_directories(tune.directory))
    return session.failCall("cannot make '" + tune.directory + "': " + code.message());
  if (!tune.logs.empty())
    return openLog() && writeResult();
  if (!compile())
    return false;
  return tune.precompile || (openLog() && makeReferences() && search() && writeResult());
}

} // namespace

int tuneKernel(Options &options, Session &session) {
  bool good = Tuner(options, session).run();
  if (!good && session.getExitCode() == exitDone)
    session.failInternal("a step failed without a message");
  return session.getExitCode();
}

} // namespace tile
