// Pieces of a run on a GPU: the device, arguments in its memory, a loaded kernel.
//
//   memory of an argument:   [ .. guard | tensor | guard ]     guards of 512 bytes, all 0xa5
//
// An output that is written beside its tensor changes a guard (checkGuards), which a search takes
// as a wrong result. The first part is as long as the tensor's alignment needs.
#include "driver/run/CudaDevice.h"
#include <algorithm>

using namespace llvm;

namespace tile {

bool reportRuntimeError(Session &session, tile_error *error) {
  std::string message = tile_error_message(error);
  tile_code code = tile_error_code(error);
  tile_error_free(error);
  return code == TILE_ERROR_CALL || code == TILE_ERROR_DRIVER ? session.failCall(message)
                                                              : session.failData(message);
}

bool reportRuntimeError(Session &session, const runtime::Error &error) {
  return error.code == TILE_ERROR_DRIVER ? session.failCall(error.message)
                                         : session.failData(error.message);
}

const runtime::CudaDriver *openCudaDevice(unsigned ordinal, Session &session) {
  runtime::Error error;
  const runtime::CudaDriver *driver = runtime::CudaDriver::get(error);
  runtime::CUdevice device = 0;
  runtime::CUcontext context = nullptr;
  std::string what = "opening device " + std::to_string(ordinal);
  if (driver)
    for (auto step : {+[](const runtime::CudaDriver &d, unsigned n, runtime::CUdevice &i,
                          runtime::CUcontext &) { return d.deviceGet(&i, int(n)); },
                      +[](const runtime::CudaDriver &d, unsigned, runtime::CUdevice &i,
                          runtime::CUcontext &c) { return d.primaryRetain(&c, i); },
                      +[](const runtime::CudaDriver &d, unsigned, runtime::CUdevice &,
                          runtime::CUcontext &c) { return d.ctxSetCurrent(c); }})
      if (!error)
        error = driver->check(step(*driver, ordinal, device, context), what.c_str());
  if (driver && !error)
    return driver;
  reportRuntimeError(session, error);
  return nullptr;
}

//===--- Arguments --------------------------------------------------------===//

/// As much as one store of 16 bytes by each of 32 lanes writes.
static constexpr size_t guardBytes = 512;
static constexpr unsigned char guardValue = 0xa5;

CudaArguments::~CudaArguments() {
  for (const Tensor &tensor : tensors)
    if (tensor.memory)
      driver.memFree(tensor.memory);
}

/// After an error the memory so far belongs to this object, whose end frees it.
runtime::Error CudaArguments::upload(RunArguments &arguments) {
  for (RunArgument &argument : arguments.getArguments()) {
    Tensor &tensor = tensors.emplace_back();
    tensor.param = argument.param;
    if (argument.param->kind != runtime::Param::Kind::Tensor)
      continue;
    const char *data = argument.buffer.getData();
    tensor.bytes = argument.buffer.getBytes();
    size_t align = std::max<size_t>(argument.param->align, 1);
    tensor.offset = (guardBytes + align - 1) / align * align;
    if (argument.param->access != runtime::Access::In) // an output may be given, too
      tensor.initial.assign(data, data + tensor.bytes);
    if (runtime::Error error =
            driver.check(driver.memAlloc(&tensor.memory, tensor.offset + tensor.bytes + guardBytes),
                         "memory for an argument"))
      return error;
    if (runtime::Error error =
            driver.check(driver.memsetD8(tensor.memory + tensor.offset - guardBytes, guardValue,
                                         guardBytes, nullptr),
                         "filling memory"))
      return error;
    if (runtime::Error error =
            driver.check(driver.memsetD8(tensor.memory + tensor.offset + tensor.bytes, guardValue,
                                         guardBytes, nullptr),
                         "filling memory"))
      return error;
    if (tensor.bytes && argument.param->access == runtime::Access::In)
      if (runtime::Error error =
              driver.check(driver.memcpyHtoD(tensor.memory + tensor.offset, data, tensor.bytes),
                           "copying an argument to the device"))
        return error;
  }
  return reset();
}

runtime::Error CudaArguments::reset() {
  for (const Tensor &tensor : tensors) {
    if (!tensor.memory || !tensor.bytes || tensor.param->access == runtime::Access::In)
      continue;
    runtime::CUdeviceptr to = tensor.memory + tensor.offset;
    runtime::CUresult result = tensor.initial.empty()
                                   ? driver.memsetD8(to, 0, tensor.bytes, nullptr)
                                   : driver.memcpyHtoD(to, tensor.initial.data(), tensor.bytes);
    if (runtime::Error error = driver.check(result, "filling memory"))
      return error;
  }
  return {};
}

runtime::Error CudaArguments::download(RunArguments &arguments) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = tensors[i];
    if (!tensor.memory || !tensor.bytes || tensor.param->access == runtime::Access::In)
      continue;
    char *to = arguments.getArguments()[i].buffer.getData();
    if (runtime::Error error =
            driver.check(driver.memcpyDtoH(to, tensor.memory + tensor.offset, tensor.bytes),
                         "copying an output from the device"))
      return error;
  }
  return {};
}

runtime::Error CudaArguments::checkGuards(std::string &overrun) {
  for (const Tensor &tensor : tensors) {
    if (!tensor.memory)
      continue;
    for (runtime::CUdeviceptr at : {tensor.memory + tensor.offset - guardBytes,
                                    tensor.memory + tensor.offset + tensor.bytes}) {
      unsigned char bytes[guardBytes];
      if (runtime::Error error =
              driver.check(driver.memcpyDtoH(bytes, at, guardBytes), "copying from the device"))
        return error;
      if (std::any_of(bytes, bytes + guardBytes,
                      [](unsigned char byte) { return byte != guardValue; }))
        overrun = "it wrote " +
                  std::string(at < tensor.memory + tensor.offset ? "before" : "behind") + " '" +
                  tensor.param->name + "'";
    }
  }
  return {};
}

std::vector<void *> CudaArguments::getAddresses() const {
  std::vector<void *> addresses;
  for (const Tensor &tensor : tensors)
    addresses.push_back(tensor.memory ? reinterpret_cast<void *>(tensor.memory + tensor.offset)
                                      : nullptr);
  return addresses;
}

//===--- The kernel -------------------------------------------------------===//

bool CudaKernel::load(StringRef image, const runtime::Manifest &manifest, const std::string &name) {
  std::string text = runtime::toJson(manifest, {image.data(), image.size()});
  if (tile_error *failure =
          tile_module_load_memory(image.data(), image.size(), text.data(), text.size(), &module))
    return reportRuntimeError(session, failure);
  if (tile_error *failure = tile_module_kernel(module, name.c_str(), &kernel))
    return reportRuntimeError(session, failure);
  return true;
}

bool CudaKernel::launch(const std::vector<tile_argument> &arguments) {
  tile_error *failure = tile_kernel_launch(kernel, arguments.data(), arguments.size(), nullptr, 0);
  return failure ? reportRuntimeError(session, failure) : true;
}

bool CudaKernel::wait() {
  runtime::Error error = driver.check(driver.ctxSynchronize(), "running the kernel");
  return error ? reportRuntimeError(session, error) : true;
}

/// By events on the device: the time of `count` launches in a row, without that of the host between
/// them.
bool CudaKernel::time(const TimingLimits &limits, const std::vector<tile_argument> &arguments,
                      Timing &timing) {
  runtime::CUevent begin = nullptr, end = nullptr;
  runtime::Error error =
      driver.check(driver.eventCreate(&begin, runtime::cuda::eventDefault), "making an event");
  if (!error)
    error = driver.check(driver.eventCreate(&end, runtime::cuda::eventDefault), "making an event");
  bool good = error ? reportRuntimeError(session, error)
                    : timeKernel(
                          limits,
                          [&](unsigned count, double &milliseconds) {
                            float time = 0;
                            driver.eventRecord(begin, nullptr);
                            for (unsigned i = 0; i < count; ++i)
                              if (!launch(arguments))
                                return false;
                            driver.eventRecord(end, nullptr);
                            driver.eventSynchronize(end);
                            if (runtime::Error failure = driver.check(
                                    driver.eventElapsed(&time, begin, end), "measuring the kernel"))
                              return reportRuntimeError(session, failure);
                            milliseconds = time / count;
                            return true;
                          },
                          timing);
  for (runtime::CUevent event : {begin, end})
    if (event)
      driver.eventDestroy(event);
  return good;
}

} // namespace tile
