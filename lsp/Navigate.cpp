// Names of one declaration are found in its outline, those of a file by the modules.
//
//   findMeaning(occurrence)
//     declared in the unit itself      Declared, `unit` is that one
//     the head of another unit         Declared, found by name even if that unit is broken
//     of an imported file              Declared, `external`: an outline of the declaration there
//     a built-in, a dtype, ..          by their tables
#include "lsp/Navigate.h"
#include "frontend/Sema/DTypes.h"
#include "library/Library.h"
#include "lsp/Split.h"

#include "TileLexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;

/// The declaration of an imported file, as an outline.
/// Read anew at each request: files of imports change, and requests about them are rare.
static std::shared_ptr<External> readExternal(const Document &document, const ast::Decl &decl) {
  const SourceManager &sources = document.getShared().sources;
  StringRef whole = sources.text(decl.range.file);
  for (Piece piece : splitDeclarations(whole))
    if (piece.begin <= decl.name.range.begin && decl.name.range.begin < piece.end)
      return std::make_shared<External>(External{
          normalize(sources.name(decl.range.file)), piece.begin,
          Text(whole.str(), document.getEncoding()), Outline(whole.slice(piece.begin, piece.end))});
  return nullptr;
}

static Meaning findGlobal(Document &document, Meaning meaning, StringRef alias = "") {
  if (alias.empty()) {
    // The outline first: its declaration may not parse at the moment, while its name is there.
    if (const Unit *unit = document.findUnit(meaning.name)) {
      meaning.kind = Meaning::Kind::Declared;
      meaning.unit = unit;
      meaning.declared = 0;
      return meaning;
    }
  }
  const ast::Decl *decl = document.findDecl(meaning.name, alias);
  if (decl && !document.unitOf(decl->range.file))
    if (auto external = readExternal(document, *decl); external && external->outline.getHead()) {
      meaning.kind = Meaning::Kind::Declared;
      meaning.external = std::move(external);
      meaning.declared = 0;
      return meaning;
    }
  if (!alias.empty()) {
    meaning.kind = Meaning::Kind::Member;
  } else if ((meaning.builtin = findBuiltin(meaning.name))) {
    meaning.kind = Meaning::Kind::Builtin;
  } else if (findDtype(meaning.name)) {
    meaning.kind = Meaning::Kind::Dtype;
  }
  return meaning;
}

/// `name:` of a call: a function's parameter, or an option of a built-in.
static Meaning findArgument(Document &document, const Unit &unit, Meaning meaning, int callee) {
  if (callee < 0)
    return meaning;
  Meaning function = findMeaning(document, unit, unit.outline.occurrences[callee]);
  if (function.kind == Meaning::Kind::Builtin) {
    meaning.kind = Meaning::Kind::Named;
    meaning.builtin = function.builtin;
  } else if (function.isGlobal()) {
    for (auto [i, each] : llvm::enumerate(function.outline().declared))
      if (each.name == meaning.name && each.kind == Declared::Kind::Parameter) {
        meaning.kind = Meaning::Kind::Declared;
        meaning.unit = function.unit;
        meaning.external = function.external;
        meaning.declared = int(i);
      }
  }
  return meaning;
}

Meaning tile::lsp::findMeaning(Document &document, const Unit &unit, const Occurrence &occurrence) {
  Meaning meaning;
  meaning.name = unit.outline.text(occurrence).str();
  meaning.at = &unit;
  meaning.begin = occurrence.begin;
  meaning.end = occurrence.end;
  switch (occurrence.role) {
  case Occurrence::Role::Attribute:
    meaning.kind = Meaning::Kind::Attribute;
    return meaning;
  case Occurrence::Role::Target:
    return meaning;
  case Occurrence::Role::Argument:
    return findArgument(document, unit, std::move(meaning), occurrence.base);
  case Occurrence::Role::Member: {
    meaning.kind = Meaning::Kind::Member;
    if (occurrence.base < 0)
      return meaning;
    const Occurrence &base = unit.outline.occurrences[occurrence.base];
    bool isPlain = base.role == Occurrence::Role::Name && base.declared < 0;
    return isPlain ? findGlobal(document, meaning, unit.outline.text(base)) : meaning;
  }
  case Occurrence::Role::Name:
    break;
  }
  if (occurrence.declared < 0)
    return findGlobal(document, std::move(meaning));
  meaning.kind = Meaning::Kind::Declared;
  meaning.unit = &unit;
  meaning.declared = occurrence.declared;
  return meaning;
}

Meaning tile::lsp::findMeaning(Document &document, uint32_t offset) {
  Meaning meaning;
  const Unit *unit = document.unitAt(offset);
  if (!unit)
    return meaning;
  uint32_t own = offset - unit->begin;
  if (const Occurrence *occurrence = unit->outline.occurrenceAt(own))
    return findMeaning(document, *unit, *occurrence);
  for (const Token &token : unit->outline.tokens) {
    if (own < token.begin || own > token.end)
      continue;
    meaning.at = unit;
    meaning.begin = token.begin;
    meaning.end = token.end;
    meaning.name = unit->text().slice(token.begin, token.end).str();
    if (isKeyword(token.type)) {
      meaning.kind = Meaning::Kind::Keyword;
    } else if (token.type == TileLexer::STRING) {
      const Modules *modules = document.getModules();
      for (const ast::DeclPtr &decl : modules->getMain().program->decls)
        if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl.get()))
          if (import->range.file == unit->file && import->program) {
            meaning.kind = Meaning::Kind::File;
            meaning.path =
                normalize(document.getShared().sources.name(import->program->range.file));
          }
    }
  }
  return meaning;
}

std::string tile::lsp::getHeader(const Outline &outline, const Declared &declared) {
  bool hasBody = &declared == outline.getHead() &&
                 (declared.kind == Declared::Kind::Fn || declared.kind == Declared::Kind::Kernel);
  StringRef text = outline.getText();
  text = text.slice(declared.wholeBegin, hasBody ? outline.body : declared.wholeEnd).rtrim();
  if (declared.kind == Declared::Kind::Let || declared.kind == Declared::Kind::Var ||
      declared.kind == Declared::Kind::Loop) {
    StringRef word = declared.kind == Declared::Kind::Let   ? "let "
                     : declared.kind == Declared::Kind::Var ? "var "
                                                            : "for ";
    return (word + text.split('\n').first).str();
  }
  return text.rtrim(";").str();
}

std::optional<tile::lsp::Location> tile::lsp::getLocation(const Document &document,
                                                          const Meaning &meaning) {
  if (meaning.kind == Meaning::Kind::File)
    return Location{meaning.path, {}};
  if (meaning.kind != Meaning::Kind::Declared)
    return std::nullopt;
  const Declared &declared = meaning.declaration();
  if (meaning.unit)
    return Location{document.getPath(),
                    document.getText().range(meaning.unit->begin + declared.begin,
                                             meaning.unit->begin + declared.end)};
  const External &external = *meaning.external;
  return Location{external.path, external.text.range(external.begin + declared.begin,
                                                     external.begin + declared.end)};
}

/// The places in one document that mean what is declared at `wanted`.
/// Same meaning is same place: of two names only one that leads to the `wanted` declaration counts.
static void collect(Document &document, const std::string &name, const tile::lsp::Location &wanted,
                    bool withDeclaration, std::vector<tile::lsp::Location> &found) {
  for (const std::unique_ptr<Unit> &unit : document.getUnits())
    for (const Occurrence &each : unit->outline.occurrences) {
      if (unit->outline.text(each) != name)
        continue;
      Meaning meaning = findMeaning(document, *unit, each);
      std::optional<tile::lsp::Location> declared = getLocation(document, meaning);
      if (!declared || declared->path != wanted.path || declared->range != wanted.range)
        continue;
      tile::lsp::Location place{
          document.getPath(),
          document.getText().range(unit->begin + each.begin, unit->begin + each.end)};
      bool isDeclaration = place.path == wanted.path && place.range == wanted.range;
      if (withDeclaration || !isDeclaration)
        found.push_back(std::move(place));
    }
}

std::vector<tile::lsp::Location> tile::lsp::findReferences(Workspace &workspace, Document &document,
                                                           const Meaning &meaning,
                                                           bool withDeclaration) {
  std::vector<Location> found;
  std::optional<Location> wanted = getLocation(document, meaning);
  if (!wanted || meaning.kind != Meaning::Kind::Declared)
    return found;
  collect(document, meaning.name, *wanted, withDeclaration, found);
  // Locals stay in their declaration, but a function's parameters are named by its callers.
  Declared::Kind kind = meaning.declaration().kind;
  // Kernels and imports are named in their own file alone.
  bool isExported = kind == Declared::Kind::Fn || kind == Declared::Kind::Const ||
                    kind == Declared::Kind::Parameter;
  if (!isExported)
    return found;
  for (const std::string &path : workspace.listFiles()) {
    if (path == document.getPath())
      continue;
    if (Document *other = workspace.get(path, meaning.name))
      collect(*other, meaning.name, *wanted, withDeclaration, found);
  }
  return found;
}
