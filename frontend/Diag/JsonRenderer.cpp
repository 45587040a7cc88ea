// Renders diagnostics as JSON lines.
#include "frontend/Diag/JsonRenderer.h"

#include "llvm/Support/JSON.h"

using namespace tile;
namespace json = llvm::json;

/// JSON strings are UTF-8; source text in a message need not be.
static std::string clean(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

static json::Value place(const SourceManager &sources, Range range) {
  if (!range.isValid())
    return nullptr;
  auto point = [&](uint32_t offset) {
    LineColumn at = sources.lineColumn(range.file, offset);
    return json::Object{
        {"line", int64_t(at.line)}, {"column", int64_t(at.column)}, {"offset", int64_t(offset)}};
  };
  return json::Object{{"file", clean(sources.name(range.file))},
                      {"begin", point(range.begin)},
                      {"end", point(range.end)}};
}

void JsonRenderer::operator()(const Diagnostic &diagnostic) {
  static const char *const words[] = {"error", "warning", "remark"};
  json::Array labels, notes, fixIts;
  for (const Diagnostic::Label &label : diagnostic.labels)
    labels.push_back(
        json::Object{{"place", place(*sources, label.range)}, {"text", clean(label.text)}});
  for (const Diagnostic::Note &note : diagnostic.notes)
    notes.push_back(
        json::Object{{"place", place(*sources, note.range)}, {"text", clean(note.text)}});
  for (const Diagnostic::FixIt &fix : diagnostic.fixIts)
    fixIts.push_back(json::Object{{"place", place(*sources, fix.range)},
                                  {"replacement", clean(fix.replacement)},
                                  {"text", clean(fix.text)}});
  *os << json::Value(json::Object{{"severity", words[size_t(diagnostic.severity)]},
                                  {"code", diagnostic.code()},
                                  {"name", diagnosticInfo(diagnostic.id).name},
                                  {"message", clean(diagnostic.message)},
                                  {"place", place(*sources, diagnostic.range)},
                                  {"labels", std::move(labels)},
                                  {"notes", std::move(notes)},
                                  {"fixIts", std::move(fixIts)}})
      << '\n';
  os->flush();
}
