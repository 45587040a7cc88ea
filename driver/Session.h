// State that the parts of one call of tilec share: sources, diagnostics, the clock, the exit code.
#ifndef TILE_DRIVER_SESSION_H
#define TILE_DRIVER_SESSION_H

#include "driver/options/Options.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Source/SourceManager.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tile {

class Session {
public:
  /// Diagnostics are written to `stream`, as soon as they are reported; but remarks about kernels
  /// by reportRemarks().
  explicit Session(const Options &options, llvm::raw_ostream &stream);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  SourceManager &getSources() { return sources; }
  DiagnosticEngine &getDiagnostics() { return diagnostics; }

  /// Reports what the call got wrong, or a file that cannot be read or written: exit code 2.
  /// Returns false.
  bool failCall(const llvm::Twine &message);
  /// Reports wrong data: exit code 1. Returns false.
  bool failData(const llvm::Twine &message);
  /// An assert of the kernel did not hold: its message, and the file and line that has it.
  bool failAssert(llvm::StringRef message, llvm::StringRef path, unsigned line);
  /// Reports a mistake of the compiler itself: exit code 70. Returns false.
  bool failInternal(const llvm::Twine &message);
  /// Reports the error of a component of LLVM, as a mistake of the compiler. Returns false.
  bool failInternal(llvm::Error error) { return failInternal(llvm::toString(std::move(error))); }

  /// Exit code for everything reported so far.
  int getExitCode() const;
  /// Takes over the outcome of a part that had a session of its own.
  void adopt(int exitCode) { adopted = std::max(adopted, exitCode); }
  void adoptDiagnostics(bool any) { said = said || any; }
  /// Has anything been reported, be it a remark?
  bool hasDiagnostics() const { return said || !diagnostics.all().empty(); }
  llvm::raw_ostream &getStream() { return stream; }

  /// Turns a diagnostic of an MLIR pass into one of ours, at the place in the source it came from.
  void report(mlir::Diagnostic &diagnostic);

  /// Keeps diagnostics of passes with this code back, till release() reports those that are still
  /// true of a place in a kernel.
  void hold(diag::ID id) { heldID = id; }
  using Truth = llvm::function_ref<bool(llvm::StringRef kernel, mlir::Location place)>;
  void release(Truth isTrue);
  /// Reports the remarks about kernels, each once; with a note that names all that it is about
  /// where there are `several` kernels.
  void reportRemarks(bool several);
  /// The symbols of the kernels that a remark of reportRemarks() is about; else none.
  llvm::ArrayRef<std::string> getKernels(const Diagnostic &remark) const;

  /// The place in the source that a location stands for; invalid if it has none.
  Range getRange(mlir::Location location) const;

  /// The rest of a line of a source from a column on; invalid where there is no such line.
  Range getLine(llvm::StringRef path, unsigned line, unsigned column = 1) const;

private:
  /// A diagnostic of a pass, in the catalogue's terms.
  struct Report {
    diag::ID id;
    std::string message;
    mlir::Location location;
    std::vector<std::pair<Range, std::string>> notes;
    std::vector<std::string> kernels; ///< that it is about
  };
  using Key = std::tuple<diag::ID, FileID, uint32_t, uint32_t, std::string>;
  static Key getKey(diag::ID id, Range range, const std::string &message) {
    return {id, range.file, range.begin, range.end, message};
  }
  void report(Report report);
  void write(const Report &report, llvm::StringRef kernels = "");
  void addNotes(DiagnosticBuilder &builder, mlir::Location location) const;

  const Options &options;
  SourceManager sources;
  DiagnosticEngine diagnostics;
  llvm::raw_ostream &stream;
  std::optional<diag::ID> heldID;
  std::vector<Report> held;
  int adopted = 0;
  bool internal = false, said = false;
  std::vector<Report> remarks;    ///< about kernels, in order
  std::map<Key, size_t> remarkAt; ///< their numbers
  size_t remarksReported = 0;
};

/// Measures one phase for --time-report, from its making to its end.
class Phase {
public:
  Phase(const Options &options, llvm::StringRef name);
  ~Phase();
  Phase(const Phase &) = delete;
  Phase &operator=(const Phase &) = delete;

private:
  bool on;
  std::string name;
  std::chrono::steady_clock::time_point begin;
};

} // namespace tile

#endif
