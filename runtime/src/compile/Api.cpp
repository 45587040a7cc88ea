// The C interface of the compiler.
#include "runtime/include/tile_compile.h"

#include "runtime/src/Guard.h"
#include "runtime/src/Module.h"
#include "runtime/src/compile/Child.h"

#include <cstring>

using namespace tile::runtime;

/// A result (opaque in the C interface).
struct tile_compiled {
  CompileResult result;
  std::string problem;
  bool wasKept = false;
};

/// The key has all that the result depends on but imports, which the cache's entry lists with
/// hashes.
static Error compile(const CompileCall &call, tile_compiled &compiled) {
  std::string key;
  if (Error error = call.describe(key))
    return error;
  // Called only where the cache has nothing; its result is kept if it is no error.
  auto make = [&](CompileResult &result) { return compileInChild(call, result); };
  return obtain(call.cache, key, make, compiled.result, compiled.wasKept, compiled.problem);
}

extern "C" {

tile_error *tile_compile_bytes(const tile_compile_request *request, tile_compiled **compiled) {
  return guard([&]() -> Error {
    if (!compiled)
      return nullCall("compiled");
    *compiled = nullptr;
    CompileCall read;
    if (Error error = CompileCall::read(request, read))
      return error;
    auto made = std::make_unique<tile_compiled>();
    if (Error error = compile(read, *made))
      return error;
    *compiled = made.release();
    return {};
  });
}

tile_error *tile_compile(const tile_compile_request *request, tile_module **module) {
  return guard([&]() -> Error {
    if (!module)
      return nullCall("module");
    *module = nullptr;
    CompileCall read;
    if (Error error = CompileCall::read(request, read))
      return error;
    if (read.wantsInterface)
      return Error(TILE_ERROR_CALL, "an interface is nothing to load; tile_compile_bytes gives it");
    tile_compiled made;
    if (Error error = compile(read, made))
      return error;
    Package package;
    // The name in messages about the package.
    std::string name = read.isText ? "source in memory" : read.request.inputs.front();
    if (Error error = readPackage(made.result.payload, name, package))
      return error;
    std::unique_ptr<tile_module> created;
    // One target, the CPU's: loaded for the CPU even where a GPU is at hand.
    int32_t device = read.request.targets == std::vector<std::string>{"cpu"} ? TILE_DEVICE_CPU
                                                                             : TILE_DEVICE_AUTO;
    if (Error error = tile_module::create(std::move(package), name, device, created))
      return error;
    // Not errors: the module is good, and its caller may show them.
    if (!made.result.messages.empty())
      created->addWarning(made.result.messages);
    if (!made.problem.empty())
      created->addWarning("compiled kernels are not kept in " + made.problem);
    *module = created.release();
    return {};
  });
}

const void *tile_compiled_bytes(const tile_compiled *compiled, size_t *size) {
  if (size)
    *size = compiled ? compiled->result.payload.size() : 0;
  return compiled ? compiled->result.payload.data() : nullptr;
}
const char *tile_compiled_messages(const tile_compiled *compiled) {
  return compiled ? compiled->result.messages.c_str() : "";
}
int tile_compiled_was_kept(const tile_compiled *compiled) { return compiled && compiled->wasKept; }
const char *tile_compiled_cache_problem(const tile_compiled *compiled) {
  return compiled ? compiled->problem.c_str() : "";
}
void tile_compiled_free(tile_compiled *compiled) { delete compiled; }

/// As snprintf: the length without the zero, and as much as fits is written, with a zero.
size_t tile_cache_folder(char *path, size_t size) {
  std::string folder;
  // An empty folder means that none is known: nothing is kept.
  try {
    folder = getDefaultCacheFolder();
  } catch (const std::exception &) {
  }
  if (path && size) {
    size_t length = std::min(folder.size(), size - 1);
    std::memcpy(path, folder.data(), length);
    path[length] = '\0';
  }
  return folder.size();
}

tile_error *tile_cache_clear(const char *folder) {
  return guard([&] { return clearCache(folder ? makeAbsolute(folder) : getDefaultCacheFolder()); });
}

} // extern "C"
