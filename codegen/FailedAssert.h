// Asserts of a CPU kernel that runs in memory: instead of ending the process, the first to fail
// leaves a record. On a GPU, CUDA's __assertfail prints the message, with the block's number
// (passes/Convert/TileGPUToLLVM/Debug.cpp), and the host sees an error code alone.
#ifndef TILE_CODEGEN_FAILEDASSERT_H
#define TILE_CODEGEN_FAILEDASSERT_H

#include "llvm/IR/Module.h"

namespace tile {

/// The first assert that failed. Its texts are the module's.
struct FailedAssert {
  const char *message = nullptr; // null: none has failed
  const char *file = nullptr;
  uint32_t line = 0;
};

/// The global of that type that `recordAsserts` makes.
inline constexpr llvm::StringLiteral failedAssertName = "tile_failed_assert";

/// Defines C's `__assert_fail`, where `module` calls it, as a function that fills the record and
/// returns. False where it does not: there is then no record.
bool recordAsserts(llvm::Module &module);

} // namespace tile

#endif
