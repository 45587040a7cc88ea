// The diagnostics engine: catalogue look-up, message templates, options, duplicates and the error
// limit.
//
// A diagnostic's life:
//   start(id, range, args)   severity after -W, message filled in; nothing is reported yet
//     .note .secondary .fixIt .   the builder collects
//   ~DiagnosticBuilder       at the end of the full expression: finish
//     switched off, or a remark that nobody asked for ...... dropped
//     the same place and message once more ................. dropped
//     an error whose fix elsewhere another has offered ..... dropped
//     an error beyond the limit ............................ dropped, limitHit
//     else kept in `diagnostics` and handed to the consumer at once
//
// Kept diagnostics are never removed or reordered; errors() counts those that are kept. So "did
// this step report anything" is a comparison of counts, and repeated elaboration of a function (one
// for each kernel that calls it) reports each mistake once.
#include "frontend/Diag/Engine.h"

#include "llvm/ADT/StringExtras.h"

#include <iterator>

using namespace tile;

static const DiagnosticInfo catalogue[] = {
#define DIAG(severity, code, name, message, explain)                                               \
  {Severity::severity, #code, #name, message, explain},
#include "frontend/Diag/Diagnostics.def"
};

const DiagnosticInfo &tile::diagnosticInfo(diag::ID id) { return catalogue[id]; }

std::optional<diag::ID> tile::findDiagnostic(llvm::StringRef codeOrName) {
  for (size_t i = 0; i < std::size(catalogue); ++i)
    if (codeOrName.equals_insensitive(catalogue[i].code) ||
        codeOrName.equals_insensitive(catalogue[i].name))
      return diag::ID(i);
  return std::nullopt;
}

/// Replaces {0}, {1} … by the arguments; other braces stay as they are.
static std::string fill(llvm::StringRef message, const std::vector<std::string> &args) {
  std::string out;
  while (!message.empty()) {
    auto [before, rest] = message.split('{');
    out += before;
    if (before.size() == message.size())
      break;
    size_t index;
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    if (!digits.empty() && rest.drop_front(digits.size()).starts_with("}") &&
        !digits.getAsInteger(10, index) && index < args.size()) {
      out += args[index];
      message = rest.drop_front(digits.size() + 1);
    } else {
      out += '{';
      message = rest;
    }
  }
  return out;
}

/// A builder that was moved from has no engine: only the last of them reports.
DiagnosticBuilder::~DiagnosticBuilder() {
  if (engine)
    engine->finish(std::move(diagnostic));
}

DiagnosticBuilder &DiagnosticBuilder::note(Range range, const llvm::Twine &text) {
  diagnostic.notes.push_back({range, text.str()});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::secondary(Range range, const llvm::Twine &label) {
  diagnostic.labels.push_back({range, label.str()});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fixIt(Range range, const llvm::Twine &replacement,
                                            const llvm::Twine &text) {
  diagnostic.fixIts.push_back({range, replacement.str(), text.str()});
  return *this;
}

DiagnosticBuilder DiagnosticEngine::start(diag::ID id, Range range, std::vector<std::string> args) {
  const DiagnosticInfo &info = diagnosticInfo(id);
  Severity severity = info.severity;
  if (severity == Severity::warning && (warningsAsErrors || asErrors.count(id)))
    severity = Severity::error;
  return DiagnosticBuilder(*this,
                           Diagnostic{id, severity, range, fill(info.message, args), {}, {}, {}});
}

void DiagnosticEngine::finish(Diagnostic diagnostic) {
  Severity kind = diagnosticInfo(diagnostic.id).severity;
  // By the severity of the catalogue: a warning that -Werror has turned into an error can still be
  // switched off, a real error never.
  if (kind != Severity::error && disabled.count(diagnostic.id))
    return;
  if (kind == Severity::remark && !remarks)
    return;
  std::tuple key(uint16_t(diagnostic.id), uint32_t(diagnostic.range.file), diagnostic.range.begin,
                 diagnostic.range.end, diagnostic.message);
  if (seen.count(key))
    return;
  // An error whose change stands elsewhere and has been offered is the same mistake once more.
  if (diagnostic.severity == Severity::error && !diagnostic.fixIts.empty()) {
    const Diagnostic::FixIt &fix = diagnostic.fixIts.front();
    bool isElsewhere = fix.range.file != diagnostic.range.file ||
                       fix.range.end <= diagnostic.range.begin ||
                       fix.range.begin >= diagnostic.range.end;
    // In the same set as the keys of diagnostics; diag::count is no diagnostic's number.
    std::tuple change(uint16_t(diag::count), uint32_t(fix.range.file), fix.range.begin,
                      fix.range.end, fix.replacement);
    if (isElsewhere && !seen.insert(std::move(change)).second)
      return;
  }
  if (diagnostic.severity == Severity::error && errorLimit && errorCount >= errorLimit) {
    limitHit = true; // and nothing more is kept
    return;
  }
  seen.insert(std::move(key));
  if (diagnostic.severity == Severity::error) {
    ++errorCount;
  } else if (diagnostic.severity == Severity::warning) {
    ++warningCount;
  }
  diagnostics.push_back(std::move(diagnostic));
  if (consumer)
    consumer(diagnostics.back());
}
