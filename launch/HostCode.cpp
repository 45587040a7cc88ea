// Loading of shared objects from memory; threads that share a grid.
#include "launch/HostCode.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <link.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tile::runtime {

/// A file without a name, or a temporary one where the kernel has no such thing. -1 with errno on
/// failure.
static int makeFile() {
  int file = memfd_create("tile-package", MFD_CLOEXEC);
  if (file >= 0)
    return file;
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/tile-package-XXXXXX";
  file = mkstemp(&path[0]);
  if (file >= 0)
    unlink(path.c_str());
  return file;
}

static bool writeAll(int file, const std::string &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    ssize_t n = write(file, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += size_t(n);
  }
  return true;
}

Error HostLibrary::open(const std::string &bytes, const std::string &name,
                        std::unique_ptr<HostLibrary> &result) {
  std::unique_ptr<HostLibrary> library(new HostLibrary);
  library->file = makeFile();
  if (library->file < 0 || !writeAll(library->file, bytes))
    return Error(TILE_ERROR_IO, "'" + name + "': cannot put its code for the CPU into memory: " +
                                    std::strerror(errno));
  // The loader knows libraries by their path, so that the file stays open: its number is then not
  // given again.
  std::string path = "/proc/self/fd/" + std::to_string(library->file);
  library->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    const char *reason = dlerror();
    return Error(TILE_ERROR_BINARY, "'" + name + "': its code for the CPU cannot be loaded: " +
                                        (reason ? reason : "unknown reason"));
  }
  result = std::move(library);
  return {};
}

HostLibrary::~HostLibrary() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

HostFunction HostLibrary::find(const std::string &symbol) const {
  // dlsym looks into libraries that this one needs, too: a name that the C library has is no
  // kernel.
  void *address = dlsym(handle, symbol.c_str());
  Dl_info place = {};
  link_map *library = nullptr;
  if (!address || !dladdr(address, &place) || dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0 ||
      reinterpret_cast<uintptr_t>(place.dli_fbase) != library->l_addr)
    return nullptr;
  return reinterpret_cast<HostFunction>(address);
}

bool hasCpuLevel(const std::string &level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return level == "x86-64" || (level == "x86-64-v2" && __builtin_cpu_supports("x86-64-v2")) ||
         (level == "x86-64-v3" && __builtin_cpu_supports("x86-64-v3")) ||
         (level == "x86-64-v4" && __builtin_cpu_supports("x86-64-v4"));
#else
  return false;
#endif
}

void runPrograms(HostFunction kernel, const void *const *arguments, int64_t count,
                 unsigned threads) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<int64_t>(threads, count));
  if (threads <= 1)
    return kernel(arguments, 0, count);
  // Small enough pieces that a slow one delays the end little, large enough that taking one costs
  // nothing.
  int64_t piece = std::max<int64_t>(1, count / (int64_t(threads) * 16));
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t begin; (begin = next.fetch_add(piece)) < count;)
      kernel(arguments, begin, std::min(begin + piece, count));
  };
  std::vector<std::thread> pool;
  try {
    for (unsigned i = 1; i < threads; ++i)
      pool.emplace_back(work);
  } catch (const std::exception &) { // no more threads to be had: those that there are do it all
  }
  work();
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace tile::runtime
