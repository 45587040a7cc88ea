// Copies the arguments to device 0, launches, and copies the outputs back.
#include "driver/RunCuda.h"
#include "codegen/Assemble.h"
#include "codegen/NVPTX.h"
#include "runtime/src/CudaDriver.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace tile {

namespace {

/// A tensor in the device's memory.
class DeviceBuffer {
public:
  explicit DeviceBuffer(const runtime::CudaDriver &driver) : driver(driver) {}
  DeviceBuffer(DeviceBuffer &&other) noexcept : driver(other.driver), address(std::exchange(other.address, 0)) {}
  ~DeviceBuffer() {
    if (address)
      driver.memFree(address);
  }

  runtime::Error allocate(size_t bytes) {
    return driver.check(driver.memAlloc(&address, std::max<size_t>(bytes, 1)), "memory for an argument");
  }
  runtime::CUdeviceptr getAddress() const { return address; }

private:
  const runtime::CudaDriver &driver;
  runtime::CUdeviceptr address = 0;
};

/// The runtime's error as ours: what is wrong with arguments is wrong data, the rest concerns the machine.
bool fail(Session &session, tile_error *error) {
  std::string message = tile_error_message(error);
  tile_code code = tile_error_code(error);
  tile_error_free(error);
  return code == TILE_ERROR_CALL || code == TILE_ERROR_DRIVER ? session.failCall(message) : session.failData(message);
}

bool fail(Session &session, const runtime::Error &error) {
  return error.code == TILE_ERROR_DRIVER ? session.failCall(error.message) : session.failData(error.message);
}

struct ModuleDeleter {
  void operator()(tile_module *module) const { tile_module_free(module); }
};

} // namespace

bool chooseCudaTarget(Options &options, Session &session) {
  runtime::Error error;
  const runtime::CudaDriver *driver = runtime::CudaDriver::get(error);
  if (!driver)
    return fail(session, error);
  runtime::CUdevice device;
  int major = 0, minor = 0;
  for (runtime::CUresult result : {driver->deviceGet(&device, 0),
                                   driver->deviceGetAttribute(&major, runtime::cuda::attributeComputeMajor, device),
                                   driver->deviceGetAttribute(&minor, runtime::cuda::attributeComputeMinor, device)})
    if ((error = driver->check(result, "asking for the device's architecture")))
      return fail(session, error);
  std::string name = "sm_" + std::to_string(major * 10 + minor);
  if (findGPUArch(name + "a"))
    name += "a";
  if (!findGPUArch(name))
    return session.failCall("device 0 is an " + name + ", for which there is no target; see tilec --version");
  options.target = name;
  return true;
}

/// A cubin where this machine can assemble one, else PTX for the driver's own assembler.
static bool makeImage(Compiler &compiler, const Options &options, Session &session, std::string &image) {
  if (!compiler.optimize() || !compiler.lowerToGPU() || !compiler.lowerToLLVM() || !compiler.optimizeLLVM() ||
      !compiler.emitPTX())
    return false;
  if (!hasAssembler(options.ptxasPath, options.executable)) {
    image = compiler.getProduct(Stage::PTX);
    return true;
  }
  if (!compiler.emitCubin())
    return false;
  image = compiler.getProduct(Stage::Cubin);
  return true;
}

/// The manifest beside a binary. Its instances are those of its own compilation: the one that fits the arguments is taken by
/// the runtime.
static std::optional<runtime::Manifest> readManifest(const std::string &path, Session &session) {
  auto file = MemoryBuffer::getFile(path);
  if (!file) {
    session.failCall("cannot read '" + path + "': " + file.getError().message());
    return std::nullopt;
  }
  std::string error;
  std::optional<runtime::Manifest> manifest = runtime::parseManifest((*file)->getBuffer().str(), error);
  if (manifest && !manifest->kernels.empty())
    return manifest;
  session.failCall("'" + path + "': " + (manifest ? "it describes no kernel" : error));
  return std::nullopt;
}

bool runOnCuda(Compiler &compiler, RunArguments &arguments, const Options &options, Session &session) {
  runtime::Error error;
  const runtime::CudaDriver *driver = runtime::CudaDriver::get(error);
  if (!driver)
    return fail(session, error);
  runtime::CUcontext context;
  if ((error = driver->currentContext(context)))
    return fail(session, error);
  std::string image;
  if (!options.image.empty()) {
    auto file = MemoryBuffer::getFile(options.image);
    if (!file)
      return session.failCall("cannot read '" + options.image + "': " + file.getError().message());
    std::optional<runtime::Manifest> manifest = readManifest(options.image + ".json", session);
    if (!manifest)
      return false;
    image = (*file)->getBuffer().str();
    compiler.getManifest() = std::move(*manifest);
  } else if (!makeImage(compiler, options, session, image)) {
    return false;
  }
  const runtime::Kernel &record = compiler.getManifest().kernels.back(); // the generic one
  if (!arguments.bind(record))
    return false;

  std::vector<DeviceBuffer> buffers;
  std::vector<void *> addresses;
  for (RunArgument &argument : arguments.getArguments()) {
    buffers.emplace_back(*driver);
    if (argument.param->kind == runtime::Param::Kind::Tensor) {
      size_t bytes = argument.buffer.getBytes();
      if ((error = buffers.back().allocate(bytes)) ||
          (bytes && (error = driver->check(driver->memcpyHtoD(buffers.back().getAddress(), argument.buffer.getData(), bytes),
                                           "copying an argument to the device"))))
        return fail(session, error);
    }
    addresses.push_back(reinterpret_cast<void *>(buffers.back().getAddress()));
  }

  std::string manifest = runtime::toJson(compiler.getManifest());
  tile_module *loaded = nullptr;
  tile_kernel *kernel = nullptr;
  if (tile_error *failure = tile_module_load_memory(image.data(), image.size(), manifest.data(), manifest.size(), &loaded))
    return fail(session, failure);
  std::unique_ptr<tile_module, ModuleDeleter> module(loaded);
  if (tile_error *failure = tile_module_kernel(loaded, record.name.c_str(), &kernel))
    return fail(session, failure);
  std::vector<tile_argument> described = arguments.describe(addresses);
  auto launch = [&] {
    tile_error *failure = tile_kernel_launch(kernel, described.data(), described.size(), nullptr, 0);
    return failure ? fail(session, failure) : true;
  };
  if (!launch())
    return false;
  if ((error = driver->check(driver->ctxSynchronize(), "running the kernel")))
    return fail(session, error);
  for (size_t i = 0; i < buffers.size(); ++i) {
    RunArgument &argument = arguments.getArguments()[i];
    if (argument.param->kind == runtime::Param::Kind::Tensor && argument.param->access != runtime::Access::In &&
        argument.buffer.getBytes() &&
        (error = driver->check(driver->memcpyDtoH(argument.buffer.getData(), buffers[i].getAddress(), argument.buffer.getBytes()),
                               "copying an output from the device")))
      return fail(session, error);
  }
  if (!arguments.writeOutputs())
    return false;
  if (!options.time)
    return true;

  runtime::CUevent begin, end;
  if ((error = driver->check(driver->eventCreate(&begin, runtime::cuda::eventDefault), "making an event")) ||
      (error = driver->check(driver->eventCreate(&end, runtime::cuda::eventDefault), "making an event")))
    return fail(session, error);
  bool good = measure(options, session, record.name, [&](unsigned count, double &milliseconds) {
    float time = 0;
    driver->eventRecord(begin, nullptr);
    for (unsigned i = 0; i < count; ++i)
      if (!launch())
        return false;
    driver->eventRecord(end, nullptr);
    driver->eventSynchronize(end);
    if ((error = driver->check(driver->eventElapsed(&time, begin, end), "measuring the kernel")))
      return fail(session, error);
    milliseconds = time / count;
    return true;
  });
  driver->eventDestroy(begin);
  driver->eventDestroy(end);
  return good;
}

} // namespace tile
