// `tilec debug`: steps through one program of a kernel on the CPU. docs/guides/debugger.md.
#ifndef TILE_DRIVER_DEBUG_DEBUG_H
#define TILE_DRIVER_DEBUG_DEBUG_H

#include "driver/debug/Debugger.h"
#include "driver/run/Run.h"

namespace tile::debug {

/// A kernel that is compiled for the debugger, without optimisation and with probes, and its
/// arguments.
class DebuggedKernel {
public:
  /// Compiles, and reads the arguments. False after an error, which `session` has reported.
  bool load(Options &options, Session &session);

  Debugger &getDebugger() { return *debugger; }
  const std::string &getName() const { return program.name; }
  int64_t getPrograms() const { return program.plan.empty ? 0 : program.plan.programs; }
  /// The texts of the sources.
  llvm::StringRef getText(llvm::StringRef file) const;
  /// Runs a program from its begin to its end; the debugger's `stopped` is called on the way. False
  /// after an error, which the session has reported.
  bool run(int64_t number);
  /// Writes what --out asks for.
  bool writeOutputs() { return arguments->writeOutputs(); }

private:
  Session *session = nullptr;
  std::unique_ptr<Compiler> compiler;
  runtime::Kernel record; ///< of the instance: the arguments point to its parameters
  std::unique_ptr<RunArguments> arguments;
  HostProgram program;
  std::unique_ptr<Debugger> debugger;
};

/// Runs the command. Returns the exit code.
int debugKernel(Options &options, Session &session);

/// Commands from standard input. Returns the exit code.
int debugInTerminal(DebuggedKernel &kernel, const Options &options, Session &session);

/// The debug adapter protocol on standard input and output. Returns the exit code.
int runDebugAdapter(const Options &options);

} // namespace tile::debug

#endif
