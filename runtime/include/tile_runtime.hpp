// C++17 over the C interface: handles that free themselves, tensors that own their shape, errors as
// values.
#ifndef TILE_RUNTIME_HPP
#define TILE_RUNTIME_HPP

#include "tile_runtime.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tile {

/// The outcome of a call: false for success, so that `if (auto error = ...)` handles failures.
class [[nodiscard]] Status {
public:
  Status() = default;
  explicit Status(tile_error *error) : error(error) {}
  explicit operator bool() const { return error != nullptr; }
  tile_code code() const { return tile_error_code(error.get()); }
  /// One line; "" for success. Valid as long as this object.
  const char *message() const { return tile_error_message(error.get()); }

private:
  struct Free {
    void operator()(tile_error *error) const { tile_error_free(error); }
  };
  std::unique_ptr<tile_error, Free> error;
};

/// The dtype of a C++ number. f16, bf16 and f8 have no such type: name their dtype.
template <typename T> constexpr tile_dtype dtypeOf() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U> && sizeof(U) <= 8, "not a dtype of tile");
  if constexpr (std::is_same_v<U, bool>)
    return TILE_BOOL;
  else if constexpr (std::is_floating_point_v<U>)
    return sizeof(U) == 4 ? TILE_F32 : TILE_F64;
  else {
    constexpr int width = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
    return tile_dtype((std::is_signed_v<U> ? TILE_I8 : TILE_U8) + width);
  }
}

/// One argument of a launch: a tensor with its own copy of shape and strides, a scalar, or a
/// default.
class Argument {
public:
  /// A tensor at `data`; strides in elements, none for dense row-major; `bytes` accessible there, 0
  /// if unknown.
  Argument(tile_dtype dtype, void *data, std::vector<int64_t> shape,
           std::vector<int64_t> strides = {}, int64_t bytes = 0)
      : shape(std::move(shape)), strides(std::move(strides)) {
    raw.kind = TILE_TENSOR;
    raw.dtype = dtype;
    raw.data = data;
    raw.bytes = bytes;
  }
  template <typename T>
  Argument(T *data, std::vector<int64_t> shape, std::vector<int64_t> strides = {},
           int64_t bytes = 0)
      : Argument(dtypeOf<T>(), const_cast<std::remove_cv_t<T> *>(data), std::move(shape),
                 std::move(strides), bytes) {}
  /// A scalar of the number's own dtype: `1.5f` is f32, `1.5` is f64.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Argument(T value) {
    raw.kind = TILE_SCALAR;
    raw.dtype = dtypeOf<T>();
    std::memcpy(&raw.bits, &value, sizeof value);
  }
  /// A scalar of a dtype without a C++ type, by its bits (see tile_scalar_bits).
  static Argument scalarBits(tile_dtype dtype, uint64_t bits) {
    Argument argument;
    argument.raw.kind = TILE_SCALAR;
    argument.raw.dtype = dtype;
    argument.raw.bits = bits;
    return argument;
  }
  /// The scalar's default value.
  static Argument defaultValue() { return Argument(); }

  /// Points into this object.
  tile_argument get() const {
    tile_argument argument = raw;
    argument.rank = int32_t(shape.size());
    argument.shape = shape.data();
    argument.strides = strides.empty() ? nullptr : strides.data();
    return argument;
  }
  /// False when strides were given, but not one for each dimension.
  bool isConsistent() const { return strides.empty() || strides.size() == shape.size(); }

private:
  Argument() { raw.kind = TILE_DEFAULT; }

  tile_argument raw{};
  std::vector<int64_t> shape, strides;
};

/// An argument of a prepared call: a tensor's address, or a scalar's value in its
/// own dtype.
class Value {
public:
  template <typename T> Value(T *address) : value(uint64_t(reinterpret_cast<uintptr_t>(address))) {}
  Value(std::nullptr_t) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Value(T number) {
    std::memcpy(&value, &number, sizeof number);
  }
  /// Of a dtype without a C++ type.
  static Value ofBits(uint64_t bits) {
    Value result(nullptr);
    result.value = bits;
    return result;
  }

private:
  uint64_t value = 0;
};
static_assert(sizeof(Value) == sizeof(uint64_t), "an array of them is handed on");

/// A call whose shapes are checked and whose variant is chosen, to be launched many times. The
/// module must outlive it; several threads may launch one at once.
class Prepared {
public:
  explicit operator bool() const { return prepared != nullptr; }
  /// With these addresses and scalars in the arguments' place: only addresses are checked.
  Status launch(std::initializer_list<Value> values, void *stream = nullptr,
                uint32_t flags = 0) const {
    return launch(values.begin(), values.size(), stream, flags);
  }
  Status launch(const Value *values, size_t count, void *stream = nullptr,
                uint32_t flags = 0) const {
    return Status(tile_prepared_launch(prepared.get(), reinterpret_cast<const uint64_t *>(values),
                                       count, stream, flags));
  }
  /// With arguments: dtypes, shapes and strides are compared with those that were prepared.
  Status launchArguments(const std::vector<Argument> &arguments, void *stream = nullptr,
                         uint32_t flags = 0) const;
  /// With those of the preparation.
  Status relaunch(void *stream = nullptr, uint32_t flags = 0) const {
    return Status(tile_prepared_launch(prepared.get(), nullptr, 0, stream, flags));
  }
  /// Puts the variant of that name in its place, the generic one for "".
  Status pin(const std::string &variant) {
    return Status(tile_prepared_pin(prepared.get(), variant.c_str()));
  }
  /// The name of the variant that is launched; "" for the generic one.
  const char *variant() const {
    return tile_instance_variant(tile_prepared_instance(prepared.get()));
  }
  tile_prepared *get() const { return prepared.get(); }

private:
  friend class Kernel;
  struct Free {
    void operator()(tile_prepared *prepared) const { tile_prepared_free(prepared); }
  };
  std::unique_ptr<tile_prepared, Free> prepared;
};

/// A kernel of a module, which must outlive it. Copies are free.
class Kernel {
public:
  Kernel() = default;
  explicit Kernel(tile_kernel *kernel) : kernel(kernel) {}
  explicit operator bool() const { return kernel != nullptr; }
  const char *name() const { return tile_kernel_name(kernel); }
  tile_kernel *get() const { return kernel; }

  /// Checks and launches on `stream` (a CUstream or cudaStream_t).
  Status launch(const std::vector<Argument> &arguments, void *stream = nullptr,
                uint32_t flags = 0) const {
    std::vector<tile_argument> raw = lower(arguments);
    return Status(tile_kernel_launch(kernel, raw.data(), raw.size(), stream, flags));
  }

  /// Checks now and launches later, with other addresses.
  Status prepare(const std::vector<Argument> &arguments, Prepared &result) const {
    std::vector<tile_argument> raw = lower(arguments);
    tile_prepared *made = nullptr;
    Status status(tile_kernel_prepare(kernel, raw.data(), raw.size(), &made));
    result.prepared.reset(made);
    return status;
  }

  /// The plan of a launch.
  Status plan(const std::vector<Argument> &arguments, tile_launch_plan &result) const {
    std::vector<tile_argument> raw = lower(arguments);
    return Status(tile_kernel_plan(kernel, raw.data(), raw.size(), &result, nullptr, 0));
  }

private:
  friend class Prepared;
  static std::vector<tile_argument> lower(const std::vector<Argument> &arguments) {
    std::vector<tile_argument> raw;
    raw.reserve(arguments.size());
    for (const Argument &argument : arguments) {
      raw.push_back(argument.get());
      // A rank of -1 agrees with no declaration: the runtime then names the parameter.
      if (!argument.isConsistent())
        raw.back().rank = -1;
    }
    return raw;
  }

  tile_kernel *kernel = nullptr;
};

inline Status Prepared::launchArguments(const std::vector<Argument> &arguments, void *stream,
                                        uint32_t flags) const {
  std::vector<tile_argument> raw = Kernel::lower(arguments);
  return Status(
      tile_prepared_launch_arguments(prepared.get(), raw.data(), raw.size(), stream, flags));
}

/// A loaded binary.
class Module {
public:
  Module() = default;
  /// Takes over.
  explicit Module(tile_module *module) : module(module) {}
  /// Loads a cubin or PTX with the manifest beside it.
  static Status load(const std::string &path, Module &result) {
    tile_module *module = nullptr;
    Status status(tile_module_load(path.c_str(), &module));
    result.module.reset(module);
    return status;
  }
  /// Loads a package for a kind of device.
  static Status load(const std::string &path, Module &result, tile_device device) {
    tile_module *module = nullptr;
    Status status(tile_module_load_device(path.c_str(), device, &module));
    result.module.reset(module);
    return status;
  }
  /// Loads a package that minisign has signed with this key's counterpart (PATH.minisig).
  static Status loadSigned(const std::string &path, const std::string &publicKey, Module &result,
                           tile_device device = TILE_DEVICE_AUTO) {
    tile_module *module = nullptr;
    Status status(tile_module_load_signed(path.c_str(), publicKey.c_str(), device, &module));
    result.module.reset(module);
    return status;
  }
  static Status load(const void *image, size_t size, const std::string &manifest, Module &result) {
    tile_module *module = nullptr;
    Status status(tile_module_load_memory(image, size, manifest.data(), manifest.size(), &module));
    result.module.reset(module);
    return status;
  }
  Status kernel(const std::string &name, Kernel &result) const {
    tile_kernel *found = nullptr;
    Status status(tile_module_kernel(module.get(), name.c_str(), &found));
    result = Kernel(found);
    return status;
  }
  /// Loads the binary into the current context now.
  Status prepare() { return Status(tile_module_prepare(module.get())); }
  /// Gives back what is loaded in every context; what is launched next is loaded again.
  void unload() { tile_module_unload(module.get()); }
  /// A warning, although nothing has failed; null past the end.
  const char *warning(size_t index) const { return tile_module_warning(module.get(), index); }
  const char *target() const { return tile_module_target(module.get()); }
  tile_module *get() const { return module.get(); }

private:
  struct Free {
    void operator()(tile_module *module) const { tile_module_free(module); }
  };
  std::unique_ptr<tile_module, Free> module;
};

} // namespace tile

#endif
