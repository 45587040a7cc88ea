// The emulated device: its memory, loaded modules, settings from the environment, the first
// failure.
#ifndef TILE_TEST_EMULATOR_DEVICE_H
#define TILE_TEST_EMULATOR_DEVICE_H

#include "test/emulator/Decoder.h"

#include <mutex>
#include <set>

namespace emu {

struct Loaded {
  std::map<std::string, Kernel> kernels;
  std::vector<uint64_t> variables; ///< in the device's memory
};

struct Device {
  std::mutex mutex;
  Memory memory;
  int major = 0, minor = 0, processors = 2;
  bool hasContext = false;
  Options options;
  int failure = 0;
  std::string text; ///< of the failure
  double milliseconds = 0;
  std::map<void *, std::unique_ptr<Loaded>> modules;

  /// Reads the environment. A driver's code.
  int configure();
  /// Why the image cannot be loaded; "" where it can.
  std::string load(const char *image, void *&module);
  bool unload(void *module);
  int launch(const Kernel &kernel, const unsigned *blocks, const unsigned *threads,
             unsigned sharedBytes, unsigned cluster, void **arguments);
};
Device &device();

} // namespace emu

#endif
