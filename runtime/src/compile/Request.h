// A call of the compiler as data: what the C interface was asked for, the words that tilec gets,
// and the text that tells one call from another.
#pragma once

#include "manifest/Error.h"
#include "runtime/include/tile_compile.h"

#include <string>
#include <vector>

namespace tile::runtime {

struct CompileRequest {
  std::string path, source, target, kernel, config;
  std::vector<std::string> constants, attributes, extents, includes;
  bool isText = false; ///< `source` holds, not `path`
  bool wantsInterface = false, wantsJson = false;
  std::string compiler, assembler; ///< programs; an assembler may be left to tilec
  std::string cache;               ///< folder; empty: none

  /// Takes over and checks a request of the C interface; fills in the target, the compiler and the
  /// folder that it leaves open, and makes paths absolute.
  static Error read(const tile_compile_request *given, CompileRequest &request);

  /// The words behind tilec's name. `output` and `dependencies` are files that it writes.
  std::vector<std::string> getWords(const std::string &output,
                                    const std::string &dependencies) const;

  /// Everything that the result depends on, but for files that are imported: the source's content,
  /// what was asked for, which build of the compiler and which assembler it would find.
  Error describe(std::string &key) const;
};

/// An absolute path; "" stays.
std::string makeAbsolute(const std::string &path);

/// The content of a file. TILE_ERROR_IO says why there is none.
Error readFile(const std::string &path, std::string &bytes);

} // namespace tile::runtime
