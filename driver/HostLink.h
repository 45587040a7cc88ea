// Object files for the CPU to shared objects, by this machine's linker.
#ifndef TILE_DRIVER_HOSTLINK_H
#define TILE_DRIVER_HOSTLINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile {

/// The bytes of a shared object with the functions of `object`. Uses the program TILE_LINKER, else
/// cc, gcc, clang, or the linkers ld.lld and ld. Fails where there is none, or where it refuses.
llvm::Expected<std::string> linkHostObject(llvm::StringRef object);

} // namespace tile

#endif
