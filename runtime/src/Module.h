// A loaded binary with its manifest: kernels, their instances, and the functions in each CUDA context.
#pragma once

#include "runtime/src/CudaDriver.h"
#include "runtime/src/Image.h"
#include "runtime/src/TensorMap.h"
#include "runtime/src/Validate.h"

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// One instance of a kernel (opaque in the C interface).
struct tile_instance {
  std::unique_ptr<tile::runtime::Validator> validator;
  std::unique_ptr<tile::runtime::TensorMapCache> tensorMaps = std::make_unique<tile::runtime::TensorMapCache>();
  size_t index = 0; // in the module, which keeps its functions in this order

  const tile::runtime::Kernel &getKernel() const { return validator->getKernel(); }
};

/// All instances of one source kernel, in the manifest's order.
struct tile_kernel {
  tile_module *module = nullptr;
  std::string name;
  std::vector<const tile_instance *> instances;

  /// The instance that fits the arguments. Where only one comes into question, that one, whose checks then say what is
  /// wrong.
  tile::runtime::Error select(const tile_argument *arguments, size_t count, const tile_instance *&instance) const;
};

struct tile_module {
  /// Takes over image and manifest. `name` stands in messages.
  static tile::runtime::Error create(std::string image, const std::string &manifest, std::string name,
                                     std::unique_ptr<tile_module> &module);
  ~tile_module();

  const std::string &getTarget() const { return manifest.target; }
  size_t getKernelCount() const { return kernels.size(); }
  tile_kernel *getKernel(size_t index) { return kernels[index].get(); }
  /// By source name or by symbol.
  tile::runtime::Error find(const std::string &name, tile_kernel *&kernel);
  /// Loads into the current context unless that has happened.
  tile::runtime::Error prepare();
  /// Checks, fills and launches in the current context.
  tile::runtime::Error launch(const tile_kernel &kernel, const tile_argument *arguments, size_t count, void *stream,
                              bool unchecked);

private:
  /// An instance in one context.
  struct Function {
    tile::runtime::CUfunction handle = nullptr; // until first used
    unsigned blocks = 0;                        // of a persistent kernel, that run at once
    tile::runtime::CUdeviceptr empty = 0;       // what TensorMapCache wants for tensors without elements
  };
  /// Memory in which an instance's programs exchange sums, on one stream.
  struct Scratch {
    size_t instance;
    tile::runtime::CUstream stream;
    std::thread::id thread; // of the stream that each thread has of its own
    tile::runtime::CUdeviceptr memory;
    size_t bytes;
    bool captured; // made while the stream was captured: only graphs clear its counts
  };
  /// The binary in one context.
  struct Loaded {
    tile::runtime::CUcontext context = nullptr;
    unsigned long long id = 0; // tells a new context from a destroyed one at the same address
    tile::runtime::CUmodule module = nullptr;
    tile::runtime::CUdeviceptr empty = 0; // where an instance has tensor maps
    std::vector<Function> functions;      // one for each instance
    std::vector<Scratch> scratch;
  };

  tile_module() = default;
  tile::runtime::Error loaded(const tile::runtime::CudaDriver &driver, Loaded *&entry);
  tile::runtime::Error load(const tile::runtime::CudaDriver &driver, Loaded &entry);
  tile::runtime::Error function(const tile::runtime::CudaDriver &driver, Loaded &entry, const tile_instance &instance,
                                Function &result);
  tile::runtime::Error getFunction(const tile::runtime::CudaDriver &driver, const tile_instance &instance,
                                   Function &result);

  /// At least `bytes` of scratch memory for the instance on the stream, in the current context.
  tile::runtime::Error getScratch(const tile::runtime::CudaDriver &driver, const tile_instance &instance,
                                  tile::runtime::CUstream stream, size_t bytes, tile::runtime::CUdeviceptr &memory);

  std::string name, image;
  tile::runtime::ImageKind kind = tile::runtime::ImageKind::Cubin;
  tile::runtime::Manifest manifest; // without its kernels, which the instances hold
  std::vector<std::unique_ptr<tile_instance>> instances;
  std::vector<std::unique_ptr<tile_kernel>> kernels, symbols;
  std::mutex mutex; // guards what follows
  std::vector<Loaded> contexts;
};
