// Loading of libcuda, and its results as errors.
#include "launch/CudaDriver.h"

#include "launch/core/Launch.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tile::runtime {

Error CudaDriver::load(const char *library, CudaDriver &driver) {
  // Never closed: contexts and modules of other parts of the process may live on in it.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Error(TILE_ERROR_DRIVER, std::string("cannot load the CUDA driver: ") +
                                        (reason ? reason : library) +
                                        "; install the NVIDIA driver, or run on the CPU");
  }
  // Symbols by name and never linked: this library has to load where there is no driver. An
  // optional function that is absent stays null, and its callers look.
#define TILE_CUDA_LOAD(member, symbol, parameters)                                                 \
  driver.member = reinterpret_cast<int(*) parameters>(dlsym(handle, symbol));
#define TILE_CUDA_REQUIRE(member, symbol, parameters)                                              \
  TILE_CUDA_LOAD(member, symbol, parameters)                                                       \
  if (!driver.member)                                                                              \
    return Error(TILE_ERROR_DRIVER, std::string("the CUDA driver '") + library + "' lacks " +      \
                                        symbol + ": it is too old");
  TK_CUDA_FUNCTIONS(TILE_CUDA_REQUIRE)
  TK_CUDA_OPTIONAL(TILE_CUDA_LOAD)
#undef TILE_CUDA_LOAD
#undef TILE_CUDA_REQUIRE
  return {};
}

namespace {
/// Loads once in a process, errors included: without a driver each launch would otherwise search
/// the disk again.
struct Loaded {
  CudaDriver driver;
  Error error;

  Loaded() {
    const char *name = std::getenv("TILE_LIBCUDA");
    error = CudaDriver::load(name && *name ? name : "libcuda.so.1", driver);
    int devices = 0;
    if (!error)
      error = driver.check(driver.init(0), "cannot initialise the CUDA driver");
    if (!error)
      error = driver.check(driver.deviceGetCount(&devices), "cannot count the CUDA devices");
    if (!error && devices == 0)
      error = Error(TILE_ERROR_DRIVER, "the CUDA driver finds no device");
    if (error)
      error.code = TILE_ERROR_DRIVER;
  }
};
} // namespace

const CudaDriver *CudaDriver::get(Error &error) {
  static const Loaded loaded;
  if (!loaded.error)
    return &loaded.driver;
  error = loaded.error;
  return nullptr;
}

Error CudaDriver::check(CUresult result, const char *what) const {
  tile_code code = tk_refused(this, nullptr, result, what);
  return code ? Error(code, tk_text(tk_said())) : Error();
}

Error CudaDriver::currentContext(CUcontext &context) const {
  context = nullptr;
  CUresult result = ctxGetCurrent(&context);
  // The caller's context wins: its pointers and streams belong to it.
  if (result == cuda::success && context)
    return {};
  if (Error error = check(result, "cannot ask for the current context"))
    return error;
  // Retained for the life of the process, as the CUDA runtime does.
  CUdevice device = 0;
  if (Error error = check(deviceGet(&device, 0), "cannot open device 0"))
    return error;
  if (Error error =
          check(primaryRetain(&context, device), "cannot open the primary context of device 0"))
    return error;
  return check(ctxSetCurrent(context), "cannot make a context current");
}

} // namespace tile::runtime
