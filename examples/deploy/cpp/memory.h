// Memory where the kernels run: on the host, or on a GPU if TILE_EXAMPLE_CUDA is set, by libcuda
// alone.
#ifndef TILE_CPP_MEMORY_H
#define TILE_CPP_MEMORY_H

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>

/// `count` floats, freed with the process.
class Floats {
public:
  explicit Floats(size_t count) : count(count) {
    if (!onDevice()) {
      data = static_cast<float *>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64));
      return;
    }
    unsigned long long address = 0;
    call<int (*)(unsigned long long *, size_t)>("cuMemAlloc_v2")(&address, count * sizeof(float));
    data = reinterpret_cast<float *>(address);
  }
  void write(const float *from) {
    if (onDevice())
      call<int (*)(unsigned long long, const void *, size_t)>("cuMemcpyHtoD_v2")(
          reinterpret_cast<unsigned long long>(data), from, count * sizeof(float));
    else
      std::memcpy(data, from, count * sizeof(float));
  }
  void read(float *to) const {
    if (onDevice())
      call<int (*)(void *, unsigned long long, size_t)>("cuMemcpyDtoH_v2")(
          to, reinterpret_cast<unsigned long long>(data), count * sizeof(float));
    else
      std::memcpy(to, data, count * sizeof(float));
  }
  float *get() const { return data; }

  static bool onDevice() { return std::getenv("TILE_EXAMPLE_CUDA") != nullptr; }
  /// Makes a context current on this thread.
  static bool open() {
    if (!onDevice())
      return true;
    int device = 0;
    void *context = nullptr;
    return call<int (*)(unsigned)>("cuInit")(0) == 0 &&
           call<int (*)(int *, int)>("cuDeviceGet")(&device, 0) == 0 &&
           call<int (*)(void **, int)>("cuDevicePrimaryCtxRetain")(&context, device) == 0 &&
           call<int (*)(void *)>("cuCtxSetCurrent")(context) == 0;
  }

private:
  template <typename Function> static Function call(const char *name) {
    static void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<Function>(library ? dlsym(library, name) : nullptr);
  }

  size_t count;
  float *data = nullptr;
};

#endif
