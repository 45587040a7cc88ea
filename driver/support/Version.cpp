// The compiler's version; TILE_VERSION comes from the top CMakeLists.txt.
#include "driver/support/Version.h"
#include "target/Target.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

const char *getCompilerVersion() { return "tilec " TILE_VERSION; }

void printVersion(llvm::raw_ostream &stream) {
  stream << getCompilerVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\ntargets:";
  for (const GPUTarget &target : getGPUTargets())
    stream << " " << target.name;
  stream << " cpu\n";
  // Once a capability: with the suffix, where there is one.
  for (const GPUTarget &target : getGPUTargets())
    if (findDeviceTarget(target.major, target.minor) == &target)
      stream << "  " << llvm::left_justify(target.name, 8) << " " << target.products << "\n";
  stream << "cards:";
  const char *separator = " ";
  for (const GPUCard &card : getGPUCards()) {
    stream << separator << card.name;
    separator = ", ";
  }
  stream << "\n";
}

} // namespace tile
