// Requests: from the C interface to words for tilec, and to the text that names a result.
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

std::string makeAbsolute(const std::string &path) {
  if (path.empty() || path.front() == '/')
    return path;
  std::string folder(4096, '\0');
  if (!getcwd(folder.data(), folder.size()))
    return path;
  folder.resize(std::strlen(folder.c_str()));
  return folder + "/" + path;
}

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

static Error readPairs(const char *const *given, const char *what, std::vector<std::string> &list) {
  for (; given && *given; ++given) {
    const char *sign = std::strchr(*given, '=');
    if (!sign || sign == *given)
      return Error(TILE_ERROR_CALL, std::string("an element of ") + what + " is '" + *given +
                                        "', expected NAME=VALUE");
    list.push_back(*given);
  }
  return {};
}

Error CompileRequest::read(const tile_compile_request *given, CompileRequest &request) {
  if (!given)
    return Error(TILE_ERROR_CALL, "request is null");
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
  if (!given->path == !given->source)
    return Error(TILE_ERROR_CALL, given->path ? "request has both a path and a source; give one"
                                              : "request has neither a path nor a source");
  auto text = [](const char *one) { return std::string(one ? one : ""); };
  request.isText = given->source;
  request.source = text(given->source);
  request.path = makeAbsolute(text(given->path));
  request.target = text(given->target);
  request.kernel = text(given->kernel);
  request.config = text(given->config);
  // A list of values has a sign of equality; a file has none, or exists.
  if (request.config.find('=') == std::string::npos || access(request.config.c_str(), F_OK) == 0)
    request.config = makeAbsolute(request.config);
  if (Error error = readPairs(given->constants, "constants", request.constants))
    return error;
  if (Error error = readPairs(given->attributes, "attributes", request.attributes))
    return error;
  if (Error error = readPairs(given->extents, "extents", request.extents))
    return error;
  for (const char *const *one = given->includes; one && *one; ++one)
    request.includes.push_back(makeAbsolute(*one));
  request.wantsInterface = given->output == TILE_OUTPUT_INTERFACE;
  request.wantsJson = given->flags & TILE_COMPILE_JSON;
  request.assembler = makeAbsolute(text(given->assembler));
  request.cache = given->cache ? makeAbsolute(given->cache) : getDefaultCacheFolder();
  if (request.target.empty())
    if (Error error = chooseTarget(request.target))
      return error;
  request.compiler = text(given->compiler);
  return request.compiler.empty() ? findCompiler(request.compiler) : Error();
}

std::vector<std::string> CompileRequest::getWords(const std::string &output,
                                                  const std::string &dependencies) const {
  std::vector<std::string> words = {isText ? "-" : path, "--target", target};
  auto add = [&](const char *option, const std::vector<std::string> &values) {
    for (const std::string &value : values)
      words.insert(words.end(), {option, value});
  };
  if (!kernel.empty())
    words.insert(words.end(), {"--kernel", kernel});
  add("-I", includes);
  if (!config.empty())
    words.insert(words.end(), {"--config", config});
  add("-D", constants);
  add("--with", attributes);
  std::string shape;
  for (const std::string &extent : extents)
    shape += (shape.empty() ? "" : ",") + extent;
  if (!shape.empty())
    words.insert(words.end(), {"--shape", shape});
  if (wantsInterface)
    words.insert(words.end(), {"--stop-after=tile", "--print-abi"});
  else
    words.insert(words.end(), {"-o", output});
  words.insert(words.end(), {"-MD", "-MF", dependencies});
  if (wantsJson)
    words.push_back("--diagnostics-format=json");
  return words;
}

/// Path, size and time of a program: what changes with its build.
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

Error CompileRequest::describe(std::string &key) const {
  key.clear();
  auto add = [&](const char *name, const std::string &value) {
    key += std::string(name) + " " + std::to_string(value.size()) + " " + value + "\n";
  };
  std::string content = source;
  if (!isText)
    if (Error error = readFile(path, content))
      return error;
  add("source", content);
  // A text's imports are relative to the folder at hand.
  add("place", isText ? makeAbsolute(".") : path);
  for (const std::string &word : getWords("", ""))
    add("word", word);
  std::string settings;
  if (!config.empty() && !readFile(config, settings))
    add("config", settings);
  add("compiler", identify(compiler));
  std::string chosen = assembler.empty() ? getVariable("TILE_PTXAS") : assembler;
  add("assembler", identify(chosen.empty() ? findOnPath("ptxas") : chosen));
  add("toolkit", identify("/usr/local/cuda/bin/ptxas"));
  add("linker", getVariable("TILE_LINKER"));
  return {};
}

} // namespace tile::runtime
