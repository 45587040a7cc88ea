// `tilec debug`: a kernel compiled for the CPU with probes, and which face it gets.
#include "driver/debug/Debug.h"

using namespace llvm;

namespace tile::debug {

bool DebuggedKernel::load(Options &options, Session &newSession) {
  session = &newSession;
  options.level = 0; // every value stays where the source has it
  compiler = std::make_unique<Compiler>(options, *session, options.inputs.front());
  const ast::KernelDecl *kernel = parseForRun(*compiler, options, *session);
  arguments = std::make_unique<RunArguments>(options, *session);
  if (!kernel || !arguments->load(*kernel) || !elaborateForRun(*compiler, options, *arguments))
    return false;
  record = compiler->getManifest().kernels.back();
  if (!arguments->bind(record))
    return false;
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

bool DebuggedKernel::run(int64_t number) {
  runtime::Error error = program.run(number, number + 1, /*threads=*/1);
  return !error || session->failData(error.message);
}

int debugKernel(Options &options, Session &session) {
  if (options.debugAdapter)
    return runDebugAdapter(options);
  DebuggedKernel kernel;
  if (!kernel.load(options, session))
    return session.getExitCode() == exitDone
               ? (session.failInternal("a step failed without a message"), session.getExitCode())
               : session.getExitCode();
  return debugInTerminal(kernel, options, session);
}

} // namespace tile::debug
