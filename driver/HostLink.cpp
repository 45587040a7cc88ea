// Finds a linker and runs it on temporary files.
#include "driver/HostLink.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace tile {

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The program to use; compilers come first, because they know libgcc, which holds conversions of
/// 16-bit floats.
static Expected<std::string> findLinker() {
  const char *chosen = std::getenv("TILE_LINKER");
  SmallVector<StringRef> names = {"cc", "gcc", "clang", "clang-22", "ld.lld", "ld.lld-22", "ld"};
  if (chosen && *chosen)
    names.assign({StringRef(chosen)});
  for (StringRef name : names)
    if (ErrorOr<std::string> program = sys::findProgramByName(name);
        program && sys::fs::can_execute(*program))
      return *program;
  return fail(chosen && *chosen ? "TILE_LINKER names no program: '" + Twine(chosen) + "'"
                                : Twine("code for the CPU in a package needs a linker, and there "
                                        "is none of cc, gcc, clang, ld.lld and "
                                        "ld; install one, or set TILE_LINKER"));
}

Expected<std::string> linkHostObject(StringRef object) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> input, output, log;
  llvm::scope_exit remove([&] {
    for (StringRef path : {StringRef(input), StringRef(output), StringRef(log)})
      if (!path.empty())
        sys::fs::remove(path);
  });
  int descriptor;
  if (std::error_code error = sys::fs::createTemporaryFile("tile", "o", descriptor, input))
    return fail("cannot make a temporary file: " + error.message());
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << object;
    stream.close();
    if (stream.has_error())
      return fail("cannot write '" + Twine(input) + "': " + stream.error().message());
  }
  if (sys::fs::createTemporaryFile("tile", "so", output) ||
      sys::fs::createTemporaryFile("tile", "log", log))
    return fail("cannot make a temporary file");
  bool isPlain = sys::path::filename(*linker).starts_with("ld");
  SmallVector<StringRef> arguments = {*linker, "-shared", "-o", output, input};
  if (isPlain)
    arguments.append({"--build-id=none", "--gc-sections", "-s"});
  else
    arguments.append({"-nostartfiles", "-static-libgcc", "-Wl,--build-id=none", "-s", "-lm"});
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
  std::string problem;
  int status = sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &problem);
  if (status != 0) {
    if (auto text = MemoryBuffer::getFile(log); problem.empty() && text)
      problem = (*text)->getBuffer().split('\n').first.str();
    return fail("'" + *linker + "' made no shared object: " +
                (problem.empty() ? "status " + std::to_string(status) : problem));
  }
  auto bytes = MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return fail("cannot read '" + Twine(output) + "': " + bytes.getError().message());
  return (*bytes)->getBuffer().str();
}

} // namespace tile
