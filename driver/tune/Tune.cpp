// `tilec tune`: measures the configurations of a kernel and keeps the best. docs/Tuning.md says how
// it searches.
#include "driver/tune/Tune.h"
#include "codegen/Assemble.h"
#include "driver/compile/Compile.h"
#include "driver/run/RunCuda.h"
#include "driver/search/TuneEstimate.h"
#include "driver/support/Output.h"
#include "driver/support/Version.h"
#include "driver/tune/SourceTexts.h"
#include "driver/tune/TuneReport.h"
#include "driver/tune/Tuner.h"
#include "frontend/Sema/Words.h"
#include "launch/CudaDriver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <limits>
#include <map>

using namespace llvm;

namespace tile {

std::string Tuner::workPath(const Twine &name) const {
  SmallString<128> path(tune.directory);
  sys::path::append(path, name);
  return path.str().str();
}

/// Named by the hash of everything that decides the binary, so that a folder may serve several
/// searches, and a binary that is there need not be compiled again. The assembler's path is left
/// out: the image is the same wherever it lies.
std::string Tuner::imagePath(size_t config) const {
  runtime::CompileRequest request = makeRequest(configs[config]);
  request.inputs.clear(); // `allSources` stands for them
  request.ptxasPath.clear();
  std::string asked, ignored; // a text that is no UTF-8 is reported where it is handed over
  runtime::toJson(request, asked, ignored);
  std::string identity = allSources + '\0' + asked + '\0' + getCompilerVersion();
  std::string path = workPath(utohexstr(xxh3_64bits(identity), /*LowerCase=*/true));
  // A machine without an assembler takes what one that has it made ahead.
  bool isCubin =
      hasAssembler(options.ptxasPath, options.executable) || sys::fs::exists(path + ".cubin");
  return path + (isCubin ? ".cubin" : ".ptx");
}

std::string Tuner::referencePath(size_t shape, StringRef output) const {
  std::string texts = allSources + shapes[shape] + std::to_string(options.seed);
  for (const NameValue &argument : options.arguments) {
    texts += '\0' + argument.first + "=" + argument.second;
    sys::fs::file_status status; // of a file; a number has none
    if (!sys::fs::status(argument.second, status))
      texts += ":" + std::to_string(status.getSize()) + ":" +
               std::to_string(status.getLastModificationTime().time_since_epoch().count());
  }
  return workPath("expected-" + utohexstr(xxh3_64bits(texts), /*LowerCase=*/true) + "-" + output +
                  ".npy");
}

//===--- The search space -------------------------------------------------===//

bool Tuner::readSpace() {
  Compiler compiler(options, session, options.inputs.front());
  if (!compiler.parse())
    return false;
  std::vector<const ast::KernelDecl *> kernels;
  for (const ast::DeclPtr &decl : compiler.getProgram()->decls)
    if (auto *each = dyn_cast<ast::KernelDecl>(decl.get());
        each && (options.kernel.empty() || options.kernel == each->name.text))
      kernels.push_back(each);
  if (kernels.size() != 1)
    return session.failCall(kernels.empty()
                                ? "the file has no such kernel: choose one with --kernel NAME"
                                : "the file has several kernels: choose one with --kernel NAME");
  kernel = kernels.front()->name.text;
  options.kernel = kernel;
  for (const ast::Param &param : kernels.front()->params)
    if (param.access == ast::Access::out || param.access == ast::Access::inout)
      outputs.push_back(param.name.text);
  ElaborateOptions request;
  request.attributes.assign(options.attributes.begin(), options.attributes.end());
  request.defines.assign(options.defines.begin(), options.defines.end());
  request.target = options.target;
  mlir::MLIRContext context;
  std::optional<TuneSpace> read = readTuneSpace(*compiler.getProgram(), *kernels.front(), request,
                                                session.getDiagnostics(), context);
  if (!read)
    return false;
  // The first configuration is the default, which the others are compared with: it is configs[0]
  // from here to the end, and must be left in its place.
  space = std::move(*read);
  // Where the source alone decides, one of the combinations may be what a build uses anyway. (For a
  // GPU without a `config` the cost model decides.)
  if (space.likeFirst && (!isOnGPU() || !space.configs.front().empty())) {
    space.configs.front() = space.configs[*space.likeFirst];
    space.configs.erase(space.configs.begin() + *space.likeFirst);
  }
  if (space.configs.size() < 2)
    return session.failCall("kernel '" + kernel +
                            "' has nothing to choose: give it a `tune` clause with sets, as in " +
                            "tune { BLOCK in {512, 1024, 2048}; warps in {4, 8}; }");
  if (!keepListed())
    return false;
  source = hashTuned(collectTexts(*compiler.getProgram(), session.getSources()), kernel,
                     options.defines);
  std::string texts = source; // with what it imports, and what else decides what is compiled
  for (const NameValue &attribute : options.attributes)
    texts += attribute.first + "=" + attribute.second + '\0';
  for (size_t i = 0; i < session.getSources().size(); ++i)
    texts += session.getSources().text(FileID(i)).str() + '\0';
  allSources = utohexstr(xxh3_64bits(texts), /*LowerCase=*/true);
  for (const TuneConfig &config : space.configs)
    configs.push_back(toText(config));
  for (const TuneShape &shape : tune.shapes)
    shapes.push_back(toText(shape));
  usable.assign(configs.size(), true);
  if (isOnGPU() && !tune.precompile && tune.logs.empty())
    estimates = estimateSpace(*compiler.getProgram(), *kernels.front(), request, space.configs,
                              tune.shapes, session.getSources());
  return true;
}

/// The values of every name of the space, for messages: "BM is 64 or 128; warps is 4".
std::string Tuner::describeValues() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> names;
  for (const TuneConfig &config : space.configs)
    for (const auto &[name, value] : config) {
      auto known =
          find_if(names, [&, &name = name](const auto &each) { return each.first == name; });
      if (known == names.end())
        known = names.insert(known, {name, {}});
      if (!is_contained(known->second, value))
        known->second.push_back(value);
    }
  std::string text;
  for (auto &[name, values] : names) {
    constexpr size_t most = 12;
    if (values.size() > most) {
      values.resize(most);
      values.push_back("another");
    }
    text += (text.empty() ? "" : "; ") + name + " is " + joinWords(values, "or");
  }
  return text;
}

/// Leaves out what no --config fits, but for the first configuration: what it computes is what
/// others are compared with.
bool Tuner::keepListed() {
  std::vector<TuneConfig> list;
  if (!readConfigList(tune.configs, session, list))
    return false;
  if (list.empty())
    return true;
  for (const TuneConfig &wanted : list)
    if (none_of(space.configs, [&](const TuneConfig &config) { return fits(config, wanted); }))
      return session.failCall("--config " + toText(wanted) +
                              ": no configuration of the `tune` clause of kernel '" + kernel +
                              "' has these values; " + describeValues());
  auto isUnlisted = [&](const TuneConfig &config) {
    return none_of(list, [&](const TuneConfig &wanted) { return fits(config, wanted); });
  };
  space.configs.erase(std::remove_if(space.configs.begin() + 1, space.configs.end(), isUnlisted),
                      space.configs.end());
  return true;
}

/// All GPUs of the target, unless --device names some; and what they are called.
/// Times of different GPUs cannot be compared, so one search has GPUs of one name only.
bool Tuner::chooseDevices() {
  deviceName = options.device;
  if (!isOnGPU() || tune.precompile)
    return true;
  runtime::Error error;
  const runtime::CudaDriver *driver = runtime::CudaDriver::get(error);
  if (!driver) // logs can be put together anywhere
    return !tune.logs.empty() || session.failCall(error.message);
  int count = 0;
  if ((error = driver->check(driver->deviceGetCount(&count), "asking for the devices")))
    return session.failCall(error.message);
  auto nameOf = [&](unsigned ordinal) {
    char name[256] = "";
    runtime::CUdevice device;
    bool good = !driver->deviceGet(&device, int(ordinal)) &&
                !driver->deviceGetName(name, sizeof name, device);
    return std::string(good ? name : "");
  };
  bool all = options.ordinals.empty();
  for (unsigned i = 0; all && i < unsigned(count); ++i)
    if (nameOf(i) == nameOf(0))
      options.ordinals.push_back(i);
  for (unsigned ordinal : options.ordinals)
    if (ordinal >= unsigned(count) || nameOf(ordinal) != nameOf(options.ordinals.front()))
      return session.failCall(
          "there are " + Twine(count) + " devices, and those of one search must be alike: 'cuda:" +
          Twine(ordinal) + "' is not like '" + nameOf(options.ordinals.front()) + "'");
  deviceName = nameOf(options.ordinals.front());
  return true;
}

/// The identity is all that a measurement depends on but its configuration and shape. With --shard
/// each part has a log of its own; they are put together by --merge.
bool Tuner::openLog() {
  std::vector<NameValue> identity = {{"kernel", kernel},
                                     {"source", allSources},
                                     {"compiler", getCompilerVersion()},
                                     {"target", options.target}};
  // Without a GPU, logs are put together that were made on one.
  if (!isOnGPU() || deviceName != "cuda")
    identity.emplace_back("device", deviceName);
  std::string stale, error,
      name = tune.shards > 1
                 ? ("log-" + Twine(tune.shard) + "-of-" + Twine(tune.shards) + ".jsonl").str()
                 : "log.jsonl";
  log = tune.logs.empty() ? TuneLog::open(workPath(name), identity, tune.force, stale, error)
                          : TuneLog::inMemory(identity);
  if (!log)
    return session.failCall(error);
  if (!stale.empty())
    errs() << "tilec: note: the log is set aside as " << name << ".stale: " << stale << "\n";
  for (const std::string &other : tune.logs)
    if (!log->merge(other, error))
      return session.failCall(error);
  return true;
}

/// What a candidate is compiled from; its messages are read here, not by the user.
runtime::CompileRequest Tuner::makeRequest(StringRef config) const {
  runtime::CompileRequest request = tile::makeRequest(options);
  request.kernel = kernel;
  request.config = config.str();
  request.targets = {options.target};
  request.output.clear();
  request.warnings.clear();
  request.remarks = request.passReport = false;
  request.remarksRegex.clear();
  request.diagnosticsFormat = "text";
  return request;
}

/// Puts a request where other processes read it.
bool Tuner::writeRequest(const runtime::CompileRequest &request, TemporaryFile &file) {
  std::string text, error;
  if (!runtime::toJson(request, text, error))
    return session.failCall("a request is JSON, but " + error + "; rename what it names");
  if (Error problem = file.create("tilec-request", "json", text))
    return session.failCall(toString(std::move(problem)));
  return true;
}

/// Compiles for the GPU ahead, several at a time; on the CPU each worker compiles for itself.
bool Tuner::compile() {
  if (!isOnGPU())
    return !tune.precompile || session.failCall("--precompile is for a GPU: name it by --target");
  std::vector<size_t> missing;
  for (size_t i = 0; i < configs.size(); ++i)
    // Each part needs the first configuration as well, for its results.
    if ((i % tune.shards == tune.shard || i == 0) && !sys::fs::exists(imagePath(i)))
      missing.push_back(i);
  progress.start("compiling", missing.size());
  // Written under a name of this process first: what is there is whole, however many compile it.
  auto partPath = [&](size_t config) {
    std::string path = imagePath(config);
    return path.insert(path.rfind('.'), ".part-" + std::to_string(sys::Process::getProcessId()));
  };
  std::map<size_t, TemporaryFile> requests;
  bool isGood = true;
  runChildren(
      missing.size(), tune.jobs, tune.timeout,
      [&](size_t i) -> std::vector<std::string> {
        runtime::CompileRequest request = makeRequest(configs[missing[i]]);
        request.output = partPath(missing[i]);
        isGood = isGood && writeRequest(request, requests[i]);
        if (!isGood)
          return {};
        // "off" is said, too: a child reads the environment itself.
        std::string cache = options.cacheFolder.empty() ? "off" : options.cacheFolder;
        return {options.executable, "--request=" + requests[i].getPath().str(), "--cache=" + cache};
      },
      [&](size_t i, const ChildResult &result) {
        requests.erase(i);
        std::string path = imagePath(missing[i]), part = partPath(missing[i]);
        // The manifest first: a binary that is there has its manifest.
        usable[missing[i]] = result.isGood() && !sys::fs::rename(part + ".json", path + ".json") &&
                             !sys::fs::rename(part, path);
        progress.step((configs[missing[i]].empty() ? "defaults" : configs[missing[i]]) +
                      (usable[missing[i]] ? "" : ": left out, " + getReason(result, tune.timeout)));
      });
  return isGood;
}

//===--- The result -------------------------------------------------------===//

bool Tuner::writeResult() {
  std::vector<std::vector<double>> times = readTimes(*log, configs, shapes);
  std::vector<size_t> chosen = chooseVariants(times, tune.variants, tune.objective == "worst");
  std::vector<OutputFile> files;
  if (!tune.csv.empty())
    files.push_back({tune.csv, toCsv(*log)});
  if (!tune.plot.empty())
    files.push_back({tune.plot, toSvg(*log, kernel + " on " + deviceName)});
  if (chosen.empty() && !writeFiles(files, session))
    return false;
  if (chosen.empty())
    return session.failData(
        "no configuration was measured at every shape" +
        Twine(isOverBudget() ? ": the budget is too small" : "; the log says why: ") +
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
    TuneEntry &entry = result.entries.emplace_back();
    entry.shape = tune.shapes[s];
    entry.config = space.configs[best];
    entry.milliseconds = times[best][s];
    for (size_t c : chosen)
      if (c != best && std::isfinite(times[c][s]))
        entry.others.emplace_back(space.configs[c], times[c][s]);
    outs() << shapes[s] << ": " << format("%.4g ms", times[best][s]) << ", "
           << (configs[best].empty() ? std::string("the defaults") : configs[best]);
    if (const Measurement *first = log->findBest(configs[0], shapes[s]); first && first->isTimed())
      outs() << format(" (%.2f of the time without tuning)", times[best][s] / first->mean);
    outs() << "\n";
  }
  size_t failed = 0;
  for (const Measurement &each : log->getMeasurements())
    failed += !each.isTimed();
  outs() << configs.size() << " configurations of ";
  if (space.combinations)
    outs() << space.combinations << " combinations" << (space.blocks ? " and " : "");
  if (space.blocks)
    outs() << space.blocks << " `config` block" << (space.blocks == 1 ? "" : "s");
  outs() << ", " << log->getMeasurements().size() << " measurements, " << failed << " left out, "
         << format("%.0f s", secondsSinceStart()) << "\n";
  if (!options.output.empty())
    files.push_back({options.output, toJson(result)});
  return writeFiles(files, session);
}

/// Phases, each ended by a message if it fails: the search space, devices, binaries, the log,
/// expected results, measuring, the result. --precompile ends after the binaries; logs of other
/// machines go straight to the result.
bool Tuner::run() {
  if (isOnGPU() && options.target.empty() && !chooseCudaTarget(options, session))
    return false;
  if (!readSpace() || !chooseDevices())
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

int tuneKernel(Options &options, Session &session) {
  if (options.tune.serve)
    return serveMeasurements(options, session);
  bool good = Tuner(options, session).run();
  if (!good && session.getExitCode() == exitDone)
    session.failInternal("a step failed without a message");
  return session.getExitCode();
}

} // namespace tile
