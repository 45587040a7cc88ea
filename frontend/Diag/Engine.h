// Diagnostics: what the compiler has to say about a program, collected, counted and passed to a
// renderer.
#ifndef TILE_FRONTEND_DIAG_ENGINE_H
#define TILE_FRONTEND_DIAG_ENGINE_H

#include "frontend/Source/SourceManager.h"

#include "llvm/ADT/Twine.h"

#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tile {

namespace diag {
/// One enumerator for each entry of Diagnostics.def: `diag::expectedToken` is the entry of that
/// name.
enum ID : uint16_t {
#define DIAG(severity, code, name, message, explain) name,
#include "frontend/Diag/Diagnostics.def"
  count
};
} // namespace diag

enum class Severity : uint8_t { error, warning, remark };

/// An entry of the catalogue.
struct DiagnosticInfo {
  Severity severity;
  const char *code;    // E0101: stable, what --explain and -Wno- take
  const char *name;    // expectedToken
  const char *message; // with {0}, {1} … for the arguments
  const char *explain; // a paragraph or two for --explain
};

/// The catalogue's entry for an ID.
const DiagnosticInfo &diagnosticInfo(diag::ID id);

/// The entry with this code or name, if any (case matters in neither); for --explain and -W
/// options.
std::optional<diag::ID> findDiagnostic(llvm::StringRef codeOrName);

/// A finished diagnostic, ready to be rendered.
struct Diagnostic {
  struct Label { // a second place on the page, with a few words beside its underline
    Range range;
    std::string text;
  };
  struct Note { // a remark of its own, at its own place; the range may be invalid
    Range range;
    std::string text;
  };
  struct FixIt { // put `replacement` in place of `range`; `text` says what that does
    Range range;
    std::string replacement;
    std::string text;
  };

  diag::ID id;
  Severity severity; // after -Werror
  Range range;       // invalid for what has no place, such as an option
  std::string message;
  std::vector<Label> labels;
  std::vector<Note> notes;
  std::vector<FixIt> fixIts;

  const char *code() const { return diagnosticInfo(id).code; }
};

class DiagnosticEngine;

/// Adds to a diagnostic; it goes to the engine when the builder dies, at the end of the statement.
class DiagnosticBuilder {
public:
  DiagnosticBuilder(DiagnosticEngine &engine, Diagnostic diagnostic)
      : engine(&engine), diagnostic(std::move(diagnostic)) {}
  DiagnosticBuilder(DiagnosticBuilder &&other) noexcept
      : engine(other.engine), diagnostic(std::move(other.diagnostic)) {
    other.engine = nullptr;
  }
  DiagnosticBuilder(const DiagnosticBuilder &) = delete;
  DiagnosticBuilder &operator=(const DiagnosticBuilder &) = delete;
  DiagnosticBuilder &operator=(DiagnosticBuilder &&) = delete;
  ~DiagnosticBuilder();

  /// A note at a second place ("declared here"), or without one.
  DiagnosticBuilder &note(Range range, const llvm::Twine &text);
  DiagnosticBuilder &note(const llvm::Twine &text) { return note(Range(), text); }

  /// A second underline in the same picture, with a short label.
  DiagnosticBuilder &secondary(Range range, const llvm::Twine &label);

  /// A change that would help; an empty range inserts, an empty replacement deletes.
  DiagnosticBuilder &fixIt(Range range, const llvm::Twine &replacement, const llvm::Twine &text);

private:
  DiagnosticEngine *engine;
  Diagnostic diagnostic;
};

/// Receives every diagnostic, in the order of reporting.
using DiagnosticConsumer = std::function<void(const Diagnostic &)>;

/// Collects diagnostics: applies options, drops duplicates, stops after the error limit.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sourceManager(sources) {}

  /// Starts a diagnostic; `args` (strings or integers) fill the template's {0}, {1} ….
  template <typename... Args>
  DiagnosticBuilder report(diag::ID id, Range range, const Args &...args) {
    return start(id, range, {toText(args)...});
  }

  /// The renderer; without one, diagnostics are only counted and kept.
  void setConsumer(DiagnosticConsumer newConsumer) { consumer = std::move(newConsumer); }

  /// Errors beyond this many are dropped and limitReached() becomes true; 0 means no limit.
  void setErrorLimit(unsigned limit) { errorLimit = limit; }
  bool limitReached() const { return limitHit; }

  /// -Werror: warnings become errors. -Werror=CODE for one.
  void setWarningsAsErrors(bool on = true) { warningsAsErrors = on; }
  void setWarningAsError(diag::ID id) { asErrors.insert(id); }

  /// -Wno-CODE; errors cannot be disabled. enable() undoes it.
  void disable(diag::ID id) { disabled.insert(id); }
  void enable(diag::ID id) { disabled.erase(id); }
  bool isEnabled(diag::ID id) const { return !disabled.count(id); }

  /// Remarks (R0xxx) are kept only when asked for.
  void setRemarks(bool on) { remarks = on; }

  unsigned errors() const { return errorCount; }
  unsigned warnings() const { return warningCount; }
  bool hasErrors() const { return errorCount != 0; }

  const std::vector<Diagnostic> &all() const { return diagnostics; }
  const SourceManager &sources() const { return sourceManager; }

private:
  friend class DiagnosticBuilder;

  static std::string toText(llvm::StringRef text) { return text.str(); }
  static std::string toText(const std::string &text) { return text; }
  static std::string toText(const char *text) { return text; }
  static std::string toText(const llvm::Twine &text) { return text.str(); }
  template <typename Int, typename = std::enable_if_t<std::is_integral_v<Int>>>
  static std::string toText(Int value) {
    return std::to_string(value);
  }

  DiagnosticBuilder start(diag::ID id, Range range, std::vector<std::string> args);
  void finish(Diagnostic diagnostic);

  const SourceManager &sourceManager;
  DiagnosticConsumer consumer;
  std::vector<Diagnostic> diagnostics;
  std::set<std::tuple<uint16_t, uint32_t, uint32_t, uint32_t, std::string>> seen;
  std::set<uint16_t> disabled, asErrors;
  unsigned errorLimit = 20, errorCount = 0, warningCount = 0;
  bool warningsAsErrors = false, remarks = false, limitHit = false;
};

} // namespace tile

#endif
