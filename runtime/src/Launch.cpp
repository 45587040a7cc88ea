// Launching: the variant, the checks, then fills, tensor maps, scratch memory and the driver's own
// call. A launch of a function that is loaded allocates nothing and takes no lock, but for scratch
// memory and tensor maps.
#include "runtime/src/Module.h"
#include "runtime/src/Residency.h"

#include <algorithm>

using namespace tile::runtime;

static Error fillDevice(const CudaDriver &driver, const Fill &fill, CUstream stream) {
  return forEachBlock(fill, [&](const FillBlock &block) {
    CUdeviceptr to = CUdeviceptr(uintptr_t(block.data));
    size_t pitch = size_t(block.pitchBytes), width = size_t(block.width), rows = size_t(block.rows);
    CUresult result = cuda::success;
    switch (block.cellBytes) {
    case 1:
      result = rows == 1 ? driver.memsetD8(to, block.value, width, stream)
                         : driver.memsetD2D8(to, pitch, block.value, width, rows, stream);
      break;
    case 2:
      result = rows == 1 ? driver.memsetD16(to, block.value, width, stream)
                         : driver.memsetD2D16(to, pitch, block.value, width, rows, stream);
      break;
    default:
      result = rows == 1 ? driver.memsetD32(to, block.value, width, stream)
                         : driver.memsetD2D32(to, pitch, block.value, width, rows, stream);
    }
    return driver.check(result, "cannot fill a tensor before the launch");
  });
}

/// Blocks to launch: one for each program, or of a persistent kernel as many as run at once; whole
/// clusters.
static unsigned countBlocks(const LaunchInfo &info, int64_t programs, unsigned resident) {
  unsigned cluster = info.cluster;
  uint64_t blocks = (uint64_t(programs) + cluster - 1) / cluster * cluster;
  if (info.persistent)
    blocks = std::min<uint64_t>(blocks, std::max(resident / cluster * cluster, cluster));
  return unsigned(blocks);
}

static Error launchKernel(const CudaDriver &driver, const Kernel &kernel, CUfunction function,
                          unsigned blocks, CUstream stream, void **arguments) {
  const LaunchInfo &info = kernel.launch;
  CUresult result;
  if (info.cluster > 1) {
    if (!driver.launchKernelEx)
      return Error(TILE_ERROR_DRIVER,
                   kernel.name +
                       ": the CUDA driver lacks cuLaunchKernelEx, which clusters need: it is "
                       "too old, install one for CUDA 12 or newer");
    CUlaunchAttribute attribute = {cuda::launchClusterDimension, 0, {info.cluster, 1, 1}};
    CUlaunchConfig config = {{blocks, 1, 1}, {info.threads, 1, 1}, info.sharedBytes,
                             stream,         &attribute,           1};
    result = driver.launchKernelEx(&config, function, arguments, nullptr);
  } else {
    result = driver.launchKernel(function, blocks, 1, 1, info.threads, 1, 1, info.sharedBytes,
                                 stream, arguments, nullptr);
  }
  return result == cuda::success ? Error()
                                 : driver.check(result, (kernel.name + ": cannot launch").c_str());
}

Error tile_module::launchWithScratch(const CudaDriver &driver, Loaded &entry,
                                     const tile_instance &instance, Plan &plan, CUfunction function,
                                     unsigned blocks, CUstream stream) {
  const Kernel &info = instance.getKernel();
  tk_scratch *scratch = nullptr;
  const char *what = "";
  {
    std::lock_guard<std::mutex> lock(mutex);
    int result = tk_scratch_take(
        &entry.scratch, &driver, int(instance.number), info.launch.scratchBytes,
        info.launch.scratchShared ? 1 : size_t(plan.programs), stream, &scratch, &what);
    if (result < 0)
      return Error(TILE_ERROR_MEMORY, info.name + ": out of memory");
    if (result)
      return driver.check(result, (info.name + ": " + what).c_str());
  }
  for (size_t i = 0; i < info.arguments.size(); ++i)
    if (info.arguments[i].kind == Argument::Kind::Scratch) {
      plan.cells[i] = scratch->memory;
      plan.pointers[i] = &plan.cells[i];
    }
  Error error = launchKernel(driver, info, function, blocks, stream, plan.pointers.data());
  std::lock_guard<std::mutex> lock(mutex);
  int result = tk_scratch_done(&driver, scratch, stream);
  if (!error && result)
    error = driver.check(result, (info.name + ": cannot launch").c_str());
  return error;
}

/// What follows the checks. `plan` is filled for these arguments; its pointers to tensor maps and
/// scratch memory are set here.
Error tile_module::execute(const tile_kernel &kernel, const tile_instance &instance,
                           const tile_argument *arguments, size_t count, Plan &plan, void *stream,
                           uint32_t flags, Place place) {
  const Kernel &info = instance.getKernel();
  if (plan.empty && plan.fills.empty())
    return {};
  if (flags & TILE_LAUNCH_CHECK_MEMORY)
    if (Error error = checkResidency(onHost, info, arguments, count))
      return error;
  if (onHost) {
    for (const Fill &fill : plan.fills)
      fillHost(fill);
    if (!plan.empty)
      runPrograms(units[instance.unit].functions[instance.index], plan.pointers.data(),
                  plan.programs, 0);
    return {};
  }
  if (!place.entry)
    if (Error error = locate(place))
      return error;
  const CudaDriver &driver = *place.driver;
  Function &function = place.entry->functions[instance.number];
  CUfunction handle = function.handle.load(std::memory_order_acquire);
  if (!handle) {
    std::lock_guard<std::mutex> lock(mutex);
    if (Error error = loadFunction(driver, *place.entry, instance))
      return error;
    handle = function.handle.load(std::memory_order_relaxed);
  }
  CUstream cuStream = static_cast<CUstream>(stream);
  for (const Fill &fill : plan.fills)
    if (Error problem = fillDevice(driver, fill, cuStream)) {
      problem.message = kernel.name + ": " + problem.message;
      return problem;
    }
  if (plan.empty)
    return {};
  if (!info.tensorMaps.empty()) {
    // Its memory stays, so that a launch allocates nothing.
    thread_local std::vector<EncodedMap> maps;
    if (Error problem = instance.tensorMaps->get(driver, *instance.validator, arguments, plan,
                                                 function.empty, maps))
      return problem;
    for (size_t i = 0; i < info.arguments.size(); ++i)
      if (info.arguments[i].kind == Argument::Kind::TensorMap)
        plan.pointers[i] = &maps[info.arguments[i].index];
  }
  unsigned blocks = countBlocks(info.launch, plan.programs, function.blocks);
  if (info.launch.scratchBytes)
    return launchWithScratch(driver, *place.entry, instance, plan, handle, blocks, cuStream);
  return launchKernel(driver, info, handle, blocks, cuStream, plan.pointers.data());
}

Error tile_module::launch(const tile_kernel &kernel, const tile_argument *arguments, size_t count,
                          void *stream, uint32_t flags) {
  Place place;
  const std::vector<const tile_instance *> *list = nullptr;
  if (Error error = candidates(kernel, place, list))
    return error;
  const tile_instance *instance = nullptr;
  if (Error error = kernel.select(*list, arguments, count, instance))
    return error;
  // Its buffers stay, so that a launch allocates nothing.
  thread_local Plan plan;
  if (Error error =
          instance->validator->check(arguments, count, plan, flags & TILE_LAUNCH_UNCHECKED))
    return error;
  return execute(kernel, *instance, arguments, count, plan, stream, flags, place);
}
