// The work after an edit: pieces whose text is new, kernels that depend on them, imports only when
// an import or another file has changed.
//
//   text      | import .. | fn f .. | kernel k .. | kernel l .. |     split by Split.cpp
//   an edit in f             parsed                                   the others keep their trees
//   k calls f                           elaborated                    its fingerprint has changed
//   l does not                                        as before       moved, at most
//
//   Shared.sources    file 3: "fn f .."   file 4: "kernel k .."   file 9: an imported file
//   units             begin 40            begin 95                (its AST: loader's)
//   program->decls    FnDecl              KernelDecl              lent by the units between updates
//   facts             -                   by file 4               as long as the unit lives
//
// A unit moves by its `begin` alone: ranges of its AST and diagnostics are in its own file. FileIDs
// are never given twice, so the number of a file stands for its text.
#include "lsp/Document.h"
#include "frontend/Parse/Parser.h"
#include "frontend/Sema/CheckFunctions.h"
#include "frontend/Sema/UnusedNames.h"
#include "library/Library.h"
#include "lsp/Split.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;

Shared::Shared() = default;
Shared::~Shared() = default;

mlir::MLIRContext &Shared::getContext() {
  // A context keeps each constant and type that was ever made in it. This many elaborations are
  // some tens of megabytes.
  constexpr unsigned mostElaborations = 2000;
  if (!context || ++elaborations > mostElaborations) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
    elaborations = 0;
  }
  return *context;
}

//===--- Declarations -----------------------------------------------------===//

/// Diagnostics of syntax are kept with the unit, not reported: they stay true while its text does.
/// A unit that does not parse has an outline all the same, by which names are found.
Unit::Unit(Shared &shared, StringRef path, StringRef text)
    : shared(shared), file(shared.sources.addText(path, text)), outline(text) {
  DiagnosticEngine engine(shared.sources);
  if (std::unique_ptr<ast::Program> parsed = parseFile(shared.sources, file, engine))
    decls = std::move(parsed->decls);
  else
    isBroken = true;
  syntax = engine.all();
}

Unit::~Unit() { shared.sources.release(file); }

Document::Document(Shared &shared, std::string path, std::string text, Encoding encoding,
                   int64_t version)
    : version(version), shared(shared), path(std::move(path)), text(std::move(text), encoding),
      program(std::make_unique<ast::Program>()) {
  whole = shared.sources.addText(this->path, "");
  program->range = {whole, 0, 0};
}

/// In the order of who points to whom: modules into the program, the program to declarations of
/// units and to programs of the loader.
Document::~Document() {
  modules.reset();
  program.reset();
  units.clear();
  loader.reset();
  for (FileID file : importFiles)
    shared.sources.release(file);
}

void Document::replace(std::optional<llvm::lsp::Range> range, StringRef with) {
  if (range)
    text.replace(*range, with);
  else
    text.replace({{0, 0}, text.position(uint32_t(text.size()))}, with);
  // An edit of this file makes others load their imports again, not this one.
  bool isCurrent = importRevision == shared.revision;
  ++shared.revision;
  if (isCurrent)
    importRevision = shared.revision;
  isDirty = true;
}

/// Linear in the text; only new pieces are parsed. Declarations are handed back to their units
/// first, so that a unit that is kept is whole and one that is dropped takes its AST along.
void Document::updateUnits() {
  for (ast::DeclPtr &decl : program->decls)
    units[unitsByFile.at(decl->range.file)->index]->decls.push_back(std::move(decl));
  program->decls.clear();
  modules.reset();
  std::multimap<StringRef, std::unique_ptr<Unit>> known;
  for (std::unique_ptr<Unit> &unit : units) {
    StringRef key = unit->text();
    known.emplace(key, std::move(unit));
  }
  units.clear();
  unitsByFile.clear();
  for (Piece piece : splitDeclarations(text.str())) {
    StringRef own = text.str().slice(piece.begin, piece.end);
    // Of units with the same text any will do, since their ASTs are equal.
    if (auto found = known.find(own); found != known.end()) {
      units.push_back(std::move(found->second));
      known.erase(found);
    } else {
      units.push_back(std::make_unique<Unit>(shared, path, own));
      ++parsedUnits;
    }
    units.back()->begin = piece.begin;
    units.back()->index = units.size() - 1;
    unitsByFile[units.back()->file] = units.back().get();
  }
  // Before a FileID is gone for good, facts about it go: values refer to ranges in that file.
  for (auto it = facts.begin(); it != facts.end();)
    it = unitsByFile.count(it->first) ? std::next(it) : facts.erase(it);
  for (std::unique_ptr<Unit> &unit : units) {
    for (ast::DeclPtr &decl : unit->decls)
      program->decls.push_back(std::move(decl));
    unit->decls.clear();
  }
}

//===--- Imports ----------------------------------------------------------===//

/// All imports or none are loaded: files of one may import those of another. A revision that has
/// changed says only that some file may have, so that every edit elsewhere costs a load, but no
/// elaboration where no kernel uses an import.
void Document::updateImports() {
  std::vector<FileID> wanted;
  for (const ast::DeclPtr &decl : program->decls)
    if (llvm::isa<ast::ImportDecl>(*decl))
      wanted.push_back(decl->range.file);
  if (wanted != importUnits || (!wanted.empty() && importRevision != shared.revision)) {
    for (const ast::DeclPtr &decl : program->decls)
      if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl.get()))
        // It belongs to the loader that is about to be replaced.
        import->program = nullptr;
    for (FileID file : importFiles)
      shared.sources.release(file);
    importFiles.clear();
    size_t first = shared.sources.size();
    importEngine = std::make_unique<DiagnosticEngine>(shared.sources);
    loader = std::make_unique<ImportLoader>(shared.sources, *importEngine, shared.settings.includes,
                                            getLibrary());
    loader->load(*program);
    // The loader adds files, and nothing else does while it runs: all behind `first` are its own.
    for (size_t i = first; i < shared.sources.size(); ++i)
      importFiles.push_back(FileID(i));
    importUnits = std::move(wanted);
    ++importLoads;
  }
  importRevision = shared.revision;
  // An import that leads nowhere stays out: nothing behind this point expects one.
  for (auto it = program->decls.begin(); it != program->decls.end();) {
    auto *import = llvm::dyn_cast<ast::ImportDecl>(it->get());
    if (!import || import->program) {
      ++it;
      continue;
    }
    units[unitsByFile.at(import->range.file)->index]->decls.push_back(std::move(*it));
    it = program->decls.erase(it);
  }
}

/// Errors of an imported file, reported at the import.
Diagnostic Document::moveToImport(Diagnostic diagnostic) const {
  for (FileID file : importUnits) {
    const Unit *unit = unitOf(file);
    if (!unit)
      continue;
    diagnostic.notes.insert(diagnostic.notes.begin(), {diagnostic.range, diagnostic.message});
    diagnostic.message = "in '" + shared.sources.name(diagnostic.range.file).str() +
                         "', which is imported: " + diagnostic.message;
    diagnostic.range = {file, 0, uint32_t(unit->text().size())};
    diagnostic.labels.clear();
    diagnostic.fixIts.clear();
    break;
  }
  return diagnostic;
}

//===--- Kernels ----------------------------------------------------------===//

/// The texts that a kernel's values and diagnostics depend on: its own, those of the functions and
/// constants that it reaches, all constants of the file, which are evaluated with every kernel, and
/// the names of the file, among which suggestions are made.
std::string Document::fingerprint(const Unit &kernel) const {
  // FileIDs in place of texts. `seen` is ordered, so that equal sets give equal strings.
  std::string result = std::to_string(unsigned(kernel.file)) + ":";
  std::set<FileID> seen = {kernel.file};
  std::vector<const Unit *> work = {&kernel};
  for (const ast::DeclPtr &decl : program->decls)
    if (llvm::isa<ast::ConstDecl>(*decl) && seen.insert(decl->range.file).second)
      work.push_back(unitOf(decl->range.file));
  const auto &names = modules->getMain().names;
  bool usesImports = false;
  while (!work.empty()) {
    const Unit *unit = work.back();
    work.pop_back();
    for (const Occurrence &each : unit->outline.occurrences) {
      // A local name is declared by the text that holds it.
      if (each.declared >= 0)
        continue;
      auto found = names.find(unit->outline.text(each).str());
      if (found == names.end())
        continue;
      // Null for a declaration of an imported file: one number stands for all of these.
      const Unit *other = unitOf(found->second->range.file);
      usesImports |= !other || llvm::isa<ast::ImportDecl>(*found->second);
      if (other && seen.insert(other->file).second)
        work.push_back(other);
    }
  }
  for (FileID file : seen)
    result += std::to_string(unsigned(file)) + ",";
  if (usesImports)
    result += "i" + std::to_string(importLoads);
  std::string all;
  for (const auto &[name, decl] : names)
    all += name + (llvm::isa<ast::FnDecl>(*decl) ? "(" : " ");
  return result + "n" + std::to_string(llvm::xxh3_64bits(all));
}

/// Never fails: a crash or an exception of the front end becomes a diagnostic at the kernel's name,
/// and the server goes on. A define of the settings that this kernel has no parameter for is no
/// error, since settings are those of all files.
void Document::checkKernel(const ast::KernelDecl &kernel, KernelFacts &result) {
  ++checkedKernels;
  DiagnosticEngine engine(shared.sources);
  ElaborateOptions options;
  options.target = shared.settings.target;
  options.observer = &result.values;
  for (const auto &define : shared.settings.defines)
    for (const ast::StaticParam &param : kernel.statics)
      if (param.name.text == define.first)
        options.defines.push_back(define);
  mlir::MLIRContext &context = shared.getContext();
  bool failed = false;
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafely([&] {
        try {
          tile::checkKernel(*modules, kernel, options, engine, context);
        } catch (const std::exception &) {
          failed = true;
        }
      })) {
    failed = true;
    (void)shared.context.release(); // nobody knows what state it is in
  }
  result.name = kernel.name.text;
  result.diagnostics = engine.all();
  // Where time ran out, what was not seen may still be written.
  if (result.values.isEnough())
    llvm::erase_if(result.diagnostics,
                   [](const Diagnostic &each) { return each.severity != Severity::error; });
  if (failed) {
    DiagnosticEngine own(shared.sources);
    own.report(diag::internalError, kernel.name.range, "this kernel could not be checked");
    result.diagnostics.push_back(own.all().front());
  }
}

//===--- Diagnostics of a document ----------------------------------------===//

/// An unknown name that a declaration which does not parse, or an import that failed, may declare.
bool Document::isFollowUp(const Diagnostic &diagnostic) const {
  if (diagnostic.id != diag::unknownName)
    return false;
  if (importEngine && importEngine->hasErrors())
    return true;
  StringRef name = shared.sources.text(diagnostic.range);
  return llvm::any_of(units, [&](const std::unique_ptr<Unit> &unit) {
    const Declared *head = unit->outline.getHead();
    return unit->isBroken && (!head || head->name == name);
  });
}

bool Document::isUpToDate() const {
  return !isDirty && !lacksKernels && (importUnits.empty() || importRevision == shared.revision);
}

void Document::forget() {
  facts.clear();
  importUnits.clear();
  isDirty = true;
}

void Document::update(bool withKernels) {
  // Nothing to do is the usual case: every request asks for an update.
  bool importsMoved = !importUnits.empty() && importRevision != shared.revision;
  if (!isDirty && !importsMoved && !(withKernels && lacksKernels))
    return;
  updateUnits();
  updateImports();
  DiagnosticEngine engine(shared.sources);
  modules = std::make_unique<Modules>(*program, engine);
  checkFunctions(*program, *modules, engine);
  reportUnusedNames(*program, engine);
  diagnostics.clear();
  auto add = [&](const std::vector<Diagnostic> &list) {
    for (const Diagnostic &each : list)
      if (!isFollowUp(each))
        diagnostics.push_back(unitOf(each.range.file) ? each : moveToImport(each));
  };
  for (const std::unique_ptr<Unit> &unit : units)
    add(unit->syntax);
  if (importEngine && !importUnits.empty())
    add(importEngine->all());
  add(engine.all());
  for (const ast::DeclPtr &decl : program->decls) {
    auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl.get());
    // Facts of kernels stay for later where they are not asked for now.
    if (!kernel || !withKernels)
      continue;
    std::string current = fingerprint(*unitOf(kernel->range.file));
    auto [place, isNew] = facts.try_emplace(kernel->range.file);
    if (isNew || place->second.fingerprint != current) {
      place->second = KernelFacts();
      place->second.fingerprint = std::move(current);
      checkKernel(*kernel, place->second);
    }
    add(place->second.diagnostics);
  }
  // A name that nothing reads may be one that the mistake nearby was about.
  std::set<FileID> wrong;
  for (const Diagnostic &each : diagnostics)
    if (each.severity == Severity::error)
      wrong.insert(each.range.file);
  llvm::erase_if(diagnostics, [&](const Diagnostic &each) {
    return each.id == diag::neverRead && wrong.count(each.range.file);
  });
  // In the order of the text, each once: kernels repeat what is wrong in a function.
  auto key = [&](const Diagnostic &each) {
    const Unit *unit = unitOf(each.range.file);
    return std::tuple(unit ? unit->begin + each.range.begin : ~0u, each.range.size(),
                      unsigned(each.id), StringRef(each.message));
  };
  llvm::sort(diagnostics,
             [&](const Diagnostic &a, const Diagnostic &b) { return key(a) < key(b); });
  diagnostics.erase(
      std::unique(diagnostics.begin(), diagnostics.end(),
                  [&](const Diagnostic &a, const Diagnostic &b) { return key(a) == key(b); }),
      diagnostics.end());
  isDirty = false;
  lacksKernels = !withKernels;
}

const Unit *Document::unitOf(FileID file) const {
  auto found = unitsByFile.find(file);
  return found == unitsByFile.end() ? nullptr : found->second;
}

const Unit *Document::unitAt(uint32_t offset) const {
  const Unit *found = nullptr;
  for (const std::unique_ptr<Unit> &unit : units)
    if (unit->begin <= offset)
      found = unit.get();
  return found;
}

std::optional<llvm::lsp::Range> Document::toRange(Range range) const {
  const Unit *unit = unitOf(range.file);
  if (!unit)
    return std::nullopt;
  return text.range(unit->begin + range.begin, unit->begin + range.end);
}

const Unit *Document::findUnit(StringRef name) const {
  for (const std::unique_ptr<Unit> &unit : units)
    if (const Declared *head = unit->outline.getHead(); head && head->name == name)
      return unit.get();
  return nullptr;
}

const ast::Decl *Document::findDecl(StringRef name, StringRef alias) const {
  if (!modules)
    return nullptr;
  const auto &names = modules->getMain().names;
  if (alias.empty()) {
    auto found = names.find(name.str());
    return found == names.end() ? nullptr : found->second;
  }
  auto found = names.find(alias.str());
  auto *import = found == names.end() ? nullptr : llvm::dyn_cast<ast::ImportDecl>(found->second);
  return import ? modules->get(import->program->range.file).findDeclared(name) : nullptr;
}
