// Loading of modules and launches on the emulated device.
#include "test/emulator/Device.h"

#include <cstdio>

namespace emu {

Device &device() {
  static Device *one = new Device; // never destroyed: callers free memory as the process ends
  return *one;
}

int Device::configure() {
  const char *target = getenv("TILE_EMULATE"), *mode = getenv("TILE_EMULATE_ASYNC"),
             *count = getenv("TILE_EMULATE_PROCESSORS");
  std::string name = target && *target ? target : "sm_90a";
  int number = 0;
  if (sscanf(name.c_str(), "sm_%d", &number) != 1 || number < 80 || number > 129) {
    fprintf(stderr, "emulated device: TILE_EMULATE is '%s', expected a target such as sm_90a\n",
            name.c_str());
    return 100;
  }
  major = number / 10;
  minor = number % 10;
  if (mode && strcmp(mode, "early") != 0 && strcmp(mode, "late") != 0) {
    fprintf(stderr, "emulated device: TILE_EMULATE_ASYNC is '%s', expected late or early\n", mode);
    return 100;
  }
  options.late = !mode || strcmp(mode, "late") == 0;
  if (count)
    processors = std::max(1, atoi(count));
  return 0;
}

std::string Device::load(const char *image, void *&module) {
  if (memcmp(image, "\177ELF", 4) == 0)
    return "the emulated device executes PTX, not machine code: set TILE_PTXAS=none, or compile "
           "with --emit=ptx";
  auto loaded = std::make_unique<Loaded>();
  try {
    Module ptx = parsePtx(image);
    Globals globals;
    for (const Variable &v : ptx.variables)
      if ((v.space == "global" || v.space == "const") && v.bytes) {
        uint64_t address = memory.allocate(v.bytes);
        loaded->variables.push_back(address);
        memset(reinterpret_cast<void *>(address), 0, v.bytes);
        memcpy(reinterpret_cast<void *>(address), v.initial.data(), v.initial.size());
        globals[v.name] = address;
      }
    for (const auto &[name, function] : ptx.functions)
      if (function.isEntry)
        loaded->kernels.emplace(name, Decoder(ptx, function, globals).run());
  } catch (const BadPtx &problem) {
    for (uint64_t address : loaded->variables)
      memory.release(address);
    return problem.what();
  }
  module = loaded.get();
  modules[module] = std::move(loaded);
  return "";
}

bool Device::unload(void *module) {
  auto found = modules.find(module);
  if (found == modules.end())
    return false;
  for (uint64_t address : found->second->variables)
    memory.release(address);
  modules.erase(found);
  return true;
}

int Device::launch(const Kernel &kernel, const unsigned *blocks, const unsigned *threads,
                   unsigned sharedBytes, unsigned cluster, void **arguments) {
  Grid grid;
  grid.kernel = &kernel;
  grid.memory = &memory;
  grid.options = options;
  std::copy(blocks, blocks + 3, grid.blocks);
  std::copy(threads, threads + 3, grid.threads);
  grid.cluster = cluster;
  grid.dynamicBytes = sharedBytes;
  uint64_t count = uint64_t(threads[0]) * threads[1] * threads[2];
  bool fits = kernel.threads[0] == 0;
  for (int i = 0; i < 3 && !fits; ++i)
    fits |= i == 2 &&
            kernel.threads[0] * std::max(1u, kernel.threads[1]) * std::max(1u, kernel.threads[2]) ==
                count;
  if (!fits || count == 0 || count > 1024 || !blocks[0] || !blocks[1] || !blocks[2] || !cluster ||
      blocks[0] % cluster) {
    fprintf(stderr, "emulated device: the launch of %s does not fit the kernel or the device\n",
            kernel.name.c_str());
    return 1;
  }
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    grid.params.resize(kernel.paramOffsets[i] + kernel.params[i].bytes);
    memcpy(&grid.params[kernel.paramOffsets[i]], arguments[i], kernel.params[i].bytes);
  }
  try {
    grid.run();
  } catch (const Fault &problem) {
    failure = problem.code;
    text = problem.what();
  }
  milliseconds += 1e-6 * double(grid.executed);
  if (getenv("TILE_EMULATE_COUNT"))
    fprintf(stderr,
            "emulated device: %s: %llu instructions of threads, %llu moves of sums in flight\n",
            kernel.name.c_str(), static_cast<unsigned long long>(grid.executed),
            static_cast<unsigned long long>(grid.passedOn));
  return 0;
}

} // namespace emu
