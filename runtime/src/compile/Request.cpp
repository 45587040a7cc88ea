// Calls: from the C interface to compile requests, and to the text that names a result.
#include "runtime/src/compile/Request.h"

#include "launch/CudaDriver.h"
#include "runtime/src/compile/Cache.h"
#include "target/Target.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::runtime {

/// The child may run elsewhere, and a key must not depend on the folder at hand.
std::string makeAbsolute(const std::string &path) {
  if (path.empty() || path.front() == '/')
    return path;
  std::string folder(4096, '\0');
  if (!getcwd(folder.data(), folder.size()))
    return path;
  folder.resize(std::strlen(folder.c_str()));
  return folder + "/" + path;
}

/// Whole, as bytes. Folders can be opened but not read, which ferror tells.
Error readFile(const std::string &path, std::string &bytes) {
  auto failed = [&] {
    return Error(TILE_ERROR_IO, "cannot read '" + path + "': " + std::strerror(errno));
  };
  bytes.clear();
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return failed();
  char buffer[65536];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, file))
    bytes.append(buffer, got);
  Error error = std::ferror(file) ? failed() : Error();
  std::fclose(file);
  return error;
}

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static bool isProgram(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// A program in one of the folders of PATH, or nothing.
static std::string findOnPath(const std::string &name) {
  std::string folders = getVariable("PATH");
  // An empty part of PATH means the folder at hand; programs are not looked for there.
  for (size_t begin = 0; begin <= folders.size();) {
    size_t end = std::min(folders.find(':', begin), folders.size());
    std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (end != begin && isProgram(path))
      return path;
    begin = end + 1;
  }
  return "";
}

/// tilec: the environment's, beside this library's folder, on PATH.
/// Beside the library first: compiler and library of one installation belong together.
static Error findCompiler(std::string &path) {
  path = getVariable("TILEC");
  if (!path.empty())
    return {};
  std::string looked;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&findOnPath), &info) && info.dli_fname) {
    std::string folder = makeAbsolute(info.dli_fname);
    folder.resize(folder.rfind('/'));
    // Debian's library folders have one part more.
    // lib/libtile.so, lib/x86_64-linux-gnu/libtile.so, and a folder that has everything.
    for (const char *beside : {"/../bin/tilec", "/../../bin/tilec", "/bin/tilec"}) {
      path = folder + beside;
      if (isProgram(path))
        return {};
      looked += (looked.empty() ? "" : ", ") + path;
    }
  }
  path = findOnPath("tilec");
  if (!path.empty())
    return {};
  return Error(TILE_ERROR_COMPILER, "the compiler tilec is not found; install it, or set TILEC to "
                                    "its path. Looked at " +
                                        looked + " and on PATH");
}

/// The target for the first CUDA device, or for the CPU where there is none.
/// Device 0, as the driver numbers them: CUDA_VISIBLE_DEVICES applies.
static Error chooseTarget(std::string &target) {
  target = "cpu";
  Error ignored;
  const CudaDriver *driver = CudaDriver::get(ignored);
  if (!driver)
    return {};
  int major = 0, minor = 0;
  if (Error error = driver->check(
          driver->deviceGetAttribute(&major, cuda::attributeComputeMajor, 0), "the device"))
    return error;
  if (Error error = driver->check(
          driver->deviceGetAttribute(&minor, cuda::attributeComputeMinor, 0), "the device"))
    return error;
  const GPUTarget *found =
      major < 0 || minor < 0 ? nullptr : findTargetFor(unsigned(major), unsigned(minor));
  if (!found)
    return Error(TILE_ERROR_TARGET, "the device has compute capability " + std::to_string(major) +
                                        "." + std::to_string(minor) + "; Tile needs 8.0 or more");
  target = std::string(found->name);
  return {};
}

/// The card by whose figures configurations are chosen: that of the first device which runs code
/// for one of the targets; "" where there is none, or its card is unknown: then the target's first.
static std::string chooseCard(const std::vector<std::string> &targets) {
  bool any = std::any_of(targets.begin(), targets.end(),
                         [](const std::string &name) { return findGPUTarget(name) != nullptr; });
  Error ignored;
  const CudaDriver *driver = any ? CudaDriver::get(ignored) : nullptr;
  int count = 0;
  if (!driver || driver->deviceGetCount(&count))
    return "";
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    char name[256] = {};
    CUdevice device = 0;
    if (driver->deviceGet(&device, ordinal) ||
        driver->deviceGetName(name, int(sizeof name) - 1, device))
      continue;
    const GPUCard *card = findCardOfDevice(name);
    const GPUTarget *of = card ? findGPUTarget(card->target) : nullptr;
    for (const std::string &each : targets)
      if (const GPUTarget *target = findGPUTarget(each);
          of && target && target->capability() == of->capability())
        return std::string(card->name);
  }
  return "";
}

static std::string trim(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Elements NAME=VALUE of a list, each name once.
/// A list of strings, NULL at its end; NULL stands for an empty list.
static Error readPairs(const char *const *given, const char *what,
                       std::vector<std::pair<std::string, std::string>> &list) {
  for (; given && *given; ++given) {
    const char *sign = std::strchr(*given, '=');
    if (!sign || sign == *given)
      return Error(TILE_ERROR_CALL, std::string("an element of ") + what + " is '" + *given +
                                        "', expected NAME=VALUE");
    std::string name = trim(std::string(*given, size_t(sign - *given)));
    for (const auto &known : list)
      if (known.first == name)
        return Error(TILE_ERROR_CALL,
                     std::string("'") + name + "' is twice in " + what + ", expected once");
    list.emplace_back(std::move(name), trim(sign + 1));
  }
  return {};
}

static Error readExtents(const char *const *given, const char *what,
                         std::vector<std::pair<std::string, int64_t>> &extents) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (Error error = readPairs(given, what, pairs))
    return error;
  for (const auto &[name, text] : pairs) {
    char *end = nullptr;
    errno = 0;
    long long extent = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end || errno || extent < 0)
      return Error(TILE_ERROR_CALL, std::string("an element of ") + what + " is '" + name + "=" +
                                        text + "', expected NAME=NUMBER, as in M=4096");
    extents.emplace_back(name, extent);
  }
  return {};
}

Error CompileCall::read(const tile_compile_request *given, CompileCall &call) {
  if (!given)
    return Error(TILE_ERROR_CALL, "request is null");
  // A structure of another size is of another version: fields would be misread.
  if (given->size != sizeof(tile_compile_request))
    return Error(TILE_ERROR_CALL, "request.size is " + std::to_string(given->size) +
                                      ", expected sizeof(tile_compile_request), " +
                                      std::to_string(sizeof(tile_compile_request)) +
                                      ": set it, and compile with this library's header");
  constexpr uint32_t known = TILE_COMPILE_JSON;
  if (given->flags & ~known)
    return Error(TILE_ERROR_CALL,
                 "unknown flags " + std::to_string(given->flags & ~known) + " in request.flags");
  if (given->output != TILE_OUTPUT_PACKAGE && given->output != TILE_OUTPUT_INTERFACE)
    return Error(TILE_ERROR_CALL,
                 "request.output is " + std::to_string(given->output) + ", expected a tile_output");
  // Just one of both.
  if (!given->path == !given->source)
    return Error(TILE_ERROR_CALL, given->path ? "request has both a path and a source; give one"
                                              : "request has neither a path nor a source");
  auto text = [](const char *one) { return std::string(one ? one : ""); };
  CompileRequest &request = call.request;
  call.isText = given->source;
  // "-" is standard input, from which the child reads the text.
  call.source = text(given->source);
  request.inputs = {call.isText ? "-" : makeAbsolute(given->path)};
  request.kernel = text(given->kernel);
  request.config = text(given->config);
  // A list of values has a sign of equality; a file has none, or exists.
  if (request.config.find('=') == std::string::npos || access(request.config.c_str(), F_OK) == 0)
    request.config = makeAbsolute(request.config);
  if (Error error = readPairs(given->constants, "constants", request.defines))
    return error;
  if (Error error = readPairs(given->attributes, "attributes", request.attributes))
    return error;
  if (Error error = readExtents(given->extents, "extents", request.extents))
    return error;
  if (Error error = readExtents(given->divisors, "divisors", request.divisors))
    return error;
  for (const char *const *one = given->includes; one && *one; ++one)
    request.includes.push_back(makeAbsolute(*one));
  call.wantsInterface = given->output == TILE_OUTPUT_INTERFACE;
  // The interface is printed, not written to a file: Child.cpp takes it from standard output.
  if (call.wantsInterface) {
    request.lastStage = "tile";
    request.printABI = true;
  } else {
    request.emitted = "package";
  }
  request.depfile = true;
  if (given->flags & TILE_COMPILE_JSON)
    request.diagnosticsFormat = "json";
  request.ptxasPath = makeAbsolute(text(given->assembler));
  call.cache = given->cache ? makeAbsolute(given->cache) : getDefaultCacheFolder();
  // Without a target: this machine's.
  std::string targets = text(given->target);
  if (targets.empty())
    if (Error error = chooseTarget(targets))
      return error;
  for (size_t begin = 0; begin <= targets.size();) {
    size_t end = std::min(targets.find(',', begin), targets.size());
    if (std::string name = trim(targets.substr(begin, end - begin)); !name.empty())
      request.targets.push_back(std::move(name));
    begin = end + 1;
  }
  if (!call.wantsInterface)
    request.gpu = chooseCard(request.targets);
  call.compiler = text(given->compiler);
  return call.compiler.empty() ? findCompiler(call.compiler) : Error();
}

Error writeRequest(const CompileRequest &request, std::string &text) {
  std::string error;
  if (toJson(request, text, error))
    return {};
  return Error(TILE_ERROR_CALL,
               "the compiler takes a request as JSON, but " + error + "; rename what it names");
}

/// Path, size and time of a program: what changes with its build.
/// The program's text is not hashed: a hundred megabytes and more for each call.
static std::string identify(const std::string &path) {
  struct stat status;
  if (path.empty() || stat(path.c_str(), &status))
    return path + " none";
  char *real = realpath(path.c_str(), nullptr);
  std::string text = real ? real : path;
  std::free(real);
  return text + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) +
         "." + std::to_string(status.st_mtim.tv_nsec);
}

Error CompileCall::describe(std::string &key) const {
  key.clear();
  // With its length, so that no two lists of values give one text.
  auto add = [&](const char *name, const std::string &value) {
    key += std::string(name) + " " + std::to_string(value.size()) + " " + value + "\n";
  };
  std::string content = source, asked;
  if (!isText)
    if (Error error = readFile(request.inputs.front(), content))
      return error;
  add("source", content);
  // A text's imports are relative to the folder at hand.
  add("place", isText ? makeAbsolute(".") : request.inputs.front());
  if (Error error = writeRequest(request, asked))
    return error;
  add("request", asked);
  // The text of the file, not its name alone.
  std::string settings;
  if (!request.config.empty() && !readFile(request.config, settings))
    add("config", settings);
  add("compiler", identify(compiler));
  // Assembler and linker as the compiler would find them: another version gives another cubin.
  std::string chosen = request.ptxasPath.empty() ? getVariable("TILE_PTXAS") : request.ptxasPath;
  add("assembler", identify(chosen.empty() ? findOnPath("ptxas") : chosen));
  add("toolkit", identify("/usr/local/cuda/bin/ptxas"));
  add("linker", getVariable("TILE_LINKER"));
  return {};
}

} // namespace tile::runtime
