// The search for imported files, and the walk over who imports whom.
//
//   import "a/b.tile"   1. beside the file that imports, in the library for one of the library
//                       2. in the folders of -I, in their order
//                       3. in the library
//   `open`       main -> a -> b: the way to the file at hand; one that is met again is a cycle
//   `programs`   files that were read, by real path; null: read, with errors
#include "frontend/Parse/Imports.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Parse/Parser.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

/// Imports may be nested this deep; the walk over them recurses.
static constexpr size_t maxImportDepth = 100;

/// One spelling for every way to a file.
/// Links and `..` would else make two programs, and two sets of declarations, of one file.
static std::string realPath(llvm::StringRef name) {
  llvm::SmallString<256> real;
  return fs::real_path(name, real) ? name.str() : real.str().str();
}

bool ImportLoader::load(ast::Program &main) {
  llvm::StringRef name = sources.name(main.range.file);
  open.push_back({realPath(name), nullptr});
  bool good = loadImports(main);
  open.pop_back();
  return good;
}

/// Goes on after a failure, so that one call reports all that is missing.
bool ImportLoader::loadImports(ast::Program &program) {
  bool good = true;
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl.get()))
      good &= loadImport(*import);
  return good;
}

const LibraryFile *ImportLoader::findInLibrary(llvm::StringRef name) const {
  for (const LibraryFile &file : library)
    if (file.name == name)
      return &file;
  return nullptr;
}

std::optional<ImportLoader::Place> ImportLoader::find(llvm::StringRef name, FileID importer) const {
  // Devices and pipes are no source text, and some never end.
  auto inFolder = [&](llvm::StringRef folder) -> std::optional<Place> {
    llvm::SmallString<256> full(folder);
    path::append(full, name);
    if (fs::is_regular_file(full))
      return Place{full.str().str(), nullptr};
    // A file that appears there later changes the result: the compile cache keeps these paths.
    sources.noteAbsent(full.str().str());
    return std::nullopt;
  };
  auto inLibrary = [&](llvm::StringRef folder) -> std::optional<Place> {
    llvm::SmallString<128> full(folder);
    path::append(full, path::Style::posix, name);
    path::remove_dots(full, /*remove_dot_dot=*/true, path::Style::posix);
    const LibraryFile *file = findInLibrary(full);
    return file ? std::optional(Place{(llvm::Twine(libraryPrefix) + full).str(), file})
                : std::nullopt;
  };
  if (path::is_absolute(name))
    return inFolder("");
  llvm::StringRef beside = sources.name(importer);
  bool fromLibrary = beside.consume_front(libraryPrefix);
  if (beside == "<stdin>")
    beside = "";
  beside = path::parent_path(beside);
  if (auto found = fromLibrary ? inLibrary(beside) : inFolder(beside))
    return found;
  for (const std::string &folder : folders)
    if (auto found = inFolder(folder))
      return found;
  return inLibrary("");
}

bool ImportLoader::loadImport(ast::ImportDecl &import) {
  std::optional<Place> place = find(import.path, import.pathRange.file);
  if (!place) {
    reportMissing(import);
    return false;
  }
  std::string key = place->file ? place->path : realPath(place->path);
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i].key == key) {
      reportCycle(import, i);
      return false;
    }
  // Null for a file whose errors were reported when it was read: the second import says nothing.
  if (auto known = programs.find(key); known != programs.end()) {
    import.program = known->second.get();
    return import.program != nullptr;
  }
  // Before the file is read: a chain that some tool generates must not exhaust the stack.
  if (open.size() > maxImportDepth) {
    diagnostics.report(diag::importDepth, import.pathRange, maxImportDepth);
    return false;
  }
  std::string error;
  std::optional<FileID> file = place->file
                                   ? std::optional(sources.addText(place->path, place->file->text))
                                   : sources.addFile(place->path, error);
  if (!file) {
    diagnostics.report(diag::importNotFound, import.pathRange, import.path)
        .note("'" + place->path + "' cannot be read: " + error);
    return false;
  }
  std::unique_ptr<ast::Program> program = parseFile(sources, *file, diagnostics);
  if (!program) {
    programs[key] = nullptr;
    return false;
  }
  ast::Program *loaded = program.get();
  // Owned before its own imports are loaded: they may lead back, which `open` finds.
  programs[key] = std::move(program);
  open.push_back({key, &import});
  bool good = loadImports(*loaded);
  open.pop_back();
  import.program = loaded;
  return good;
}

void ImportLoader::reportMissing(const ast::ImportDecl &import) {
  DiagnosticBuilder report =
      diagnostics.report(diag::importNotFound, import.pathRange, import.path);
  auto offer = [&](const std::string &name) {
    report.fixIt(import.pathRange, "\"" + name + "\"", "did you mean \"" + name + "\"?");
  };
  if (find(import.path + ".tile", import.pathRange.file))
    return offer(import.path + ".tile");
  std::vector<std::string> names;
  for (const LibraryFile &file : library)
    names.push_back(file.name.str());
  std::string near = suggest(import.path, names);
  if (!near.empty())
    return offer(near);
  std::string places = "beside this file";
  for (const std::string &folder : folders)
    places += ", in '" + folder + "'";
  report.note("searched " + places + " and in the compiler's library (std/...)");
}

void ImportLoader::reportCycle(const ast::ImportDecl &import, size_t first) {
  DiagnosticBuilder report = diagnostics.report(diag::importCycle, import.pathRange, import.path);
  for (size_t i = first; i < open.size(); ++i)
    if (open[i].import)
      report.note(open[i].import->pathRange, "\"" + open[i].import->path + "\" is imported here");
}
