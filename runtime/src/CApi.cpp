// The C interface: handles, errors as objects, and no exception that leaves.
#include "runtime/include/tile_runtime.h"

#include "formats/Signature.h"
#include "formats/Zip.h"
#include "manifest/Encode.h"
#include "runtime/src/Guard.h"
#include "runtime/src/Module.h"
#include "runtime/src/compile/Request.h"
#include "target/Target.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

using namespace tile::runtime;

tile_error &tile::runtime::outOfMemory() {
  static tile_error error{Error(TILE_ERROR_MEMORY, "out of memory")};
  return error;
}

/// The C header's numbers are the ABI; the C++ enumerations must never be renumbered on their own.
static_assert(int(Dtype::Bool) == TILE_BOOL && int(Dtype::F16) == TILE_F16 &&
                  int(Dtype::F64) == TILE_F64 && int(Dtype::U4) == TILE_U4,
              "tile_dtype follows Dtype");
static_assert(int(Access::InOut) == TILE_INOUT, "tile_access follows Access");

constexpr uint32_t allLaunchFlags = TILE_LAUNCH_UNCHECKED | TILE_LAUNCH_CHECK_MEMORY;
static Error unknownFlags(uint32_t flags) {
  return Error(TILE_ERROR_CALL, "unknown launch flags " + std::to_string(flags & ~allLaunchFlags));
}

extern "C" {

//===--- Errors -----------------------------------------------------------===//

tile_code tile_error_code(const tile_error *error) { return error ? error->error.code : TILE_OK; }
const char *tile_error_message(const tile_error *error) {
  return error ? error->error.message.c_str() : "";
}
void tile_error_free(tile_error *error) {
  if (error != &outOfMemory())
    delete error;
}

//===--- Modules ----------------------------------------------------------===//

/// A package, for a kind of device.
/// The created module's ownership goes to the caller, who frees it by tile_module_free.
static Error loadPackage(const std::string &bytes, const std::string &name, int32_t device,
                         tile_module **module) {
  Package package;
  if (Error error = readPackage(bytes, name, package))
    return error;
  std::unique_ptr<tile_module> created;
  Error error = tile_module::create(std::move(package), name, device, created);
  *module = created.release();
  return error;
}

///   path                       what is read
///   *.tilepkg, or a zip        the package alone: code for several targets
///   any other                  a cubin or PTX, and its manifest beside it, path + ".json"
tile_error *tile_module_load(const char *path, tile_module **module) {
  return tile_module_load_device(path, TILE_DEVICE_AUTO, module);
}

tile_error *tile_module_load_device(const char *path, int32_t device, tile_module **module) {
  return guard([&]() -> Error {
    if (!path || !module)
      return nullCall(path ? "module" : "path");
    // NULL on every error: a caller that looks at the module alone does not use freed memory.
    *module = nullptr;
    std::string image, manifest, name = path;
    if (Error error = readFile(path, image))
      return error;
    constexpr std::string_view ending = ".tilepkg";
    bool isNamed = name.size() > ending.size() &&
                   name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
    if (isZip(image) || isNamed)
      return loadPackage(image, name, device, module);
    if (device == TILE_DEVICE_CPU)
      return Error(TILE_ERROR_TARGET,
                   "'" + name +
                       "' is no package, and only packages hold code for the CPU; build one with "
                       "tilec --target cpu -o NAME.tilepkg");
    if (Error error = readFile(name + ".json", manifest)) {
      error.message += "; the manifest stands beside the binary, where tilec wrote it";
      return error;
    }
    std::unique_ptr<tile_module> created;
    Error error = tile_module::create(std::move(image), manifest, path, created);
    *module = created.release();
    return error;
  });
}

/// The signature is checked over the same bytes that are then loaded: the file is read once.
tile_error *tile_module_load_signed(const char *path, const char *public_key, int32_t device,
                                    tile_module **module) {
  return guard([&]() -> Error {
    if (!path || !public_key || !module)
      return nullCall(!path ? "path" : !public_key ? "public_key" : "module");
    *module = nullptr;
    std::string bytes, signature, comment, name = path;
    if (Error error = readFile(path, bytes))
      return error;
    // Ahead of the signature: the message for an unsigned cubin would mislead.
    if (!isZip(bytes))
      return Error(TILE_ERROR_SIGNATURE, "'" + name +
                                             "' is no package, and only packages are signed; build "
                                             "one with tilec -o NAME.tilepkg");
    if (Error error = readFile(name + std::string(signatureEnding), signature)) {
      error.code = TILE_ERROR_SIGNATURE;
      error.message += "; sign the package with minisign -Sm '" + name + "'";
      return error;
    }
    if (Error error = verifySignature(bytes, signature, public_key, name, comment))
      return error;
    return loadPackage(bytes, name, device, module);
  });
}

/// Both are copied: the caller may free its memory when the call returns.
tile_error *tile_module_load_memory(const void *image, size_t image_size, const char *manifest,
                                    size_t manifest_size, tile_module **module) {
  return guard([&]() -> Error {
    if (!image || !manifest || !module)
      return nullCall(!image ? "image" : !manifest ? "manifest" : "module");
    *module = nullptr;
    std::unique_ptr<tile_module> created;
    Error error =
        tile_module::create(std::string(static_cast<const char *>(image), image_size),
                            std::string(manifest, manifest_size), "module in memory", created);
    *module = created.release();
    return error;
  });
}

tile_error *tile_module_load_package(const void *bytes, size_t size, int32_t device,
                                     tile_module **module) {
  return guard([&]() -> Error {
    if (!bytes || !module)
      return nullCall(bytes ? "module" : "bytes");
    *module = nullptr;
    return loadPackage(std::string(static_cast<const char *>(bytes), size), "package in memory",
                       device, module);
  });
}

int32_t tile_module_device(const tile_module *module) {
  return module && module->isHost() ? TILE_DEVICE_CPU : TILE_DEVICE_CUDA;
}

const void *tile_module_code(const tile_module *module, const char *target, const char *kind,
                             size_t *size) {
  const std::string *code = module && target && kind ? module->getCode(target, kind) : nullptr;
  if (size)
    *size = code ? code->size() : 0;
  return code ? code->data() : nullptr;
}

tile_error *tile_module_prepare(tile_module *module) {
  return guard([&] { return module ? module->prepare() : nullCall("module"); });
}

const char *tile_module_warning(const tile_module *module, size_t index) {
  return module ? module->getWarning(index) : nullptr;
}
void tile_module_free(tile_module *module) { delete module; }
void tile_module_unload(tile_module *module) {
  if (module)
    module->unload();
}

const char *tile_module_target(const tile_module *module) {
  return module ? module->getTarget().c_str() : "";
}
size_t tile_module_kernel_count(const tile_module *module) {
  return module ? module->getKernelCount() : 0;
}
tile_kernel *tile_module_kernel_at(tile_module *module, size_t index) {
  return module && index < module->getKernelCount() ? module->getKernel(index) : nullptr;
}

tile_error *tile_module_kernel(tile_module *module, const char *name, tile_kernel **kernel) {
  return guard([&]() -> Error {
    if (!module || !name || !kernel)
      return nullCall(!module ? "module" : !name ? "name" : "kernel");
    *kernel = nullptr;
    return module->find(name, *kernel);
  });
}

//===--- Launching --------------------------------------------------------===//

/// Arguments are read during the call alone; the stream belongs to the caller.
tile_error *tile_kernel_launch(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                               void *stream, uint32_t flags) {
  return guard([&]() -> Error {
    if (!kernel)
      return nullCall("kernel");
    if (flags & ~allLaunchFlags)
      return unknownFlags(flags);
    return kernel->module->launch(*kernel, arguments, count, stream, flags);
  });
}

/// Shapes and strides are copied (tile_prepared::keep), and addresses may change in every launch.
tile_error *tile_kernel_prepare(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                                tile_prepared **prepared) {
  return guard([&]() -> Error {
    if (!kernel || !prepared || (count && !arguments))
      return nullCall(!kernel ? "kernel" : !prepared ? "prepared" : "arguments");
    *prepared = nullptr;
    auto made = std::make_unique<tile_prepared>();
    made->kernel = kernel;
    made->keep(arguments, count);
    if (Error error = kernel->module->prepare(*kernel, nullptr, *made))
      return error;
    *prepared = made.release();
    return {};
  });
}

tile_error *tile_prepared_launch(const tile_prepared *prepared, const uint64_t *values,
                                 size_t count, void *stream, uint32_t flags) {
  return guard([&]() -> Error {
    if (!prepared || (count && !values))
      return nullCall(prepared ? "values" : "prepared");
    if (flags & ~allLaunchFlags)
      return unknownFlags(flags);
    return prepared->launch(values, count, stream, flags);
  });
}

tile_error *tile_prepared_launch_arguments(const tile_prepared *prepared,
                                           const tile_argument *arguments, size_t count,
                                           void *stream, uint32_t flags) {
  return guard([&]() -> Error {
    if (!prepared || (count && !arguments))
      return nullCall(prepared ? "arguments" : "prepared");
    if (flags & ~allLaunchFlags)
      return unknownFlags(flags);
    return prepared->launch(arguments, count, stream, flags);
  });
}

/// A pin is a choice of variant by name, checked like any other: contracts that the prepared
/// arguments break are reported here.
tile_error *tile_prepared_pin(tile_prepared *prepared, const char *variant) {
  return guard([&]() -> Error {
    if (!prepared || !variant)
      return nullCall(prepared ? "variant" : "prepared");
    return prepared->kernel->module->prepare(*prepared->kernel, variant, *prepared);
  });
}

const tile_instance *tile_prepared_instance(const tile_prepared *prepared) {
  return prepared ? prepared->instance : nullptr;
}
void tile_prepared_free(tile_prepared *prepared) { delete prepared; }

/// Checks everything and launches nothing. Needs no device.
tile_error *tile_kernel_plan(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                             tile_launch_plan *result, int64_t *dims, size_t dim_count) {
  return guard([&]() -> Error {
    if (!kernel || !result)
      return nullCall(kernel ? "plan" : "kernel");
    const tile_instance *instance = nullptr;
    if (Error error = kernel->select(kernel->instances, arguments, count, instance))
      return error;
    Plan plan;
    if (Error error = instance->validator->check(arguments, count, plan))
      return error;
    *result = {};
    result->instance = instance;
    result->programs = plan.programs;
    result->axes = int32_t(plan.extents.size());
    for (size_t i = 0; i < plan.extents.size(); ++i)
      result->extents[i] = plan.extents[i];
    for (size_t i = 0; dims && i < dim_count && i < instance->getKernel().dims.size(); ++i)
      dims[i] = plan.values[i];
    return {};
  });
}

//===--- Queries ----------------------------------------------------------===//

const char *tile_kernel_name(const tile_kernel *kernel) {
  return kernel ? kernel->instances.front()->getKernel().name.c_str() : "";
}
const char *tile_kernel_doc(const tile_kernel *kernel) {
  return kernel ? kernel->instances.front()->getKernel().doc.c_str() : "";
}
size_t tile_kernel_instance_count(const tile_kernel *kernel) {
  return kernel ? kernel->instances.size() : 0;
}
const tile_instance *tile_kernel_instance(const tile_kernel *kernel, size_t index) {
  return kernel && index < kernel->instances.size() ? kernel->instances[index] : nullptr;
}

const char *tile_instance_symbol(const tile_instance *instance) {
  return instance ? instance->getKernel().symbol.c_str() : "";
}
const char *tile_instance_variant(const tile_instance *instance) {
  return instance ? instance->getKernel().variant.c_str() : "";
}
size_t tile_instance_condition_count(const tile_instance *instance) {
  return instance ? instance->getKernel().facts.size() : 0;
}
const char *tile_instance_condition(const tile_instance *instance, size_t index) {
  return index < tile_instance_condition_count(instance)
             ? instance->getKernel().facts[index].text.c_str()
             : nullptr;
}
const char *tile_instance_signature(const tile_instance *instance) {
  return instance ? instance->validator->getSignature().c_str() : "";
}
size_t tile_instance_param_count(const tile_instance *instance) {
  return instance ? instance->getKernel().params.size() : 0;
}

int tile_instance_param(const tile_instance *instance, size_t index, tile_param_info *info) {
  if (!info || index >= tile_instance_param_count(instance))
    return 0;
  const Param &param = instance->getKernel().params[index];
  bool tensor = param.kind == Param::Kind::Tensor;
  *info = {param.name.c_str(),         tensor ? TILE_TENSOR : TILE_SCALAR,
           int32_t(param.dtype),       int32_t(param.access),
           int32_t(param.dims.size()), param.defaultValue.has_value(),
           tensor ? param.align : 0};
  return 1;
}

size_t tile_instance_dim_count(const tile_instance *instance) {
  return instance ? instance->getKernel().dims.size() : 0;
}

int tile_instance_dim(const tile_instance *instance, size_t index, tile_dim_info *info) {
  if (!info || index >= tile_instance_dim_count(instance))
    return 0;
  const Dim &dim = instance->getKernel().dims[index];
  *info = {dim.name.c_str(), dim.min, dim.max, dim.multipleOf, dim.opt.value_or(-1)};
  return 1;
}

void tile_instance_launch_info(const tile_instance *instance, tile_launch_info *info) {
  if (!info)
    return;
  *info = {};
  if (!instance)
    return;
  const LaunchInfo &launch = instance->getKernel().launch;
  *info = {launch.threads, launch.sharedBytes, launch.registers, launch.spillBytes};
}

//===--- Values -----------------------------------------------------------===//

const char *tile_dtype_name(int32_t dtype) {
  // The names are literals, so that their data ends in a zero byte.
  return dtype >= 0 && dtype <= TILE_U4 ? dtypeName(Dtype(dtype)).data() : nullptr;
}

int32_t tile_dtype_from_name(const char *name) {
  std::optional<Dtype> dtype = name ? dtypeFromName(name) : std::nullopt;
  return dtype ? int32_t(*dtype) : -1;
}

/// As JSON numbers come: a double. What the dtype does not hold is an error with the reason.
tile_error *tile_scalar_bits(int32_t dtype, double value, uint64_t *bits) {
  return guard([&]() -> Error {
    if (!bits || !tile_dtype_name(dtype))
      return bits ? Error(TILE_ERROR_DTYPE, "unknown dtype " + std::to_string(dtype))
                  : nullCall("bits");
    std::string reason;
    std::optional<uint64_t> encoded = encode(Constant(value), Dtype(dtype), reason);
    if (!encoded)
      return Error(TILE_ERROR_DTYPE, reason);
    *bits = *encoded;
    return {};
  });
}

const char *tile_target_name(int32_t major, int32_t minor) {
  const tile::GPUTarget *target =
      major < 0 || minor < 0 ? nullptr : tile::findTargetFor(unsigned(major), unsigned(minor));
  return target ? target->name.data() : nullptr; // a literal: it ends in 0
}

const char *tile_card_name(const char *device_name) {
  const tile::GPUCard *card = device_name ? tile::findCardOfDevice(device_name) : nullptr;
  return card ? card->name.data() : nullptr; // a literal: it ends in 0
}

const char *tile_runtime_version(void) { return TILE_RUNTIME_VERSION; }

} // extern "C"
