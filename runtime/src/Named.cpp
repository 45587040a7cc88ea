// Calls with named arguments, and the shapes that follow from them.
#include "manifest/Encode.h"
#include "runtime/src/Guard.h"
#include "runtime/src/Module.h"

#include <algorithm>

using namespace tile::runtime;

/// "x, y, eps".
/// For messages that say which names there are.
static std::string listParams(const Kernel &kernel) {
  std::string names;
  for (const Param &param : kernel.params)
    names += (names.empty() ? "" : ", ") + param.name;
  return names;
}

/// Whether the arguments that are given, of kinds TENSOR and SCALAR, suit an instance.
/// As in selection, but for missing arguments, which suit everything.
static bool suits(const Kernel &kernel, const tile_argument *arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const tile_argument &argument = arguments[i];
    const Param &param = kernel.params[i];
    bool isTensor = param.kind == Param::Kind::Tensor;
    if (argument.kind == TILE_DEFAULT)
      continue;
    if (argument.kind != (isTensor ? TILE_TENSOR : TILE_SCALAR) ||
        argument.dtype != int32_t(param.dtype))
      return false;
    if (!isTensor)
      continue;
    if (argument.rank != int32_t(param.dims.size()) || (argument.rank > 0 && !argument.shape))
      return false;
    for (size_t axis = 0; axis < param.dims.size(); ++axis)
      if (param.dims[axis].isInteger() && param.dims[axis].getInteger() != argument.shape[axis])
        return false;
  }
  return true;
}

/// Values of names as far as the given arguments tell: dimensions that are bare names first, then
/// name + c and c * name.
/// Two rounds, as dimensions that are names bind them for sure, and sums and products only where no
/// bare name did (`emplace` keeps the first).
static Bindings bindGiven(const Kernel &kernel, const tile_argument *arguments, size_t count) {
  Bindings bindings;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param &param = kernel.params[i];
    bool isGiven = i < count && arguments[i].kind != TILE_DEFAULT;
    if (param.kind != Param::Kind::Scalar || !isIntegral(param.dtype))
      continue;
    if (isGiven) {
      if (std::optional<int64_t> value = decodeInteger(arguments[i].bits, param.dtype))
        bindings.emplace(param.name, *value);
    } else if (param.defaultValue) {
      if (auto *value = std::get_if<int64_t>(&*param.defaultValue))
        bindings.emplace(param.name, *value);
    }
  }
  for (bool bare : {true, false})
    for (size_t i = 0; i < count; ++i)
      for (size_t axis = 0; arguments[i].kind == TILE_TENSOR && axis < kernel.params[i].dims.size();
           ++axis) {
        const Expr &expr = kernel.params[i].dims[axis];
        int64_t extent = arguments[i].shape[axis], constant = 0;
        if (bare && expr.isName())
          bindings.emplace(expr.getName(), extent);
        bool times = false;
        // A quotient that is not exact is found wrong by evaluation, or by the launch.
        for (const Dim &dim : kernel.dims)
          if (int64_t value = 0; !bare && matchAffine(expr, dim.name, times, constant) &&
                                 (times || !__builtin_sub_overflow(extent, constant, &value)))
            bindings.emplace(dim.name, times ? extent / constant : value);
      }
  return bindings;
}

extern "C" {

/// Instances of a kernel have the same parameters in the same order.
int32_t tile_kernel_param(const tile_kernel *kernel, const char *name) {
  if (!kernel || !name)
    return -1;
  const Validator &validator = *kernel->instances.front()->validator;
  size_t index = validator.getParamIndex(name);
  return index < validator.getKernel().params.size() ? int32_t(index) : -1;
}

tile_error *tile_kernel_launch_named(tile_kernel *kernel, const char *const *names,
                                     const tile_argument *arguments, size_t count, void *stream,
                                     uint32_t flags) {
  std::vector<tile_argument> ordered;
  tile_error *wrong = guard([&]() -> Error {
    if (!kernel || (count && (!names || !arguments)))
      return nullCall(!kernel ? "kernel" : !names ? "names" : "arguments");
    const Kernel &declared = kernel->instances.front()->getKernel();
    std::vector<bool> given(declared.params.size());
    tile_argument missing = {};
    // Missing arguments become defaults, if there are some; else the error names the first that is
    // missing.
    missing.kind = TILE_DEFAULT;
    ordered.assign(declared.params.size(), missing);
    for (size_t i = 0; i < count; ++i) {
      std::string name = names[i] ? names[i] : "";
      int32_t index = tile_kernel_param(kernel, name.c_str());
      if (index < 0)
        return Error(TILE_ERROR_COUNT, declared.name + ": '" + name +
                                           "' is no parameter; there are " + listParams(declared));
      if (given[size_t(index)])
        return Error(TILE_ERROR_COUNT, declared.name + ": '" + name + "' is given twice");
      given[size_t(index)] = true;
      ordered[size_t(index)] = arguments[i];
    }
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i] && !declared.params[i].defaultValue)
        return Error(TILE_ERROR_COUNT,
                     declared.name + ": '" + declared.params[i].name + "' is missing");
    return {};
  });
  // Outside of the guard: the launch has its own, and its error goes to the caller as it is.
  return wrong ? wrong : tile_kernel_launch(kernel, ordered.data(), ordered.size(), stream, flags);
}

tile_error *tile_kernel_shape(const tile_kernel *kernel, const tile_argument *arguments,
                              size_t count, size_t param, tile_shape *shape) {
  return guard([&]() -> Error {
    if (!kernel || !shape || (count && !arguments))
      return nullCall(!kernel ? "kernel" : !shape ? "shape" : "arguments");
    *shape = {};
    const std::string &name = kernel->instances.front()->getKernel().name;
    size_t params = kernel->instances.front()->getKernel().params.size();
    if (param >= params || count > params)
      return Error(TILE_ERROR_COUNT, name + ": expected parameters (" +
                                         listParams(kernel->instances.front()->getKernel()) +
                                         "), found " + std::to_string(std::max(param + 1, count)));
    // Of variants the generic one, which stands last, says most.
    // Instances stand in the order of selection, so that the last that suits is the most general.
    const Kernel *found = nullptr;
    for (const tile_instance *instance : kernel->instances)
      if (suits(instance->getKernel(), arguments, count))
        found = &instance->getKernel();
    if (!found)
      return Error(TILE_ERROR_INSTANCE, name + ": no instance takes the arguments that are given");
    const Param &wanted = found->params[param];
    shape->dtype = int32_t(wanted.dtype);
    shape->rank = int32_t(wanted.dims.size());
    Bindings bindings = bindGiven(*found, arguments, count);
    for (size_t axis = 0; axis < wanted.dims.size(); ++axis) {
      std::string reason;
      std::optional<int64_t> extent = wanted.dims[axis].evaluate(bindings, reason);
      if (!extent)
        return Error(TILE_ERROR_DIM,
                     name + ": dimension " + std::to_string(axis) + " of '" + wanted.name +
                         "' does not follow from the arguments that are given: " + reason);
      shape->extents[axis] = *extent;
    }
    return {};
  });
}

} // extern "C"
