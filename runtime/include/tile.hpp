// The header for programs in C++17: modules, kernels and arguments (tile_runtime.hpp), calls by
// name, shapes of outputs, and the compiler.
#ifndef TILE_HPP
#define TILE_HPP

#include "tile_compile.h"
#include "tile_runtime.hpp"

namespace tile {

struct NamedArgument {
  std::string name;
  Argument argument;
};
using NamedArguments = std::vector<NamedArgument>;

/// Checks and launches; arguments stand in any order, and those with a default may be left out:
/// `launch(kernel, {{"x", x}, {"y", y}, {"eps", 1e-6f}}, stream)`.
inline Status launch(const Kernel &kernel, const NamedArguments &arguments, void *stream = nullptr,
                     uint32_t flags = 0) {
  std::vector<const char *> names;
  std::vector<tile_argument> raw;
  for (const NamedArgument &each : arguments) {
    names.push_back(each.name.c_str());
    raw.push_back(each.argument.get());
    if (!each.argument.isConsistent()) // a rank that agrees with no declaration: the runtime then
                                       // names the parameter
      raw.back().rank = -1;
  }
  return Status(
      tile_kernel_launch_named(kernel.get(), names.data(), raw.data(), raw.size(), stream, flags));
}

struct Shape {
  tile_dtype dtype = TILE_F32;
  std::vector<int64_t> extents;
};

/// Dtype and shape of the parameter `name`, as they follow from the arguments that are known.
inline Status getShape(const Kernel &kernel, const std::string &name, const NamedArguments &known,
                       Shape &shape) {
  tile_argument unknown = {};
  unknown.kind = TILE_DEFAULT;
  std::vector<tile_argument> raw;
  for (const NamedArgument &each : known) {
    int32_t at = tile_kernel_param(kernel.get(), each.name.c_str());
    if (at < 0) // the runtime says which parameters there are
      return launch(kernel, {{each.name, each.argument}});
    if (raw.size() <= size_t(at))
      raw.resize(size_t(at) + 1, unknown);
    raw[size_t(at)] = each.argument.get();
  }
  int32_t wanted = tile_kernel_param(kernel.get(), name.c_str());
  tile_shape found = {};
  Status status(tile_kernel_shape(kernel.get(), raw.data(), raw.size(),
                                  wanted < 0 ? size_t(-2) : size_t(wanted), &found));
  shape.dtype = tile_dtype(found.dtype);
  shape.extents.assign(found.extents, found.extents + found.rank);
  return status;
}

/// A call of the compiler; see tile_compile_request. What is empty is not asked for.
struct Request {
  std::string path, source; ///< one of them
  std::string target, kernel, config;
  std::vector<std::string> constants, attributes, extents, includes;
  std::string compiler, assembler, cache;
  uint32_t flags = 0;
  bool isKept = true; ///< in the folder `cache`, or in the default one
};

/// Compiles and loads: `compile({"softmax.tile"}, module)`. Where that fails, the module stays as
/// it is.
inline Status compile(const Request &request, Module &result) {
  auto pointers = [](const std::vector<std::string> &texts) {
    std::vector<const char *> list;
    for (const std::string &text : texts)
      list.push_back(text.c_str());
    list.push_back(nullptr);
    return list;
  };
  auto orNull = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
  std::vector<const char *> constants = pointers(request.constants),
                            attributes = pointers(request.attributes),
                            extents = pointers(request.extents),
                            includes = pointers(request.includes);
  tile_compile_request raw{};
  raw.size = sizeof raw;
  raw.path = orNull(request.path);
  raw.source = orNull(request.source);
  raw.target = orNull(request.target);
  raw.kernel = orNull(request.kernel);
  raw.config = orNull(request.config);
  raw.constants = constants.data();
  raw.attributes = attributes.data();
  raw.extents = extents.data();
  raw.includes = includes.data();
  raw.compiler = orNull(request.compiler);
  raw.assembler = orNull(request.assembler);
  raw.cache = request.isKept ? orNull(request.cache) : "";
  raw.flags = request.flags;
  tile_module *module = nullptr;
  Status status(tile_compile(&raw, &module));
  if (!status)
    result = Module(module);
  return status;
}

} // namespace tile

#endif
