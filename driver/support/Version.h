// Which compiler this is.
#ifndef TILE_DRIVER_SUPPORT_VERSION_H
#define TILE_DRIVER_SUPPORT_VERSION_H

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tile {

/// "tilec 0.1.0", as manifests have it.
const char *getCompilerVersion();

/// Version, LLVM's version and the targets, for --version.
void printVersion(llvm::raw_ostream &stream);

} // namespace tile

#endif
