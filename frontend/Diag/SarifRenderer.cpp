// Diagnostics as SARIF 2.1.0.
//
// Results come one at a time, as the lines of a stream; the document around them can only be
// written at the end, when its rules are known. So the renderer writes each result as a line of
// JSON, and makeSarifLog joins the lines. Lines that
// are no results (what a tool or LLVM printed) go to `rest`.
#include "frontend/Diag/SarifRenderer.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace tile;
namespace json = llvm::json;

/// JSON strings are UTF-8; source text in a message need not be.
static std::string clean(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

/// The column in characters, from 1.
static int64_t columnOf(const SourceManager &sources, FileID file, uint32_t offset) {
  Range line = sources.lineRange(file, sources.lineColumn(file, offset).line);
  llvm::StringRef before = sources.text(Range{file, line.begin, offset});
  return 1 + llvm::count_if(before, [](char c) { return (c & 0xc0) != 0x80; });
}

static json::Object region(const SourceManager &sources, Range range) {
  return json::Object{{"startLine", int64_t(sources.lineColumn(range.file, range.begin).line)},
                      {"startColumn", columnOf(sources, range.file, range.begin)},
                      {"endLine", int64_t(sources.lineColumn(range.file, range.end).line)},
                      {"endColumn", columnOf(sources, range.file, range.end)},
                      {"byteOffset", int64_t(range.begin)},
                      {"byteLength", int64_t(range.end - range.begin)}};
}

static json::Object artifact(const SourceManager &sources, FileID file) {
  return json::Object{{"uri", clean(sources.name(file))}};
}

static json::Object location(const SourceManager &sources, Range range, llvm::StringRef text) {
  json::Object result;
  if (range.isValid())
    result["physicalLocation"] = json::Object{{"artifactLocation", artifact(sources, range.file)},
                                              {"region", region(sources, range)}};
  if (!text.empty())
    result["message"] = json::Object{{"text", clean(text)}};
  return result;
}

void SarifRenderer::operator()(const Diagnostic &diagnostic) {
  // In the order of Severity; SARIF calls a remark a note.
  static const char *const levels[] = {"error", "warning", "note"};
  json::Object result{{"ruleId", diagnostic.code()},
                      {"level", levels[size_t(diagnostic.severity)]},
                      {"message", json::Object{{"text", clean(diagnostic.message)}}}};
  if (diagnostic.range.isValid())
    result["locations"] = json::Array{location(*sources, diagnostic.range, "")};
  json::Array related, fixes;
  for (const Diagnostic::Label &label : diagnostic.labels)
    related.push_back(location(*sources, label.range, label.text));
  for (const Diagnostic::Note &note : diagnostic.notes)
    related.push_back(location(*sources, note.range, note.text));
  for (const Diagnostic::FixIt &fix : diagnostic.fixIts)
    fixes.push_back(json::Object{
        {"description", json::Object{{"text", clean(fix.text)}}},
        {"artifactChanges",
         json::Array{json::Object{
             {"artifactLocation", artifact(*sources, fix.range.file)},
             {"replacements",
              json::Array{json::Object{
                  {"deletedRegion", region(*sources, fix.range)},
                  {"insertedContent", json::Object{{"text", clean(fix.replacement)}}}}}}}}}});
  if (!related.empty())
    result["relatedLocations"] = std::move(related);
  if (!fixes.empty())
    result["fixes"] = std::move(fixes);
  *os << json::Value(std::move(result)) << '\n';
  os->flush();
}

std::string tile::makeSarifLog(llvm::StringRef results, llvm::StringRef version,
                               llvm::raw_ostream &rest) {
  json::Array all, rules;
  std::set<std::string> known;
  while (!results.empty()) {
    auto [line, next] = results.split('\n');
    results = next;
    llvm::Expected<json::Value> value = json::parse(line);
    const json::Object *object = value ? value->getAsObject() : nullptr;
    std::optional<llvm::StringRef> code = object ? object->getString("ruleId") : std::nullopt;
    std::optional<diag::ID> id = code ? findDiagnostic(*code) : std::nullopt;
    if (!id) {
      llvm::consumeError(value.takeError());
      rest << line << "\n";
      continue;
    }
    if (known.insert(code->str()).second) {
      const DiagnosticInfo &info = diagnosticInfo(*id);
      rules.push_back(json::Object{{"id", info.code},
                                   {"name", info.name},
                                   {"fullDescription", json::Object{{"text", info.explain}}}});
    }
    all.push_back(std::move(*value));
  }
  json::Value log = json::Object{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::Array{json::Object{
                   {"tool", json::Object{{"driver", json::Object{{"name", "tilec"},
                                                                 {"version", version},
                                                                 {"rules", std::move(rules)}}}}},
                   {"columnKind", "unicodeCodePoints"},
                   {"results", std::move(all)}}}}};
  return llvm::formatv("{0:2}", log).str() + "\n";
}
