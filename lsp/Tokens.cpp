// Semantic colours and inlay hints.
#include "frontend/Sema/DTypes.h"
#include "lsp/Features.h"

#include "TileLexer.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

/// The order of both enums is that of the legend: a token is sent as an index into it, and
/// modifiers as bits.
enum Type {
  Namespace,
  TypeName,
  TypeParameter,
  Parameter,
  Variable,
  Property,
  Function,
  Decorator,
  Keyword,
  Comment,
  String,
  Number,
  Operator
};
enum Modifier { Declaration = 1, Readonly = 2, DefaultLibrary = 4, Documentation = 8 };

struct Colour {
  Type type;
  unsigned modifiers = 0;
};

} // namespace

Json tile::lsp::semanticTokensLegend() {
  return json::Object{
      {"tokenTypes",
       json::Array{"namespace", "type", "typeParameter", "parameter", "variable", "property",
                   "function", "decorator", "keyword", "comment", "string", "number", "operator"}},
      {"tokenModifiers",
       json::Array{"declaration", "readonly", "defaultLibrary", "documentation"}}};
}

static Colour colourOf(const Declared &declared) {
  switch (declared.kind) {
  case Declared::Kind::Import:
    return {Namespace};
  case Declared::Kind::Fn:
  case Declared::Kind::Kernel:
    return {Function};
  case Declared::Kind::Static:
    return {TypeParameter, Readonly};
  case Declared::Kind::Tensor:
  case Declared::Kind::Scalar:
  case Declared::Kind::Parameter:
    return {Parameter};
  case Declared::Kind::Var:
    return {Variable};
  default:
    return {Variable, Readonly};
  }
}

/// Nothing for a word that means nothing yet: an editor's own colours show through.
static std::optional<Colour> colourOf(Document &document, const Unit &unit,
                                      const Occurrence &occurrence) {
  Meaning meaning = findMeaning(document, unit, occurrence);
  switch (meaning.kind) {
  case Meaning::Kind::Declared: {
    Colour colour = colourOf(meaning.declaration());
    if (meaning.unit == &unit && meaning.declaration().begin == occurrence.begin)
      colour.modifiers |= Declaration;
    return colour;
  }
  case Meaning::Kind::Builtin:
    return Colour{Function, DefaultLibrary};
  case Meaning::Kind::Dtype:
    return Colour{TypeName, DefaultLibrary};
  case Meaning::Kind::Attribute:
    return Colour{Decorator};
  case Meaning::Kind::Named:
    return Colour{Parameter, DefaultLibrary};
  case Meaning::Kind::Member:
    return Colour{Property};
  default:
    if (occurrence.role == Occurrence::Role::Argument)
      return Colour{Parameter};
    return std::nullopt;
  }
}

static std::optional<Colour> colourOf(const Token &token) {
  if (token.type == TileLexer::DOC_COMMENT)
    return Colour{Comment, Documentation};
  if (isCommentToken(token.type))
    return Colour{Comment};
  if (isKeyword(token.type))
    return Colour{Keyword};
  if (token.type == TileLexer::INT || token.type == TileLexer::FLOAT)
    return Colour{Number};
  if (token.type == TileLexer::STRING || token.type == TileLexer::BAD_STRING)
    return Colour{String};
  if (token.type >= TileLexer::EQUAL_EQUAL && token.type <= TileLexer::SHIFT_RIGHT_EQUAL)
    return Colour{Operator};
  return std::nullopt;
}

/// Five numbers for each token, in the order of the text: lines and columns from the token before,
/// the width in the client's units, type, modifiers.
Json tile::lsp::semanticTokens(Document &document) {
  const Text &text = document.getText();
  json::Array data;
  llvm::lsp::Position last;
  auto emit = [&](uint32_t begin, uint32_t end, Colour colour) {
    llvm::lsp::Position at = text.position(begin);
    unsigned width = text.width(begin, end);
    if (width == 0)
      return;
    data.push_back(at.line - last.line);
    data.push_back(at.line == last.line ? at.character - last.character : at.character);
    data.push_back(width);
    data.push_back(int(colour.type));
    data.push_back(colour.modifiers);
    last = at;
  };
  for (const std::unique_ptr<Unit> &unit : document.getUnits()) {
    size_t next = 0;
    const auto &occurrences = unit->outline.occurrences;
    for (const Token &token : unit->outline.tokens) {
      // Both lists are in the order of the text: one walk goes over them together.
      while (next < occurrences.size() && occurrences[next].begin < token.begin)
        ++next;
      std::optional<Colour> colour;
      if (next < occurrences.size() && occurrences[next].begin == token.begin)
        colour = colourOf(document, *unit, occurrences[next]);
      else
        colour = colourOf(token);
      if (!colour)
        continue;
      // One for each line.
      StringRef rest = unit->text().slice(token.begin, token.end);
      for (uint32_t begin = unit->begin + token.begin; !rest.empty();) {
        auto [line, after] = rest.split('\n');
        StringRef shown = line.rtrim('\r');
        emit(begin, begin + uint32_t(shown.size()), *colour);
        begin += uint32_t(line.size()) + 1;
        rest = after;
      }
    }
  }
  return json::Object{{"data", std::move(data)}};
}

/// Where kernels see different types in one place there is no hint: none would be true.
Json tile::lsp::inlayHints(const Document &document, llvm::lsp::Range range) {
  json::Array found;
  for (const std::unique_ptr<Unit> &unit : document.getUnits())
    for (const Declared &each : unit->outline.declared) {
      bool isLocal = each.kind == Declared::Kind::Let || each.kind == Declared::Kind::Var ||
                     each.kind == Declared::Kind::Loop;
      if (!isLocal || each.isTyped)
        continue;
      llvm::lsp::Position at = document.getText().position(unit->begin + each.end);
      if (at.line < range.start.line || at.line > range.end.line)
        continue;
      std::vector<SeenValue> values = findValues(document, {unit->file, each.begin, each.end});
      bool agree = llvm::all_of(values, [&](const SeenValue &value) {
        return value.value.text == values.front().value.text;
      });
      if (values.empty() || !agree || !values.front().value.isHint)
        continue;
      found.push_back(
          json::Object{{"position", at}, {"label", ": " + values.front().value.text}, {"kind", 1}});
    }
  return found;
}
