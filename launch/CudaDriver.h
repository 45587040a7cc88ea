// The CUDA Driver API as one table of functions, loaded when first needed. Nothing here needs the
// CUDA toolkit.
#ifndef TILE_LAUNCH_CUDADRIVER_H
#define TILE_LAUNCH_CUDADRIVER_H

#include "launch/core/Driver.h"
#include "manifest/Error.h"

namespace tile::runtime {

// The driver's types; handles are opaque.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = tk_device_pointer;
using CUcontext = void *;
using CUmodule = void *;
using CUfunction = void *;
using CUstream = void *;
using CUevent = void *;
static_assert(sizeof(tk_launch_attribute) == 72 && sizeof(tk_launch_config) == 56,
              "the driver's layout");

/// The driver's constants that the runtime uses.
namespace cuda {
constexpr CUresult success = 0;
constexpr int attributeMaxSharedPerBlockOptin = 97;
constexpr int attributeMultiprocessors = 16;
constexpr int attributeComputeMajor = 75;
constexpr int attributeComputeMinor = 76;
constexpr int functionMaxDynamicShared = 8;
constexpr int functionSharedBytes = 1; // static shared memory
constexpr int jitErrorLog = 5;
constexpr int jitErrorLogBytes = 6;
constexpr unsigned eventDefault = 0;
} // namespace cuda

/// The loaded driver. Every function returns CUresult; see `check` for turning that into an error.
struct CudaDriver : tk_driver {
  CudaDriver() : tk_driver() {}
  /// Loads libcuda.so.1 (or what the environment variable TILE_LIBCUDA names) and initialises it,
  /// once for the process; a failure is remembered. Null with TILE_ERROR_DRIVER in `error` when
  /// there is no driver or no device.
  static const CudaDriver *get(Error &error);

  /// Loads a library of that name into `driver`, without initialising it.
  static Error load(const char *library, CudaDriver &driver);

  /// Nothing for success, else TILE_ERROR_CUDA: "WHAT: CUDA_ERROR_INVALID_VALUE (invalid
  /// argument)".
  Error check(CUresult result, const char *what) const;

  /// The calling thread's current context; with none, the primary context of device 0 is made
  /// current.
  Error currentContext(CUcontext &context) const;
};

} // namespace tile::runtime

#endif
