// A worker of `tilec tune`: holds a device and the data of some shapes, and measures one candidate
// after another. What a candidate does wrong may end this process; the search starts another.
//
//   search: {"config": .., "shape": .., "image": .., "check": true, ..}
//   worker:     {"status": "prepared"}            data is there: the candidate's time limit begins
//   worker:     {"status": "ok", "ms": .., ..}
//
//   ok, slow      timed; slow: its first run took longer than give_up, so it was not repeated
//   wrong         it ran, and gave other results, or wrote beside its tensors
//   failed        it was not compiled, loaded or launched; `reason` is the first error
//   unprepared    the data or the reference failed, which no candidate is to blame for
#include "driver/measure/Measure.h"
#include "driver/run/Compare.h"
#include "driver/run/CudaDevice.h"
#include "driver/run/Run.h"
#include "driver/run/RunCuda.h"
#include "driver/tune/TuneConfig.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace llvm;

namespace tile {

namespace {

/// A session whose messages are kept: what went wrong becomes a reply's reason.
struct Attempt {
  explicit Attempt(const Options &from) : options(from), session(options, stream) {}
  std::string getReason() const {
    for (const Diagnostic &each : session.getDiagnostics().all())
      if (each.severity == Severity::error)
        return each.message + (*each.code() ? " [" + std::string(each.code()) + "]" : "");
    return "a step failed without a message";
  }
  Options options;
  std::string messages;
  raw_string_ostream stream{messages};
  mutable Session session;
};

/// The arguments of one shape, where they are run on, and the results expected.
struct ShapeData {
  ShapeData(const Options &options, RandomCache &cache)
      : attempt(options), arguments(attempt.options, attempt.session, &cache) {}
  Attempt attempt; ///< its options have the shape's extents
  RunArguments arguments;
  runtime::Manifest manifest; ///< of the reference: the arguments refer to its last kernel
  std::unique_ptr<CudaArguments> onDevice;
  // On the CPU a candidate writes into the host's buffers, which are set back to `initial`; on a
  // GPU CudaArguments keeps copies, and `initial` is empty.
  std::vector<std::vector<char>> initial, expected; ///< by parameter; of outputs
  std::optional<std::string> expectedFrom; ///< a configuration or files, once `expected` has them
  size_t bytes = 0;
};

class Worker {
public:
  Worker(const Options &options, const runtime::CudaDriver *driver)
      : options(options), driver(driver) {}

  MeasureReply answer(const MeasureRequest &request, function_ref<void()> prepared);

private:
  ShapeData *prepare(const MeasureRequest &request, std::string &reason);
  bool makeData(ShapeData &data, const MeasureRequest &request);
  bool expectFiles(ShapeData &data, const MeasureRequest &request);
  bool expect(ShapeData &data, const MeasureRequest &request, std::string &reason);
  bool runOnce(ShapeData &data, Attempt &attempt, const std::string &image, MeasureReply &reply,
               const TimingLimits *limits, bool check);
  bool runHost(ShapeData &data, Attempt &attempt, MeasureReply &reply, const TimingLimits *limits,
               bool check);
  bool runCuda(ShapeData &data, Attempt &attempt, const std::string &image, MeasureReply &reply,
               const TimingLimits *limits, bool check);

  const Options &options;
  const runtime::CudaDriver *driver; ///< null: on the CPU
  RandomCache cache;
  std::string reference; ///< what results are compared with, for messages
  // A shape that is asked for moves to the end: the front is the one to be dropped.
  std::deque<std::pair<std::string, std::unique_ptr<ShapeData>>> shapes; ///< the latest last
};

} // namespace

static bool isOutput(const RunArgument &argument) {
  return argument.param->kind == runtime::Param::Kind::Tensor &&
         argument.param->access != runtime::Access::In;
}

//===--- Test data of a shape ---------------------------------------------===//

bool Worker::makeData(ShapeData &data, const MeasureRequest &request) {
  Options &own = data.attempt.options;
  Session &session = data.attempt.session;
  own.config = request.reference;
  own.hasRandom = true;
  std::optional<TuneShape> shape = parseShape(request.shape);
  if (!shape)
    return session.failCall("'" + request.shape + "' is no shape");
  own.random = *shape;
  Compiler compiler(own, session, own.inputs.front());
  const ast::KernelDecl *kernel = parseForRun(compiler, own, session);
  if (!kernel || !data.arguments.load(*kernel))
    return false;
  std::string image;
  if (driver ? !readImage(request.referenceImage, session, image, data.manifest)
             : !elaborateForRun(compiler, own, data.arguments))
    return false;
  if (!driver)
    data.manifest = compiler.getManifest();
  if (!data.arguments.bind(data.manifest.kernels.back()))
    return false;
  for (RunArgument &argument : data.arguments.getArguments()) {
    const char *begin = argument.buffer.getData();
    data.initial.emplace_back();
    if (isOutput(argument) && !driver)
      data.initial.back().assign(begin, begin + argument.buffer.getBytes());
    // The buffer itself, its first state and the expected result.
    data.bytes += argument.buffer.getBytes() * (isOutput(argument) ? 3 : 1);
  }
  if (!driver)
    return true;
  data.onDevice = std::make_unique<CudaArguments>(*driver);
  runtime::Error error = data.onDevice->upload(data.arguments);
  if (error && shapes.size() > 0) { // room for this one alone
    shapes.clear();
    data.onDevice = std::make_unique<CudaArguments>(*driver);
    error = data.onDevice->upload(data.arguments);
  }
  return error ? reportRuntimeError(session, error) : true;
}

/// Takes the expected results from files.
bool Worker::expectFiles(ShapeData &data, const MeasureRequest &request) {
  data.expected.assign(data.arguments.getArguments().size(), {});
  for (size_t i = 0; i < data.expected.size(); ++i) {
    const RunArgument &argument = data.arguments.getArguments()[i];
    for (const auto &[name, path] : request.expected) {
      if (!isOutput(argument) || argument.param->name != name)
        continue;
      runtime::NpyArray array;
      if (runtime::Error error = runtime::readNpy(path, argument.param->dtype, array))
        return data.attempt.session.failCall(error.message);
      if (array.data.size() < argument.buffer.getBytes())
        return data.attempt.session.failData("'" + path + "' has not the shape of '" + name + "'");
      data.expected[i].assign(array.data.data(), array.data.data() + argument.buffer.getBytes());
    }
  }
  return true;
}

/// Makes the results that the request compares with, unless they are there. A shape may have been
/// prepared for a request that compares nothing, or with something else.
bool Worker::expect(ShapeData &data, const MeasureRequest &request, std::string &reason) {
  reference = !request.expected.empty()   ? "the CPU's result"
              : request.reference.empty() ? "the default configuration's"
                                          : "that of " + request.reference;
  std::string from = request.reference;
  for (const auto &[name, path] : request.expected)
    from += '\0' + name + "=" + path;
  if (!request.check || data.expectedFrom == from)
    return true;
  data.expectedFrom.reset();
  data.expected.clear();
  if (!request.expected.empty()) {
    if (!expectFiles(data, request))
      return false;
  } else {
    MeasureReply reply;
    Attempt attempt(data.attempt.options);
    attempt.options.config = request.reference;
    if (!runOnce(data, attempt, request.referenceImage, reply, nullptr, false)) {
      reason = reply.reason.empty() ? attempt.getReason() : reply.reason;
      return false;
    }
    for (const RunArgument &argument : data.arguments.getArguments()) {
      const char *begin = argument.buffer.getData();
      data.expected.emplace_back();
      if (isOutput(argument))
        data.expected.back().assign(begin, begin + argument.buffer.getBytes());
    }
  }
  data.expectedFrom = std::move(from);
  return true;
}

ShapeData *Worker::prepare(const MeasureRequest &request, std::string &reason) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].first == request.shape) {
      auto found = std::move(shapes[i]);
      shapes.erase(shapes.begin() + i);
      shapes.push_back(std::move(found));
      ShapeData *data = shapes.back().second.get();
      if (expect(*data, request, reason))
        return data;
      if (reason.empty())
        reason = data->attempt.getReason();
      return nullptr;
    }
  // Shapes come in turn: some stay, so that going around all of them does not make the same data
  // again and again.
  const size_t most = size_t(driver ? 16 : 1) << 30;
  auto kept = [&] {
    size_t sum = 0;
    for (const auto &[name, data] : shapes)
      sum += data->bytes;
    return sum;
  };
  auto data = std::make_unique<ShapeData>(options, cache);
  bool good = makeData(*data, request);
  while (!shapes.empty() && kept() + data->bytes > most)
    shapes.pop_front();
  good = good && expect(*data, request, reason);
  if (!good) {
    if (reason.empty())
      reason = data->attempt.getReason();
    return nullptr;
  }
  shapes.emplace_back(request.shape, std::move(data));
  return shapes.back().second.get();
}

//===--- One candidate ----------------------------------------------------===//

/// The outputs, in the host's buffers, against those expected; empty where they agree.
static std::string compareOutputs(ShapeData &data, double tolerance, const std::string &reference) {
  for (size_t i = 0; i < data.expected.size(); ++i) {
    const RunArgument &argument = data.arguments.getArguments()[i];
    if (!isOutput(argument) || data.expected[i].empty())
      continue;
    std::string difference =
        compareTensors(argument.param->dtype, argument.buffer.getData(), data.expected[i].data(),
                       data.expected[i].size(), tolerance);
    if (!difference.empty())
      return "'" + argument.param->name + "' differs from " + reference + " " + difference;
  }
  return "";
}

bool Worker::runHost(ShapeData &data, Attempt &attempt, MeasureReply &reply,
                     const TimingLimits *limits, bool check) {
  for (size_t i = 0; i < data.initial.size(); ++i)
    if (!data.initial[i].empty())
      std::copy(data.initial[i].begin(), data.initial[i].end(),
                data.arguments.getArguments()[i].buffer.getData());
  Compiler compiler(attempt.options, attempt.session, attempt.options.inputs.front());
  HostProgram program;
  if (!parseForRun(compiler, attempt.options, attempt.session) ||
      !elaborateForRun(compiler, attempt.options, data.arguments))
    return false;
  if (compiler.getManifest().kernels.back().params.size() != data.arguments.getArguments().size())
    return attempt.session.failData("it has other parameters than the first configuration");
  if (!makeHostProgram(compiler, data.arguments, attempt.options, attempt.session, program))
    return false;
  if (program.plan.empty)
    return true;
  reply.ran = true;
  if (runtime::Error error = program.run(options.threads))
    return attempt.session.failData(error.message);
  if (const FailedAssert *failed = program.library->getFailedAssert())
    return attempt.session.failAssert(failed->message, failed->file, failed->line);
  if (check && !(reply.reason = compareOutputs(data, options.tolerance, reference)).empty())
    return false;
  return !limits || program.time(*limits, options.threads, attempt.session, reply.timing);
}

bool Worker::runCuda(ShapeData &data, Attempt &attempt, const std::string &path,
                     MeasureReply &reply, const TimingLimits *limits, bool check) {
  std::string image;
  runtime::Manifest manifest;
  if (!readImage(path, attempt.session, image, manifest))
    return false;
  if (manifest.kernels.back().params.size() != data.arguments.getArguments().size())
    return attempt.session.failData("it has other parameters than the first configuration");
  std::vector<void *> addresses = data.onDevice->getAddresses();
  std::vector<tile_argument> described = data.arguments.describe(addresses);
  CudaKernel kernel(*driver, attempt.session);
  if (!kernel.load(image, manifest, manifest.kernels.back().name))
    return false;
  auto report = [&](const runtime::Error &error) {
    return error ? reportRuntimeError(attempt.session, error) : true;
  };
  reply.ran = true;
  // Outputs and guards as they were before any candidate: a result of the one before would pass as
  // this one's.
  if (!report(data.onDevice->reset()) || !kernel.launch(described) || !kernel.wait() ||
      !report(data.onDevice->checkGuards(reply.reason)))
    return false;
  if (!reply.reason.empty())
    return false;
  if (check || !limits) {
    if (!report(data.onDevice->download(data.arguments)))
      return false;
    if (check && !(reply.reason = compareOutputs(data, options.tolerance, reference)).empty())
      return false;
  }
  bool good = !limits || (kernel.time(*limits, described, reply.timing) && kernel.wait());
  if (driver->resetPersistingL2)
    driver->resetPersistingL2();
  return good;
}

bool Worker::runOnce(ShapeData &data, Attempt &attempt, const std::string &image,
                     MeasureReply &reply, const TimingLimits *limits, bool check) {
  return driver ? runCuda(data, attempt, image, reply, limits, check)
                : runHost(data, attempt, reply, limits, check);
}

MeasureReply Worker::answer(const MeasureRequest &request, function_ref<void()> prepared) {
  MeasureReply reply;
  ShapeData *data = prepare(request, reply.reason);
  if (!data) {
    reply.status = "unprepared";
    return reply;
  }
  prepared();
  Attempt attempt(data->attempt.options);
  attempt.options.config = request.config;
  bool good = runOnce(*data, attempt, request.image, reply, &request.limits, request.check);
  reply.status = good                   ? (reply.timing.slow ? "slow" : "ok")
                 : reply.reason.empty() ? "failed"
                                        : "wrong";
  if (!good && reply.reason.empty())
    reply.reason = attempt.getReason();
  return reply;
}

//===--- The process ------------------------------------------------------===//

static bool sendLine(int socket, const std::string &text) {
  std::string line = text + "\n";
  for (size_t sent = 0; sent < line.size();) {
    ssize_t n = ::send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    sent += n;
  }
  return true;
}

/// The next line; nothing where the other side is gone.
static std::optional<std::string> receiveLine(int socket, std::string &pending) {
  for (;;) {
    if (size_t end = pending.find('\n'); end != std::string::npos) {
      std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    ssize_t n = ::recv(socket, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return std::nullopt;
    pending.append(bytes, n);
  }
}

/// Ends with the search, and goes first where memory runs out.
static void limitProcess(const Options &options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::error_code code;
  raw_fd_ostream score("/proc/self/oom_score_adj", code);
  if (!code)
    score << "1000\n";
  score.close();
  score.clear_error();
  if (options.tune.memory) {
    rlimit limit{rlim_t(options.tune.memory) << 20, rlim_t(options.tune.memory) << 20};
    ::setrlimit(RLIMIT_AS, &limit);
  }
}

int serveMeasurements(Options &options, Session &session) {
  limitProcess(options);
  const runtime::CudaDriver *driver = nullptr;
  if (options.device == "cuda") {
    driver = openCudaDevice(options.ordinals.empty() ? 0 : options.ordinals.front(), session);
    if (!driver)
      return session.getExitCode();
  }
  int socket = STDIN_FILENO;
  Worker worker(options, driver);
  std::string pending;
  while (std::optional<std::string> line = receiveLine(socket, pending)) {
    std::optional<MeasureRequest> request = parseMeasureRequest(*line);
    MeasureReply prepared, reply;
    prepared.status = "prepared";
    if (request) {
      reply = worker.answer(*request, [&] { sendLine(socket, toJson(prepared)); });
    } else {
      reply.status = "failed";
      reply.reason = "the request cannot be read";
    }
    if (!sendLine(socket, toJson(reply)))
      break;
  }
  // Without taking down the device's context in order: the search waits for nothing.
  ::_exit(exitDone);
}

} // namespace tile
