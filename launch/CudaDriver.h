// The CUDA Driver API as one table of functions, loaded when first needed. Nothing here needs the
// CUDA toolkit.
#pragma once

#include "manifest/Error.h"

#include <cstddef>
#include <cstdint>

namespace tile::runtime {

// The driver's types; handles are opaque.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

/// One attribute of a launch, in the driver's layout: here always the cluster's extents.
struct CUlaunchAttribute {
  int id;
  int padding;
  unsigned value[16];
};
/// A launch, in the driver's layout.
struct CUlaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56,
              "the driver's layout");

/// The driver's constants that the runtime uses.
namespace cuda {
constexpr CUresult success = 0;
constexpr CUresult errorAssert = 710; // __assertfail was called
constexpr CUresult errorDeinitialized = 4;
constexpr int attributeMaxSharedPerBlockOptin = 97;
constexpr int attributeMultiprocessors = 16;
constexpr int attributeComputeMajor = 75;
constexpr int attributeComputeMinor = 76;
constexpr int functionMaxDynamicShared = 8;
constexpr int functionSharedBytes = 1; // static shared memory
constexpr int jitErrorLog = 5;
constexpr int jitErrorLogBytes = 6;
constexpr unsigned eventDefault = 0;
constexpr int launchClusterDimension = 4;
constexpr uintptr_t streamPerThread = 2; // CU_STREAM_PER_THREAD
constexpr int captureRelaxed = 2;
constexpr int pointerMemoryType = 2, pointerIsManaged = 8, pointerDeviceOrdinal = 9;
constexpr unsigned memoryTypeDevice = 2;
} // namespace cuda

// X(member, symbol, parameters): functions without which nothing works. Symbols carry the driver's
// own version suffix.
#define TILE_CUDA_FUNCTIONS(X)                                                                     \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorName, "cuGetErrorName", (CUresult error, const char **name))                           \
  X(getErrorString, "cuGetErrorString", (CUresult error, const char **text))                       \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                                    \
  X(deviceGetName, "cuDeviceGetName", (char *name, int length, CUdevice device))                   \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))      \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))             \
  X(ctxGetCurrent, "cuCtxGetCurrent", (CUcontext * context))                                       \
  X(ctxSetCurrent, "cuCtxSetCurrent", (CUcontext context))                                         \
  X(ctxPush, "cuCtxPushCurrent_v2", (CUcontext context))                                           \
  X(ctxPop, "cuCtxPopCurrent_v2", (CUcontext * context))                                           \
  X(ctxGetDevice, "cuCtxGetDevice", (CUdevice * device))                                           \
  X(ctxSynchronize, "cuCtxSynchronize", ())                                                        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (CUmodule * module, const void *image, unsigned count, int *options, void **values))           \
  X(moduleUnload, "cuModuleUnload", (CUmodule module))                                             \
  X(moduleGetFunction, "cuModuleGetFunction",                                                      \
    (CUfunction * function, CUmodule module, const char *name))                                    \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))      \
  X(funcSetAttribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))       \
  X(launchKernel, "cuLaunchKernel",                                                                \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **arguments,    \
     void **extra))                                                                                \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                      \
    (int *blocks, CUfunction function, int threads, size_t sharedBytes))                           \
  X(memAlloc, "cuMemAlloc_v2", (CUdeviceptr * address, size_t bytes))                              \
  X(memFree, "cuMemFree_v2", (CUdeviceptr address))                                                \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void *from, size_t bytes))               \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes))                     \
  X(memsetD2D8, "cuMemsetD2D8Async",                                                               \
    (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,               \
     CUstream stream))                                                                             \
  X(memsetD2D16, "cuMemsetD2D16Async",                                                             \
    (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,              \
     CUstream stream))                                                                             \
  X(memsetD2D32, "cuMemsetD2D32Async",                                                             \
    (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream))  \
  X(memsetD8, "cuMemsetD8Async",                                                                   \
    (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                          \
  X(memsetD16, "cuMemsetD16Async",                                                                 \
    (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))                         \
  X(memsetD32, "cuMemsetD32Async",                                                                 \
    (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                               \
  X(streamSynchronize, "cuStreamSynchronize", (CUstream stream))                                   \
  X(eventCreate, "cuEventCreate", (CUevent * event, unsigned flags))                               \
  X(eventRecord, "cuEventRecord", (CUevent event, CUstream stream))                                \
  X(eventSynchronize, "cuEventSynchronize", (CUevent event))                                       \
  X(eventElapsed, "cuEventElapsedTime", (float *milliseconds, CUevent start, CUevent end))         \
  X(eventDestroy, "cuEventDestroy_v2", (CUevent event))
// Functions of newer drivers; null where the driver lacks them.
#define TILE_CUDA_OPTIONAL_FUNCTIONS(X)                                                            \
  X(streamIsCapturing, "cuStreamIsCapturing", (CUstream stream, int *status))                      \
  X(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))                         \
  X(pointerGetAttribute, "cuPointerGetAttribute",                                                  \
    (void *value, int attribute, CUdeviceptr pointer))                                             \
  X(ctxGetId, "cuCtxGetId", (CUcontext context, unsigned long long *id))                           \
  X(resetPersistingL2, "cuCtxResetPersistingL2Cache", ())                                          \
  X(launchKernelEx, "cuLaunchKernelEx",                                                            \
    (const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra))           \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (void *map, int dataType, uint32_t rank, void *address, const uint64_t *extents,               \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,          \
     int swizzle, int promotion, int fill))

/// The loaded driver. Every function returns CUresult; see `check` for turning that into an error.
struct CudaDriver {
#define TILE_CUDA_MEMBER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
  TILE_CUDA_FUNCTIONS(TILE_CUDA_MEMBER)
  TILE_CUDA_OPTIONAL_FUNCTIONS(TILE_CUDA_MEMBER)
#undef TILE_CUDA_MEMBER

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
