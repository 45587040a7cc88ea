// The CUDA driver's functions for an emulated device. Launches run at once; the first mistake of a
// kernel is what every later call returns, with its text as cuGetErrorString.
#include "test/emulator/Device.h"
#include "test/emulator/TensorMap.h"

#include <cstdio>
#include <thread>

using namespace emu;

namespace {
enum { InvalidValue = 1, OutOfMemory = 2, InvalidImage = 200, InvalidPtx = 218, NotFound = 500 };

template <class F> int locked(F f) {
  std::lock_guard<std::mutex> lock(device().mutex);
  return f(device());
}
/// What a call does once nothing has failed before.
template <class F> int whileGood(F f) {
  return locked([&](Device &d) { return d.failure ? d.failure : f(d); });
}
bool isDevice(Device &d, uint64_t address, size_t bytes) {
  return bytes == 0 || d.memory.contains(address, bytes);
}
template <class T> int fill(uint64_t to, size_t pitch, T value, size_t width, size_t height) {
  return whileGood([&](Device &d) {
    for (size_t row = 0; row < height; ++row) {
      if (!isDevice(d, to + row * pitch, width * sizeof(T)) || to % sizeof(T))
        return int(InvalidValue);
      T *at = reinterpret_cast<T *>(to + row * pitch);
      std::fill(at, at + width, value);
    }
    return 0;
  });
}
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cuInit(unsigned flags) {
  return locked([&](Device &d) { return flags ? int(InvalidValue) : d.configure(); });
}
EXPORT cuDriverGetVersion(int *version) { return *version = 13000, 0; }
EXPORT cuGetErrorName(int error, const char **name) {
  static const std::map<int, const char *> names = {{0, "CUDA_SUCCESS"},
                                                    {1, "CUDA_ERROR_INVALID_VALUE"},
                                                    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                                    {200, "CUDA_ERROR_INVALID_IMAGE"},
                                                    {218, "CUDA_ERROR_INVALID_PTX"},
                                                    {500, "CUDA_ERROR_NOT_FOUND"},
                                                    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
                                                    {710, "CUDA_ERROR_ASSERT"},
                                                    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
                                                    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                                                    {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  auto found = names.find(error);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return 0;
}
EXPORT cuGetErrorString(int error, const char **text) {
  return locked([&](Device &d) {
    *text = d.text.empty() ? (error ? "of the emulated device" : "no error") : d.text.c_str();
    return 0;
  });
}
EXPORT cuDeviceGetCount(int *count) { return *count = 1, 0; }
EXPORT cuDeviceGet(int *result, int ordinal) { return *result = ordinal, ordinal ? 101 : 0; }
EXPORT cuDeviceGetName(char *name, int length, int) {
  const char *asked = getenv("TILE_EMULATE_NAME");
  return snprintf(name, size_t(length), "%s", asked && *asked ? asked : "Emulated device"), 0;
}
EXPORT cuDeviceGetUuid(void *uuid, int) { return memset(uuid, 0x45, 16), 0; }
EXPORT cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = size_t(1) << 34, 0; }
EXPORT cuMemGetInfo_v2(size_t *available, size_t *total) {
  return *available = *total = size_t(1) << 34, 0;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, int) {
  return locked([&](Device &d) {
    bool isServer = d.major == 9 || d.major == 10, isLarge = d.major == 8 && d.minor % 7 == 0;
    int sharedBytes = isServer ? 232448 : isLarge ? 166912 : 101376;
    static const std::map<int, int> fixed = {{1, 1024},   {2, 1024}, {3, 1024},      {4, 64},
                                             {8, 49152},  {10, 32},  {12, 65536},    {39, 2048},
                                             {82, 65536}, {115, 1},  {5, 0x7FFFFFFF}};
    *value = attribute == 75   ? d.major
             : attribute == 76 ? d.minor
             : attribute == 97 ? sharedBytes
             : attribute == 81 ? sharedBytes + 1024
             : attribute == 16 ? d.processors
                               : 1;
    auto known = fixed.find(attribute);
    if (known != fixed.end())
      *value = known->second;
    return 0;
  });
}
EXPORT cuDevicePrimaryCtxRetain(void **context, int) { return *context = &device(), 0; }
EXPORT cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORT cuCtxGetCurrent(void **context) {
  return locked([&](Device &d) { return *context = d.hasContext ? &d : nullptr, 0; });
}
EXPORT cuCtxSetCurrent(void *context) {
  return locked([&](Device &d) { return d.hasContext = context != nullptr, 0; });
}
EXPORT cuCtxPushCurrent_v2(void *) { return 0; }
EXPORT cuCtxPopCurrent_v2(void **context) { return *context = &device(), 0; }
EXPORT cuCtxGetDevice(int *result) { return *result = 0, 0; }
EXPORT cuCtxGetId(void *, unsigned long long *id) { return *id = 1, 0; }
EXPORT cuCtxSynchronize(void) {
  return whileGood([](Device &) { return 0; });
}
EXPORT cuCtxResetPersistingL2Cache(void) { return 0; }

EXPORT cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                          void **values) {
  return whileGood([&](Device &d) {
    std::string why = d.load(static_cast<const char *>(image), *module);
    if (why.empty())
      return 0;
    char *log = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == 5)
        log = static_cast<char *>(values[i]);
      if (options[i] == 6)
        bytes = reinterpret_cast<size_t>(values[i]);
    }
    if (log && bytes)
      snprintf(log, bytes, "%s", why.c_str());
    else
      fprintf(stderr, "emulated device: %s\n", why.c_str());
    return memcmp(image, "\177ELF", 4) == 0 ? int(InvalidImage) : int(InvalidPtx);
  });
}
EXPORT cuModuleLoadData(void **module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
EXPORT cuModuleUnload(void *module) {
  return locked([&](Device &d) { return d.unload(module) ? 0 : int(InvalidValue); });
}
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
  return locked([&](Device &) {
    auto &kernels = static_cast<Loaded *>(module)->kernels;
    auto found = kernels.find(name);
    *function = found == kernels.end() ? nullptr : &found->second;
    return *function ? 0 : int(NotFound);
  });
}
EXPORT cuFuncGetAttribute(int *value, int attribute, void *function) {
  const Kernel &kernel = *static_cast<Kernel *>(function);
  *value = attribute == 1   ? int(kernel.sharedBytes)
           : attribute == 0 ? 1024
           : attribute == 3 ? int(kernel.localBytes)
                            : 0;
  return 0;
}
EXPORT cuFuncSetAttribute(void *, int, int) { return 0; }

static int launch(Kernel *kernel, const unsigned *blocks, const unsigned *threads, unsigned shared,
                  unsigned cluster, void **arguments) {
  return whileGood(
      [&](Device &d) { return d.launch(*kernel, blocks, threads, shared, cluster, arguments); });
}
EXPORT cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared, void *,
                      void **arguments, void **) {
  unsigned blocks[] = {gridX, gridY, gridZ}, threads[] = {blockX, blockY, blockZ};
  return launch(static_cast<Kernel *>(function), blocks, threads, shared, 1, arguments);
}
namespace {
struct LaunchAttribute {
  int id, padding;
  unsigned value[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned count;
};
} // namespace
EXPORT cuLaunchKernelEx(const LaunchConfig *config, void *function, void **arguments, void **) {
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->count; ++i)
    if (config->attributes[i].id == 4) {
      cluster = config->attributes[i].value[0];
      if (config->attributes[i].value[1] != 1 || config->attributes[i].value[2] != 1)
        return InvalidValue;
    }
  return launch(static_cast<Kernel *>(function), config->grid, config->block, config->shared,
                cluster, arguments);
}
EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int threads,
                                                   size_t shared) {
  int byThreads = 2048 / (threads > 0 ? threads : 1), byShared = int(233472 / (shared + 1024));
  return *blocks = std::max(1, std::min(byThreads, byShared)), 0;
}
EXPORT cuTensorMapEncodeTiled(void *map, int dtype, uint32_t rank, void *address,
                              const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, int interleave, int swizzle, int promotion,
                              int fill) {
  return whileGood([&](Device &d) {
    std::string why = encodeTensorMap(map, dtype, rank, address, extents, strides, box, steps,
                                      interleave, swizzle, promotion, fill);
    d.text = why.empty() ? "" : "cuTensorMapEncodeTiled: " + why;
    return why.empty() ? 0 : int(InvalidValue);
  });
}

EXPORT cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  return whileGood([&](Device &d) {
    *address = bytes ? d.memory.allocate(bytes) : 0;
    return *address ? 0 : bytes ? int(OutOfMemory) : int(InvalidValue);
  });
}
EXPORT cuMemFree_v2(uint64_t address) {
  return locked(
      [&](Device &d) { return !address || d.memory.release(address) ? 0 : int(InvalidValue); });
}
EXPORT cuMemAllocAsync(uint64_t *address, size_t bytes, void *) {
  return cuMemAlloc_v2(address, bytes);
}
EXPORT cuMemFreeAsync(uint64_t address, void *) { return cuMemFree_v2(address); }
EXPORT cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return whileGood([&](Device &d) {
    if (!isDevice(d, to, bytes))
      return int(InvalidValue);
    memcpy(reinterpret_cast<void *>(to), from, bytes);
    return 0;
  });
}
EXPORT cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return whileGood([&](Device &d) {
    if (!isDevice(d, from, bytes))
      return int(InvalidValue);
    memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return 0;
  });
}
EXPORT cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  return whileGood([&](Device &d) {
    if (!isDevice(d, to, bytes) || !isDevice(d, from, bytes))
      return int(InvalidValue);
    memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    return 0;
  });
}
EXPORT cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
EXPORT cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
EXPORT cuMemsetD2D8Async(uint64_t to, size_t pitch, unsigned char v, size_t w, size_t h, void *) {
  return fill(to, pitch, v, w, h);
}
EXPORT cuMemsetD2D16Async(uint64_t to, size_t pitch, unsigned short v, size_t w, size_t h, void *) {
  return fill(to, pitch, v, w, h);
}
EXPORT cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned v, size_t w, size_t h, void *) {
  return fill(to, pitch, v, w, h);
}
EXPORT cuMemsetD8Async(uint64_t to, unsigned char v, size_t n, void *) {
  return fill(to, 0, v, n, 1);
}
EXPORT cuMemsetD16Async(uint64_t to, unsigned short v, size_t n, void *) {
  return fill(to, 0, v, n, 1);
}
EXPORT cuMemsetD32Async(uint64_t to, unsigned v, size_t n, void *) { return fill(to, 0, v, n, 1); }
EXPORT cuPointerGetAttribute(void *value, int attribute, uint64_t pointer) {
  return locked([&](Device &d) {
    if (!d.memory.contains(pointer, 1) || (attribute != 2 && attribute != 8 && attribute != 9))
      return int(InvalidValue);
    *static_cast<int *>(value) = attribute == 2 ? 2 : 0;
    return 0;
  });
}

EXPORT cuStreamCreate(void **stream, unsigned) { return *stream = &device(), 0; }
EXPORT cuStreamDestroy_v2(void *) { return 0; }
EXPORT cuStreamSynchronize(void *) { return cuCtxSynchronize(); }
EXPORT cuStreamQuery(void *) { return cuCtxSynchronize(); }
EXPORT cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
EXPORT cuStreamIsCapturing(void *, int *status) { return *status = 0, 0; }
EXPORT cuEventCreate(void **event, unsigned) { return *event = new double(0), 0; }
EXPORT cuEventRecord(void *event, void *) {
  return whileGood([&](Device &d) { return *static_cast<double *>(event) = d.milliseconds, 0; });
}
EXPORT cuEventQuery(void *) { return cuCtxSynchronize(); }
EXPORT cuEventSynchronize(void *) { return cuCtxSynchronize(); }
EXPORT cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  return *milliseconds = float(*static_cast<double *>(end) - *static_cast<double *>(start)), 0;
}
EXPORT cuEventDestroy_v2(void *event) { return delete static_cast<double *>(event), 0; }
