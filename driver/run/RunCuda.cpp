// Copies the arguments to a device, launches, and copies the outputs back.
#include "driver/run/RunCuda.h"
#include "codegen/Assemble.h"
#include "driver/options/NativeTarget.h"
#include "driver/run/CudaDevice.h"
#include "driver/run/RunSummary.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

using namespace llvm;

namespace tile {

bool chooseCudaTarget(Options &options, Session &session) {
  Expected<NativeTarget> native =
      findNativeTarget(options.ordinals.empty() ? 0 : options.ordinals.front());
  if (!native)
    return session.failCall(toString(native.takeError()));
  options.target = std::string(native->target->name);
  options.card = native->card;
  return true;
}

/// A cubin where this machine can assemble one, else PTX for the driver's own assembler.
static bool makeImage(Compiler &compiler, const Options &options, Session &session,
                      std::string &image) {
  if (!compiler.optimize() || !compiler.lowerToGPU() || !compiler.lowerToLLVM() ||
      !compiler.optimizeLLVM() || !compiler.emitPTX())
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

/// The manifest beside a binary. Its instances are those of its own compilation: the one that fits
/// the arguments is taken by the runtime.
static std::optional<runtime::Manifest> readManifest(const std::string &path, Session &session) {
  auto file = MemoryBuffer::getFile(path);
  if (!file) {
    session.failCall("cannot read '" + path + "': " + file.getError().message());
    return std::nullopt;
  }
  std::string error;
  std::optional<runtime::Manifest> manifest =
      runtime::parseManifest((*file)->getBuffer().str(), error);
  if (manifest && !manifest->kernels.empty())
    return manifest;
  session.failCall("'" + path + "': " + (manifest ? "it describes no kernel" : error));
  return std::nullopt;
}

bool readImage(const std::string &path, Session &session, std::string &image,
               runtime::Manifest &manifest) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return session.failCall("cannot read '" + path + "': " + file.getError().message());
  std::optional<runtime::Manifest> read = readManifest(path + ".json", session);
  if (!read)
    return false;
  image = (*file)->getBuffer().str();
  if (runtime::Error error = runtime::checkBinary(*read, image, path))
    return session.failData(error.message);
  manifest = std::move(*read);
  return true;
}

/// Measured after the outputs were written: later launches may add to what they find there.
bool runOnCuda(Compiler &compiler, RunArguments &arguments, const Options &options,
               Session &session) {
  const runtime::CudaDriver *driver =
      openCudaDevice(options.ordinals.empty() ? 0 : options.ordinals.front(), session);
  if (!driver)
    return false;
  std::string image;
  if (options.image.empty() ? !makeImage(compiler, options, session, image)
                            : !readImage(options.image, session, image, compiler.getManifest()))
    return false;
  const runtime::Kernel &record = compiler.getManifest().kernels.back(); // the generic one
  if (!arguments.bind(record))
    return false;
  CudaArguments onDevice(*driver);
  if (runtime::Error error = onDevice.upload(arguments))
    return reportRuntimeError(session, error);
  std::vector<void *> addresses = onDevice.getAddresses();
  std::vector<tile_argument> described = arguments.describe(addresses);
  CudaKernel kernel(*driver, session);
  if (!kernel.load(image, compiler.getManifest(), record.name))
    return false;
  auto begin = std::chrono::steady_clock::now();
  if (!kernel.launch(described) || !kernel.wait())
    return false;
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (runtime::Error error = onDevice.download(arguments))
    return reportRuntimeError(session, error);
  if (!arguments.writeOutputs())
    return false;
  printSummary(options, session, record.name, /*programs=*/-1, time.count(),
               arguments.getArguments());
  return !options.time ||
         measure(options, session, record.name, [&](const TimingLimits &limits, Timing &timing) {
           return kernel.time(limits, described, timing);
         });
}

} // namespace tile
