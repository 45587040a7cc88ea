// `tilec run`: compiles one kernel for this machine, runs it on the given arguments and writes its outputs.
#include "codegen/Host.h"
#include "codegen/NVPTX.h"
#include "driver/Compile.h"
#include "driver/RunArguments.h"
#include "driver/RunCuda.h"
#include "frontend/Sema/Words.h"
#include "runtime/src/HostCode.h"
#include "runtime/src/Validate.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>

using namespace llvm;

namespace tile {

bool measure(const Options &options, Session &session, StringRef name, function_ref<bool(unsigned, double &)> run) {
  constexpr size_t fewest = 5, most = 100;
  constexpr double enough = 300, batch = 1; // milliseconds
  std::vector<double> times;
  double sum = 0, time = 0;
  if (!run(1, time)) // the first is slower: it also says how many fill a batch
    return false;
  bool slow = options.giveUp > 0 && time > options.giveUp && run(1, time) && time > options.giveUp;
  unsigned count = unsigned(std::clamp(batch / std::max(time, 1e-6), 1.0, 50.0));
  if (slow)
    times.push_back(time);
  while (!slow && (times.size() < fewest || (sum < enough && times.size() < most))) {
    if (!run(count, time))
      return false;
    times.push_back(time);
    sum += time * count;
  }
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2];
  outs() << name << ": " << format("%.4g", median) << " ms (median of " << times.size() << " runs, best "
         << format("%.4g", times.front()) << " ms)\n";
  if (options.measureFile.empty())
    return true;
  json::Value record = json::Object{{"ms", median}, {"best_ms", times.front()}, {"runs", int64_t(times.size())}, {"slow", slow}};
  std::error_code error;
  raw_fd_ostream file(options.measureFile, error);
  if (!error)
    file << record << "\n";
  return !error || session.failCall("cannot write '" + options.measureFile + "': " + error.message());
}

/// The kernel to run: the one that --kernel names, or the only one.
static const ast::KernelDecl *findKernel(const ast::Program &program, const Options &options, Session &session) {
  std::vector<const ast::KernelDecl *> kernels;
  std::vector<std::string> names;
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *kernel = dyn_cast<ast::KernelDecl>(decl.get())) {
      kernels.push_back(kernel);
      names.push_back(kernel->name.text);
      if (kernel->name.text == options.kernel)
        return kernel;
    }
  if (kernels.empty())
    session.getDiagnostics().report(diag::noKernel, Range());
  else if (!options.kernel.empty())
    session.getDiagnostics().report(diag::unknownKernel, Range(), options.kernel);
  else if (kernels.size() > 1)
    session.failCall("the file has the kernels " + joinWords(names, "and") + ": choose one with --kernel NAME");
  else
    return kernels.front();
  return nullptr;
}

/// --random may also give compile-time parameters that are whole dimensions: they become definitions.
static void moveToDefines(const ast::KernelDecl &kernel, Options &options) {
  for (const ast::StaticParam &param : kernel.statics)
    for (const auto &[name, extent] : options.random)
      if (name == param.name.text &&
          none_of(options.defines, [&](const NameValue &define) { return define.first == param.name.text; }))
        options.defines.emplace_back(name, std::to_string(extent));
}

static bool runOnHost(Compiler &compiler, RunArguments &arguments, const Options &options, Session &session) {
  // The arguments are made by the generic record, the last; the launch may choose a variant.
  const runtime::Kernel generic = compiler.getManifest().kernels.back();
  if (!arguments.bind(generic))
    return false;
  std::vector<tile_argument> described = arguments.describe();
  runtime::Plan plan;
  std::unique_ptr<runtime::Validator> validator;
  for (const runtime::Kernel &candidate : compiler.getManifest().kernels) {
    std::string reason;
    validator = runtime::Validator::create(candidate, reason);
    if (!validator)
      return session.failInternal("the manifest cannot be checked against: " + reason);
    if (validator->fits(described.data(), described.size()) == runtime::Validator::Fit::Yes &&
        validator->holds(described.data(), described.size(), plan))
      break;
  }
  const runtime::Kernel &kernel = validator->getKernel();
  compiler.keepKernels([&](const runtime::Kernel &each) { return each.symbol == kernel.symbol; });
  if (runtime::Error error = validator->check(described.data(), described.size(), plan))
    return session.failData(error.message);
  for (const runtime::Fill &fill : plan.fills)
    runtime::fillHost(fill);
  if (plan.empty)
    return arguments.writeOutputs();

  if (!compiler.optimize() || !compiler.lowerToLLVM() || !compiler.optimizeLLVM())
    return false;
  HostKernel code;
  std::optional<HostCode> library;
  {
    Phase phase(options, "machine code");
    Expected<HostCode> created =
        HostCode::create(compiler.takeLLVMModule(), compiler.takeLLVMContext(), compiler.getHost());
    if (!created)
      return session.failInternal(created.takeError());
    library.emplace(std::move(*created));
    Expected<HostKernel> found = library->lookup(kernel.symbol);
    if (!found)
      return session.failInternal(found.takeError());
    code = *found;
  }
  auto once = [&] { runtime::runPrograms(code, plan.pointers.data(), plan.programs, options.threads); };
  {
    Phase phase(options, "run");
    once();
  }
  if (const FailedAssert *failed = library->getFailedAssert())
    return session.failAssert(failed->message, failed->file, failed->line);
  if (!arguments.writeOutputs())
    return false;
  return !options.time || measure(options, session, kernel.name, [&](unsigned count, double &milliseconds) {
    auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < count; ++i)
      once();
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / count;
    return true;
  });
}

static bool runChecked(Options &options, Session &session) {
  if (options.device == "cuda" && options.target.empty() && !chooseCudaTarget(options, session))
    return false;
  Compiler compiler(options, session, options.inputs.front());
  if (!compiler.parse())
    return false;
  const ast::KernelDecl *kernel = findKernel(*compiler.getProgram(), options, session);
  if (!kernel)
    return false;
  options.kernel = kernel->name.text;
  moveToDefines(*kernel, options);
  RunArguments arguments(options, session);
  if (!arguments.load(*kernel))
    return false;
  compiler.setArguments(arguments.getDtypes(), arguments.getShapes());
  compiler.setExtents(options.random);
  if (!compiler.elaborate())
    return false;
  // Of several instances the first that is generic, with its variants.
  const std::vector<runtime::Kernel> &kernels = compiler.getManifest().kernels;
  auto first = llvm::find_if(kernels, [](const runtime::Kernel &each) { return each.facts.empty(); });
  auto constants = first->constants;
  compiler.keepKernels([&](const runtime::Kernel &each) { return each.constants == constants; });
  return options.device == "cuda" ? runOnCuda(compiler, arguments, options, session)
                                  : runOnHost(compiler, arguments, options, session);
}

int runKernel(Options &options, Session &session) {
  bool good = runChecked(options, session);
  if (!good && session.getExitCode() == exitDone)
    session.failInternal("a step failed without a message");
  return session.getExitCode();
}

} // namespace tile
