// Files of the compile cache in a folder and behind a command. In the folder they appear under
// their names whole, by renaming, so that neither a crash nor another process can be seen half-way.
#include "driver/CacheStore.h"
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
#include <chrono>

using namespace llvm;

namespace tile {

static std::optional<std::string> readAll(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

/// Under its name at once, or not at all.
static bool writeAtomically(const std::string &path, StringRef bytes) {
  SmallString<128> temporary;
  int descriptor;
  if (sys::fs::createUniqueFile(path + ".%%%%%%%%.tmp", descriptor, temporary))
    return false;
  bool good;
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    good = !stream.has_error();
    stream.clear_error();
  }
  good = good && !sys::fs::rename(temporary, path);
  if (!good)
    sys::fs::remove(temporary);
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

std::optional<std::string> CacheStore::readLocal(const std::string &name) const {
  return folder.empty() ? std::nullopt : readAll(pathOf(name));
}

void CacheStore::writeLocal(const std::string &name, StringRef bytes) const {
  if (!folder.empty())
    writeAtomically(pathOf(name), bytes);
}

void CacheStore::removeLocal(const std::string &name) const {
  if (!folder.empty())
    sys::fs::remove(pathOf(name));
}

void CacheStore::touch(const std::string &name) const {
  int descriptor;
  if (folder.empty() || sys::fs::openFileForWrite(pathOf(name), descriptor,
                                                  sys::fs::CD_OpenExisting, sys::fs::OF_Append))
    return;
  sys::fs::setLastAccessAndModificationTime(descriptor, std::chrono::system_clock::now());
  sys::fs::file_t file = sys::fs::convertFDToNativeFile(descriptor);
  sys::fs::closeFile(file);
}

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
  // What it prints is not this compiler's to say.
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

std::optional<std::string> CacheStore::read(const std::string &name) {
  remote = false;
  if (std::optional<std::string> bytes = readLocal(name))
    return bytes;
  SmallString<128> temporary;
  if (!hasCommand() || sys::fs::createTemporaryFile("tile-cache", "get", temporary))
    return std::nullopt;
  scope_exit clean([&] { sys::fs::remove(temporary); });
  std::optional<int> code = call("get", name, temporary);
  if (!code || *code)
    return std::nullopt;
  std::optional<std::string> bytes = readAll(temporary);
  remote = bytes.has_value();
  if (bytes)
    writeLocal(name, *bytes);
  return bytes;
}

void CacheStore::write(const std::string &name, StringRef bytes) {
  writeLocal(name, bytes);
  SmallString<128> temporary;
  int descriptor;
  if (!hasCommand() || !problem.empty() ||
      sys::fs::createTemporaryFile("tile-cache", "put", descriptor, temporary))
    return;
  scope_exit clean([&] { sys::fs::remove(temporary); });
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    if (stream.has_error()) {
      stream.clear_error();
      return;
    }
  }
  call("put", name, temporary);
}

} // namespace tile
