// Imports: finds and parses the files that a program imports, and those that they import.
#ifndef TILE_FRONTEND_PARSE_IMPORTS_H
#define TILE_FRONTEND_PARSE_IMPORTS_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>

namespace tile {

/// A file of the library that comes with the compiler: "std/norms.tile" and its text.
struct LibraryFile {
  llvm::StringRef name, text;
};

/// Diagnostics call a file of the library by this prefix and its name.
constexpr llvm::StringLiteral libraryPrefix = "<tile>/";

/// Loads imports and owns the programs that they lead to. Each file is read once, however many
/// import it.
class ImportLoader {
public:
  /// `folders` are those of -I. Both arrays must outlive the loader.
  ImportLoader(SourceManager &sources, DiagnosticEngine &diagnostics,
               llvm::ArrayRef<std::string> folders, llvm::ArrayRef<LibraryFile> library)
      : sources(sources), diagnostics(diagnostics), folders(folders), library(library) {}

  /// Sets `program` of every import that can be reached from `main`. False after an error: a file
  /// that is nowhere or does not parse, or a cycle.
  bool load(ast::Program &main);

private:
  /// Where an import leads: a path, or a name in the library.
  struct Place {
    std::string path;
    const LibraryFile *file = nullptr;
  };
  /// An import that is being loaded.
  struct Open {
    std::string key;
    const ast::ImportDecl *import; // null for the main program
  };

  bool loadImports(ast::Program &program);
  bool loadImport(ast::ImportDecl &import);
  std::optional<Place> find(llvm::StringRef path, FileID importer) const;
  const LibraryFile *findInLibrary(llvm::StringRef name) const;
  void reportMissing(const ast::ImportDecl &import);
  void reportCycle(const ast::ImportDecl &import, size_t first);

  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  llvm::ArrayRef<std::string> folders;
  llvm::ArrayRef<LibraryFile> library;
  std::vector<Open> open;
  std::map<std::string, std::unique_ptr<ast::Program>>
      programs; // by real path; null for one with errors
};

} // namespace tile

#endif
