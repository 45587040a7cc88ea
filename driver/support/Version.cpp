// The compiler's version; TILE_VERSION comes from the top CMakeLists.txt.
#include "driver/support/Version.h"
#include "codegen/NVPTX.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

const char *getCompilerVersion() { return "tilec " TILE_VERSION; }

void printVersion(llvm::raw_ostream &stream) {
  stream << getCompilerVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\ntargets:";
  for (const GPUArch &arch : getGPUArchs())
    stream << " " << arch.name;
  stream << " cpu\n";
}

} // namespace tile
