// Cubin to text: by the programs of a CUDA toolkit.
#include "codegen/Assemble.h"
#include "codegen/Translate.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace tile {

/// The first of the programs that is there; empty if none is.
static std::string findDisassembler(StringRef ptxasPath, StringRef executablePath) {
  std::string ptxas;
  if (Expected<std::string> found = findPtxas(ptxasPath, executablePath))
    ptxas = *found;
  else
    consumeError(found.takeError());
  // nvdisasm first: it knows lines of the source. The one beside ptxas first, as an older toolkit
  // does not read newer cubins.
  for (StringRef name : {"nvdisasm", "cuobjdump"}) {
    SmallString<128> beside(sys::path::parent_path(ptxas));
    sys::path::append(beside, name);
    if (!ptxas.empty() && sys::fs::can_execute(beside))
      return beside.str().str();
    if (ErrorOr<std::string> program = sys::findProgramByName(name))
      return *program;
    std::string toolkit = ("/usr/local/cuda/bin/" + name).str();
    if (sys::fs::can_execute(toolkit))
      return toolkit;
  }
  return {};
}

Expected<std::string> disassemble(StringRef cubin, StringRef ptxasPath, StringRef executablePath,
                                  raw_ostream *log, bool lines) {
  std::string program = findDisassembler(ptxasPath, executablePath);
  if (program.empty())
    return makeError("sass is printed by NVIDIA's nvdisasm or cuobjdump, and neither is beside "
                     "ptxas, on the PATH or in /usr/local/cuda/bin: install the CUDA toolkit's "
                     "package of that name, or write a cubin with -o NAME.cubin");
  SmallString<128> input, output, messages;
  llvm::scope_exit remove([&] {
    for (StringRef path : {StringRef(input), StringRef(output), StringRef(messages)})
      if (!path.empty())
        sys::fs::remove(path);
  });
  int descriptor;
  if (sys::fs::createTemporaryFile("tile", "cubin", descriptor, input) ||
      sys::fs::createTemporaryFile("tile", "sass", output) ||
      sys::fs::createTemporaryFile("tile", "log", messages))
    return makeError("cannot make a temporary file for '" + program + "'");
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << cubin;
    stream.close();
    if (stream.has_error())
      return makeError("cannot write '" + Twine(input) + "': " + stream.error().message());
  }
  SmallVector<StringRef> words = {program};
  if (sys::path::filename(program) == "cuobjdump")
    words.push_back("-sass");
  else if (lines)
    words.append({"-g", "-c"});
  words.push_back(input);
  if (log)
    *log << "tilec: " << join(words, " ") << "\n";
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output), StringRef(messages)};
  std::string problem;
  int status = sys::ExecuteAndWait(program, words, std::nullopt, redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &problem);
  if (status != 0) {
    if (auto text = MemoryBuffer::getFile(messages); problem.empty() && text)
      problem = (*text)->getBuffer().split('\n').first.str();
    return makeError("'" + program + "' printed no sass: " +
                     (problem.empty() ? "status " + std::to_string(status) : problem));
  }
  auto text = MemoryBuffer::getFile(output);
  if (!text)
    return makeError("cannot read '" + Twine(output) + "': " + text.getError().message());
  return (*text)->getBuffer().str();
}

} // namespace tile
