// Asks the driver about each tensor's address.
#include "runtime/src/Residency.h"

#include <algorithm>

namespace tile::runtime {

namespace {

/// What the driver knows of an address; memory that it does not know is the host's.
struct Place {
  bool isDevice = false, isKnown = false;
  int device = -1;
};

Place locate(const CudaDriver &driver, const void *address) {
  Place place;
  CUdeviceptr pointer = CUdeviceptr(uintptr_t(address));
  unsigned type = 0, managed = 0;
  if (driver.pointerGetAttribute(&type, cuda::pointerMemoryType, pointer) != cuda::success ||
      type == 0)
    return place;
  place.isKnown = true;
  // Managed memory counts as a device's, but is reached from everywhere.
  if (driver.pointerGetAttribute(&managed, cuda::pointerIsManaged, pointer) == cuda::success &&
      managed)
    return place;
  place.isDevice = type == cuda::memoryTypeDevice;
  if (driver.pointerGetAttribute(&place.device, cuda::pointerDeviceOrdinal, pointer) !=
      cuda::success)
    place.device = -1;
  return place;
}

bool isEmpty(const tile_argument &argument) {
  return std::find(argument.shape, argument.shape + argument.rank, 0) !=
         argument.shape + argument.rank;
}

} // namespace

Error checkResidency(bool onHost, const Kernel &kernel, const tile_argument *arguments,
                     size_t count) {
  Error problem;
  const CudaDriver *driver = CudaDriver::get(problem);
  if (!driver) // memory of a device is had from its driver alone
    return onHost ? Error() : problem;
  if (!driver->pointerGetAttribute)
    return Error(TILE_ERROR_DRIVER,
                 kernel.name +
                     ": the CUDA driver lacks cuPointerGetAttribute: it is too old to tell where "
                     "memory lies");
  CUdevice current = -1;
  CUcontext context = nullptr;
  if (!onHost) {
    if (Error error = driver->currentContext(context))
      return error;
    if (Error error =
            driver->check(driver->ctxGetDevice(&current), "cannot ask for the context's device"))
      return error;
  }
  for (size_t i = 0; i < count; ++i) {
    const tile_argument &argument = arguments[i];
    if (argument.kind != TILE_TENSOR || !argument.data || isEmpty(argument))
      continue;
    Place place = locate(*driver, argument.data);
    if (onHost ? !place.isDevice : place.isKnown && (!place.isDevice || place.device == current))
      continue;
    std::string found = place.isDevice ? "memory of device " + std::to_string(place.device)
                                       : "host memory that the driver does not know";
    std::string expected =
        onHost ? "host memory: the kernel runs on the CPU"
               : "memory of device " + std::to_string(current) + ", on which the kernel runs";
    std::string text = kernel.name + ": '" + kernel.params[i].name + "' lies in " + found +
                       ", expected " + expected + "; copy the tensor there";
    if (kernel.params[i].line && !kernel.file.empty())
      text += " (" + kernel.file + ":" + std::to_string(kernel.params[i].line) + ")";
    return Error(TILE_ERROR_RESIDENCY, text);
  }
  return {};
}

} // namespace tile::runtime
