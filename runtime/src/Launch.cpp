// Launching: the variant, the checks, then fills, tensor maps, scratch memory and the driver's own
// call. A launch of a function that is loaded allocates nothing and takes no lock, but for scratch
// memory and tensor maps.
//
//   candidates   instances for this device's target           Module.cpp
//   select       the first that fits and whose facts hold     launch/core/Select.c
//   check        arguments against its contract; the plan     launch/core/Check.c, Memory.c
//   execute      where memory lies, if asked                  launch/core/Start.c
//     on the CPU   fills; programs in pieces by threads       launch/core/Pool.c
//     on a GPU     context, function (the first launch loads it), fills, tensor maps, scratch
//                  memory, cuLaunchKernel                     launch/core/Start.c
//
// A prepared call begins at `execute` (Prepared.cpp).
#include "runtime/src/Module.h"
#include "runtime/src/Residency.h"

#include <algorithm>

using namespace tile::runtime;

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
  const tk_kernel &tables = instance.validator->getTables();
  Error error;
  if (tile_code code = tk_start(&driver, &tables, function, blocks, plan.sharedBytes, stream,
                                plan.pointers.data()))
    error = lastError(code);
  std::lock_guard<std::mutex> lock(mutex);
  int result = tk_scratch_done(&driver, scratch, stream);
  if (!error && result)
    error = driver.check(result, (info.name + ": cannot launch").c_str());
  return error;
}

/// The steps after the checks. `plan` is filled for these arguments; its pointers to tensor maps
/// and scratch memory are set here.
Error tile_module::execute(const tile_kernel &kernel, const tile_instance &instance,
                           const tile_argument *arguments, size_t count, Plan &plan, void *stream,
                           uint32_t flags, Place place) {
  const Kernel &info = instance.getKernel();
  const tk_kernel &tables = instance.validator->getTables();
  if (plan.empty && plan.fills.empty())
    return {};
  if (flags & TILE_LAUNCH_CHECK_MEMORY)
    if (Error error = checkResidency(onHost, tables, arguments, count))
      return error;
  if (onHost) {
    for (const Fill &fill : plan.fills)
      fillHost(fill);
    if (plan.empty)
      return {};
    return threads.run(tables, units[instance.unit].functions[instance.index], plan.pointers.data(),
                       0, plan.programs, 0);
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
    if (tile_code code = tk_fill_device(&driver, &tables, &fill, cuStream))
      return lastError(code);
  if (plan.empty)
    return {};
  if (!info.tensorMaps.empty()) {
    // Its memory stays, so that a launch allocates nothing.
    thread_local std::vector<tk_encoded> maps;
    if (Error problem = instance.tensorMaps->get(driver, *instance.validator, arguments, plan,
                                                 function.empty, maps))
      return problem;
    for (size_t i = 0; i < info.arguments.size(); ++i)
      if (info.arguments[i].kind == Argument::Kind::TensorMap)
        plan.pointers[i] = &maps[info.arguments[i].index];
  }
  unsigned blocks = tk_count_blocks(&tables, plan.programs, function.blocks);
  if (info.launch.scratchBytes)
    return launchWithScratch(driver, *place.entry, instance, plan, handle, blocks, cuStream);
  tile_code code =
      tk_start(&driver, &tables, handle, blocks, plan.sharedBytes, cuStream, plan.pointers.data());
  return code ? lastError(code) : Error();
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
