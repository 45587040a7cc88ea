/* The CUDA Driver API as one table of functions: the types, symbols and constants that launching
 * needs, without the CUDA toolkit. Part of the launcher's core, which the runtime library compiles
 * and generated C carries: C11 that is C++ too. */
#ifndef TILE_CORE_DRIVER_H
#define TILE_CORE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifndef TK_CORE
#define TK_CORE /* how the core's functions are declared; generated C has them static */
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long tk_device_pointer;

/* One attribute of a launch, here always the cluster's extents, and a launch, in the driver's
 * layout. */
typedef struct {
  int id, padding;
  unsigned value[16];
} tk_launch_attribute;
typedef struct {
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  tk_launch_attribute *attributes;
  unsigned attribute_count;
} tk_launch_config;

/* X(member, symbol, parameters): functions without which nothing works. Symbols carry the driver's
 * own version suffix; handles are opaque. */
#define TK_CUDA_FUNCTIONS(X)                                                                       \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorName, "cuGetErrorName", (int error, const char **name))                                \
  X(getErrorString, "cuGetErrorString", (int error, const char **text))                            \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (int *device, int ordinal))                                          \
  X(deviceGetName, "cuDeviceGetName", (char *name, int length, int device))                        \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))           \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", (void **context, int device))                       \
  X(ctxGetCurrent, "cuCtxGetCurrent", (void **context))                                            \
  X(ctxSetCurrent, "cuCtxSetCurrent", (void *context))                                             \
  X(ctxPush, "cuCtxPushCurrent_v2", (void *context))                                               \
  X(ctxPop, "cuCtxPopCurrent_v2", (void **context))                                                \
  X(ctxGetDevice, "cuCtxGetDevice", (int *device))                                                 \
  X(ctxSynchronize, "cuCtxSynchronize", (void))                                                    \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (void **module, const void *image, unsigned count, int *options, void **values))               \
  X(moduleUnload, "cuModuleUnload", (void *module))                                                \
  X(moduleGetFunction, "cuModuleGetFunction", (void **function, void *module, const char *name))   \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, void *function))           \
  X(funcSetAttribute, "cuFuncSetAttribute", (void *function, int attribute, int value))            \
  X(launchKernel, "cuLaunchKernel",                                                                \
    (void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,              \
     unsigned blockY, unsigned blockZ, unsigned shared, void *stream, void **arguments,            \
     void **extra))                                                                                \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                      \
    (int *blocks, void *function, int threads, size_t shared))                                     \
  X(memAlloc, "cuMemAlloc_v2", (tk_device_pointer * address, size_t bytes))                        \
  X(memFree, "cuMemFree_v2", (tk_device_pointer address))                                          \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (tk_device_pointer to, const void *from, size_t bytes))         \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *to, tk_device_pointer from, size_t bytes))               \
  X(memsetD2D8, "cuMemsetD2D8Async",                                                               \
    (tk_device_pointer to, size_t pitch, unsigned char value, size_t width, size_t height,         \
     void *stream))                                                                                \
  X(memsetD2D16, "cuMemsetD2D16Async",                                                             \
    (tk_device_pointer to, size_t pitch, unsigned short value, size_t width, size_t height,        \
     void *stream))                                                                                \
  X(memsetD2D32, "cuMemsetD2D32Async",                                                             \
    (tk_device_pointer to, size_t pitch, unsigned value, size_t width, size_t height,              \
     void *stream))                                                                                \
  X(memsetD8, "cuMemsetD8Async",                                                                   \
    (tk_device_pointer to, unsigned char value, size_t count, void *stream))                       \
  X(memsetD16, "cuMemsetD16Async",                                                                 \
    (tk_device_pointer to, unsigned short value, size_t count, void *stream))                      \
  X(memsetD32, "cuMemsetD32Async",                                                                 \
    (tk_device_pointer to, unsigned value, size_t count, void *stream))                            \
  X(streamSynchronize, "cuStreamSynchronize", (void *stream))                                      \
  X(streamWaitEvent, "cuStreamWaitEvent", (void *stream, void *event, unsigned flags))             \
  X(eventCreate, "cuEventCreate", (void **event, unsigned flags))                                  \
  X(eventRecord, "cuEventRecord", (void *event, void *stream))                                     \
  X(eventQuery, "cuEventQuery", (void *event))                                                     \
  X(eventSynchronize, "cuEventSynchronize", (void *event))                                         \
  X(eventElapsed, "cuEventElapsedTime", (float *milliseconds, void *start, void *end))             \
  X(eventDestroy, "cuEventDestroy_v2", (void *event))
/* Functions of newer drivers; null where the driver lacks them. */
#define TK_CUDA_OPTIONAL(X)                                                                        \
  X(streamIsCapturing, "cuStreamIsCapturing", (void *stream, int *status))                         \
  X(streamGetCaptureInfo, "cuStreamGetCaptureInfo_v2",                                             \
    (void *stream, int *status, unsigned long long *id, void **graph, void *const **dependencies,  \
     size_t *count))                                                                               \
  X(streamGetId, "cuStreamGetId", (void *stream, unsigned long long *id))                          \
  X(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))                         \
  X(userObjectCreate, "cuUserObjectCreate",                                                        \
    (void **object, void *value, void (*destroy)(void *value), unsigned references,                \
     unsigned flags))                                                                              \
  X(userObjectRelease, "cuUserObjectRelease", (void *object, unsigned references))                 \
  X(graphRetainUserObject, "cuGraphRetainUserObject",                                              \
    (void *graph, void *object, unsigned references, unsigned flags))                              \
  X(memAllocAsync, "cuMemAllocAsync", (tk_device_pointer * address, size_t bytes, void *stream))   \
  X(memFreeAsync, "cuMemFreeAsync", (tk_device_pointer address, void *stream))                     \
  X(pointerGetAttribute, "cuPointerGetAttribute",                                                  \
    (void *value, int attribute, tk_device_pointer pointer))                                       \
  X(ctxGetId, "cuCtxGetId", (void *context, unsigned long long *id))                               \
  X(resetPersistingL2, "cuCtxResetPersistingL2Cache", (void))                                      \
  X(launchKernelEx, "cuLaunchKernelEx",                                                            \
    (const tk_launch_config *config, void *function, void **arguments, void **extra))              \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (void *map, int dtype, uint32_t rank, void *address, const uint64_t *extents,                  \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,          \
     int swizzle, int promotion, int fill))

/* The loaded driver. Every function returns the driver's code, 0 for success. */
typedef struct {
#define TK_MEMBER(name, symbol, parameters) int(*name) parameters;
  TK_CUDA_FUNCTIONS(TK_MEMBER)
  TK_CUDA_OPTIONAL(TK_MEMBER)
#undef TK_MEMBER
} tk_driver;

/* The driver's constants. */
enum {
  TK_MULTIPROCESSORS = 16, /* of a device */
  TK_MAJOR = 75,
  TK_MINOR = 76,
  TK_SHARED_PER_BLOCK = 97,
  TK_STATIC_SHARED = 1, /* of a function */
  TK_DYNAMIC_SHARED = 8,
  TK_ERROR_LOG = 5, /* of loading */
  TK_ERROR_LOG_BYTES = 6,
  TK_CLUSTER = 4,     /* of a launch */
  TK_MEMORY_TYPE = 2, /* of an address */
  TK_IS_MANAGED = 8,
  TK_ORDINAL = 9,
  TK_DEVICE_MEMORY = 2,
  TK_PER_THREAD = 2, /* CU_STREAM_PER_THREAD, a stream's handle */
  TK_RELAXED = 2,    /* of captures */
  TK_NO_DESTRUCTOR_SYNC = 1,
  TK_MOVE_REFERENCE = 1,
  TK_EVENT_WITHOUT_TIME = 2
};

#ifdef __cplusplus
}
#endif

#endif
