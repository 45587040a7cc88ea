// Runs tilec for a call.
#ifndef TILE_RUNTIME_SRC_COMPILE_CHILD_H
#define TILE_RUNTIME_SRC_COMPILE_CHILD_H

#include "runtime/src/compile/Cache.h"
#include "runtime/src/compile/Request.h"

namespace tile::runtime {

/// Compiles in a child process. TILE_ERROR_COMPILE with the compiler's messages where the source or
/// the call is wrong, TILE_ERROR_COMPILER where tilec does not start or fails by itself.
Error compileInChild(const CompileCall &call, CompileResult &result);

/// The files behind the colon of a rule for make, in which spaces are escaped; standard input is
/// none.
std::vector<std::string> readPrerequisites(const std::string &rule);

} // namespace tile::runtime

#endif
