// `--repro FILE.zip`: runs the call again as a child, and packs what someone else needs to repeat
// it. After an internal error the compiler starts itself with `--repro=`.
//
//   tilec --repro F ..  ->  child: tilec .., with --dump-dir and TILE_REPEATING
//                               stages/, messages, exit status
//                           child: parses, to list imports
//                           F: command, version, messages, sources, imports, stages
//
// The call itself happens in a child, since a crash is what is to be packed; TILE_REPEATING keeps
// the child from packing its own crash in turn.
#include "driver/compile/Compile.h"
#include "driver/request/Request.h"
#include "driver/support/Crash.h"
#include "driver/support/Output.h"
#include "driver/support/Version.h"
#include "formats/Zip.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace tile {

static std::string readText(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Every file below a folder, by its path from there, in order.
static void collect(const Twine &folder, const std::string &prefix,
                    std::vector<runtime::ZipEntry> &entries) {
  std::vector<runtime::ZipEntry> found;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back({prefix + sys::path::filename(it->path()).str(), readText(it->path())});
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a.path < b.path; });
  entries.insert(entries.end(), found.begin(), found.end());
}

/// tile-repro-HASH.zip in the temporary folder: the same call of the same sources always gets the
/// same name.
static std::string nameByContent(const std::vector<runtime::ZipEntry> &entries) {
  SHA256 hash;
  for (const runtime::ZipEntry &entry : entries)
    for (StringRef text : {StringRef(entry.path), StringRef(entry.bytes)}) {
      hash.update(text);
      hash.update(StringRef("\0", 1));
    }
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path,
                    "tile-repro-" + toHex(hash.final(), /*LowerCase=*/true).substr(0, 12) + ".zip");
  return path.str().str();
}

/// The files that the inputs import, in a process of its own: what is being reported may be that
/// they cannot be read.
/// Names come through a pipe, each with a zero byte behind it; a child that crashes has listed
/// some.
static std::vector<std::string> listImports(const Options &options) {
  int ends[2];
  if (::pipe(ends))
    return {};
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    if (int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0)
      ::dup2(nowhere, STDERR_FILENO);
    raw_fd_ostream stream(ends[1], /*shouldClose=*/true);
    raw_null_ostream silent;
    for (const std::string &input : options.inputs) {
      Session session(options, silent);
      Compiler compiler(options, session, input);
      compiler.parse();
      SourceManager &sources = session.getSources();
      for (size_t i = 0; i < sources.size(); ++i)
        if (StringRef name = sources.name(FileID(i)); name != input && sys::fs::exists(name))
          stream << name << '\0';
    }
    stream.flush();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (count < 0 && errno != EINTR)
      break;
    text.append(buffer, size_t(std::max<ssize_t>(count, 0)));
  }
  ::close(ends[0]);
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  std::vector<std::string> files;
  for (StringRef name : llvm::split(text, '\0'))
    if (!name.empty() && !llvm::is_contained(files, name))
      files.push_back(name.str());
  return files;
}

int makeRepro(const Options &options, Session &session) {
  SmallString<128> folder, log;
  if (sys::fs::createUniqueDirectory("tile-repro", folder)) {
    session.failCall("cannot make a temporary folder");
    return session.getExitCode();
  }
  llvm::scope_exit remove([&] { sys::fs::remove_directories(folder); });
  sys::path::append(log, folder, "messages.txt");
  SmallString<128> stages(folder);
  sys::path::append(stages, "stages");
  std::vector<std::string> words = {options.executable}, given = options.reproArguments;
  std::string command = "tilec", asked, error;
  if (auto option = llvm::find(given, "--request"); option != given.end()) {
    runtime::toJson(makeRequest(options), asked, error); // read from JSON, so it can be written
    SmallString<128> path(folder);
    sys::path::append(path, "request.json");
    if (!writeFiles({{path.str().str(), asked}}, session))
      return session.getExitCode();
    given.erase(option, option + 2); // with its value
    words.push_back("--request=" + path.str().str());
    command += " --request request.json";
  }
  words.insert(words.end(), given.begin(), given.end());
  words.push_back("--dump-dir=" + stages.str().str());
  for (const std::string &word : given)
    command += " '" + word + "'";
  std::vector<StringRef> arguments(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {std::nullopt, std::nullopt, StringRef(log)};
  std::string problem;
  bool afterCrash = getenv(repeatingVariable); // its messages have been seen
  setenv(repeatingVariable, "1", /*overwrite=*/1);
  int status =
      sys::ExecuteAndWait(options.executable, arguments, std::nullopt, redirects, 0, 0, &problem);
  std::string messages = readText(log);
  if (!afterCrash)
    errs() << messages << problem;

  std::string version;
  raw_string_ostream stream(version);
  printVersion(stream);
  std::vector<runtime::ZipEntry> entries = {{"command.txt", command + "\n"},
                                            {"status.txt", std::to_string(status) + "\n"},
                                            {"version.txt", version},
                                            {"messages.txt", messages + problem}};
  if (!asked.empty())
    entries.push_back({"request.json", asked});
  for (const std::string &input : options.inputs)
    entries.push_back({"source/" + sys::path::filename(input).str(), readText(input)});
  for (const std::string &file : listImports(options)) {
    std::string name = "import/" + sys::path::filename(file).str();
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const auto &known) { return known.path == name; }))
      entries.push_back({std::move(name), readText(file)});
  }
  std::string path = options.repro.empty() ? nameByContent(entries) : options.repro;
  collect(stages, "stages/", entries);
  std::string archive;
  if (runtime::Error error = runtime::writeZip(entries, archive))
    session.failInternal(error.message);
  else if (writeFiles({{path, std::move(archive)}}, session))
    errs() << "tilec: wrote '" << path
           << "'; look through it before you pass it on: it holds the sources\n";
  if (afterCrash)
    return session.getExitCode();
  return status < 0 ? int(exitInternal) : std::max(status, session.getExitCode());
}

} // namespace tile
