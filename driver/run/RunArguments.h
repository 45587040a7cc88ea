// The arguments of `tilec run`: from files, values and random numbers to buffers in memory.
#ifndef TILE_DRIVER_RUN_RUNARGUMENTS_H
#define TILE_DRIVER_RUN_RUNARGUMENTS_H

#include "driver/Session.h"
#include "driver/measure/Timing.h"
#include "formats/Npy.h"
#include "frontend/Ast/Decl.h"
#include "manifest/Manifest.h"
#include "runtime/include/tile_runtime.h"
#include <cstdlib>
#include <map>
#include <memory>

namespace tile {

/// Memory of a tensor on the host, aligned as kernels expect.
class Buffer {
public:
  Buffer() = default;
  /// `bytes` bytes of zeros, aligned to `align`. Holds nothing (see getData) where there is not
  /// that much memory.
  Buffer(size_t bytes, size_t align);

  char *getData() const { return data; }
  size_t getBytes() const { return bytes; }

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> memory;
  char *data = nullptr; ///< aligned, in `memory`
  size_t bytes = 0;
};

/// One parameter's actual argument.
struct RunArgument {
  const runtime::Param *param = nullptr;
  std::vector<int64_t> shape, strides; ///< of a tensor, in elements
  Buffer buffer;
  uint64_t bits = 0; ///< of a scalar
  bool isDefault = false;
};

/// The first elements of random tensors, by seed and dtype; shared by arguments of several shapes.
using RandomCache = std::map<std::pair<uint64_t, runtime::Dtype>, std::vector<char>>;

/// The arguments that --arg and --random give for one kernel.
class RunArguments {
public:
  RunArguments(const Options &options, Session &session, RandomCache *cache = nullptr)
      : options(options), session(session), cache(cache) {}

  /// Checks the names of --arg and --out against the kernel's declaration and reads the .npy files.
  bool load(const ast::KernelDecl &kernel);

  /// Dtypes and shapes of what was read, for deducing compile-time parameters.
  std::map<std::string, std::string> getDtypes() const;
  std::map<std::string, std::vector<int64_t>> getShapes() const;

  /// Makes an argument of every parameter of the instance: sizes of outputs follow from the named
  /// dimensions.
  bool bind(const runtime::Kernel &kernel);

  std::vector<RunArgument> &getArguments() { return arguments; }

  /// The arguments as the runtime's C interface has them; they point into this object. `addresses`,
  /// where given, replaces the tensors' host addresses, one for each parameter.
  std::vector<tile_argument> describe(llvm::ArrayRef<void *> addresses = {}) const;

  /// Writes the files that --out names, and compares with those that --expect names.
  bool writeOutputs();

private:
  void solveEquations(const runtime::Kernel &kernel);
  void bindDims(const std::vector<runtime::Expr> &dims, const std::vector<int64_t> &shape);
  bool bindScalar(const runtime::Param &param, RunArgument &argument);
  bool makeTensor(const runtime::Param &param, RunArgument &argument);
  bool chooseStrides(const runtime::Param &param, RunArgument &argument);
  void fillRandom(RunArgument &argument);
  bool compareOutputs();

  const Options &options;
  Session &session;
  RandomCache *cache;
  std::map<std::string, runtime::NpyArray> files; ///< by parameter
  std::map<std::string, std::string> values;      ///< text of scalars, by parameter
  runtime::Bindings bindings;
  std::vector<RunArgument> arguments;
};

/// Times a kernel by `time`; prints the median, and writes it to --measure's file. False as soon as
/// `time` is.
bool measure(const Options &options, Session &session, llvm::StringRef name,
             llvm::function_ref<bool(const TimingLimits &, Timing &)> time);

} // namespace tile

#endif
