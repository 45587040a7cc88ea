// A compiled module as C: a source file that checks and launches its kernels, with the binary
// inside, and a header.
#ifndef TILE_CODEGEN_CSOURCE_H
#define TILE_CODEGEN_CSOURCE_H

#include "manifest/Manifest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tile {

/// A binary with its kernels.
struct CUnit {
  const runtime::Manifest *manifest = nullptr;
  /// A cubin or PTX. Empty on the CPU, where the object file is linked beside the C file.
  std::string image;
};

/// The code for one target. Kernels of all builds are the same instances in the same order; only
/// how they are launched differs.
struct CBuild {
  std::string target;
  bool isPTX = false;
  /// Of the CPU: the level of x86-64 that the object file needs; empty where there are none.
  std::string level;
  std::vector<CUnit> units;
};

struct CSource {
  std::string source, header;
};

/// `name` is the files' name without ending: functions of the module start with it, and the source
/// includes "NAME.h". Builds stand in the order in which they are tried on a device. The C is C11
/// and C++, without warnings under -Wall -Wextra. The names of launching functions, and those of
/// the object file's on the CPU, begin with `prefix` and an underscore if it is not empty.
llvm::Expected<CSource> emitCSource(llvm::StringRef name, llvm::ArrayRef<CBuild> builds,
                                    llvm::StringRef prefix = "");
/// "NAME_symbol", or the symbol alone.
std::string prefixC(llvm::StringRef prefix, llvm::StringRef symbol);

} // namespace tile

#endif
