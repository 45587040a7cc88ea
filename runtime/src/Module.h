// A loaded binary or package with its manifest: kernels, their instances, and the functions in each
// CUDA context.
#ifndef TILE_RUNTIME_SRC_MODULE_H
#define TILE_RUNTIME_SRC_MODULE_H

#include "formats/Image.h"
#include "formats/Package.h"
#include "launch/CudaDriver.h"
#include "launch/HostCode.h"
#include "launch/Validate.h"
#include "launch/core/Scratch.h"
#include "runtime/src/TensorMap.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// One instance of a kernel (opaque in the C interface).
struct tile_instance {
  std::unique_ptr<tile::runtime::Validator> validator;
  std::unique_ptr<tile::runtime::TensorMapCache> tensorMaps =
      std::make_unique<tile::runtime::TensorMapCache>();
  size_t unit = 0, index = 0; // which unit of the module, and where in it
  size_t number = 0;          // among all of the module: functions are kept in this order

  const tile::runtime::Kernel &getKernel() const { return validator->getKernel(); }
};

/// All instances of one source kernel: for all targets, variants with facts before generic ones.
struct tile_kernel {
  tile_module *module = nullptr;
  std::string name;
  size_t index = 0; // in the module's list of all kernels
  std::vector<const tile_instance *> all;

  /// The instances that queries are about: those for the first target.
  std::vector<const tile_instance *> instances;
  /// Of `instances` the first instance that fits the arguments and whose facts hold. Where only one
  /// comes into question, that one, whose checks then say what is wrong. Defined in Dispatch.cpp.
  tile::runtime::Error select(const std::vector<const tile_instance *> &instances,
                              const tile_argument *arguments, size_t count,
                              const tile_instance *&instance) const;
};

/// A call whose variant is chosen and whose shapes are checked (opaque in the C interface).
/// Launches do not change it.
struct tile_prepared {
  const tile_kernel *kernel = nullptr;
  const tile_instance *instance = nullptr;
  /// As given, with copies of shapes and strides in `sizes`, and of addresses and bits in `values`.
  std::vector<tile_argument> arguments;
  std::vector<int64_t> sizes;
  std::vector<uint64_t> values;
  /// Of the launch with these arguments.
  tile::runtime::Plan plan;

  /// Takes over a copy of `given`.
  void keep(const tile_argument *given, size_t count);
  /// Chooses among `instances` and checks; changes nothing where that fails.
  tile::runtime::Error choose(const std::vector<const tile_instance *> &instances);
  /// With other addresses and scalars: see tile_prepared_launch.
  tile::runtime::Error launch(const uint64_t *values, size_t count, void *stream,
                              uint32_t flags) const;
  /// The same with arguments laid out like those that were prepared.
  tile::runtime::Error launch(const tile_argument *given, size_t count, void *stream,
                              uint32_t flags) const;
};

struct tile_module {
  /// Takes over a binary and its manifest. `name` stands in messages.
  static tile::runtime::Error create(std::string image, const std::string &manifest,
                                     std::string name, std::unique_ptr<tile_module> &module);
  /// Takes over a package, for one kind of device (a tile_device).
  static tile::runtime::Error create(tile::runtime::Package package, std::string name,
                                     int32_t device, std::unique_ptr<tile_module> &module);
  ~tile_module();

  /// Of the first unit.
  const std::string &getTarget() const { return units.front().target; }
  bool isHost() const { return onHost; }
  size_t getKernelCount() const { return kernels.size(); }
  tile_kernel *getKernel(size_t index) { return kernels[index].get(); }
  /// By source name, by symbol, or as NAME:VARIANT.
  tile::runtime::Error find(const std::string &name, tile_kernel *&kernel);
  /// The bytes of kind "cubin", "ptx" or "so" for a target; null where there are none.
  const std::string *getCode(const std::string &target, const std::string &kind) const;
  /// Loads into the current context unless that has happened.
  tile::runtime::Error prepare();
  /// Gives back what is loaded in every context; what is launched next is loaded again.
  void unload();
  /// Checks, fills and launches: in the current context, or on the CPU. `flags` are those of the C
  /// interface.
  tile::runtime::Error launch(const tile_kernel &kernel, const tile_argument *arguments,
                              size_t count, void *stream, uint32_t flags);
  /// Chooses and checks once for many launches. With a variant's name that one, or the generic one
  /// for "".
  tile::runtime::Error prepare(const tile_kernel &kernel, const char *variant,
                               tile_prepared &prepared);
  /// A warning, although nothing has failed; null past the end. Texts stay as long as
  /// the module.
  const char *getWarning(size_t index) const;
  void addWarning(std::string text);

private:
  friend struct tile_prepared;
  /// One binary with its kernels: a package may hold several, also of one target.
  struct Unit {
    std::string target;
    std::string cubin, ptx, so; // what there is
    std::vector<std::unique_ptr<tile_instance>> instances;
    // Of the CPU.
    std::unique_ptr<tile::runtime::HostLibrary> library;
    std::vector<tile::runtime::HostFunction> functions; // one for each instance
  };
  /// The instances of every kernel that suit a kind of device: those of one target each.
  struct Choice {
    int major, minor;
    std::vector<std::vector<const tile_instance *>> byKernel;
  };
  /// An instance in one context.
  struct Function {
    /// Null until first used; set last, so that who sees it may read the others.
    std::atomic<tile::runtime::CUfunction> handle{nullptr};
    unsigned blocks = 0;                  // of a persistent kernel, that run at once
    tile::runtime::CUdeviceptr empty = 0; // what TensorMapCache wants for tensors without elements
  };
  /// The units in one context. Launches read the first three and the functions that are set; the
  /// rest is guarded by `mutex`.
  struct Loaded {
    tile::runtime::CUcontext context = nullptr;
    unsigned long long id = 0; // tells a new context from a destroyed one at the same address
    const Choice *choice = nullptr;
    Loaded *next = nullptr;                       // an older one
    std::vector<Function> functions;              // one for each instance
    std::vector<tile::runtime::CUmodule> modules; // one for each unit; null until first used
    tile::runtime::CUdeviceptr empty = 0;         // where an instance has tensor maps
    tk_scratch *scratch = nullptr;
  };
  /// Where a launch happens: found when first needed, so that checks come before the device.
  struct Place {
    const tile::runtime::CudaDriver *driver = nullptr;
    Loaded *entry = nullptr;
  };

  tile_module() = default;
  tile::runtime::Error add(tile::runtime::Manifest manifest, Unit unit);
  void addToKernel(std::vector<std::unique_ptr<tile_kernel>> &list, const std::string &name,
                   const tile_instance *instance);
  void finish();
  tile::runtime::Error openHost(Unit &unit, const std::string &cpu);
  const Choice &choose(int major, int minor);
  std::string listTargets() const;
  tile::runtime::Error candidates(const tile_kernel &kernel, Place &place,
                                  const std::vector<const tile_instance *> *&list);
  tile::runtime::Error locate(Place &place);
  tile::runtime::Error enter(const tile::runtime::CudaDriver &driver,
                             tile::runtime::CUcontext context, unsigned long long id,
                             Loaded *&entry);
  tile::runtime::Error load(const tile::runtime::CudaDriver &driver, Loaded &entry);
  void warnOfPtx(const Choice &choice);
  tile::runtime::Error loadUnit(const tile::runtime::CudaDriver &driver, Loaded &entry,
                                size_t number);
  tile::runtime::Error loadFunction(const tile::runtime::CudaDriver &driver, Loaded &entry,
                                    const tile_instance &instance);
  tile::runtime::Error execute(const tile_kernel &kernel, const tile_instance &instance,
                               const tile_argument *arguments, size_t count,
                               tile::runtime::Plan &plan, void *stream, uint32_t flags,
                               Place place);

  /// Launches with scratch memory, which `plan` gets.
  tile::runtime::Error launchWithScratch(const tile::runtime::CudaDriver &driver, Loaded &entry,
                                         const tile_instance &instance, tile::runtime::Plan &plan,
                                         tile::runtime::CUfunction function, unsigned blocks,
                                         tile::runtime::CUstream stream);

  std::string name;
  bool onHost = false;
  tile::runtime::HostThreads threads; // of launches on the CPU
  std::vector<Unit> units;            // those for the kind of device at hand, at least one
  bool oneTarget = true;              // dispatch then needs no device
  std::vector<std::unique_ptr<tile_kernel>> kernels, symbols, variants;
  std::map<std::pair<const void *, std::string>, tile_kernel *> byName; // in each of the three
  size_t kernelCount = 0;                                               // of all three
  size_t instanceCount = 0;
  bool isPackage = false;
  /// The newest first. Entries stay till the end or `unload`, also those of contexts that are gone:
  /// launches read the list without a lock.
  std::atomic<Loaded *> contexts{nullptr};
  mutable std::mutex mutex; // guards what follows, additions to the list, and parts of its entries
  std::vector<std::unique_ptr<Choice>> choices;
  std::deque<std::string> warnings; // their addresses stay
  bool warnedOfPtx = false;
};

#endif
