// Reports: from MLIR, LLVM and the driver itself into the one diagnostics engine.
//
//   frontend --------------------------> DiagnosticEngine -> renderer -> stream
//   MLIR pass -> report(mlir) -> Report -----^
//                  |   held (hold/release): true only for some kernels of the module
//                  |   remarks: kept until reportRemarks, one for all kernels it is about
//
// The exit code follows from what was reported here and in parts with a session of their own
// (adopt): whoever fails must report, or the call looks like a success.
#include "driver/Session.h"
#include "driver/support/Version.h"
#include "frontend/Diag/JsonRenderer.h"
#include "frontend/Diag/SarifRenderer.h"
#include "frontend/Diag/TextRenderer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile {

/// Applies -W options in order; parseOptions has checked their names.
static void setWarnings(const Options &options, DiagnosticEngine &diagnostics) {
  for (StringRef text : options.warnings) {
    if (text == "error")
      diagnostics.setWarningsAsErrors();
    else if (text.consume_front("error="))
      diagnostics.setWarningAsError(*findDiagnostic(text));
    else if (text.consume_front("no-"))
      diagnostics.disable(*findDiagnostic(text));
    else
      diagnostics.enable(*findDiagnostic(text));
  }
}

Session::Session(const Options &options, raw_ostream &stream)
    : options(options), diagnostics(sources), stream(stream) {
  diagnostics.setErrorLimit(options.errorLimit);
  diagnostics.setRemarks(options.remarks || options.passReport);
  setWarnings(options, diagnostics);
  DiagnosticConsumer render;
  if (options.sarif)
    render = SarifRenderer(sources, stream);
  else if (options.json)
    render = JsonRenderer(sources, stream);
  else
    render = TextRenderer(sources, stream, options.color);
  // The renderer is owned by the consumer. A remark that --remarks filters out is still kept by the
  // engine, which `tilec explain` reads.
  diagnostics.setConsumer(
      [render = std::move(render), pattern = std::make_shared<Regex>(options.remarksRegex),
       on = options.remarks, all = options.remarksRegex.empty()](const Diagnostic &diagnostic) {
        bool isAsked = diagnostic.severity != Severity::remark ||
                       diagnostic.id == diag::passReport ||
                       (on && (all || pattern->match(diagnostic.message)));
        if (isAsked)
          render(diagnostic);
      });
}

Session::~Session() {
  if (options.json || options.sarif || !diagnostics.hasErrors())
    return;
  std::string text = summary(diagnostics);
  if (diagnostics.errors() > 1 && !text.empty())
    stream << text << "\n";
}

bool Session::failCall(const Twine &message) {
  diagnostics.report(diag::wrongCall, Range(), message);
  return false;
}

bool Session::failData(const Twine &message) {
  diagnostics.report(diag::wrongData, Range(), message);
  return false;
}

Range Session::getLine(StringRef path, unsigned line, unsigned column) const {
  Range range;
  for (size_t i = 0; i < sources.size() && !range.isValid(); ++i) // the first, as in getRange
    if (sources.name(FileID(i)) == path)
      range = sources.lineRange(FileID(i), line);
  // The column is in bytes from 1, as in MLIR's locations.
  if (range.isValid()) {
    range.begin = std::min(range.begin + std::max(column, 1u) - 1, range.end);
    StringRef text = sources.text(range); // without the blanks before it
    range.begin += text.size() - text.ltrim().size();
  }
  return range;
}

bool Session::failAssert(StringRef message, StringRef path, unsigned line) {
  diagnostics.report(diag::assertFailed, getLine(path, line), message);
  return false;
}

bool Session::failInternal(const Twine &message) {
  diagnostics.report(diag::internalError, Range(), message)
      .note(Twine("this is a mistake of ") + getCompilerVersion() +
            "; please report it together with the source");
  internal = true;
  return false;
}

/// The gravest: an internal error hides all others, a wrong call (2) stands above wrong sources
/// (1).
int Session::getExitCode() const {
  int code = adopted;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error)
      continue;
    bool ofCall = diagnostic.id == diag::wrongCall || diagnostic.id == diag::unknownDefine ||
                  diagnostic.id == diag::badDefine || diagnostic.id == diag::unknownKernel ||
                  diagnostic.id == diag::badArgument;
    code = std::max<int>(code, ofCall ? exitCall : exitWrong);
  }
  return internal ? exitInternal : code;
}

//===--- MLIR -------------------------------------------------------------===//

Range Session::getRange(mlir::Location location) const {
  // Of several files with one name the first counts.
  if (auto place = mlir::dyn_cast<mlir::FileLineColRange>(location)) {
    for (size_t i = 0; i < sources.size(); ++i) {
      FileID file = FileID(i);
      if (sources.name(file) != place.getFilename().getValue())
        continue;
      Range first = sources.lineRange(file, place.getStartLine()),
            last = sources.lineRange(file, place.getEndLine());
      if (!first.isValid() || !last.isValid())
        return Range();
      uint32_t begin = std::min(first.begin + std::max(place.getStartColumn(), 1u) - 1, first.end);
      uint32_t end = std::min(last.begin + std::max(place.getEndColumn(), 1u) - 1, last.end);
      return Range{file, begin, std::max(begin, end)};
    }
    return Range();
  }
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location))
    return getRange(call.getCallee());
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location))
    return getRange(named.getChildLoc());
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (Range range = getRange(part); range.isValid())
        return range;
  return Range();
}

void Session::addNotes(DiagnosticBuilder &builder, mlir::Location location) const {
  while (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) {
    location = call.getCaller();
    if (Range range = getRange(location); range.isValid())
      builder.note(range, "called from here");
  }
}

/// A complaint about the shape of the IR itself: no source can be blamed for that.
/// By the form of MLIR's own messages: verifiers begin with "'dialect.op' op ", the conversion
/// framework has a few fixed beginnings. A pass of ours that has something to say to the user must
/// not word it so.
static bool isAboutIR(StringRef message) {
  return (message.starts_with("'") && message.contains("' op ")) ||
         message.starts_with("failed to legalize") ||
         message.contains("unrealized_conversion_cast") ||
         message.starts_with("cannot be converted to LLVM IR");
}

void Session::report(mlir::Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  diag::ID id = diag::cannotLower;
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    if (isAboutIR(message)) {
      id = diag::internalError;
      internal = true;
    }
    break;
  case mlir::DiagnosticSeverity::Warning:
    id = diag::loweringWarning;
    break;
  default:
    id = diag::loweringRemark;
    break;
  }
  // A pass names its entry of the catalogue at the end: "… [R0301]".
  if (StringRef text = StringRef(message).rtrim(); text.ends_with("]"))
    if (size_t open = text.rfind(" ["); open != StringRef::npos)
      if (std::optional<diag::ID> named = findDiagnostic(text.substr(open + 2).drop_back())) {
        id = *named;
        message.resize(open);
      }
  Report result{id, std::move(message), diagnostic.getLocation(), {}, {}};
  for (const mlir::DiagnosticArgument &kernel : diagnostic.getMetadata())
    result.kernels.push_back(mlir::cast<mlir::StringAttr>(kernel.getAsAttribute()).str());
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    result.notes.emplace_back(getRange(note.getLocation()), note.str());
  // Only one code is held at a time.
  if (heldID == id)
    held.push_back(std::move(result));
  else
    report(std::move(result));
}

void Session::report(Report report) {
  if (diagnosticInfo(report.id).severity != Severity::remark || report.kernels.empty())
    return write(report);
  auto [known, isNew] = remarkAt.try_emplace(
      getKey(report.id, getRange(report.location), report.message), remarks.size());
  if (isNew)
    remarks.push_back(std::move(report));
  else if (std::vector<std::string> &kernels = remarks[known->second].kernels;
           !is_contained(kernels, report.kernels.front()))
    kernels.push_back(report.kernels.front());
}

/// "in kernels 'a' and 'b'", a few of them by name; empty for one that the message names.
static std::string nameKernels(ArrayRef<std::string> kernels, StringRef message) {
  constexpr size_t most = 4;
  if (kernels.empty() || (kernels.size() == 1 && message.contains("'" + kernels.front() + "'")))
    return "";
  std::string text = kernels.size() == 1 ? "in kernel '" : "in kernels '";
  text += join(kernels.take_front(most), "', '") + "'";
  return kernels.size() <= most ? text
                                : text + " and " + std::to_string(kernels.size() - most) + " more";
}

void Session::reportRemarks(bool several) {
  for (; remarksReported < remarks.size(); ++remarksReported) {
    const Report &each = remarks[remarksReported];
    write(each, several ? nameKernels(each.kernels, each.message) : "");
  }
}

ArrayRef<std::string> Session::getKernels(const Diagnostic &remark) const {
  auto found = remarkAt.find(getKey(remark.id, remark.range, remark.message));
  if (found == remarkAt.end())
    return {};
  return remarks[found->second].kernels;
}

void Session::write(const Report &report, StringRef kernels) {
  DiagnosticBuilder builder =
      diagnostics.report(report.id, getRange(report.location), report.message);
  if (!kernels.empty())
    builder.note(kernels);
  addNotes(builder, report.location);
  for (const auto &[range, text] : report.notes)
    builder.note(range, text);
}

void Session::release(Truth isTrue) {
  for (Report &each : held)
    if (isTrue(each.kernels.empty() ? StringRef() : StringRef(each.kernels.front()), each.location))
      report(std::move(each));
  held.clear();
  heldID.reset();
}

//===--- Phases -----------------------------------------------------------===//

Phase::Phase(const Options &options, StringRef name) : on(options.timeReport), name(name) {
  if (on)
    begin = std::chrono::steady_clock::now();
}

Phase::~Phase() {
  if (!on)
    return;
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  errs() << format("%9.2f ms  ", time.count()) << name << "\n";
}

} // namespace tile
