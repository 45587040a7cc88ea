// Completion and signature help. Both go by tokens: what is being written does not parse.
//
//   before the cursor              proposed
//   nothing, between declarations  kernel fn const import
//   import "                       files of the library
//   x.                             names of an import, or members
//   as                             dtypes and compile-time parameters
//   with                           attributes, of a loop in a body, else of a kernel
//   config                         targets, and all below
//   ( or ,                         names of arguments, and all below
//   else                           names in scope, of the file, built-ins, dtypes, keywords
#include "frontend/Sema/DTypes.h"
#include "library/Library.h"
#include "lsp/Features.h"
#include "target/Target.h"

#include "TileLexer.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;
using llvm::lsp::CompletionItemKind;

namespace {

class Items {
public:
  // The first of a name wins: locals are added before names of the file, these before built-ins, as
  // the language looks them up.
  void add(StringRef name, CompletionItemKind kind, StringRef detail = "", StringRef doc = "") {
    if (name == "_" || !seen.insert(name.str()).second)
      return;
    json::Object item{{"label", name.str()}, {"kind", int(kind)}};
    if (!detail.empty())
      item["detail"] = detail.str();
    if (!doc.empty())
      item["documentation"] = doc.str();
    list.push_back(std::move(item));
  }
  Json take() { return json::Object{{"isIncomplete", false}, {"items", std::move(list)}}; }

private:
  std::set<std::string> seen;
  json::Array list;
};

} // namespace

static CompletionItemKind kindOf(Declared::Kind kind) {
  switch (kind) {
  case Declared::Kind::Import:
    return CompletionItemKind::Module;
  case Declared::Kind::Const:
  case Declared::Kind::Static:
    return CompletionItemKind::Constant;
  case Declared::Kind::Fn:
  case Declared::Kind::Kernel:
    return CompletionItemKind::Function;
  default:
    return CompletionItemKind::Variable;
  }
}

/// The tokens before `offset`, the word that is being written and comments left out; the last
/// first.
/// Three are enough for all rules below.
static std::vector<Token> tokensBefore(const Outline &outline, uint32_t offset) {
  std::vector<Token> found;
  for (const Token &each : llvm::reverse(outline.tokens)) {
    bool isWord =
        llvm::isAlpha(outline.getText()[each.begin]) || outline.getText()[each.begin] == '_';
    if (each.begin >= offset || (isWord && each.end >= offset) || isCommentToken(each.type))
      continue;
    found.push_back(each);
    if (found.size() == 3)
      break;
  }
  return found;
}

static void addNames(const Document &document, Items &items) {
  for (const std::unique_ptr<Unit> &unit : document.getUnits())
    if (const Declared *head = unit->outline.getHead())
      if (head->kind != Declared::Kind::Kernel)
        items.add(head->name, kindOf(head->kind), getHeader(unit->outline, *head),
                  unit->outline.getDoc());
  if (const Modules *modules = document.getModules())
    for (const auto &[name, decl] : modules->getMain().names)
      items.add(name,
                llvm::isa<ast::FnDecl>(*decl) ? CompletionItemKind::Function
                                              : CompletionItemKind::Constant,
                document.getShared().sources.name(decl->range.file), decl->doc);
}

static void addDtypes(Items &items) {
  for (const std::string &name : dtypeSpellings())
    items.add(name, CompletionItemKind::TypeParameter, "dtype");
}

static void addMembers(const Document &document, const Outline &outline, const Token &base,
                       Items &items) {
  StringRef name = outline.getText().slice(base.begin, base.end);
  const Modules *modules = document.getModules();
  auto found = modules ? modules->getMain().names.find(name.str())
                       : std::map<std::string, const ast::Decl *>::const_iterator();
  if (modules && found != modules->getMain().names.end())
    if (auto *import = llvm::dyn_cast<ast::ImportDecl>(found->second)) {
      const Module &module = modules->get(import->program->range.file);
      for (const std::string &each : module.declaredNames())
        items.add(each, CompletionItemKind::Function, import->path, module.findDeclared(each)->doc);
      return;
    }
  if (name == "target") {
    items.add("kind", CompletionItemKind::Property, "\"cpu\" or \"gpu\"");
    items.add("arch", CompletionItemKind::Property, "90 for capability 9.0, 0 for the CPU");
    return;
  }
  // The type of the base is not known here, as the line does not parse: members of all tiles.
  items.add("T", CompletionItemKind::Property, "the last two dimensions exchanged");
  items.add("dtype", CompletionItemKind::Property, "the dtype of its elements");
  items.add("shape", CompletionItemKind::Property, "its extents");
}

static void addArguments(Document &document, const Unit &unit, uint32_t own, Items &items) {
  auto call = unit.outline.callAt(own);
  if (!call)
    return;
  Meaning callee = findMeaning(document, unit, unit.outline.occurrences[call->first->callee]);
  if (callee.kind == Meaning::Kind::Builtin)
    for (const char *name : callee.builtin->named)
      items.add((StringRef(name) + ":").str(), CompletionItemKind::Property, callee.name);
  else if (callee.isGlobal())
    for (const Declared &each : callee.outline().declared)
      if (each.kind == Declared::Kind::Parameter)
        items.add(each.name + ":", CompletionItemKind::Property, callee.name);
}

Json tile::lsp::completion(Document &document, uint32_t offset) {
  Items items;
  const Unit *unit = document.unitAt(offset);
  uint32_t own = unit ? offset - unit->begin : 0;
  // Between declarations.
  bool isBehind = !unit || (own > unit->text().size() && unit->outline.isComplete());
  std::vector<Token> before = isBehind ? std::vector<Token>() : tokensBefore(unit->outline, own);
  auto type = [&](size_t i) { return i < before.size() ? before[i].type : size_t(0); };
  if (!isBehind && unit->text().starts_with("import")) {
    for (const LibraryFile &file : getLibrary())
      items.add(file.name, CompletionItemKind::File, "the library");
    return items.take();
  }
  if (!isBehind && unit->outline.isInComment(own))
    return items.take();
  bool isTop =
      isBehind || (type(0) == 0) || (unit->outline.getHead() == nullptr && before.size() < 2);
  if (isTop) {
    for (StringRef word : {"kernel", "fn", "const", "import"})
      items.add(word, CompletionItemKind::Keyword);
    return items.take();
  }
  const Outline &outline = unit->outline;
  own = std::min(own, uint32_t(unit->text().size())); // blanks behind it belong to nothing
  bool isBody = own > outline.body;
  if (type(0) == TileLexer::DOT && before.size() > 1) {
    addMembers(document, outline, before[1], items);
    return items.take();
  }
  if (type(0) == TileLexer::AS) {
    addDtypes(items);
    for (const Declared *each : outline.visibleAt(own))
      if (each->kind == Declared::Kind::Static)
        items.add(each->name, CompletionItemKind::Constant);
    return items.take();
  }
  if (type(0) == TileLexer::WITH) {
    for (const std::string &name : isBody ? getLoopAttributeNames() : getKernelAttributeNames())
      items.add(name, CompletionItemKind::Property, "attribute");
    return items.take();
  }
  if (type(0) == TileLexer::CONFIG) {
    items.add("cpu", CompletionItemKind::EnumMember, "target");
    for (const GPUTarget &target : getGPUTargets())
      items.add(StringRef(target.name), CompletionItemKind::EnumMember, "target");
  }
  if (type(0) == TileLexer::LPAREN || type(0) == TileLexer::COMMA)
    addArguments(document, *unit, own, items);
  for (const Declared *each : outline.visibleAt(own)) {
    std::vector<SeenValue> values = findValues(document, {unit->file, each->begin, each->end});
    items.add(each->name, kindOf(each->kind),
              values.empty() ? getHeader(outline, *each) : values.front().value.text,
              outline.docBefore(each->wholeBegin));
  }
  addNames(document, items);
  for (const std::string &name : builtinNames()) {
    const Builtin &builtin = *findBuiltin(name);
    items.add(name, CompletionItemKind::Function, name + "(" + builtin.signature + ")",
              builtin.summary);
  }
  addDtypes(items);
  for (const std::string &word : keywords())
    items.add(word, CompletionItemKind::Keyword);
  return items.take();
}

//===--- Signature help ---------------------------------------------------===//

static json::Object makeSignature(StringRef name, llvm::ArrayRef<std::string> params,
                                  StringRef doc) {
  std::string label = name.str() + "(";
  json::Array parameters;
  for (auto [i, param] : llvm::enumerate(params)) {
    label += i ? ", " : "";
    parameters.push_back(json::Object{
        {"label", json::Array{int64_t(label.size()), int64_t(label.size() + param.size())}}});
    label += param;
  }
  return json::Object{
      {"label", label + ")"}, {"parameters", std::move(parameters)}, {"documentation", doc.str()}};
}

/// Which parameter an argument is for: by its name, else by its place.
/// An index behind the last parameter is that of the last.
static int64_t activeParameter(llvm::ArrayRef<std::string> params, StringRef named,
                               unsigned index) {
  for (auto [i, param] : llvm::enumerate(params))
    if (!named.empty() && StringRef(param).take_until([](char c) { return c == ':'; }) == named)
      return int64_t(i);
  return std::min<int64_t>(index, int64_t(params.size()) - 1);
}

Json tile::lsp::signatureHelp(Document &document, uint32_t offset) {
  const Unit *unit = document.unitAt(offset);
  if (!unit)
    return nullptr;
  uint32_t own = offset - unit->begin;
  auto call = unit->outline.callAt(own);
  if (!call)
    return nullptr;
  auto [bracket, index] = *call;
  Meaning callee = findMeaning(document, *unit, unit->outline.occurrences[bracket->callee]);
  StringRef named; // `axis:` of the argument at hand
  for (const Occurrence &each : unit->outline.occurrences)
    if (each.role == Occurrence::Role::Argument && each.base == bracket->callee && each.begin < own)
      if (!unit->text().slice(each.end, own).contains(','))
        named = unit->outline.text(each);
  json::Array signatures;
  int64_t active = 0, parameter = 0;
  if (callee.kind == Meaning::Kind::Builtin) {
    for (StringRef rest = callee.builtin->signature; !rest.empty();) {
      auto [form, next] = rest.split(" | ");
      rest = next;
      llvm::SmallVector<StringRef> parts;
      form.split(parts, ", ");
      std::vector<std::string> params(parts.begin(), parts.end());
      // Of several forms of a built-in the last that has room for the argument is shown.
      bool fits = index < params.size() && (named.empty() || form.contains((named + ":").str()));
      if (fits) {
        active = int64_t(signatures.size());
        parameter = activeParameter(params, named, index);
      }
      signatures.push_back(makeSignature(callee.name, params, callee.builtin->summary));
    }
  } else if (callee.isGlobal() && callee.declaration().kind == Declared::Kind::Fn) {
    std::vector<std::string> params;
    for (const Declared &each : callee.outline().declared)
      if (each.kind == Declared::Kind::Parameter)
        params.push_back(getHeader(callee.outline(), each));
    parameter = activeParameter(params, named, index);
    signatures.push_back(makeSignature(callee.name, params, callee.outline().getDoc()));
  } else {
    return nullptr;
  }
  return json::Object{{"signatures", std::move(signatures)},
                      {"activeSignature", active},
                      {"activeParameter", std::max<int64_t>(parameter, 0)}};
}
