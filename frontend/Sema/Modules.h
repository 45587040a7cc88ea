// Modules: what the names of each file of a compilation stand for.
#ifndef TILE_FRONTEND_SEMA_MODULES_H
#define TILE_FRONTEND_SEMA_MODULES_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"

#include <map>

namespace tile {

/// One file.
struct Module {
  const ast::Program *program = nullptr;
  /// Its constants and functions, those of files that it imports, and the names behind `as` (an
  /// ImportDecl each).
  std::map<std::string, const ast::Decl *> names;

  /// A constant or function that the file itself declares, or null: what `n.NAME` finds.
  const ast::Decl *findDeclared(llvm::StringRef name) const;
  /// The names of all those, for suggestions.
  std::vector<std::string> declaredNames() const;
};

/// The main program's module and those of all files that it imports, directly or not.
class Modules {
public:
  /// Reports names that are defined twice in one file, and those that an import brings although
  /// they are taken.
  Modules(const ast::Program &main, DiagnosticEngine &diagnostics);

  const Module &getMain() const { return modules.at(mainFile); }
  /// The module of the file that `file` names; it must be one of the compilation's.
  const Module &get(FileID file) const {
    auto part = parts.find(file);
    return modules.at(part == parts.end() ? file : part->second);
  }

private:
  void add(const ast::Program &program, DiagnosticEngine &diagnostics);

  FileID mainFile;
  std::map<FileID, Module> modules;
  /// An editor holds each declaration of a program as a text of its own: to which file it belongs.
  std::map<FileID, FileID> parts;
};

} // namespace tile

#endif
