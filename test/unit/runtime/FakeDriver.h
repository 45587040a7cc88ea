// The fake driver as the runtime sees it: each test that includes this runs over it.
#ifndef TILE_TEST_UNIT_RUNTIME_FAKEDRIVER_H
#define TILE_TEST_UNIT_RUNTIME_FAKEDRIVER_H

#include "test/unit/runtime/FakeCuda.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace tile::runtime::testing {

/// Set before the runtime first asks for the driver, which happens once for the process.
inline const int environment = setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);

/// What the fake driver has been asked for, and what it shall answer.
inline FakeCuda &fake() {
  static FakeCuda *state = [] {
    void *handle = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
    auto get = handle ? reinterpret_cast<FakeCuda *(*)()>(dlsym(handle, "fakeCuda")) : nullptr;
    return get ? get() : nullptr;
  }();
  return *state;
}

/// A device address.
inline void *address(uint64_t value) { return reinterpret_cast<void *>(value); }

} // namespace tile::runtime::testing

#endif
