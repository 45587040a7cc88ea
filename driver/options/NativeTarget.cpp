// Looks the device up by the CUDA driver's library; no toolkit is needed.
#include "driver/options/NativeTarget.h"
#include "launch/CudaDriver.h"
#include "llvm/ADT/Twine.h"
#include <array>

using namespace llvm;

namespace tile {

Expected<NativeTarget> findNativeTarget(unsigned ordinal) {
  runtime::Error error;
  const runtime::CudaDriver *driver = runtime::CudaDriver::get(error);
  if (!driver)
    return createStringError(error.message);
  runtime::CUdevice device = 0;
  int major = 0, minor = 0;
  std::array<char, 256> name{};
  if (!(error = driver->check(driver->deviceGet(&device, int(ordinal)),
                              ("opening device " + std::to_string(ordinal)).c_str())))
    for (runtime::CUresult result :
         {driver->deviceGetAttribute(&major, runtime::cuda::attributeComputeMajor, device),
          driver->deviceGetAttribute(&minor, runtime::cuda::attributeComputeMinor, device),
          driver->deviceGetName(name.data(), int(name.size()) - 1, device)})
      if (!error)
        error = driver->check(result, "asking for the device's architecture");
  if (error)
    return createStringError(error.message);
  if (const GPUTarget *target = findDeviceTarget(unsigned(major), unsigned(minor))) {
    const GPUCard *card = findCardOfDevice(name.data());
    const GPUTarget *of = card ? findGPUTarget(card->target) : nullptr;
    return NativeTarget{target, of && of->capability() == target->capability() ? card : nullptr};
  }
  return createStringError("the device, " + Twine(name.data()) + ", has compute capability " +
                           Twine(major) + "." + Twine(minor) +
                           ", for which there is no target (tilec --version lists them)");
}

} // namespace tile
