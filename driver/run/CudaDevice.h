// Pieces of a run on a GPU: the device, arguments in its memory, a loaded kernel. For `tilec run`
// and the workers of `tilec tune`.
#ifndef TILE_DRIVER_RUN_CUDADEVICE_H
#define TILE_DRIVER_RUN_CUDADEVICE_H

#include "driver/measure/Timing.h"
#include "driver/run/RunArguments.h"
#include "launch/CudaDriver.h"

namespace tile {

/// The runtime's error as ours: what is wrong with arguments is wrong data, the rest concerns the
/// machine. Returns false.
bool reportRuntimeError(Session &session, tile_error *error);
bool reportRuntimeError(Session &session, const runtime::Error &error);

/// Makes the primary context of device `ordinal` current. Null after an error.
const runtime::CudaDriver *openCudaDevice(unsigned ordinal, Session &session);

/// Tensors in the device's memory, each between guard bytes that nothing may write. They are freed
/// with this object.
class CudaArguments {
public:
  explicit CudaArguments(const runtime::CudaDriver &driver) : driver(driver) {}
  CudaArguments(const CudaArguments &) = delete;
  CudaArguments &operator=(const CudaArguments &) = delete;
  ~CudaArguments();

  /// Allocates and fills memory for every tensor. The host's buffers are then what outputs start
  /// from.
  runtime::Error upload(RunArguments &arguments);
  /// Gives the outputs what they started from.
  runtime::Error reset();
  /// Copies the outputs to the host's buffers, of another object or of the one uploaded.
  runtime::Error download(RunArguments &arguments);
  /// Names, in `overrun`, a tensor beside which something was written; empty where there is none.
  runtime::Error checkGuards(std::string &overrun);

  /// One for each parameter; null for scalars.
  std::vector<void *> getAddresses() const;

private:
  struct Tensor {
    const runtime::Param *param = nullptr;
    runtime::CUdeviceptr memory = 0;
    size_t offset = 0, bytes = 0;
    std::vector<char> initial; ///< of an output that is also read
  };
  const runtime::CudaDriver &driver;
  std::vector<Tensor> tensors;
};

/// A module on the current device, and one of its kernels.
class CudaKernel {
public:
  CudaKernel(const runtime::CudaDriver &driver, Session &session)
      : driver(driver), session(session) {}
  CudaKernel(const CudaKernel &) = delete;
  CudaKernel &operator=(const CudaKernel &) = delete;
  ~CudaKernel() { tile_module_free(module); }

  bool load(llvm::StringRef image, const runtime::Manifest &manifest, const std::string &name);
  /// Launches on the default stream; checks the arguments.
  bool launch(const std::vector<tile_argument> &arguments);
  /// Waits for everything. False, after reporting, where a kernel failed: the context is then of no
  /// use any more.
  bool wait();
  bool time(const TimingLimits &limits, const std::vector<tile_argument> &arguments,
            Timing &timing);

private:
  const runtime::CudaDriver &driver;
  Session &session;
  tile_module *module = nullptr;
  tile_kernel *kernel = nullptr;
};

} // namespace tile

#endif
