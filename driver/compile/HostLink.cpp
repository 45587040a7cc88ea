// Objects for the CPU to shared objects: by LLD, which is linked in, or by the program TILE_LINKER.
#include "driver/compile/HostLink.h"
#include "driver/support/Output.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace tile {

/// The object of codegen/CSource/Libcalls.c: conversions of 16-bit floats, which code generators
/// call by name.
extern const unsigned char hostLibcalls[];
extern const size_t hostLibcallsSize;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The program that TILE_LINKER names, or "" for LLD.
static Expected<std::string> findLinker() {
  const char *chosen = std::getenv("TILE_LINKER");
  if (!chosen || !*chosen)
    return std::string();
  if (ErrorOr<std::string> program = sys::findProgramByName(chosen);
      program && sys::fs::can_execute(*program))
    return *program;
  return fail("TILE_LINKER names no program: '" + Twine(chosen) + "'");
}

/// LLD has one state for the process.
/// So packages that are built at once wait for each other here, and only here.
static std::string runLLD(ArrayRef<const char *> arguments) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return "";
  return messages.empty() ? "status " + std::to_string(result.retCode) : messages;
}

static std::string runProgram(const std::string &linker, ArrayRef<const char *> words,
                              StringRef log) {
  SmallVector<StringRef> arguments(words.begin(), words.end());
  // A compiler driver such as cc takes other words than a linker: those for the linker behind -Wl.
  if (!sys::path::filename(linker).starts_with("ld"))
    arguments = {linker,
                 "-shared",
                 "-o",
                 words[3],
                 words[4],
                 words[5],
                 "-nostartfiles",
                 "-static-libgcc",
                 "-Wl,--build-id=none",
                 "-s",
                 "-lm"};
  std::optional<StringRef> redirects[] = {std::nullopt, log, log};
  std::string problem;
  int status = sys::ExecuteAndWait(linker, arguments, std::nullopt, redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &problem);
  if (status == 0)
    return "";
  if (auto text = MemoryBuffer::getFile(log); problem.empty() && text)
    problem = (*text)->getBuffer().str();
  return problem.empty() ? "status " + std::to_string(status) : problem;
}

Expected<std::string> linkHostObject(StringRef object) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  StringRef conversions(reinterpret_cast<const char *>(hostLibcalls), hostLibcallsSize);
  TemporaryFile input, libcalls, output, log;
  if (Error error = input.create("tile", "o", object))
    return std::move(error);
  if (Error error = libcalls.create("tile", "o", conversions))
    return std::move(error);
  if (Error error = output.create("tile", "so"))
    return std::move(error);
  if (Error error = log.create("tile", "log"))
    return std::move(error);
  // Positions 3 to 5 are read by runProgram. No build id and no symbols: the same source gives the
  // same bytes.
  const char *arguments[] = {linker->empty() ? "ld.lld" : linker->c_str(),
                             "-shared",
                             "-o",
                             output.getPath().data(),
                             input.getPath().data(),
                             libcalls.getPath().data(),
                             "--build-id=none",
                             "--gc-sections",
                             "-s"};
  std::string problem =
      linker->empty() ? runLLD(arguments) : runProgram(*linker, arguments, log.getPath());
  if (!problem.empty())
    return fail((linker->empty() ? "LLD" : "'" + *linker + "'") +
                " made no shared object: " + StringRef(problem).split('\n').first);
  auto bytes =
      MemoryBuffer::getFile(output.getPath(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return fail("cannot read '" + Twine(output.getPath()) + "': " + bytes.getError().message());
  return (*bytes)->getBuffer().str();
}

} // namespace tile
