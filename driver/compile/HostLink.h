// Object files for the CPU to shared objects.
#ifndef TILE_DRIVER_COMPILE_HOSTLINK_H
#define TILE_DRIVER_COMPILE_HOSTLINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile {

/// The bytes of a shared object with the functions of `object`, by LLD, or by the program
/// TILE_LINKER where that is set. Fails where it refuses. Several threads may call it at once.
llvm::Expected<std::string> linkHostObject(llvm::StringRef object);

} // namespace tile

#endif
