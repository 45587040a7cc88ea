// tilec as a child process: its standard streams are files in memory, so that nobody has to read
// one while writing another, and no signal comes of a child that does not read.
#include "runtime/src/compile/Child.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tile::runtime {

namespace {
/// A file in memory.
/// Closed on exec: the child gets it by dup2 on its standard streams alone.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) : file(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (file >= 0)
      close(file);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  int get() const { return file; }
  // Rewound for the child, which shares the position.
  bool write(const std::string &bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
      ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno != EINTR)
        return false;
      done += count > 0 ? size_t(count) : 0;
    }
    return lseek(file, 0, SEEK_SET) == 0;
  }
  std::string read() {
    std::string bytes;
    char buffer[65536];
    lseek(file, 0, SEEK_SET);
    for (;;) {
      ssize_t count = ::read(file, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return bytes;
      bytes.append(buffer, size_t(count));
    }
  }

private:
  int file;
};

/// A folder of its own, removed with the files that are named when this goes.
/// Names are given before files are made, and those that were never made are removed in vain, which
/// does no harm.
class TemporaryFolder {
public:
  TemporaryFolder() {
    const char *place = std::getenv("TMPDIR");
    path = std::string(place && *place ? place : "/tmp") + "/tile-XXXXXX";
    isMade = mkdtemp(path.data());
  }
  ~TemporaryFolder() {
    for (const std::string &file : files)
      unlink(file.c_str());
    if (isMade)
      rmdir(path.c_str());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  bool isGood() const { return isMade; }
  const std::string &getPath() const { return path; }
  std::string name(const char *file) {
    files.push_back(path + "/" + file);
    return files.back();
  }

private:
  std::string path;
  std::vector<std::string> files;
  bool isMade = false;
};
} // namespace

/// Of a rule as make reads it: blanks and `#` are escaped by a backslash, `$` is doubled, lines
/// continue.
std::vector<std::string> readPrerequisites(const std::string &rule) {
  std::vector<std::string> files(1);
  size_t colon = rule.find(": ");
  for (size_t i = colon == std::string::npos ? rule.size() : colon + 2; i < rule.size(); ++i) {
    char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (rule[i] == '\\' && (next == ' ' || next == '#')) {
      files.back() += next;
      ++i;
    } else if (rule[i] == '$' && next == '$') {
      files.back() += rule[i++];
    } else if (rule[i] == '\\' && next == '\n') {
      files.emplace_back();
      ++i;
    } else if (rule[i] == ' ' || rule[i] == '\n') {
      files.emplace_back();
    } else {
      files.back() += rule[i];
    }
  }
  // The source in memory is no file that could change.
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const std::string &one) {
                               return one.empty() || one == "<stdin>" || one == "-";
                             }),
              files.end());
  return files;
}

/// posix_spawn wants pointers to non-const text; the texts live as long as the vector that is
/// given.
static std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts a program with these standard streams and waits for its end. `status` is -1 where the
/// process lets the system reap its children, so that nobody can know.
static Error run(const std::string &program, std::vector<std::string> words, int input, int output,
                 int errors, int &status) {
  words.insert(words.begin(), program);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) || posix_spawnattr_init(&attributes))
    return Error(TILE_ERROR_MEMORY, "out of memory");
  // In rising order: a file in memory may itself have the number of a standard stream that was
  // closed.
  int from[] = {input, output, errors};
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, from[i], i);
  // Signals that this thread blocks would stay blocked in the child.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  int failed = posix_spawn(&child, program.c_str(), &actions, &attributes, pointersTo(words).data(),
                           environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed)
    return Error(TILE_ERROR_COMPILER,
                 "the compiler '" + program + "' cannot be started: " + std::strerror(failed));
  status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      status = -1;
      break;
    }
  }
  return {};
}

static Error writeFile(const std::string &path, const std::string &text) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool isGood = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  isGood = file && std::fclose(file) == 0 && isGood;
  if (isGood)
    return {};
  return Error(TILE_ERROR_IO, "cannot write '" + path + "': " + std::strerror(errno) +
                                  "; TMPDIR names another folder");
}

/// Always by files, also of small sources: a pipe would need two threads or a loop of polls.
Error compileInChild(const CompileCall &call, CompileResult &result) {
  TemporaryFolder folder;
  MemoryFile input("tile-source"), output("tile-output"), errors("tile-messages");
  if (!folder.isGood() || input.get() < 0 || output.get() < 0 || errors.get() < 0)
    return Error(TILE_ERROR_IO, "cannot make temporary files in '" + folder.getPath() +
                                    "': " + std::strerror(errno) + "; TMPDIR names another folder");
  if (!input.write(call.source))
    return Error(TILE_ERROR_IO,
                 std::string("cannot hand the source over: ") + std::strerror(errno));
  std::string package = folder.name("kernel.tilepkg"), listed = folder.name("kernel.d"),
              asked = folder.name("request.json"), text;
  // The caller's request with places for outputs, which the key does not contain: paths of a
  // temporary folder differ each time.
  CompileRequest request = call.request;
  request.output = call.wantsInterface ? "" : package;
  request.depfilePath = listed;
  if (Error error = writeRequest(request, text))
    return error;
  if (Error error = writeFile(asked, text))
    return error;
  int status = 0;
  if (Error error =
          run(call.compiler, {"--request", asked}, input.get(), output.get(), errors.get(), status))
    return error;
  result.messages = errors.read();
  std::string rule;
  bool isMade = true;
  if (call.wantsInterface)
    result.payload = output.read();
  else
    isMade = !readFile(package, result.payload);
  // Where the end of the child cannot be known, a package that is there counts: it appears whole or
  // not at all.
  bool isDone = status == 0 || (status == -1 && isMade && !result.payload.empty());
  if (isDone && isMade) {
    // Without the list of imports nothing would be found outdated; the source's own text is in the
    // key.
    if (!readFile(listed, rule))
      result.dependencies = readPrerequisites(rule);
    for (std::string &file : result.dependencies)
      file = makeAbsolute(file);
    return {};
  }
  text = result.messages;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  // Statuses of a compiler that has refused in its own words.
  bool isWrong =
      status >= 0 && WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2);
  if (isWrong && !text.empty())
    return Error(TILE_ERROR_COMPILE, std::move(text));
  std::string end = status >= 0 && WIFSIGNALED(status)
                        ? "signal " + std::to_string(WTERMSIG(status))
                        : "status " + std::to_string(status >= 0 ? WEXITSTATUS(status) : status);
  return Error(TILE_ERROR_COMPILER, "the compiler '" + call.compiler + "' ended with " + end +
                                        (text.empty() ? " and without a message" : ": " + text));
}

} // namespace tile::runtime
