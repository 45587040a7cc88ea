// Loading of modules and packages, launching.
#include "runtime/src/Module.h"

#include <algorithm>
#include <array>

using namespace tile::runtime;

//===- Loading
//-----------------------------------------------------------------------------------------------------===//

void tile_module::addToKernel(std::vector<std::unique_ptr<tile_kernel>> &list, const std::string &wanted,
                              const tile_instance *instance) {
  for (auto &known : list)
    if (known->name == wanted) {
      known->all.push_back(instance);
      return;
    }
  list.push_back(std::make_unique<tile_kernel>());
  tile_kernel &added = *list.back();
  added.module = this;
  added.name = wanted;
  added.index = kernelCount++;
  added.all.push_back(instance);
}

/// Adds one binary with its kernels.
Error tile_module::add(Manifest manifest, Unit unit) {
  std::string reason;
  for (Kernel &kernel : manifest.kernels) {
    auto instance = std::make_unique<tile_instance>();
    instance->validator = Validator::create(std::move(kernel), reason);
    if (!instance->validator)
      return Error(TILE_ERROR_MANIFEST, "'" + name + "': " + reason);
    instance->unit = units.size();
    instance->index = unit.instances.size();
    const Kernel &known = instance->getKernel();
    for (const auto &other : unit.instances)
      if (other->getKernel().symbol == known.symbol)
        return Error(TILE_ERROR_MANIFEST, "'" + name + "': the symbol '" + known.symbol + "' is listed twice");
    addToKernel(kernels, known.name, instance.get());
    addToKernel(symbols, known.symbol, instance.get());
    if (!known.variant.empty())
      addToKernel(variants, known.name + ":" + known.variant, instance.get());
    unit.instances.push_back(std::move(instance));
  }
  oneTarget = oneTarget && (units.empty() || units.front().target == unit.target);
  units.push_back(std::move(unit));
  return {};
}

/// Orders what all units have brought.
void tile_module::finish() {
  for (auto *list : {&kernels, &symbols, &variants})
    for (auto &kernel : *list) {
      auto isGeneric = [](const tile_instance *instance) { return instance->getKernel().facts.empty(); };
      std::vector<const tile_instance *> ordered;
      for (bool generic : {false, true})
        for (const tile_instance *instance : kernel->all)
          if (isGeneric(instance) == generic)
            ordered.push_back(instance);
      const std::string &first = units[kernel->all.front()->unit].target;
      kernel->all = std::move(ordered);
      for (const tile_instance *instance : kernel->all)
        if (units[instance->unit].target == first)
          kernel->instances.push_back(instance);
    }
}

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
                     "', which this runtime cannot load by itself; expected a CUDA target such as sm_90a, or a package "
                     "(tilec -o NAME.tilepkg --target cpu)");
  std::unique_ptr<tile_module> module(new tile_module);
  ImageKind kind;
  if (Error error = inspectImage(image, name, kind))
    return error;
  module->name = std::move(name);
  Unit only;
  only.target = parsed->target;
  (kind == ImageKind::Cubin ? only.cubin : only.ptx) = std::move(image);
  if (Error error = module->add(std::move(*parsed), std::move(only)))
    return error;
  module->finish();
  result = std::move(module);
  return {};
}

/// Whether the CPU's code of a package is to be used. `device` is a tile_device.
static Error chooseDevice(const Package &package, const std::string &name, int32_t device, bool &onHost) {
  bool hasCpu = false, hasGpu = false;
  std::string targets;
  for (const PackageModule &module : package.modules) {
    (module.manifest.target == "cpu" ? hasCpu : hasGpu) = true;
    targets += (targets.empty() ? "" : ", ") + module.manifest.target;
  }
  Error none;
  onHost = device == TILE_DEVICE_CPU || (device == TILE_DEVICE_AUTO && hasCpu && (!hasGpu || !CudaDriver::get(none)));
  if (device != TILE_DEVICE_AUTO && device != TILE_DEVICE_CUDA && device != TILE_DEVICE_CPU)
    return Error(TILE_ERROR_CALL, "unknown device " + std::to_string(device) + ", expected a tile_device");
  if (onHost ? hasCpu : hasGpu)
    return {};
  return Error(TILE_ERROR_TARGET, "'" + name + "' has no code for " + (onHost ? "the CPU" : "CUDA devices") +
                                      ", only for " + targets + "; build it with --target " +
                                      (onHost ? "cpu" : "sm_80 or another") + " too");
}

Error tile_module::create(Package package, std::string name, int32_t device, std::unique_ptr<tile_module> &result) {
  std::unique_ptr<tile_module> module(new tile_module);
  if (Error error = chooseDevice(package, name, device, module->onHost))
    return error;
  module->name = std::move(name);
  for (PackageModule &entry : package.modules) {
    Unit unit;
    unit.target = entry.manifest.target;
    if ((unit.target == "cpu") != module->onHost)
      continue;
    int major = 0, minor = 0;
    char suffix = 0;
    if (!module->onHost && !parseTarget(unit.target, major, minor, suffix))
      return Error(TILE_ERROR_TARGET, "'" + module->name + "' has code for '" + unit.target +
                                          "', which is no target; expected cpu, or one such as sm_90a");
    for (PackageFile &file : entry.files) {
      ImageKind kind;
      if (file.kind != "so") {
        if (Error error = inspectImage(file.bytes, module->name + "/" + file.path, kind))
          return error;
        if ((kind == ImageKind::Cubin) != (file.kind == "cubin"))
          return Error(TILE_ERROR_BINARY, "'" + module->name + "': '" + file.path + "' is no " + file.kind);
      }
      (file.kind == "cubin" ? unit.cubin : file.kind == "ptx" ? unit.ptx : unit.so) = std::move(file.bytes);
    }
    if (Error error = module->add(std::move(entry.manifest), std::move(unit)))
      return error;
    if (module->onHost)
      if (Error error = module->openHost(module->units.back(), entry.cpu))
        return error;
  }
  module->finish();
  result = std::move(module);
  return {};
}

/// Loads code for the CPU, whose processor must be at hand.
Error tile_module::openHost(Unit &unit, const std::string &cpu) {
  if (!hasCpuLevel(cpu))
    return Error(TILE_ERROR_TARGET, "'" + name + "': its code for the CPU needs " +
                                        (cpu.empty() ? "a processor that it does not name" : cpu) +
                                        ", which this processor does not have");
  if (Error error = HostLibrary::open(unit.so, name, unit.library))
    return error;
  for (const auto &instance : unit.instances) {
    unit.functions.push_back(unit.library->find(instance->getKernel().symbol));
    if (!unit.functions.back())
      return Error(TILE_ERROR_BINARY, "'" + name + "' has no function '" + instance->getKernel().symbol +
                                          "' for the CPU, which its manifest lists");
  }
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
      for (CUmodule module : entry.modules)
        if (module)
          driver->moduleUnload(module);
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
  for (auto *list : {&kernels, &symbols, &variants})
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

const std::string *tile_module::getCode(const std::string &target, const std::string &kind) const {
  for (const Unit &unit : units)
    if (unit.target == target)
      for (const auto &[known, bytes] : {std::pair("cubin", &unit.cubin), std::pair("ptx", &unit.ptx),
                                         std::pair("so", &unit.so)})
        if (kind == known && !bytes->empty())
          return bytes;
  return nullptr;
}

std::string tile_module::listTargets() const {
  std::string targets;
  for (size_t i = 0; i < units.size(); ++i) {
    bool isNew = true;
    for (size_t j = 0; j < i; ++j)
      isNew = isNew && units[j].target != units[i].target;
    if (isNew)
      targets += (targets.empty() ? "" : ", ") + units[i].target;
  }
  return targets;
}

/// How well code suits a device: a cubin better than PTX, then the newer target. -1 where it does not run there.
static int rankOn(const std::string &target, bool hasCubin, bool hasPtx, int major, int minor) {
  int targetMajor = 0, targetMinor = 0;
  char suffix = 0;
  parseTarget(target, targetMajor, targetMinor, suffix);
  int rank = targetMajor * 100 + targetMinor * 2 + (suffix != 0);
  if (hasCubin && runsOn(ImageKind::Cubin, target, major, minor))
    return rank + (1 << 20);
  return hasPtx && runsOn(ImageKind::Ptx, target, major, minor) ? rank : -1;
}

/// What each kernel uses on a device. Called with the mutex held; the result stays as long as the module.
const tile_module::Choice &tile_module::choose(int major, int minor) {
  for (const auto &known : choices)
    if (known->major == major && known->minor == minor)
      return *known;
  auto choice = std::make_unique<Choice>();
  choice->major = major;
  choice->minor = minor;
  choice->byKernel.resize(kernelCount);
  for (auto *list : {&kernels, &symbols, &variants})
    for (auto &kernel : *list) {
      int best = -1;
      auto rank = [&](const tile_instance *instance) {
        const Unit &unit = units[instance->unit];
        return rankOn(unit.target, !unit.cubin.empty(), !unit.ptx.empty(), major, minor);
      };
      for (const tile_instance *instance : kernel->all)
        best = std::max(best, rank(instance));
      for (const tile_instance *instance : kernel->all)
        if (best >= 0 && rank(instance) == best)
          choice->byKernel[kernel->index].push_back(instance);
    }
  choices.push_back(std::move(choice));
  return *choices.back();
}

/// The memory that stands for tensors without elements.
static Error makeEmpty(const CudaDriver &driver, CUdeviceptr &address) {
  static constexpr uint64_t zeros[4] = {};
  if (Error error = driver.check(driver.memAlloc(&address, sizeof zeros), "memory for empty tensors"))
    return error;
  return driver.check(driver.memcpyHtoD(address, zeros, sizeof zeros), "memory for empty tensors");
}

/// Finds out what suits the current context's device.
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
  entry.choice = &choose(major, minor);
  entry.modules.resize(units.size());
  entry.functions.resize(units.size());
  for (size_t i = 0; i < units.size(); ++i)
    entry.functions[i].resize(units[i].instances.size());
  return {};
}

/// Loads one unit into the current context, whose entry is `entry`.
Error tile_module::loadUnit(const CudaDriver &driver, Loaded &entry, size_t number) {
  const Unit &unit = units[number];
  int major = entry.choice->major, minor = entry.choice->minor;
  bool isPtx = unit.cubin.empty() || !runsOn(ImageKind::Cubin, unit.target, major, minor);
  const std::string &code = isPtx ? unit.ptx : unit.cubin;
  if (code.empty() || !runsOn(isPtx ? ImageKind::Ptx : ImageKind::Cubin, unit.target, major, minor))
    return Error(TILE_ERROR_TARGET, "'" + name + "' is compiled for " + listTargets() + ", but the device is sm_" +
                                        std::to_string(major) + std::to_string(minor) +
                                        "; compile it with --target for that");
  std::array<char, 4096> log{};
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(uintptr_t(log.size()))};
  std::string what = "'" + name + "' cannot be loaded, the " + (isPtx ? "PTX" : "cubin") + " is refused";
  CUmodule module = nullptr;
  if (Error error = driver.check(driver.moduleLoadDataEx(&module, code.c_str(), 2, options, values), what.c_str())) {
    log.back() = '\0';
    std::string text = log.data();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    for (char &c : text)
      c = c == '\n' ? ' ' : c;
    return Error(TILE_ERROR_BINARY, error.message + (text.empty() ? "" : ": " + text));
  }
  for (const auto &instance : unit.instances)
    if (!instance->getKernel().tensorMaps.empty() && !entry.empty)
      if (Error error = makeEmpty(driver, entry.empty)) {
        driver.moduleUnload(module);
        return error;
      }
  entry.modules[number] = module;
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

/// The instances to choose from. With one target that needs no device, so that arguments are checked before there is one;
/// else `driver` is set.
Error tile_module::candidates(const tile_kernel &kernel, const CudaDriver *&driver,
                              const std::vector<const tile_instance *> *&list) {
  list = &kernel.all;
  if (oneTarget)
    return {};
  Error error;
  driver = CudaDriver::get(error);
  if (!driver) {
    list = &kernel.instances;
    return {};
  }
  std::lock_guard<std::mutex> lock(mutex);
  Loaded *entry = nullptr;
  if (Error problem = loaded(*driver, entry))
    return problem;
  list = &entry->choice->byKernel[kernel.index];
  if (!list->empty())
    return {};
  return Error(TILE_ERROR_TARGET, kernel.name + ": '" + name + "' has it for none of the targets that run on the device, sm_" +
                                      std::to_string(entry->choice->major) + std::to_string(entry->choice->minor) +
                                      "; there are " + listTargets());
}

Error tile_module::function(const CudaDriver &driver, Loaded &entry, const tile_instance &instance,
                            Function &result) {
  Function &known = entry.functions[instance.unit][instance.index];
  result = known;
  if (known.handle)
    return {};
  if (!entry.modules[instance.unit])
    if (Error error = loadUnit(driver, entry, instance.unit))
      return error;
  result.empty = entry.empty;
  const Kernel &kernel = instance.getKernel();
  if (driver.moduleGetFunction(&result.handle, entry.modules[instance.unit], kernel.symbol.c_str()) != cuda::success)
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
    if (known.instance == &instance && known.stream == stream && known.thread == thread && known.bytes >= bytes &&
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
    entry->scratch.push_back({&instance, stream, thread, memory, bytes, capturing != 0});
  }
  size_t each = instance.getKernel().launch.scratchBytes;
  return driver.check(driver.memsetD2D8(memory, each, 0, std::min<size_t>(each, 128), bytes / each, stream),
                      (kernel + ": cannot clear scratch memory").c_str());
}

Error tile_module::prepare() {
  if (onHost)
    return {};
  Error error;
  const CudaDriver *driver = CudaDriver::get(error);
  if (!driver)
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  Loaded *entry = nullptr;
  if (Error problem = loaded(*driver, entry))
    return problem;
  // Every kernel's instances for this device.
  for (auto &kernel : kernels)
    for (const tile_instance *instance : oneTarget ? kernel->all : entry->choice->byKernel[kernel->index]) {
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

Error tile_module::launchOnHost(const tile_kernel &kernel, const tile_argument *arguments, size_t count,
                                bool unchecked) {
  const tile_instance *instance = nullptr;
  if (Error error = kernel.select(kernel.all, arguments, count, instance))
    return error;
  thread_local Plan plan;
  if (Error error = instance->validator->check(arguments, count, plan, unchecked))
    return error;
  for (const Fill &fill : plan.fills)
    fillHost(fill);
  if (!plan.empty)
    runPrograms(units[instance->unit].functions[instance->index], plan.pointers.data(), plan.programs, 0);
  return {};
}

Error tile_module::launch(const tile_kernel &kernel, const tile_argument *arguments, size_t count, void *stream,
                          bool unchecked) {
  if (onHost)
    return launchOnHost(kernel, arguments, count, unchecked);
  const CudaDriver *driver = nullptr;
  const std::vector<const tile_instance *> *list = nullptr;
  if (Error error = candidates(kernel, driver, list))
    return error;
  const tile_instance *instance = nullptr;
  if (Error error = kernel.select(*list, arguments, count, instance))
    return error;
  // Its buffers stay, so that a launch allocates nothing.
  thread_local Plan plan;
  if (Error error = instance->validator->check(arguments, count, plan, unchecked))
    return error;
  if (plan.empty && plan.fills.empty())
    return {};
  Error error;
  if (!driver)
    driver = CudaDriver::get(error);
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
