// A call of the C interface: the compile request that tilec gets, where it gets it, and the text
// that tells one call from another.
#ifndef TILE_RUNTIME_SRC_COMPILE_REQUEST_H
#define TILE_RUNTIME_SRC_COMPILE_REQUEST_H

#include "manifest/CompileRequest.h"
#include "manifest/Error.h"
#include "runtime/include/tile_compile.h"

#include <string>
#include <vector>

namespace tile::runtime {

struct CompileCall {
  CompileRequest request; ///< its output is chosen when the compiler is run
  std::string source;     ///< where `isText`: what tilec reads from standard input
  bool isText = false, wantsInterface = false;
  std::string compiler; ///< the program
  std::string cache;    ///< folder; empty: none

  /// Takes over and checks a request of the C interface; fills in the target, the compiler and the
  /// folder that it leaves open, and makes paths absolute.
  static Error read(const tile_compile_request *given, CompileCall &call);

  /// Everything that the result depends on, but for files that are imported: the source's content,
  /// what was asked for, which build of the compiler and which assembler it would find.
  Error describe(std::string &key) const;
};

/// The JSON of a request. TILE_ERROR_CALL where it has a text that is no UTF-8.
Error writeRequest(const CompileRequest &request, std::string &text);

/// An absolute path; "" stays.
std::string makeAbsolute(const std::string &path);

/// The content of a file. TILE_ERROR_IO says why there is none.
Error readFile(const std::string &path, std::string &bytes);

} // namespace tile::runtime

#endif
