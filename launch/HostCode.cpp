// Loading of shared objects from memory.
#include "launch/HostCode.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

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
  // The file last: its number is part of the path by which the loader knows the library.
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

HostFunction HostLibrary::find(const std::string &symbol) const {
  // The loader looks into the libraries that this one needs, too: a kernel called `memset` that is
  // missing here must not be the C library's.
  void *found = dlsym(handle, symbol.c_str());
  link_map *own = nullptr;
  Dl_info where = {};
  bool isOwn = found && dlinfo(handle, RTLD_DI_LINKMAP, &own) == 0 && own &&
               dladdr(found, &where) && uintptr_t(where.dli_fbase) == uintptr_t(own->l_addr);
  return isOwn ? reinterpret_cast<HostFunction>(found) : nullptr;
}

} // namespace tile::runtime
