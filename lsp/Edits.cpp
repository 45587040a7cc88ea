// Diagnostics and what changes the text: code actions, rename, formatting.
#include "frontend/Parse/Format.h"
#include "frontend/Sema/DTypes.h"
#include "lsp/Features.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;

Json tile::lsp::toJson(Workspace &workspace, const Location &location) {
  return json::Object{{"uri", workspace.toUri(location.path)}, {"range", location.range}};
}

/// A place of a diagnostic, in the document or in a file that it imports.
/// Nothing for a range that no file has: a note without a place, which is then added to the
/// message.
static std::optional<tile::lsp::Location> locate(const Document &document, Range range) {
  if (auto own = document.toRange(range))
    return tile::lsp::Location{document.getPath(), *own};
  if (!range.isValid())
    return std::nullopt;
  const SourceManager &sources = document.getShared().sources;
  Text text(sources.text(range.file).str(), document.getEncoding());
  return tile::lsp::Location{normalize(sources.name(range.file)),
                             text.range(range.begin, range.end)};
}

static json::Object toJson(Workspace &workspace, const Document &document,
                           const Diagnostic &diagnostic) {
  int severity = diagnostic.severity == Severity::error     ? 1
                 : diagnostic.severity == Severity::warning ? 2
                                                            : 3;
  std::string message = diagnostic.message;
  json::Array related;
  auto relate = [&](Range range, const std::string &text) {
    if (std::optional<Location> place = locate(document, range))
      related.push_back(json::Object{{"location", toJson(workspace, *place)}, {"message", text}});
    else
      message += "\n" + text;
  };
  for (const Diagnostic::Label &label : diagnostic.labels)
    relate(label.range, label.text);
  for (const Diagnostic::Note &note : diagnostic.notes)
    relate(note.range, note.text);
  std::optional<llvm::lsp::Range> range = document.toRange(diagnostic.range);
  json::Object result{{"range", range ? *range : llvm::lsp::Range()},
                      {"severity", severity},
                      {"code", diagnostic.code()},
                      {"source", "tile"},
                      {"message", message}};
  if (!related.empty())
    result["relatedInformation"] = std::move(related);
  if (diagnostic.id == diag::neverRead)
    result["tags"] = json::Array{1};
  return result;
}

Json tile::lsp::publishedDiagnostics(Workspace &workspace, const Document &document) {
  json::Array list;
  for (const Diagnostic &each : document.getDiagnostics())
    list.push_back(::toJson(workspace, document, each));
  return json::Object{{"uri", workspace.toUri(document.getPath())},
                      {"version", document.version},
                      {"diagnostics", std::move(list)}};
}

Json tile::lsp::codeActions(Workspace &workspace, const Document &document,
                            llvm::lsp::Range range) {
  json::Array actions;
  for (const Diagnostic &diagnostic : document.getDiagnostics()) {
    std::optional<llvm::lsp::Range> place = document.toRange(diagnostic.range);
    if (!place || range.end < place->start || place->end < range.start)
      continue;
    for (const Diagnostic::FixIt &fix : diagnostic.fixIts) {
      std::optional<llvm::lsp::Range> edited = document.toRange(fix.range);
      if (!edited)
        continue;
      json::Object edit{{"range", *edited}, {"newText", fix.replacement}};
      actions.push_back(json::Object{
          {"title", fix.text},
          {"kind", "quickfix"},
          // Editors apply a preferred action without asking: one for each diagnostic, and of a
          // warning only where there is no choice.
          {"isPreferred",
           &fix == &diagnostic.fixIts.front() &&
               (diagnostic.severity == Severity::error || diagnostic.fixIts.size() == 1)},
          {"diagnostics", json::Array{::toJson(workspace, document, diagnostic)}},
          {"edit", json::Object{{"changes", json::Object{{workspace.toUri(document.getPath()),
                                                          json::Array{std::move(edit)}}}}}}});
    }
  }
  return actions;
}

//===--- Rename -----------------------------------------------------------===//

/// Why a name cannot be changed; empty if it can.
/// The library is in the compiler: there is no file that a rename could change.
static std::string whyFixed(Workspace &workspace, const Document &document,
                            const Meaning &meaning) {
  if (meaning.kind != Meaning::Kind::Declared)
    return meaning.name.empty() ? "there is no name here"
                                : "'" + meaning.name + "' belongs to the language";
  std::optional<Location> place = getLocation(document, meaning);
  if (!place || StringRef(place->path).starts_with(libraryPrefix))
    return "'" + meaning.name + "' belongs to the compiler's library";
  return "";
}

Json tile::lsp::prepareRename(Workspace &workspace, Document &document, uint32_t offset) {
  Meaning meaning = findMeaning(document, offset);
  if (!meaning.at || !whyFixed(workspace, document, meaning).empty())
    return nullptr;
  return json::Object{{"range", document.getText().range(meaning.at->begin + meaning.begin,
                                                         meaning.at->begin + meaning.end)},
                      {"placeholder", meaning.name}};
}

/// Why a declaration cannot have this name; empty if it can.
/// Refuses more than a program needs, so that no use changes its meaning: a new name must not hide,
/// nor be hidden, anywhere in the file.
static std::string whyNotCalled(const Document &document, const Meaning &meaning, StringRef name) {
  bool isWord = !name.empty() && !llvm::isDigit(name.front()) &&
                llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isWord || name == "_")
    return "'" + name.str() + "' is no name: letters, digits and '_', no digit first";
  if (llvm::is_contained(keywords(), name) || findDtype(name))
    return "'" + name.str() + "' is a word of the language";
  if (findBuiltin(name))
    return "'" + name.str() + "' is a built-in function";
  if (document.findUnit(name) || document.findDecl(name))
    return "'" + name.str() + "' is declared in this file already";
  auto declares = [&](const Outline &outline) {
    return llvm::any_of(outline.declared, [&](const Declared &each) { return each.name == name; });
  };
  if (!meaning.isGlobal())
    return declares(meaning.outline()) ? "'" + name.str() + "' is declared here already" : "";
  for (const std::unique_ptr<Unit> &unit : document.getUnits())
    if (declares(unit->outline))
      return "'" + name.str() + "' is a local name in this file";
  return "";
}

Json tile::lsp::rename(Workspace &workspace, Document &document, uint32_t offset, StringRef name,
                       std::string &problem) {
  Meaning meaning = findMeaning(document, offset);
  problem = whyFixed(workspace, document, meaning);
  if (problem.empty() && name != meaning.name)
    problem = whyNotCalled(document, meaning, name);
  if (!problem.empty())
    return nullptr;
  std::map<std::string, json::Array> changes;
  for (const Location &place : findReferences(workspace, document, meaning, true))
    changes[workspace.toUri(place.path)].push_back(
        json::Object{{"range", place.range}, {"newText", name.str()}});
  json::Object result;
  for (auto &[uri, edits] : changes)
    result[uri] = std::move(edits);
  return json::Object{{"changes", std::move(result)}};
}

//===--- Formatting -------------------------------------------------------===//

/// A source manager of its own: the text counts as a whole here, not by declarations, and its
/// diagnostics are not shown. Null for a text that does not parse: such a text is not touched.
Json tile::lsp::formatting(const Document &document) {
  SourceManager own;
  DiagnosticEngine quiet(own);
  StringRef old = document.getText().str();
  FileID file = own.addText(document.getPath(), old);
  std::optional<std::string> changed = formatFile(own, file, quiet);
  if (!changed)
    return nullptr;
  StringRef text = *changed;
  if (text == old)
    return json::Array();
  // One edit, without the lines that both begin and end with.
  // Whole lines, so that the cursor of an editor stays where the text stays.
  size_t same = 0, tail = 0, most = std::min(text.size(), old.size());
  while (same < most && text[same] == old[same])
    ++same;
  while (same && old[same - 1] != '\n')
    --same;
  while (tail < most - same && text[text.size() - 1 - tail] == old[old.size() - 1 - tail])
    ++tail;
  while (tail && old[old.size() - tail - 1] != '\n')
    --tail;
  return json::Array{
      json::Object{{"range", document.getText().range(uint32_t(same), uint32_t(old.size() - tail))},
                   {"newText", text.slice(same, text.size() - tail).str()}}};
}
