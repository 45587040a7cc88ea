// Loading of modules, choice of instances, launching.
#include "runtime/src/Module.h"

#include <algorithm>
#include <array>

using namespace tile::runtime;

//===- Kernels and instances
//---------------------------------------------------------------------------------------===//

/// "f16[8, 128], 0.5 as f32, default": the arguments of a call that fits nothing.
static std::string describeArguments(const tile_argument *arguments, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const tile_argument &argument = arguments[i];
    const char *dtype = tile_dtype_name(argument.dtype);
    text += i ? ", " : "";
    if (argument.kind == TILE_DEFAULT) {
      text += "default";
      continue;
    }
    text += dtype ? dtype : "?";
    if (argument.kind == TILE_SCALAR)
      continue;
    text += "[";
    for (int32_t axis = 0; axis < argument.rank && argument.shape; ++axis)
      text += (axis ? ", " : "") + std::to_string(argument.shape[axis]);
    text += "]";
  }
  return text;
}

Error tile_kernel::select(const tile_argument *arguments, size_t count, const tile_instance *&instance) const {
  instance = instances.front();
  if (instances.size() == 1)
    return {};
  if (count && !arguments)
    return Error(TILE_ERROR_CALL, name + ": the array of arguments is null");
  size_t near = 0, rightCount = 0;
  for (const tile_instance *candidate : instances) {
    rightCount += candidate->validator->takesCount(count);
    Validator::Fit fit = candidate->validator->fits(arguments, count);
    if (fit == Validator::Fit::No)
      continue;
    if (fit == Validator::Fit::Yes || ++near == 1)
      instance = candidate;
    if (fit == Validator::Fit::Yes)
      return {};
  }
  // Where the dtypes leave one instance, or no count is right, an instance's own checks say best what is wrong.
  if (near == 1 || rightCount == 0)
    return {};
  std::string message = name + ": no instance takes (" + describeArguments(arguments, count) + "); there are";
  for (size_t i = 0; i < instances.size(); ++i)
    message += (i ? "; " : " ") + instances[i]->validator->getSignature();
  return Error(TILE_ERROR_INSTANCE, message);
}

//===- Loading
//-----------------------------------------------------------------------------------------------------===//

Error tile_module::create(std::string image, const std::string &manifest, std::string name,
                          std::unique_ptr<tile_module> &result) {
  std::string reason;
  std::optional<Manifest> parsed = parseManifest(manifest, reason);
  if (!parsed)
    return Error(TILE_ERROR_MANIFEST, "'" + name + "': " + reason);
  int major = 0, minor = 0;
  char suffix = 0;
  if (!parseTarget(parsed->target, major, minor, suffix))
    return Error(TILE_ERROR_TARGET,
                 "'" + name + "' is compiled for '" + parsed->target +
                     "', which this runtime cannot load; expected a CUDA target such as sm_90a (run CPU "
                     "kernels with 'tilec run --device cpu')");
  std::unique_ptr<tile_module> module(new tile_module);
  if (Error error = inspectImage(image, name, module->kind))
    return error;
  module->name = std::move(name);
  module->image = std::move(image);
  std::vector<Kernel> kernels = std::move(parsed->kernels);
  module->manifest = std::move(*parsed);
  for (Kernel &kernel : kernels) {
    auto instance = std::make_unique<tile_instance>();
    instance->validator = Validator::create(std::move(kernel), reason);
    if (!instance->validator)
      return Error(TILE_ERROR_MANIFEST, "'" + module->name + "': " + reason);
    instance->index = module->instances.size();
    auto add = [&](auto &list, const std::string &name) {
      tile_kernel *group = nullptr;
      for (auto &known : list)
        if (known->name == name)
          group = known.get();
      if (!group) {
        list.push_back(std::make_unique<tile_kernel>());
        group = list.back().get();
        group->module = module.get();
        group->name = name;
      }
      group->instances.push_back(instance.get());
    };
    add(module->kernels, instance->getKernel().name);
    add(module->symbols, instance->getKernel().symbol);
    if (module->symbols.back()->instances.size() > 1)
      return Error(TILE_ERROR_MANIFEST,
                   "'" + module->name + "': the symbol '" + instance->getKernel().symbol + "' is listed twice");
    module->instances.push_back(std::move(instance));
  }
  result = std::move(module);
  return {};
}

tile_module::~tile_module() {
  if (contexts.empty())
    return;
  Error ignored;
  const CudaDriver *driver = CudaDriver::get(ignored);
  for (const Loaded &entry : contexts) {
    // A context that is gone has taken its modules with it.
    if (driver->ctxPush(entry.context) != cuda::success)
      continue;
    unsigned long long id = entry.id;
    if (!driver->ctxGetId || (driver->ctxGetId(entry.context, &id) == cuda::success && id == entry.id)) {
      driver->moduleUnload(entry.module);
      if (entry.empty)
        driver->memFree(entry.empty);
      for (const Scratch &scratch : entry.scratch)
        driver->memFree(scratch.memory);
    }
    CUcontext popped;
    driver->ctxPop(&popped);
  }
}

Error tile_module::find(const std::string &wanted, tile_kernel *&kernel) {
  for (auto *list : {&kernels, &symbols})
    for (auto &known : *list)
      if (known->name == wanted) {
        kernel = known.get();
        return {};
      }
  std::string names;
  for (auto &known : kernels)
    names += (names.empty() ? "" : ", ") + known->name;
  return Error(TILE_ERROR_KERNEL,
               "'" + name + "' has no kernel '" + wanted + "'; it has " + (names.empty() ? "none" : names));
}

/// The memory that stands for tensors without elements.
static Error makeEmpty(const CudaDriver &driver, CUdeviceptr &address) {
  static constexpr uint64_t zeros[4] = {};
  if (Error error = driver.check(driver.memAlloc(&address, sizeof zeros), "memory for empty tensors"))
    return error;
  return driver.check(driver.memcpyHtoD(address, zeros, sizeof zeros), "memory for empty tensors");
}

Error tile_module::load(const CudaDriver &driver, Loaded &entry) {
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (Error error = driver.check(driver.ctxGetDevice(&device), "cannot ask for the context's device"))
    return error;
  if (Error error = driver.check(driver.deviceGetAttribute(&major, cuda::attributeComputeMajor, device),
                                 "cannot ask for the compute capability"))
    return error;
  if (Error error = driver.check(driver.deviceGetAttribute(&minor, cuda::attributeComputeMinor, device),
                                 "cannot ask for the compute capability"))
    return error;
  if (!runsOn(kind, manifest.target, major, minor))
    return Error(TILE_ERROR_TARGET, "'" + name + "' is compiled for " + manifest.target + ", but the device is sm_" +
                                        std::to_string(major) + std::to_string(minor) +
                                        "; compile it with --target for that");
  std::array<char, 4096> log{};
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(uintptr_t(log.size()))};
  std::string what =
      "'" + name + "' cannot be loaded, the " + (kind == ImageKind::Ptx ? "PTX" : "cubin") + " is refused";
  if (Error error =
          driver.check(driver.moduleLoadDataEx(&entry.module, image.c_str(), 2, options, values), what.c_str())) {
    log.back() = '\0';
    std::string text = log.data();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    for (char &c : text)
      c = c == '\n' ? ' ' : c;
    return Error(TILE_ERROR_BINARY, error.message + (text.empty() ? "" : ": " + text));
  }
  entry.functions.resize(instances.size());
  for (const auto &instance : instances)
    if (!instance->getKernel().tensorMaps.empty() && !entry.empty)
      if (Error error = makeEmpty(driver, entry.empty)) {
        driver.moduleUnload(entry.module);
        return error;
      }
  return {};
}

/// The entry of the current context. Called with the mutex held.
Error tile_module::loaded(const CudaDriver &driver, Loaded *&entry) {
  CUcontext context = nullptr;
  if (Error error = driver.currentContext(context))
    return error;
  unsigned long long id = 0;
  if (driver.ctxGetId)
    if (Error error = driver.check(driver.ctxGetId(context, &id), "cannot ask for the context's number"))
      return error;
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (contexts[i].context != context)
      continue;
    if (contexts[i].id == id) {
      entry = &contexts[i];
      return {};
    }
    contexts.erase(contexts.begin() + i);
    break;
  }
  Loaded fresh;
  fresh.context = context;
  fresh.id = id;
  if (Error error = load(driver, fresh))
    return error;
  contexts.push_back(std::move(fresh));
  entry = &contexts.back();
  return {};
}

Error tile_module::function(const CudaDriver &driver, Loaded &entry, const tile_instance &instance,
                            Function &result) {
  Function &known = entry.functions[instance.index];
  result = known;
  if (known.handle)
    return {};
  result.empty = entry.empty;
  const Kernel &kernel = instance.getKernel();
  if (driver.moduleGetFunction(&result.handle, entry.module, kernel.symbol.c_str()) != cuda::success)
    return Error(TILE_ERROR_BINARY, "'" + name + "' has no function '" + kernel.symbol +
                                        "', which its manifest lists: binary and manifest do not belong together");
  // More than 48 KB must be asked for, and static shared memory counts too.
  int dynamic = int(kernel.launch.sharedBytes), fixed = 0, limit = 0;
  CUdevice device = 0;
  if (Error error = driver.check(driver.ctxGetDevice(&device), "cannot ask for the context's device"))
    return error;
  if (dynamic > 0) {
    if (Error error = driver.check(driver.deviceGetAttribute(&limit, cuda::attributeMaxSharedPerBlockOptin, device),
                                   "cannot ask for the shared memory of a block"))
      return error;
    if (Error error = driver.check(driver.funcGetAttribute(&fixed, cuda::functionSharedBytes, result.handle),
                                   "cannot ask for the kernel's shared memory"))
      return error;
    if (int64_t(dynamic) + fixed > limit)
      return Error(TILE_ERROR_TARGET, kernel.name + ": needs " + std::to_string(int64_t(dynamic) + fixed) +
                                          " bytes of shared memory for a block, the device has " +
                                          std::to_string(limit) + "; use smaller tiles");
    if (Error error = driver.check(driver.funcSetAttribute(result.handle, cuda::functionMaxDynamicShared, dynamic),
                                   "cannot ask for more shared memory"))
      return error;
  }
  if (kernel.launch.persistent) {
    int processors = 0, perProcessor = 0;
    if (Error error = driver.check(driver.deviceGetAttribute(&processors, cuda::attributeMultiprocessors, device),
                                   "cannot ask for the number of multiprocessors"))
      return error;
    if (Error error = driver.check(driver.occupancy(&perProcessor, result.handle, int(kernel.launch.threads), dynamic),
                                   "cannot ask for the blocks of a multiprocessor"))
      return error;
    result.blocks = unsigned(std::max(processors * perProcessor, 1));
  }
  known = result;
  return {};
}

Error tile_module::getFunction(const CudaDriver &driver, const tile_instance &instance, Function &result) {
  std::lock_guard<std::mutex> lock(mutex);
  Loaded *entry = nullptr;
  if (Error error = loaded(driver, entry))
    return error;
  return function(driver, *entry, instance, result);
}

Error tile_module::getScratch(const CudaDriver &driver, const tile_instance &instance, CUstream stream, size_t bytes,
                              CUdeviceptr &memory) {
  std::lock_guard<std::mutex> lock(mutex);
  Loaded *entry = nullptr;
  if (Error error = loaded(driver, entry))
    return error;
  const std::string &kernel = instance.getKernel().name;
  bool perThread = uintptr_t(stream) == cuda::streamPerThread;
  std::thread::id thread = perThread ? std::this_thread::get_id() : std::thread::id();
  int capturing = 0;
  if (driver.streamIsCapturing)
    driver.streamIsCapturing(stream, &capturing);
  // One whose counts are zero; in a capture one will do that the graph itself clears.
  const Scratch *found = nullptr;
  for (const Scratch &known : entry->scratch)
    if (known.instance == instance.index && known.stream == stream && known.thread == thread && known.bytes >= bytes &&
        (capturing || !known.captured) && (!found || found->captured))
      found = &known;
  if (found)
    memory = found->memory;
  if (found && !found->captured)
    return {};
  if (!found) {
    // A smaller buffer stays: launches that use it may still run, graphs may keep it.
    int mode = cuda::captureRelaxed;
    if (driver.exchangeCaptureMode)
      driver.exchangeCaptureMode(&mode);
    Error error = driver.check(driver.memAlloc(&memory, bytes), (kernel + ": cannot allocate scratch memory").c_str());
    if (driver.exchangeCaptureMode)
      driver.exchangeCaptureMode(&mode);
    if (error)
      return error;
    entry->scratch.push_back({instance.index, stream, thread, memory, bytes, capturing != 0});
  }
  size_t each = instance.getKernel().launch.scratchBytes;
  return driver.check(driver.memsetD2D8(memory, each, 0, std::min<size_t>(each, 128), bytes / each, stream),
                      (kernel + ": cannot clear scratch memory").c_str());
}

Error tile_module::prepare() {
  Error error;
  const CudaDriver *driver = CudaDriver::get(error);
  if (!driver)
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  Loaded *entry = nullptr;
  if (Error problem = loaded(*driver, entry))
    return problem;
  for (auto &instance : instances) {
    Function function_;
    if (Error problem = function(*driver, *entry, *instance, function_))
      return problem;
  }
  return {};
}

//===- Launching
//-----------------------------------------------------------------------------------------------------===//

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

/// Blocks to launch: one for each program, or of a persistent kernel as many as run at once; whole clusters.
static unsigned countBlocks(const LaunchInfo &info, int64_t programs, unsigned resident) {
  unsigned cluster = info.cluster;
  uint64_t blocks = (uint64_t(programs) + cluster - 1) / cluster * cluster;
  if (info.persistent)
    blocks = std::min<uint64_t>(blocks, std::max(resident / cluster * cluster, cluster));
  return unsigned(blocks);
}

static Error launchKernel(const CudaDriver &driver, const Kernel &kernel, CUfunction function, unsigned blocks,
                          CUstream stream, void **arguments) {
  const LaunchInfo &info = kernel.launch;
  CUresult result;
  if (info.cluster > 1) {
    if (!driver.launchKernelEx)
      return Error(TILE_ERROR_DRIVER, kernel.name + ": the CUDA driver lacks cuLaunchKernelEx, which clusters need: it is "
                                                    "too old, install one for CUDA 12 or newer");
    CUlaunchAttribute attribute = {cuda::launchClusterDimension, 0, {info.cluster, 1, 1}};
    CUlaunchConfig config = {{blocks, 1, 1}, {info.threads, 1, 1}, info.sharedBytes, stream, &attribute, 1};
    result = driver.launchKernelEx(&config, function, arguments, nullptr);
  } else {
    result = driver.launchKernel(function, blocks, 1, 1, info.threads, 1, 1, info.sharedBytes, stream, arguments, nullptr);
  }
  return result == cuda::success ? Error() : driver.check(result, (kernel.name + ": cannot launch").c_str());
}

Error tile_module::launch(const tile_kernel &kernel, const tile_argument *arguments, size_t count, void *stream,
                          bool unchecked) {
  const tile_instance *instance = nullptr;
  if (Error error = kernel.select(arguments, count, instance))
    return error;
  // Its buffers stay, so that a launch allocates nothing.
  thread_local Plan plan;
  if (Error error = instance->validator->check(arguments, count, plan, unchecked))
    return error;
  if (plan.empty && plan.fills.empty())
    return {};
  Error error;
  const CudaDriver *driver = CudaDriver::get(error);
  if (!driver)
    return error;
  Function function;
  if (Error problem = getFunction(*driver, *instance, function))
    return problem;
  CUstream cuStream = static_cast<CUstream>(stream);
  for (const Fill &fill : plan.fills)
    if (Error problem = fillDevice(*driver, fill, cuStream)) {
      problem.message = kernel.name + ": " + problem.message;
      return problem;
    }
  if (plan.empty)
    return {};
  const Kernel &info = instance->getKernel();
  thread_local std::vector<EncodedMap> maps;
  if (!info.tensorMaps.empty()) {
    if (Error problem = instance->tensorMaps->get(*driver, *instance->validator, arguments, plan, function.empty, maps))
      return problem;
    for (size_t i = 0; i < info.arguments.size(); ++i)
      if (info.arguments[i].kind == Argument::Kind::TensorMap)
        plan.pointers[i] = &maps[info.arguments[i].index];
  }
  if (info.launch.scratchBytes) {
    CUdeviceptr memory = 0;
    size_t bytes = size_t(info.launch.scratchBytes) * size_t(plan.programs);
    if (Error problem = getScratch(*driver, *instance, cuStream, bytes, memory))
      return problem;
    for (size_t i = 0; i < info.arguments.size(); ++i)
      if (info.arguments[i].kind == Argument::Kind::Scratch) {
        plan.cells[i] = memory;
        plan.pointers[i] = &plan.cells[i];
      }
  }
  return launchKernel(*driver, info, function.handle, countBlocks(info.launch, plan.programs, function.blocks), cuStream,
                      plan.pointers.data());
}
