// The folder of results. One file holds one: a line with a hash of the rest, then sections, each
// behind a line "NAME LENGTH". The section `key` has all that the result depends on, so that names
// of files, which are hashes, need not be trusted; `dependencies` has files with hashes of their
// contents. Results are made under a lock of their own, by one process at a time, and appear whole.
#include "runtime/src/compile/Cache.h"

#include "manifest/Hash.h"
#include "runtime/src/compile/Request.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::runtime {

/// Raised whenever entries change their meaning.
static const std::string format = "tile-cache 2 ";

std::string getDefaultCacheFolder() {
  const char *chosen = std::getenv("XDG_CACHE_HOME");
  if (chosen && *chosen)
    return makeAbsolute(chosen) + "/tile";
  const char *home = std::getenv("HOME");
  if (home && *home)
    return std::string(home) + "/.cache/tile";
  struct passwd entry, *found = nullptr;
  std::string buffer(16384, '\0');
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) || !found)
    return "";
  return std::string(found->pw_dir) + "/.cache/tile";
}

/// Makes the folder where it is missing. Says why it cannot be used, or that others could write to
/// it; else nothing.
/// Code from the cache is run: a folder that others may write to would let them run theirs.
static std::string findProblem(const std::string &folder) {
  // Each part of the path in turn; that a part exists already is no error, and is checked for the
  // last one alone.
  for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    std::string part = folder.substr(0, end);
    if (mkdir(part.c_str(), 0700) && errno != EEXIST && end == std::string::npos)
      return std::strerror(errno);
    if (end == std::string::npos)
      break;
  }
  struct stat status;
  if (stat(folder.c_str(), &status))
    return std::strerror(errno);
  if (!S_ISDIR(status.st_mode))
    return "it is no folder";
  if (status.st_uid != geteuid())
    return "it belongs to another user";
  if (status.st_mode & 022)
    return "others may write to it";
  if (access(folder.c_str(), W_OK | X_OK))
    return "it is read-only";
  return "";
}

/// A file, held as long as this lives; made where it is missing.
/// Advisory, by flock: freed by the system, even if the process dies.
class Lock {
public:
  explicit Lock(const std::string &path)
      : file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    while (file >= 0 && flock(file, LOCK_EX) && errno == EINTR)
      ;
  }
  ~Lock() {
    if (file >= 0)
      close(file); // and with it the lock
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

private:
  int file;
};

static void addSection(std::string &text, const char *name, const std::string &content) {
  text += std::string(name) + " " + std::to_string(content.size()) + "\n" + content;
}

/// Takes the section `name` from the front of `rest`.
/// Numbers are lengths in bytes, so that contents may hold anything.
static bool takeSection(std::string_view &rest, const std::string &name, std::string &content) {
  size_t end = rest.find('\n');
  if (end == std::string_view::npos || rest.substr(0, name.size() + 1) != name + " ")
    return false;
  std::string digits(rest.substr(name.size() + 1, end - name.size() - 1));
  char *last = nullptr;
  unsigned long long length = std::strtoull(digits.c_str(), &last, 10);
  rest.remove_prefix(end + 1);
  if (*last || length > rest.size())
    return false;
  content = rest.substr(0, length);
  rest.remove_prefix(length);
  return true;
}

/// "-" is no hash: a file that cannot be read equals another time that it could not be.
static std::string hashOfFile(const std::string &path) {
  std::string bytes;
  return readFile(path, bytes) ? "-" : contentHash(bytes);
}

/// Reads an entry; false where it is missing, damaged, of another key, or outdated.
/// `result` holds rubbish where this is false.
static bool readEntry(const std::string &path, const std::string &key, CompileResult &result) {
  std::string bytes, found, listed;
  if (readFile(path, bytes) || bytes.compare(0, format.size(), format))
    return false;
  size_t end = bytes.find('\n');
  if (end == std::string::npos)
    return false;
  std::string_view rest = std::string_view(bytes).substr(end + 1);
  if (bytes.substr(format.size(), end - format.size()) != contentHash(rest))
    return false;
  if (!takeSection(rest, "key", found) || found != key ||
      !takeSection(rest, "dependencies", listed) ||
      !takeSection(rest, "messages", result.messages) ||
      !takeSection(rest, "payload", result.payload) || !rest.empty())
    return false;
  for (size_t begin = 0; begin < listed.size();) {
    size_t space = listed.find(' ', begin), line = listed.find('\n', begin);
    if (space > line || hashOfFile(listed.substr(space + 1, line - space - 1)) !=
                            listed.substr(begin, space - begin))
      return false;
    begin = line + 1;
  }
  return true;
}

/// Puts an entry in place; where that fails, there is none.
/// Under a temporary name in the same folder: rename is atomic within a file system.
static void writeEntry(const std::string &path, const std::string &key,
                       const CompileResult &result) {
  std::string listed, rest;
  for (const std::string &name : result.dependencies)
    listed += hashOfFile(name) + " " + name + "\n";
  addSection(rest, "key", key);
  addSection(rest, "dependencies", listed);
  addSection(rest, "messages", result.messages);
  addSection(rest, "payload", result.payload);
  std::string whole = format + contentHash(rest) + "\n" + rest, temporary = path + ".XXXXXX";
  int file = mkstemp(temporary.data());
  if (file < 0)
    return;
  size_t written = 0;
  while (written < whole.size()) {
    ssize_t count = write(file, whole.data() + written, whole.size() - written);
    if (count < 0 && errno != EINTR)
      break;
    written += count > 0 ? size_t(count) : 0;
  }
  bool isWhole = !close(file) && written == whole.size();
  if (!isWhole || rename(temporary.c_str(), path.c_str()))
    unlink(temporary.c_str());
}

/// A cache that cannot be used is a problem to report, and no error: the result is made all the
/// same.
Error obtain(const std::string &folder, const std::string &key,
             std::function<Error(CompileResult &)> make, CompileResult &result, bool &wasKept,
             std::string &problem) {
  wasKept = false;
  problem = folder.empty() ? "" : findProblem(folder);
  if (!problem.empty())
    problem = "'" + folder + "': " + problem;
  if (folder.empty() || !problem.empty())
    return make(result);
  std::string name = contentHash(key);
  name = folder + "/" + name.substr(name.find(':') + 1);
  std::string path = name + ".entry";
  wasKept = readEntry(path, key, result);
  if (wasKept)
    return {};
  // Who has waited finds the other's result in the second look.
  Lock lock(name + ".lock");
  wasKept = readEntry(path, key, result);
  if (wasKept)
    return {};
  result = {};
  if (Error error = make(result))
    return error;
  writeEntry(path, key, result);
  return {};
}

/// Entries that are being written have names like .entry.aB3dE9: they go, too.
Error clearCache(const std::string &folder) {
  DIR *listing = opendir(folder.c_str());
  if (!listing)
    return errno == ENOENT
               ? Error()
               : Error(TILE_ERROR_IO, "cannot read '" + folder + "': " + std::strerror(errno));
  // Locks stay: who waits at one that is gone would not be seen by who makes it anew.
  Error error;
  while (const dirent *entry = readdir(listing)) {
    std::string name = entry->d_name;
    bool isEntry = name.size() > 6 && (name.compare(name.size() - 6, 6, ".entry") == 0 ||
                                       name.find(".entry.") != std::string::npos);
    std::string path = folder + "/" + name;
    if (isEntry && unlink(path.c_str()) && errno != ENOENT && !error)
      error = Error(TILE_ERROR_IO, "cannot remove '" + path + "': " + std::strerror(errno));
  }
  closedir(listing);
  return error;
}

} // namespace tile::runtime
