// Conversions between float formats that LLVM calls by name on processors without them.
#ifndef TILE_CODEGEN_LIBCALLS_H
#define TILE_CODEGEN_LIBCALLS_H

#include "llvm/ADT/ArrayRef.h"

namespace tile {

struct Libcall {
  const char *name;
  void *address;
};

/// __extendhfsf2, __truncsfhf2, __truncdfhf2, __truncsfbf2, __truncdfbf2 as this compiler
/// implements them.
llvm::ArrayRef<Libcall> getLibcalls();

} // namespace tile

#endif
