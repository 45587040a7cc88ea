// Finds and runs ptxas on memory files: nothing is written to disk.
//
//   asked for          --ptxas-path, else TILE_PTXAS; `none`: no assembler at all
//   else the program   on the PATH, in /usr/local/cuda/bin, in a .venv above this executable
//   else               nvJitLink, a library (NvJitLink.cpp)
//
// One that was asked for and is not there is an error: another would give other code.
#include "codegen/Assemble.h"
#include "codegen/AssemblerMistakes.h"
#include "codegen/Translate.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace llvm;

namespace tile {

char NoAssembler::ID = 0;

void NoAssembler::log(raw_ostream &stream) const {
  stream << "no ptxas found: install a CUDA toolkit or the Python package nvidia-cuda-nvcc, name "
            "the program with "
            "--ptxas-path or TILE_PTXAS, or write PTX with -o NAME.ptx";
}

//===--- Search for the program -------------------------------------------===//

/// The version of CUDA that a package is of: N of `cuN`, and 0 of `cuda_nvcc`, which there is up to
/// CUDA 12.
static unsigned getCudaVersion(StringRef package) {
  unsigned version;
  return package.consume_front("cu") && !package.getAsInteger(10, version) ? version : 0;
}

/// The program that pip's package nvidia-cuda-nvcc put below `venv`, that of the latest CUDA; or
/// empty.
static std::string findInEnvironment(StringRef venv) {
  std::error_code error;
  SmallVector<std::pair<unsigned, std::string>> found;
  SmallString<128> libraries(venv);
  sys::path::append(libraries, "lib");
  for (sys::fs::directory_iterator it(libraries, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code inner;
    SmallString<128> packages(it->path());
    sys::path::append(packages, "site-packages", "nvidia");
    for (sys::fs::directory_iterator package(packages, inner); !inner && package != end;
         package.increment(inner)) {
      SmallString<128> program(package->path());
      sys::path::append(program, "bin", "ptxas");
      if (sys::fs::can_execute(program))
        found.emplace_back(getCudaVersion(sys::path::filename(package->path())),
                           program.str().str());
    }
  }
  return found.empty() ? std::string() : std::max_element(found.begin(), found.end())->second;
}

/// What --ptxas-path says, else TILE_PTXAS, else nothing.
static StringRef findAsked(StringRef explicitPath) {
  const char *fromEnvironment = getenv("TILE_PTXAS");
  return !explicitPath.empty() ? explicitPath
         : fromEnvironment     ? StringRef(fromEnvironment)
                               : StringRef();
}

bool wantsNoAssembler(StringRef explicitPath) { return findAsked(explicitPath) == "none"; }

Expected<std::string> findPtxas(StringRef explicitPath, StringRef executablePath) {
  StringRef requested = findAsked(explicitPath);
  if (requested == "none")
    return std::string();
  if (!requested.empty()) {
    if (sys::fs::can_execute(requested))
      return requested.str();
    return makeError("'" + requested + "' (from " +
                     (explicitPath.empty() ? "TILE_PTXAS" : "--ptxas-path") + ") is no program");
  }
  if (ErrorOr<std::string> program = sys::findProgramByName("ptxas"))
    return *program;
  if (sys::fs::can_execute("/usr/local/cuda/bin/ptxas"))
    return std::string("/usr/local/cuda/bin/ptxas");
  for (StringRef folder = sys::path::parent_path(executablePath); !folder.empty();
       folder = sys::path::parent_path(folder)) {
    SmallString<128> venv(folder);
    sys::path::append(venv, ".venv");
    std::string program = findInEnvironment(venv);
    if (!program.empty())
      return program;
  }
  return std::string();
}

//===--- Run of the program -----------------------------------------------===//

namespace {

/// A file in memory that a child process can open as /proc/self/fd/N.
class MemoryFile {
public:
  // Without the flag that closes it on exec: the child opens it by the number that it inherits.
  explicit MemoryFile(const char *name) : fd(memfd_create(name, 0)) {}
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool isOpen() const { return fd >= 0; }
  int getDescriptor() const { return fd; }
  std::string getPath() const { return "/proc/self/fd/" + std::to_string(fd); }

  bool write(StringRef text) {
    while (!text.empty()) {
      ssize_t n = ::write(fd, text.data(), text.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      text = text.drop_front(n);
    }
    return true;
  }

  std::string read() {
    struct stat info;
    if (fstat(fd, &info) != 0)
      return {};
    std::string text(info.st_size, '\0');
    size_t done = 0;
    while (done < text.size()) {
      ssize_t n = pread(fd, text.data() + done, text.size() - done, done);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      done += n;
    }
    text.resize(done);
    return text;
  }

private:
  int fd;
};

} // namespace

/// Runs `arguments` with standard output and error going to `log`. Returns the exit code, below 0
/// the signal that ended it, or an error if it did not run.
/// Waits without a limit of time: some kernels take ptxas minutes, and whoever wants a limit sets
/// one for tilec as a whole.
static Expected<int> runProgram(const std::string &program, ArrayRef<std::string> arguments,
                                MemoryFile &log) {
  SmallVector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, log.getDescriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log.getDescriptor(), STDERR_FILENO);
  pid_t child;
  int failure = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure)
    return makeError("cannot run '" + program + "': " + std::strerror(failure));
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return makeError("lost '" + program + "': " + std::strerror(errno));
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// ptxas -v says of each entry function in turn: its name, spills, registers. Warnings are known by
/// their numbers, C75.. and C76.., as their texts change.
void parseAssemblerLog(StringRef log, Cubin &cubin) {
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  auto numberBefore = [](StringRef line, StringRef what) {
    StringRef head = line.substr(0, line.find(what)).rtrim();
    unsigned value = 0;
    if (head.size() < line.size())
      head.substr(head.find_last_not_of("0123456789") + 1).getAsInteger(10, value);
    return value;
  };
  for (StringRef line : lines) {
    size_t entry = line.find("Compiling entry function '");
    if (entry != StringRef::npos) {
      StringRef symbol = line.substr(entry).split('\'').second.split('\'').first;
      cubin.kernels.push_back({symbol.str(), 0, 0});
    } else if (line.contains("(C75") || line.contains("(C76")) {
      StringRef text = line.substr(line.find("(C7")).rtrim();
      if (cubin.warnings.empty() || cubin.warnings.back() != text)
        cubin.warnings.push_back(text.str());
    } else if (!cubin.kernels.empty() && line.contains("bytes spill stores")) {
      cubin.kernels.back().spillBytes =
          numberBefore(line, "bytes spill stores") + numberBefore(line, "bytes spill loads");
    } else if (!cubin.kernels.empty() && line.contains("Used ") && line.contains(" registers")) {
      cubin.kernels.back().registers = numberBefore(line, " registers");
    }
  }
}

/// ptxas optimises this many functions at once, on machines with fewer processors, too: it writes
/// the number into the cubin, and the same source gives the same bytes everywhere.
constexpr StringRef atOnce = "--split-compile=8";

/// ptxas itself crashes on some kernels at its highest levels, and makes mistakes in others; a
/// lower one is tried then, with a warning.
static Expected<Cubin> assembleWithPtxas(StringRef ptx, const std::string &program,
                                         const AssembleOptions &options) {
  Cubin cubin;
  bool isSplit = ptx.count(".entry") > 1 && none_of(options.flags, [](StringRef flag) {
                   return flag.contains("split-compile"); // the user's own
                 });
  for (int level = std::clamp(options.level, 0, 3);; --level) {
    MemoryFile input("tile.ptx"), output("tile.cubin"), log("ptxas.log");
    if (!input.isOpen() || !output.isOpen() || !log.isOpen() || !input.write(ptx))
      return makeError(Twine("cannot make a file in memory for ptxas: ") + std::strerror(errno));
    std::string flag = "-O" + std::to_string(level);
    std::vector<std::string> words = {program, "-arch=" + options.arch, flag, "-v"};
    if (isSplit)
      words.push_back(atOnce.str());
    words.insert(words.end(), options.flags.begin(), options.flags.end());
    words.insert(words.end(), {input.getPath(), "-o", output.getPath()});
    if (options.log)
      *options.log << "tilec: " << join(words, " ") << "\n";
    Expected<int> code = runProgram(program, words, log);
    if (!code)
      return code.takeError();
    auto takesLowerLevel = [&](const std::string &reason) {
      if (level > 0)
        cubin.warnings.push_back(reason + " at " + flag + ", so a lower level is taken");
      return level > 0;
    };
    if (*code < 0) {
      std::string reason = "'" + program + "' was ended by signal " + std::to_string(-*code);
      bool isAsked = *code == -SIGINT || *code == -SIGTERM || *code == -SIGKILL;
      if (isAsked || !takesLowerLevel(reason))
        return makeError(reason);
      continue;
    }
    std::string text = log.read();
    if (options.log)
      *options.log << text;
    if (*code != 0 && isSplit && StringRef(text).contains("-split-compile'")) {
      isSplit = false; // an older ptxas, which does not know the flag
      ++level;
      continue;
    }
    if (*code != 0)
      return readRefusal("ptxas", text);
    cubin.bytes = output.read();
    if (cubin.bytes.empty())
      return makeError("'" + program + "' wrote no cubin");
    if (auto mistake = findMistake(ptx, cubin.bytes)) {
      std::string reason = "'" + program + "' made a mistake: " + *mistake;
      if (!takesLowerLevel(reason))
        return makeError(reason);
      continue;
    }
    cubin.assembler = program;
    parseAssemblerLog(text, cubin);
    return cubin;
  }
}

Expected<Cubin> assemble(StringRef ptx, const AssembleOptions &options) {
  Expected<std::string> program = findPtxas(options.ptxasPath, options.executablePath);
  if (!program)
    return program.takeError();
  if (wantsNoAssembler(options.ptxasPath))
    return make_error<NoAssembler>();
  return program->empty() ? assembleWithNvJitLink(ptx, options)
                          : assembleWithPtxas(ptx, *program, options);
}

} // namespace tile
