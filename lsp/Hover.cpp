// The text that an editor shows for the word under the cursor.
// Values come from kernels that were elaborated: a function's local has one for each kernel that
// calls the function, and none in a file where no kernel does.
#include "frontend/Sema/DTypes.h"
#include "lsp/Features.h"

#include "TileLexer.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;

std::vector<SeenValue> tile::lsp::findValues(const Document &document, Range range) {
  std::vector<SeenValue> found;
  for (const auto &[file, facts] : document.getFacts())
    if (const Value *value = facts.values.find(range))
      found.push_back({facts.name, *value});
  return found;
}

static std::string codeBlock(StringRef code) { return ("```tile\n" + code + "\n```\n").str(); }

/// The contracts of a kernel that name something.
/// By tokens, as the text may not parse: a condition is the text between two commas outside of
/// brackets.
static std::string findContracts(const Outline &outline, StringRef name) {
  std::string found;
  size_t begin = 0, depth = 0;
  bool isInside = false, names = false;
  StringRef text = outline.getText();
  auto finish = [&](size_t end) {
    if (isInside && names)
      found += (found.empty() ? "" : ", ") + text.slice(begin, end).trim().str();
    names = false;
  };
  for (const Token &token : outline.tokens) {
    if (token.begin >= outline.body)
      break;
    StringRef word = text.slice(token.begin, token.end);
    bool opens = word == "(" || word == "[" || word == "{";
    bool closes = word == ")" || word == "]" || word == "}";
    depth += opens;
    depth -= closes && depth;
    if (depth)
      names |= word == name;
    else if (token.type == TileLexer::WHERE || token.type == TileLexer::SPECIALIZE ||
             token.type == TileLexer::GRID || token.type == TileLexer::WITH ||
             token.type == TileLexer::TUNE || word == ",") {
      finish(token.begin);
      if (word != ",")
        isInside = token.type == TileLexer::WHERE || token.type == TileLexer::SPECIALIZE;
      begin = token.end;
    } else if (isCommentToken(token.type)) {
      finish(token.begin);
      begin = token.end;
    } else {
      names |= word == name;
    }
  }
  finish(outline.body);
  return found;
}

/// The values of a place, kernels that agree together.
static std::string describeValues(const std::vector<SeenValue> &values) {
  std::string text;
  constexpr size_t shown = 4;
  bool agree = llvm::all_of(
      values, [&](const SeenValue &each) { return each.value.text == values.front().value.text; });
  for (const SeenValue &each : llvm::ArrayRef(values).take_front(agree ? 1 : shown))
    text += "\n" + (agree ? "" : "in `" + each.kernel + "`: ") + each.value.text + "\n";
  if (!agree && values.size() > shown)
    text += "\nand in " + std::to_string(values.size() - shown) + " other kernels\n";
  return text;
}

static std::string describeDeclared(const Document &document, const Meaning &meaning) {
  const Outline &outline = meaning.outline();
  const Declared &declared = meaning.declaration();
  std::string text = codeBlock(getHeader(outline, declared));
  if (declared.kind == Declared::Kind::Dim)
    text = "a dimension that the arguments bind\n" + codeBlock(declared.name);
  if (declared.kind == Declared::Kind::Axis)
    text = "a position in the grid\n" + text;
  std::vector<SeenValue> values;
  // First the declaration's own place; a use has a value of its own, as `acc` differs after `acc as
  // f16`.
  if (meaning.unit)
    values = findValues(document, {meaning.unit->file, declared.begin, declared.end});
  if (values.empty() && meaning.at)
    values = findValues(document, {meaning.at->file, meaning.begin, meaning.end});
  bool isFunction = declared.kind == Declared::Kind::Fn || declared.kind == Declared::Kind::Kernel;
  if (!values.empty() && !isFunction)
    text += describeValues(values);
  if (!isFunction)
    if (std::string contracts = findContracts(outline, declared.name); !contracts.empty())
      text += "\ncontract: `" + contracts + "`\n";
  if (std::string doc = outline.docBefore(declared.wholeBegin); !doc.empty())
    text += "\n" + doc + "\n";
  if (meaning.external)
    text += "\nfrom `" + meaning.external->path + "`\n";
  return text;
}

Json tile::lsp::hover(Document &document, uint32_t offset) {
  Meaning meaning = findMeaning(document, offset);
  const Unit *unit = meaning.at ? meaning.at : document.unitAt(offset);
  if (!unit)
    return nullptr;
  std::string text;
  switch (meaning.kind) {
  case Meaning::Kind::Declared:
    text = describeDeclared(document, meaning);
    break;
  case Meaning::Kind::Builtin:
    for (StringRef rest = meaning.builtin->signature; !rest.empty();) {
      auto [form, next] = rest.split(" | ");
      text += codeBlock((meaning.name + "(" + form + ")").str());
      rest = next;
    }
    text += std::string(meaning.builtin->summary) + "\n";
    break;
  case Meaning::Kind::Dtype:
    text = codeBlock(meaning.name) + "a dtype of " +
           std::to_string(bitWidth(*findDtype(meaning.name))) + " bits\n";
    break;
  case Meaning::Kind::Attribute:
    text = codeBlock("with " + meaning.name) + "an attribute: it changes speed\n";
    break;
  case Meaning::Kind::Named:
    text = "an argument of `" + std::string(meaning.builtin->name) + "`\n" +
           codeBlock(
               (StringRef(meaning.builtin->name) + "(" + meaning.builtin->signature + ")").str());
    break;
  case Meaning::Kind::File:
    text = "`" + meaning.path + "`\n";
    break;
  default:
    break;
  }
  Range range = {unit->file, meaning.begin, meaning.end};
  bool isValue = meaning.kind != Meaning::Kind::Declared && meaning.kind != Meaning::Kind::File;
  std::vector<SeenValue> values;
  if (isValue && meaning.end > meaning.begin)
    values = findValues(document, range);
  // An operator or a bracket: the smallest expression around it that has a value.
  if (values.empty() && text.empty()) // the expression around
    for (const auto &[file, facts] : document.getFacts()) {
      Range around;
      if (const Value *value = facts.values.findAround(unit->file, offset - unit->begin, around)) {
        range = around;
        values.push_back({facts.name, *value});
        text = codeBlock(unit->text().slice(around.begin, around.end));
        break;
      }
    }
  if (isValue && meaning.kind != Meaning::Kind::Builtin && meaning.kind != Meaning::Kind::Dtype &&
      !values.empty())
    text += describeValues(values);
  if (text.empty())
    return nullptr;
  json::Object result{{"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
  if (auto shown = document.toRange(range))
    result["range"] = *shown;
  return Json(std::move(result));
}
