// Document symbols, workspace symbols, folding ranges: all of outlines, so of broken code too.
#include "lsp/Features.h"
#include "lsp/Split.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;
using llvm::lsp::SymbolKind;

static SymbolKind kindOf(Declared::Kind kind) {
  switch (kind) {
  case Declared::Kind::Import:
    return SymbolKind::Namespace;
  case Declared::Kind::Const:
    return SymbolKind::Constant;
  case Declared::Kind::Static:
    return SymbolKind::TypeParameter;
  case Declared::Kind::Fn:
  case Declared::Kind::Kernel:
    return SymbolKind::Function;
  default:
    return SymbolKind::Variable;
  }
}

static const char *detailOf(Declared::Kind kind) {
  switch (kind) {
  case Declared::Kind::Import:
    return "import";
  case Declared::Kind::Const:
    return "const";
  case Declared::Kind::Fn:
    return "fn";
  case Declared::Kind::Kernel:
    return "kernel";
  case Declared::Kind::Static:
    return "compile-time parameter";
  default:
    return "parameter";
  }
}

static json::Object symbol(const Text &text, uint32_t base, const Declared &declared) {
  return json::Object{{"name", declared.name},
                      {"detail", detailOf(declared.kind)},
                      {"kind", int(kindOf(declared.kind))},
                      {"range", text.range(base + declared.wholeBegin, base + declared.wholeEnd)},
                      {"selectionRange", text.range(base + declared.begin, base + declared.end)}};
}

Json tile::lsp::documentSymbols(const Document &document) {
  json::Array found; // an array that grows copies its values, with all that they hold
  found.reserve(document.getUnits().size());
  for (const std::unique_ptr<Unit> &unit : document.getUnits()) {
    const Declared *head = unit->outline.getHead();
    if (!head)
      continue;
    json::Object own = symbol(document.getText(), unit->begin, *head);
    auto isChild = [](const Declared &each) {
      return each.kind >= Declared::Kind::Static && each.kind <= Declared::Kind::Parameter;
    };
    json::Array children;
    children.reserve(llvm::count_if(unit->outline.declared, isChild));
    for (const Declared &each : unit->outline.declared)
      if (isChild(each))
        children.push_back(symbol(document.getText(), unit->begin, each));
    own["children"] = std::move(children);
    found.push_back(std::move(own));
  }
  return found;
}

/// Files on disk are outlined and forgotten: no parse, no document that stays.
Json tile::lsp::workspaceSymbols(Workspace &workspace, StringRef query) {
  json::Array found;
  for (const std::string &path : workspace.listFiles()) {
    std::optional<Text> text;
    if (Document *document = workspace.find(path)) {
      text.emplace(document->getText());
    } else {
      auto buffer = llvm::MemoryBuffer::getFile(path);
      if (!buffer)
        continue;
      text.emplace((*buffer)->getBuffer().str(), workspace.encoding);
    }
    for (Piece piece : splitDeclarations(text->str())) {
      StringRef own = text->str().slice(piece.begin, piece.end);
      Outline outline(own);
      const Declared *head = outline.getHead();
      if (!head || !StringRef(head->name).contains_insensitive(query))
        continue;
      found.push_back(json::Object{
          {"name", head->name},
          {"kind", int(kindOf(head->kind))},
          {"location", toJson(workspace, {path, text->range(piece.begin + head->begin,
                                                            piece.begin + head->end)})}});
    }
  }
  return found;
}

Json tile::lsp::foldingRanges(const Document &document) {
  json::Array found;
  const Text &text = document.getText();
  // The protocol folds whole lines; the line of a closing bracket stays in sight (`keepsLast`).
  auto add = [&](uint32_t begin, uint32_t end, const char *kind, bool keepsLast = false) {
    uint32_t first = text.lineOf(begin), last = text.lineOf(end) - keepsLast;
    if (last <= first)
      return;
    json::Object range{{"startLine", first}, {"endLine", last}};
    if (kind)
      range["kind"] = kind;
    found.push_back(std::move(range));
  };
  std::optional<std::pair<uint32_t, uint32_t>> imports;
  for (const std::unique_ptr<Unit> &unit : document.getUnits()) {
    uint32_t base = unit->begin, end = base + uint32_t(unit->text().size());
    if (unit->text().starts_with("import"))
      imports = {imports ? imports->first : base, end};
    for (const Bracket &each : unit->outline.brackets)
      if (each.isClosed && text.lineOf(base + each.end - 1) > text.lineOf(base + each.begin) + 1)
        add(base + each.begin, base + each.end - 1, nullptr, /*keepsLast=*/true);
    // Comments in lines one below the other.
    const std::vector<Token> &tokens = unit->outline.tokens;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (!isCommentToken(tokens[i].type))
        continue;
      size_t last = i;
      while (last + 1 < tokens.size() && isCommentToken(tokens[last + 1].type) &&
             text.lineOf(base + tokens[last + 1].begin) == text.lineOf(base + tokens[last].end) + 1)
        ++last;
      add(base + tokens[i].begin, base + tokens[last].end - 1, "comment");
      i = last;
    }
  }
  if (imports)
    add(imports->first, imports->second, "imports");
  return found;
}
