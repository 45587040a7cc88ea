// Files of the compile cache in a folder and behind a command. In the folder they appear under
// their names whole, by renaming, so that neither a crash nor another process can be seen half-way.
#include "driver/cache/CacheStore.h"
#include "driver/support/Output.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tile {

static std::optional<std::string> readAll(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

/// Under its name at once, or not at all.
static bool writeAtomically(const std::string &path, StringRef bytes) {
  // Removed by a signal that ends the process, too.
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(
      path + ".%%%%%%%%.tmp", sys::fs::owner_read | sys::fs::owner_write | sys::fs::group_read);
  if (!temporary) {
    consumeError(temporary.takeError());
    return false;
  }
  raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
  stream << bytes;
  bool good = !finish(stream);
  consumeError(good ? temporary->keep(path) : temporary->discard());
  return good;
}

CacheStore::CacheStore(std::string folder, const std::string &command) : folder(std::move(folder)) {
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> parts;
  cl::TokenizeGNUCommandLine(command, saver, parts);
  words.assign(parts.begin(), parts.end());
  if (words.empty())
    return;
  if (ErrorOr<std::string> program = sys::findProgramByName(words.front()))
    words.front() = *program;
}

std::string CacheStore::pathOf(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static bool isOwn(uid_t user) { return user == geteuid() || user == 0; }

std::string whyUnsafe(const std::string &folder) {
  struct stat info;
  if (stat(folder.c_str(), &info) != 0)
    return std::strerror(errno);
  if (!isOwn(info.st_uid))
    return "it belongs to another user";
  if (info.st_mode & S_IWOTH)
    return "everybody can write to it: chmod o-w";
  return {};
}

std::optional<std::string> CacheStore::readLocal(const std::string &name) const {
  if (folder.empty())
    return std::nullopt;
  // No links, and nothing that blocks; looked at and read by one descriptor, so that both are of
  // one file.
  // An entry is code that will be run, so a file that another user could have put there is none.
  int file = ::open(pathOf(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return std::nullopt;
  scope_exit close([&] { ::close(file); });
  struct stat info, above;
  bool isTrusted =
      fstat(file, &info) == 0 && S_ISREG(info.st_mode) && !(info.st_mode & S_IWOTH) &&
      (isOwn(info.st_uid) || (stat(folder.c_str(), &above) == 0 && (above.st_mode & S_IWGRP)));
  if (!isTrusted)
    return std::nullopt;
  auto buffer =
      MemoryBuffer::getOpenFile(file, name, info.st_size, /*RequiresNullTerminator=*/false);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

void CacheStore::writeLocal(const std::string &name, StringRef bytes) const {
  if (!folder.empty())
    writeAtomically(pathOf(name), bytes);
}

void CacheStore::removeLocal(const std::string &name) const {
  if (!folder.empty())
    sys::fs::remove(pathOf(name));
}

/// Eviction goes by times of modification, since file systems often keep no time of access.
void CacheStore::touch(const std::string &name) const {
  int descriptor;
  if (folder.empty() || sys::fs::openFileForWrite(pathOf(name), descriptor,
                                                  sys::fs::CD_OpenExisting, sys::fs::OF_Append))
    return;
  sys::fs::setLastAccessAndModificationTime(descriptor, std::chrono::system_clock::now());
  sys::fs::file_t file = sys::fs::convertFDToNativeFile(descriptor);
  sys::fs::closeFile(file);
}

/// A command that has failed once is not called again: each call may last its full minute.
std::optional<int> CacheStore::call(StringRef verb, StringRef name, StringRef path) {
  if (words.empty() || !problem.empty())
    return std::nullopt;
  if (!sys::fs::can_execute(words.front())) {
    problem = "'" + words.front() + "' is no program that can be run";
    return std::nullopt;
  }
  constexpr unsigned seconds = 60;
  std::vector<StringRef> arguments(words.begin(), words.end());
  arguments.insert(arguments.end(), {verb, name, path});
  // The compiler does not pass on the output of the command.
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef("")};
  std::string reason;
  bool failed = false;
  int code = sys::ExecuteAndWait(words.front(), arguments, std::nullopt, redirects, seconds, 0,
                                 &reason, &failed);
  bool isMiss = verb == "get" && code == 1;
  if (code == 0 || (isMiss && !failed))
    return code;
  problem =
      "'" + words.front() + " " + verb.str() + "' " +
      (code > 0 && !failed ? "ended with exit code " + std::to_string(code) : "failed: " + reason);
  return std::nullopt;
}

/// Leaves a copy in the folder of what the command gave: next time the folder has it.
std::optional<std::string> CacheStore::read(const std::string &name) {
  remote = false;
  if (std::optional<std::string> bytes = readLocal(name))
    return bytes;
  TemporaryFile temporary;
  if (!hasCommand())
    return std::nullopt;
  if (Error error = temporary.create("tile-cache", "get")) {
    problem = toString(std::move(error));
    return std::nullopt;
  }
  std::optional<int> code = call("get", name, temporary.getPath());
  if (!code || *code)
    return std::nullopt;
  std::optional<std::string> bytes = readAll(temporary.getPath());
  remote = bytes.has_value();
  if (bytes)
    writeLocal(name, *bytes);
  return bytes;
}

void CacheStore::write(const std::string &name, StringRef bytes) {
  writeLocal(name, bytes);
  if (!hasCommand() || !problem.empty())
    return;
  TemporaryFile temporary;
  if (Error error = temporary.create("tile-cache", "put", bytes)) {
    problem = toString(std::move(error));
    return;
  }
  call("put", name, temporary.getPath());
}

} // namespace tile
