// `tilec run`: compiles one kernel for this machine, runs it on the given arguments and writes its
// outputs.
//
//   parse -> arguments.load -> elaborate -> arguments.bind -> lower -> check the launch -> run
//
// Arguments and kernel need each other: dtypes and ranks of files choose the instance (load), and
// the instance's record says how extents follow from files (bind).
#include "driver/run/Run.h"
#include "driver/run/RunCuda.h"
#include "driver/run/RunSummary.h"
#include "driver/support/Output.h"
#include "frontend/Sema/Words.h"
#include "launch/HostCode.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace tile {

bool measure(const Options &options, Session &session, StringRef name,
             function_ref<bool(const TimingLimits &, Timing &)> time) {
  TimingLimits limits;
  limits.giveUp = options.giveUp;
  Timing timing;
  if (!time(limits, timing))
    return false;
  outs() << name << ": " << format("%.4g", timing.median) << " ms (median of " << timing.batches
         << " runs, best " << format("%.4g", timing.best) << " ms)\n";
  if (options.measureFile.empty())
    return true;
  json::Value record = json::Object{{"ms", timing.median},
                                    {"best_ms", timing.best},
                                    {"runs", int64_t(timing.batches)},
                                    {"slow", timing.slow}};
  std::error_code error;
  raw_fd_ostream file(options.measureFile, error);
  if (!error) {
    file << record << "\n";
    error = finish(file);
  }
  return !error ||
         session.failCall("cannot write '" + options.measureFile + "': " + error.message());
}

/// The kernel to run: the one that --kernel names, or the only one.
static const ast::KernelDecl *findKernel(const ast::Program &program, const Options &options,
                                         Session &session) {
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
    session.failCall("the file has the kernels " + joinWords(names, "and") +
                     ": choose one with --kernel NAME");
  else
    return kernels.front();
  return nullptr;
}

/// --random may also give compile-time parameters that are whole dimensions: they become
/// definitions.
static void moveToDefines(const ast::KernelDecl &kernel, Options &options) {
  for (const ast::StaticParam &param : kernel.statics)
    for (const auto &[name, extent] : options.random)
      if (name == param.name.text && none_of(options.defines, [&](const NameValue &define) {
            return define.first == param.name.text;
          }))
        options.defines.emplace_back(name, std::to_string(extent));
}

const ast::KernelDecl *parseForRun(Compiler &compiler, Options &options, Session &session) {
  const ast::KernelDecl *kernel =
      compiler.parse() ? findKernel(*compiler.getProgram(), options, session) : nullptr;
  if (kernel) {
    options.kernel = kernel->name.text;
    moveToDefines(*kernel, options);
  }
  return kernel;
}

/// Leaves the instance that is to run, in all of its versions: a launch chooses among these by
/// their facts. The generic record is the last of the manifest.
bool elaborateForRun(Compiler &compiler, const Options &options, const RunArguments &arguments) {
  compiler.setArguments(arguments.getDtypes(), arguments.getShapes());
  compiler.setExtents(options.random);
  if (!compiler.elaborate())
    return false;
  // Of several instances the first that is generic, with its variants.
  const std::vector<runtime::Kernel> &kernels = compiler.getManifest().kernels;
  auto first =
      llvm::find_if(kernels, [](const runtime::Kernel &each) { return each.facts.empty(); });
  auto constants = first->constants;
  compiler.keepKernels([&](const runtime::Kernel &each) { return each.constants == constants; });
  return true;
}

runtime::Error HostProgram::run(int64_t begin, int64_t end, unsigned threads) {
  return pool.run(validator->getTables(), code, plan.pointers.data(), begin, end, threads);
}

bool HostProgram::time(const TimingLimits &limits, unsigned threads, Session &session,
                       Timing &timing) {
  return timeKernel(
      limits,
      [&](unsigned count, double &milliseconds) {
        auto begin = std::chrono::steady_clock::now();
        for (unsigned i = 0; i < count; ++i)
          if (runtime::Error error = run(threads))
            return session.failData(error.message);
        milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count() /
            count;
        return true;
      },
      timing);
}

bool makeHostProgram(Compiler &compiler, const RunArguments &arguments, const Options &options,
                     Session &session, HostProgram &program,
                     function_ref<std::vector<HostSymbol>(mlir::ModuleOp)> prepare) {
  std::vector<tile_argument> described = arguments.describe();
  std::unique_ptr<runtime::Validator> validator;
  for (const runtime::Kernel &candidate : compiler.getManifest().kernels) {
    std::string reason;
    validator = runtime::Validator::create(candidate, reason);
    if (!validator)
      return session.failInternal("the manifest cannot be checked against: " + reason);
    if (validator->fits(described.data(), described.size()) == runtime::Validator::Fit::Yes &&
        validator->holds(described.data(), described.size(), program.plan))
      break;
  }
  const runtime::Kernel &kernel = validator->getKernel();
  program.name = kernel.name;
  compiler.keepKernels([&](const runtime::Kernel &each) { return each.symbol == kernel.symbol; });
  if (runtime::Error error = validator->check(described.data(), described.size(), program.plan))
    return session.failData(error.message);
  for (const runtime::Fill &fill : program.plan.fills)
    runtime::fillHost(fill);
  if (program.plan.empty)
    return true;
  std::vector<HostSymbol> symbols;
  if (prepare)
    symbols = prepare(compiler.getModule());
  if (!compiler.optimize() || !compiler.lowerToLLVM() || !compiler.optimizeLLVM())
    return false;
  Phase phase(options, "machine code");
  Expected<HostCode> created = HostCode::create(
      compiler.takeLLVMModule(), compiler.takeLLVMContext(), compiler.getHost(), symbols);
  if (!created)
    return session.failInternal(created.takeError());
  // Owns the code: `program.code` points into it.
  program.library.emplace(std::move(*created));
  Expected<HostKernel> found = program.library->lookup(kernel.symbol);
  if (!found)
    return session.failInternal(found.takeError());
  program.code = *found;
  // The code's own record: compiling it has shown how much memory its tiles take.
  std::string reason;
  program.validator = runtime::Validator::create(compiler.getManifest().kernels.front(), reason);
  if (!program.validator)
    return session.failInternal("the manifest cannot be checked against: " + reason);
  if (runtime::Error error =
          program.validator->check(described.data(), described.size(), program.plan))
    return session.failInternal(error.message);
  return true;
}

static bool runOnHost(Compiler &compiler, RunArguments &arguments, const Options &options,
                      Session &session) {
  // The arguments are made by the generic record, the last; the launch may choose a variant.
  const runtime::Kernel generic = compiler.getManifest().kernels.back();
  HostProgram program;
  if (!arguments.bind(generic) || !makeHostProgram(compiler, arguments, options, session, program))
    return false;
  auto begin = std::chrono::steady_clock::now();
  if (!program.plan.empty) {
    Phase phase(options, "run");
    if (runtime::Error error = program.run(options.threads))
      return session.failData(error.message);
  }
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (program.plan.empty) {
    if (!arguments.writeOutputs())
      return false;
    printSummary(options, session, program.name, 0, 0, arguments.getArguments());
    return true;
  }
  if (const FailedAssert *failed = program.library->getFailedAssert())
    return session.failAssert(failed->message, failed->file, failed->line);
  if (!arguments.writeOutputs())
    return false;
  printSummary(options, session, program.name, program.plan.programs, time.count(),
               arguments.getArguments());
  return !options.time ||
         measure(options, session, program.name, [&](const TimingLimits &limits, Timing &timing) {
           return program.time(limits, options.threads, session, timing);
         });
}

static bool runChecked(Options &options, Session &session) {
  if (options.device == "cuda" && options.target.empty() && !chooseCudaTarget(options, session))
    return false;
  Compiler compiler(options, session, options.inputs.front());
  const ast::KernelDecl *kernel = parseForRun(compiler, options, session);
  RunArguments arguments(options, session);
  if (!kernel || !arguments.load(*kernel) || !elaborateForRun(compiler, options, arguments))
    return false;
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
