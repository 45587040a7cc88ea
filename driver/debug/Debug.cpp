// `tilec debug`: a kernel compiled for the CPU with probes, and which face it gets.
#include "driver/debug/Debug.h"

using namespace llvm;

namespace tile::debug {

/// Compiles as `tilec run` does for the CPU, in the same order: arguments are loaded before
/// elaboration, which reads extents from them, and bound after, when the instance's record is
/// known.
bool DebuggedKernel::load(Options &options, Session &newSession) {
  session = &newSession;
  options.level = 0; // every value stays where the source has it
  compiler = std::make_unique<Compiler>(options, *session, options.inputs.front());
  const ast::KernelDecl *kernel = parseForRun(*compiler, options, *session);
  arguments = std::make_unique<RunArguments>(options, *session);
  if (!kernel || !arguments->load(*kernel) || !elaborateForRun(*compiler, options, *arguments))
    return false;
  // A copy that lives as long as this object: the arguments keep pointers to its parameters.
  record = compiler->getManifest().kernels.back();
  if (!arguments->bind(record))
    return false;
  // Called with the module before it is lowered, while values are still those of the source; the
  // symbols that it returns are those that the probes call.
  auto prepare = [&](mlir::ModuleOp module) {
    debugger = std::make_unique<Debugger>(placeProbes(module), arguments->getArguments(),
                                          options.inputs.front());
    return debugger->getSymbols();
  };
  if (!makeHostProgram(*compiler, *arguments, options, *session, program, prepare))
    return false;
  if (!debugger) // there is nothing to run
    debugger = std::make_unique<Debugger>(std::vector<Site>(), arguments->getArguments(),
                                          options.inputs.front());
  return true;
}

StringRef DebuggedKernel::getText(StringRef file) const {
  const SourceManager &sources = session->getSources();
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources.name(FileID(i)) == file)
      return sources.text(FileID(i));
  return "";
}

/// One thread: the debugger follows one program, and its callbacks are not made for two.
bool DebuggedKernel::run(int64_t number) {
  runtime::Error error = program.run(number, number + 1, /*threads=*/1);
  return !error || session->failData(error.message);
}

int debugKernel(Options &options, Session &session) {
  if (options.debugAdapter)
    return runDebugAdapter(options);
  DebuggedKernel kernel;
  if (!kernel.load(options, session))
    // load() reports what fails; if nothing was reported, that is the compiler's mistake.
    return session.getExitCode() == exitDone
               ? (session.failInternal("a step failed without a message"), session.getExitCode())
               : session.getExitCode();
  return debugInTerminal(kernel, options, session);
}

} // namespace tile::debug
