// Asks the driver about each tensor's address.
#include "runtime/src/Residency.h"

namespace tile::runtime {

/// A pointer that the driver does not know is memory of the host: fine on the CPU, an error for
/// code of a GPU.
Error checkResidency(bool onHost, const tk_kernel &kernel, const tile_argument *arguments,
                     size_t count) {
  Error problem;
  const CudaDriver *driver = CudaDriver::get(problem);
  if (!driver) // memory of a device is had from its driver alone
    return onHost ? Error() : problem;
  CUdevice current = -1;
  CUcontext context = nullptr;
  // Memory of another device is refused by the context's device, unless it is managed.
  if (!onHost) {
    if (Error error = driver->currentContext(context))
      return error;
    if (Error error =
            driver->check(driver->ctxGetDevice(&current), "cannot ask for the context's device"))
      return error;
  }
  tile_code code = tk_check_residency(driver, &kernel, arguments, count, onHost, current);
  return code ? lastError(code) : Error();
}

} // namespace tile::runtime
