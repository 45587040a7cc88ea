// Writing files so that a failure leaves nothing behind.
#ifndef TILE_DRIVER_SUPPORT_OUTPUT_H
#define TILE_DRIVER_SUPPORT_OUTPUT_H

#include "driver/Session.h"
#include <string>
#include <vector>

namespace tile {

struct OutputFile {
  std::string path; ///< "-" is standard output
  std::string bytes;
};

/// Writes all files, or none: each goes to a temporary beside its place, and all are renamed at the
/// end. What is no regular file (a pipe, /dev/null) is written directly. Returns false after
/// reporting what cannot be written.
bool writeFiles(const std::vector<OutputFile> &files, Session &session);

/// Writes out what a stream holds, and says what went wrong since it was opened. A stream that is
/// destroyed with an error that nobody took ends the process.
std::error_code finish(llvm::raw_fd_ostream &stream);

/// A temporary file that is removed at the end, or by a signal that ends the process.
class TemporaryFile {
public:
  TemporaryFile() = default;
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// Makes it, in the folder of temporary files, with `bytes` in it. The error's message names it.
  llvm::Error create(llvm::StringRef name, llvm::StringRef ending, llvm::StringRef bytes = "");
  /// Ends in a zero byte.
  llvm::StringRef getPath() const { return path; }

private:
  std::string path;
};

/// False for standard output and for what exists and is no regular file.
bool isFile(const std::string &path);

/// The text of a Makefile rule that says that `target` was made from `sources`.
std::string makeDepfile(llvm::StringRef target, const std::vector<std::string> &sources);

} // namespace tile

#endif
