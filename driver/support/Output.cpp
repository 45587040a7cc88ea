// Atomic output, and depfiles.
//
//   a.cubin.1f3c.tmp, a.cubin.json.77e0.tmp    all are written; a failure leaves nothing behind
//   lock of the folder, rename, rename         readers see whole files; two compilers do not mix
#include "driver/support/Output.h"
#include "frontend/Parse/Imports.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tile {

namespace {

/// Makes a file beside `path` that a signal removes: its name is registered before it exists, since
/// a signal may come in between.
std::error_code createPending(const std::string &path, int &fd, std::string &temporary) {
  constexpr unsigned attempts = 128;
  std::error_code error;
  for (unsigned i = 0; i < attempts; ++i) {
    SmallString<128> name;
    sys::fs::createUniquePath(path + ".%%%%%%%%.tmp", name, /*MakeAbsolute=*/false);
    sys::RemoveFileOnSignal(name);
    error = sys::fs::openFileForWrite(name, fd, sys::fs::CD_CreateNew);
    if (!error) {
      temporary = name.str().str();
      return {};
    }
    sys::DontRemoveFileOnSignal(name);
    if (error != std::errc::file_exists)
      break;
  }
  return error;
}

/// A file under its temporary name; removed at the end, or by a signal, unless renamed.
/// Owns the file until rename() succeeds: each way out of writeFiles in between removes it.
struct Pending {
  std::string temporary, path;
  Pending(std::string temporary, std::string path)
      : temporary(std::move(temporary)), path(std::move(path)) {}
  Pending(Pending &&other) noexcept
      : temporary(std::move(other.temporary)), path(std::move(other.path)) {
    other.temporary.clear();
  }
  ~Pending() {
    if (temporary.empty())
      return;
    sys::fs::remove(temporary);
    sys::DontRemoveFileOnSignal(temporary);
  }
  std::error_code rename() {
    std::error_code error = sys::fs::rename(temporary, path);
    if (error)
      return error;
    sys::DontRemoveFileOnSignal(temporary);
    temporary.clear();
    return {};
  }
};

/// Keeps other compilers from renaming in the same folder, so that of two calls with one -o all
/// files are those of one. A file system without locks goes without: the runtime sees by its hash
/// that a binary is not its manifest's.
class FolderLock {
public:
  explicit FolderLock(const std::string &file) {
    StringRef folder = sys::path::parent_path(file);
    descriptor =
        ::open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (descriptor >= 0 && ::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~FolderLock() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int descriptor;
};

} // namespace

/// A write may take less than it was given, or be interrupted: goes on until all is out or fails.
static std::error_code writeAll(int fd, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return std::error_code(errno, std::generic_category());
    bytes = bytes.drop_front(n);
  }
  return {};
}

/// Writes to something that exists and is no regular file, or to standard output.
static std::error_code writeDirectly(const OutputFile &file) {
  if (file.path == "-")
    return writeAll(STDOUT_FILENO, file.bytes);
  int fd = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return std::error_code(errno, std::generic_category());
  std::error_code error = writeAll(fd, file.bytes);
  ::close(fd);
  return error;
}

std::error_code finish(raw_fd_ostream &stream) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

Error TemporaryFile::create(StringRef name, StringRef ending, StringRef bytes) {
  SmallString<128> made;
  int fd;
  if (std::error_code error = sys::fs::createTemporaryFile(name, ending, fd, made)) {
    SmallString<128> folder;
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    return createStringError(error, "cannot make a temporary file in '" + Twine(folder) +
                                        "': " + error.message() + "; set TMPDIR to another folder");
  }
  path = made.str().str();
  sys::RemoveFileOnSignal(path);
  std::error_code error = writeAll(fd, bytes);
  if (::close(fd) != 0 && !error)
    error = std::error_code(errno, std::generic_category());
  if (error)
    return createStringError(error, "cannot write '" + Twine(path) + "': " + error.message() +
                                        "; set TMPDIR to another folder");
  return Error::success();
}

TemporaryFile::~TemporaryFile() {
  if (path.empty())
    return;
  sys::fs::remove(path);
  sys::DontRemoveFileOnSignal(path);
}

/// A path that does not exist yet will be a file. A directory counts as one, so that writeFiles
/// names it in its error; devices and pipes (/dev/stdout) do not, as they cannot be replaced by
/// renaming.
bool isFile(const std::string &path) {
  struct stat info;
  return path != "-" &&
         (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

bool writeFiles(const std::vector<OutputFile> &files, Session &session) {
  auto fail = [&](const OutputFile &file, std::error_code error) {
    return session.failCall("cannot write '" + file.path + "': " + error.message());
  };
  std::vector<Pending> pending;
  pending.reserve(files.size());
  for (const OutputFile &file : files) {
    if (!isFile(file.path))
      continue;
    if (sys::fs::is_directory(file.path))
      return fail(file, std::make_error_code(std::errc::is_a_directory));
    std::string temporary;
    int fd;
    if (std::error_code error = createPending(file.path, fd, temporary))
      return fail(file, error);
    pending.emplace_back(std::move(temporary), file.path);
    std::error_code error = writeAll(fd, file.bytes);
    if (::close(fd) != 0 && !error)
      error = std::error_code(errno, std::generic_category());
    if (error)
      return fail(file, error);
  }
  // Devices after all files were written without an error, and before any is renamed: a pipe that
  // is closed leaves the old files in place.
  for (const OutputFile &file : files)
    if (!isFile(file.path))
      if (std::error_code error = writeDirectly(file))
        return fail(file, error);
  std::optional<FolderLock> lock;
  if (pending.size() > 1)
    lock.emplace(pending.front().path);
  std::vector<std::string> renamed;
  for (Pending &file : pending) {
    if (std::error_code error = file.rename()) {
      // Half of the new files would go with half of the old ones: better none.
      for (const std::string &path : renamed)
        sys::fs::remove(path);
      return session.failCall("cannot write '" + file.path + "': " + error.message());
    }
    renamed.push_back(file.path);
  }
  return true;
}

/// A path as make reads it.
static std::string escape(StringRef path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#')
      text += '\\';
    else if (c == '$')
      text += '$';
    text += c;
  }
  return text;
}

std::string makeDepfile(StringRef target, const std::vector<std::string> &sources) {
  std::string text = escape(target) + ":";
  StringSet<> listed;
  for (const std::string &source : sources)
    if (!StringRef(source).starts_with(libraryPrefix) &&
        listed.insert(source).second) // the library is part of the compiler
      text += " \\\n  " + escape(source);
  return text + "\n";
}

} // namespace tile
