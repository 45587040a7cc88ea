// The steps of `tilec run`, for it and for the workers of `tilec tune`.
#ifndef TILE_DRIVER_RUN_RUN_H
#define TILE_DRIVER_RUN_RUN_H

#include "codegen/Host.h"
#include "driver/compile/Compile.h"
#include "driver/run/RunArguments.h"
#include "launch/HostCode.h"
#include "launch/Validate.h"
#include <memory>

namespace tile {

/// Parses, finds the kernel to run (the one that --kernel names, or the only one), and completes
/// the options by its name and by extents that are compile-time parameters. Null after an error.
const ast::KernelDecl *parseForRun(Compiler &compiler, Options &options, Session &session);

/// Elaborates one instance, with its variants, for arguments that have been loaded.
bool elaborateForRun(Compiler &compiler, const Options &options, const RunArguments &arguments);

/// A kernel in this process's memory, and one launch of it.
struct HostProgram {
  std::string name;
  std::optional<HostCode> library;
  HostKernel code;
  std::unique_ptr<runtime::Validator> validator; ///< of the record that belongs to the code
  runtime::Plan plan; ///< points to the arguments; `empty`: there is nothing to run, and no code
  runtime::HostThreads pool;
  /// Runs the whole grid, or programs begin to end - 1.
  runtime::Error run(unsigned threads) { return run(0, plan.programs, threads); }
  runtime::Error run(int64_t begin, int64_t end, unsigned threads);
  bool time(const TimingLimits &limits, unsigned threads, Session &session, Timing &timing);
};

/// Chooses the variant for the arguments, which are bound, checks them, fills what is to be filled,
/// and compiles.
/// `prepare`, if given, may change the module before it is optimised, and says what the code calls.
bool makeHostProgram(Compiler &compiler, const RunArguments &arguments, const Options &options,
                     Session &session, HostProgram &program,
                     llvm::function_ref<std::vector<HostSymbol>(mlir::ModuleOp)> prepare = nullptr);

} // namespace tile

#endif
