// Loading of modules and packages, launching.
//
//   module
//     units        one binary each: cubin, PTX or shared object, for one target
//       instances  one function of the binary: a validator, tensor maps
//     kernels      by source name: the instances of all units that implement it
//     contexts     per CUDA context: each unit's module, each instance's function, scratch memory
//
// An instance's `number` is its place in a context's functions. Units, instances and kernels do not
// change once the module is made; contexts are added under the mutex, and a function's handle is
// set last, so a launch that sees it needs no lock.
#include "runtime/src/Module.h"
#include "target/Target.h"

#include <algorithm>
#include <array>
#include <set>

using namespace tile::runtime;

//===--- Loading ----------------------------------------------------------===//

void tile_module::addToKernel(std::vector<std::unique_ptr<tile_kernel>> &list,
                              const std::string &wanted, const tile_instance *instance) {
  auto [known, isNew] = byName.emplace(std::pair(&list, wanted), nullptr);
  if (!isNew) {
    known->second->all.push_back(instance);
    return;
  }
  list.push_back(std::make_unique<tile_kernel>());
  tile_kernel &added = *list.back();
  known->second = &added;
  added.module = this;
  added.name = wanted;
  added.index = kernelCount++;
  added.all.push_back(instance);
}

/// Adds one binary with its kernels.
Error tile_module::add(Manifest manifest, Unit unit) {
  std::string reason;
  std::set<std::string> taken;
  for (Kernel &kernel : manifest.kernels) {
    auto instance = std::make_unique<tile_instance>();
    instance->validator = Validator::create(std::move(kernel), reason);
    if (!instance->validator)
      return Error(TILE_ERROR_MANIFEST, "'" + name + "': " + reason);
    instance->unit = units.size();
    instance->index = unit.instances.size();
    instance->number = instanceCount++;
    const Kernel &known = instance->getKernel();
    if (!taken.insert(known.symbol).second)
      return Error(TILE_ERROR_MANIFEST,
                   "'" + name + "': the symbol '" + known.symbol + "' is listed twice");
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
      auto isGeneric = [](const tile_instance *instance) {
        return instance->getKernel().facts.empty();
      };
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
  tile::GPUName target;
  if (!tile::parseGPUName(parsed->target, target))
    return Error(TILE_ERROR_TARGET, "'" + name + "' is compiled for '" + parsed->target +
                                        "', which this runtime cannot load by itself; expected a "
                                        "CUDA target, or a package "
                                        "(tilec -o NAME.tilepkg --target cpu)");
  std::unique_ptr<tile_module> module(new tile_module);
  ImageKind kind;
  if (Error error = inspectImage(image, name, kind))
    return error;
  if (Error error = checkBinary(*parsed, image, name))
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
static Error chooseDevice(const Package &package, const std::string &name, int32_t device,
                          bool &onHost) {
  bool hasCpu = false, hasGpu = false;
  std::string targets;
  for (const PackageModule &module : package.modules) {
    (module.manifest.target == "cpu" ? hasCpu : hasGpu) = true;
    targets += (targets.empty() ? "" : ", ") + module.manifest.target;
  }
  Error none;
  onHost = device == TILE_DEVICE_CPU ||
           (device == TILE_DEVICE_AUTO && hasCpu && (!hasGpu || !CudaDriver::get(none)));
  if (device != TILE_DEVICE_AUTO && device != TILE_DEVICE_CUDA && device != TILE_DEVICE_CPU)
    return Error(TILE_ERROR_CALL,
                 "unknown device " + std::to_string(device) + ", expected a tile_device");
  if (onHost ? hasCpu : hasGpu)
    return {};
  return Error(TILE_ERROR_TARGET, "'" + name + "' has no code for " +
                                      (onHost ? "the CPU" : "CUDA devices") + ", only for " +
                                      targets + "; build it with --target " +
                                      (onHost ? "cpu" : "and that of a GPU") + " too");
}

Error tile_module::create(Package package, std::string name, int32_t device,
                          std::unique_ptr<tile_module> &result) {
  std::unique_ptr<tile_module> module(new tile_module);
  if (Error error = chooseDevice(package, name, device, module->onHost))
    return error;
  module->name = std::move(name);
  module->isPackage = true;
  for (PackageModule &entry : package.modules) {
    Unit unit;
    unit.target = entry.manifest.target;
    if ((unit.target == "cpu") != module->onHost)
      continue;
    tile::GPUName target;
    if (!module->onHost && !tile::parseGPUName(unit.target, target))
      return Error(TILE_ERROR_TARGET,
                   "'" + module->name + "' has code for '" + unit.target +
                       "', which is no target; expected cpu, or the name of a GPU");
    for (PackageFile &file : entry.files) {
      ImageKind kind;
      if (file.kind != "so") {
        if (Error error = inspectImage(file.bytes, module->name + "/" + file.path, kind))
          return error;
        if ((kind == ImageKind::Cubin) != (file.kind == "cubin"))
          return Error(TILE_ERROR_BINARY,
                       "'" + module->name + "': '" + file.path + "' is no " + file.kind);
      }
      (file.kind == "cubin" ? unit.cubin
       : file.kind == "ptx" ? unit.ptx
                            : unit.so) = std::move(file.bytes);
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
      return Error(TILE_ERROR_BINARY, "'" + name + "' has no function '" +
                                          instance->getKernel().symbol +
                                          "' for the CPU, which its manifest lists");
  }
  return {};
}

/// While this lives, the thread may free what no capture has to do with. Python's collector ends a
/// module at any time, during a capture too, which an unloading would spoil in any other mode.
class RelaxedCaptures {
public:
  explicit RelaxedCaptures(const CudaDriver &driver) : driver(driver) { exchange(); }
  ~RelaxedCaptures() { exchange(); }
  RelaxedCaptures(const RelaxedCaptures &) = delete;
  RelaxedCaptures &operator=(const RelaxedCaptures &) = delete;

private:
  void exchange() {
    if (driver.exchangeCaptureMode)
      driver.exchangeCaptureMode(&mode);
  }

  const CudaDriver &driver;
  int mode = TK_RELAXED;
};

tile_module::~tile_module() { unload(); }

void tile_module::unload() {
  Error ignored;
  for (Loaded *next = contexts.exchange(nullptr); next;) {
    std::unique_ptr<Loaded> entry(next);
    next = entry->next;
    const CudaDriver *driver = CudaDriver::get(ignored);
    // A context that is gone has taken its modules with it.
    if (driver->ctxPush(entry->context) != cuda::success) {
      tk_scratch_forget(&entry->scratch);
      continue;
    }
    unsigned long long id = entry->id;
    if (!driver->ctxGetId ||
        (driver->ctxGetId(entry->context, &id) == cuda::success && id == entry->id)) {
      RelaxedCaptures relaxed(*driver);
      // A graph that is left may be replayed still: what it runs stays, as what it writes to does.
      bool isUsed = tk_scratch_free(&entry->scratch, driver);
      for (CUmodule module : entry->modules)
        if (module && !isUsed)
          driver->moduleUnload(module);
      if (entry->empty && !isUsed)
        driver->memFree(entry->empty);
    }
    tk_scratch_forget(&entry->scratch);
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
  return Error(TILE_ERROR_KERNEL, "'" + name + "' has no kernel '" + wanted + "'; it has " +
                                      (names.empty() ? "none" : names));
}

const std::string *tile_module::getCode(const std::string &target, const std::string &kind) const {
  for (const Unit &unit : units)
    if (unit.target == target)
      for (const auto &[known, bytes] : {std::pair("cubin", &unit.cubin),
                                         std::pair("ptx", &unit.ptx), std::pair("so", &unit.so)})
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

/// How well code suits a device: a cubin better than PTX, then the newer target. -1 where it does
/// not run there.
static int rankOn(const std::string &target, bool hasCubin, bool hasPtx, int major, int minor) {
  tile::GPUName name{};
  tile::parseGPUName(target, name);
  int rank = int(name.major * 100 + name.minor * 2 + (name.suffix != 0));
  if (hasCubin && runsOn(ImageKind::Cubin, target, major, minor))
    return rank + (1 << 20);
  return hasPtx && runsOn(ImageKind::Ptx, target, major, minor) ? rank : -1;
}

/// Resources that each kernel uses on a device. Called with the mutex held; the result stays as
/// long as the module.
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
  if (Error error =
          driver.check(driver.memAlloc(&address, sizeof zeros), "memory for empty tensors"))
    return error;
  return driver.check(driver.memcpyHtoD(address, zeros, sizeof zeros), "memory for empty tensors");
}

/// Finds out what suits the current context's device.
Error tile_module::load(const CudaDriver &driver, Loaded &entry) {
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (Error error =
          driver.check(driver.ctxGetDevice(&device), "cannot ask for the context's device"))
    return error;
  if (Error error =
          driver.check(driver.deviceGetAttribute(&major, cuda::attributeComputeMajor, device),
                       "cannot ask for the compute capability"))
    return error;
  if (Error error =
          driver.check(driver.deviceGetAttribute(&minor, cuda::attributeComputeMinor, device),
                       "cannot ask for the compute capability"))
    return error;
  entry.choice = &choose(major, minor);
  entry.modules.resize(units.size());
  entry.functions = std::vector<Function>(instanceCount);
  warnOfPtx(*entry.choice);
  return {};
}

/// Loads one unit into the current context, whose entry is `entry`.
Error tile_module::loadUnit(const CudaDriver &driver, Loaded &entry, size_t number) {
  const Unit &unit = units[number];
  int major = entry.choice->major, minor = entry.choice->minor;
  bool isPtx = unit.cubin.empty() || !runsOn(ImageKind::Cubin, unit.target, major, minor);
  const std::string &code = isPtx ? unit.ptx : unit.cubin;
  if (code.empty() || !runsOn(isPtx ? ImageKind::Ptx : ImageKind::Cubin, unit.target, major, minor))
    return Error(TILE_ERROR_TARGET, "'" + name + "' is compiled for " + listTargets() +
                                        ", but the device is sm_" + std::to_string(major) +
                                        std::to_string(minor) + "; compile it with --target " +
                                        tile::nameTargetOf(unsigned(major), unsigned(minor)));
  std::array<char, 4096> log{};
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(uintptr_t(log.size()))};
  std::string what =
      "'" + name + "' cannot be loaded, the " + (isPtx ? "PTX" : "cubin") + " is refused";
  CUmodule module = nullptr;
  if (Error error = driver.check(driver.moduleLoadDataEx(&module, code.c_str(), 2, options, values),
                                 what.c_str())) {
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

/// The entry of a context that has none yet. Called with the mutex held.
Error tile_module::enter(const CudaDriver &driver, CUcontext context, unsigned long long id,
                         Loaded *&entry) {
  auto fresh = std::make_unique<Loaded>();
  fresh->context = context;
  fresh->id = id;
  fresh->next = contexts.load(std::memory_order_relaxed);
  if (Error error = load(driver, *fresh))
    return error;
  entry = fresh.release();
  contexts.store(entry, std::memory_order_release);
  return {};
}

/// The driver and the entry of the current context. Takes the lock only where there is no entry
/// yet.
Error tile_module::locate(Place &place) {
  Error error;
  if (!place.driver)
    place.driver = CudaDriver::get(error);
  if (!place.driver)
    return error;
  const CudaDriver &driver = *place.driver;
  CUcontext context = nullptr;
  if ((error = driver.currentContext(context)))
    return error;
  unsigned long long id = 0;
  if (driver.ctxGetId)
    if (CUresult result = driver.ctxGetId(context, &id))
      return driver.check(result, "cannot ask for the context's number");
  // A destroyed context's address may come again, its number does not.
  auto known = [&] {
    Loaded *one = contexts.load(std::memory_order_acquire);
    while (one && (one->context != context || one->id != id))
      one = one->next;
    return one;
  };
  if ((place.entry = known()))
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  if ((place.entry = known()))
    return {};
  return enter(driver, context, id, place.entry);
}

/// The instances to choose from. With one target that needs no device, so that arguments are
/// checked before there is one; else `place` is found.
Error tile_module::candidates(const tile_kernel &kernel, Place &place,
                              const std::vector<const tile_instance *> *&list) {
  list = &kernel.all;
  if (oneTarget || onHost)
    return {};
  Error error;
  place.driver = CudaDriver::get(error);
  if (!place.driver) {
    list = &kernel.instances;
    return {};
  }
  if (Error problem = locate(place))
    return problem;
  const Choice &choice = *place.entry->choice;
  list = &choice.byKernel[kernel.index];
  if (!list->empty())
    return {};
  return Error(TILE_ERROR_TARGET,
               kernel.name + ": '" + name +
                   "' has it for none of the targets that run on the device, sm_" +
                   std::to_string(choice.major) + std::to_string(choice.minor) + "; there are " +
                   listTargets() + "; compile it with --target " +
                   tile::nameTargetOf(unsigned(choice.major), unsigned(choice.minor)) + " too");
}

/// Sets the instance's function in an entry, unless that has happened. Called with the mutex held.
Error tile_module::loadFunction(const CudaDriver &driver, Loaded &entry,
                                const tile_instance &instance) {
  Function &result = entry.functions[instance.number];
  if (result.handle.load(std::memory_order_relaxed))
    return {};
  if (!entry.modules[instance.unit])
    if (Error error = loadUnit(driver, entry, instance.unit))
      return error;
  result.empty = entry.empty;
  CUfunction handle = nullptr;
  const Kernel &kernel = instance.getKernel();
  if (driver.moduleGetFunction(&handle, entry.modules[instance.unit], kernel.symbol.c_str()) !=
      cuda::success)
    return Error(TILE_ERROR_BINARY,
                 "'" + name + "' has no function '" + kernel.symbol +
                     "', which its manifest lists: binary and manifest do not belong together");
  // More than 48 KB must be asked for, and static shared memory counts too.
  int dynamic = int(kernel.launch.sharedBytes), fixed = 0, limit = 0;
  CUdevice device = 0;
  if (Error error =
          driver.check(driver.ctxGetDevice(&device), "cannot ask for the context's device"))
    return error;
  if (dynamic > 0) {
    if (Error error = driver.check(
            driver.deviceGetAttribute(&limit, cuda::attributeMaxSharedPerBlockOptin, device),
            "cannot ask for the shared memory of a block"))
      return error;
    if (Error error =
            driver.check(driver.funcGetAttribute(&fixed, cuda::functionSharedBytes, handle),
                         "cannot ask for the kernel's shared memory"))
      return error;
    if (int64_t(dynamic) + fixed > limit)
      return Error(TILE_ERROR_TARGET, kernel.name + ": needs " +
                                          std::to_string(int64_t(dynamic) + fixed) +
                                          " bytes of shared memory for a block, the device has " +
                                          std::to_string(limit) + "; use smaller tiles");
    if (Error error =
            driver.check(driver.funcSetAttribute(handle, cuda::functionMaxDynamicShared, dynamic),
                         "cannot ask for more shared memory"))
      return error;
  }
  if (kernel.launch.persistent) {
    int processors = 0, perProcessor = 0;
    if (Error error = driver.check(
            driver.deviceGetAttribute(&processors, cuda::attributeMultiprocessors, device),
            "cannot ask for the number of multiprocessors"))
      return error;
    if (Error error = driver.check(
            driver.occupancy(&perProcessor, handle, int(kernel.launch.threads), dynamic),
            "cannot ask for the blocks of a multiprocessor"))
      return error;
    result.blocks = unsigned(std::max(processors * perProcessor, 1));
  }
  result.handle.store(handle, std::memory_order_release);
  return {};
}

Error tile_module::prepare() {
  if (onHost)
    return {};
  Place place;
  if (Error error = locate(place))
    return error;
  std::lock_guard<std::mutex> lock(mutex);
  // Every kernel's instances for this device.
  for (auto &kernel : kernels)
    for (const tile_instance *instance :
         oneTarget ? kernel->all : place.entry->choice->byKernel[kernel->index])
      if (Error error = loadFunction(*place.driver, *place.entry, *instance))
        return error;
  return {};
}

//===--- Warnings ---------------------------------------------------------===//

/// Says once that the driver compiles PTX where a cubin would have fitted the device. Called with
/// the mutex held.
void tile_module::warnOfPtx(const Choice &choice) {
  if (warnedOfPtx)
    return;
  for (const Unit &unit : units) {
    tile::GPUName target{};
    tile::parseGPUName(unit.target, target);
    bool isUsed = oneTarget,
         isOlder = int(target.major * 10 + target.minor) < choice.major * 10 + choice.minor;
    for (const auto &list : choice.byKernel)
      for (const tile_instance *instance : list)
        isUsed |= &units[instance->unit] == &unit;
    bool isCubin =
        !unit.cubin.empty() && runsOn(ImageKind::Cubin, unit.target, choice.major, choice.minor);
    bool isPtx = !isCubin && !unit.ptx.empty() &&
                 runsOn(ImageKind::Ptx, unit.target, choice.major, choice.minor);
    // A caller who loads a file of PTX for this very device has chosen that.
    if (!isUsed || !isPtx || (!isPackage && !isOlder))
      continue;
    std::string device = std::to_string(choice.major) + std::to_string(choice.minor);
    warnedOfPtx = true;
    // Without an assembler a package has PTX alone, of the right target, too.
    std::string advice =
        isOlder ? ", and what only newer targets have goes unused; compile it with --target " +
                      tile::nameTargetOf(unsigned(choice.major), unsigned(choice.minor)) + " too"
                : ", once in each process; compile it where there is ptxas";
    warnings.push_back("'" + name + "' has no cubin for the device, sm_" + device +
                       ": the driver compiles its PTX for " + unit.target + " when it is loaded" +
                       advice);
    return;
  }
}

void tile_module::addWarning(std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  warnings.push_back(std::move(text));
}

const char *tile_module::getWarning(size_t index) const {
  std::lock_guard<std::mutex> lock(mutex);
  return index < warnings.size() ? warnings[index].c_str() : nullptr;
}
