// Collects each file's names and finds those that are taken twice.
//
//   main.tile                 Module::names of main.tile
//     import "a.tile"          what a.tile declares (not what a.tile imports)
//     import "b.tile" as b     b, the ImportDecl; its names are asked for as b.x
//     fn f ...                 f
//
// One Module for each file, found by FileID; the declarations belong to the Program, which must
// outlive the Modules. A file that several others import is added once. Imports in a circle have
// been reported by the parser (Imports.cpp) and have no `program`.
#include "frontend/Sema/Modules.h"

using namespace tile;

/// Kernels are not imported, and what `as` names is visible in its own file only.
static bool isExported(const ast::Decl &decl) {
  return llvm::isa<ast::ConstDecl, ast::FnDecl>(decl);
}

const ast::Decl *Module::findDeclared(llvm::StringRef name) const {
  auto found = names.find(name.str());
  bool own = found != names.end() && isExported(*found->second) &&
             found->second->range.file == program->range.file;
  return own ? found->second : nullptr;
}

std::vector<std::string> Module::declaredNames() const {
  std::vector<std::string> result;
  for (const auto &[name, decl] : names)
    if (findDeclared(name))
      result.push_back(name);
  return result;
}

Modules::Modules(const ast::Program &main, DiagnosticEngine &diagnostics)
    : mainFile(main.range.file) {
  add(main, diagnostics);
}

void Modules::add(const ast::Program &program, DiagnosticEngine &diagnostics) {
  auto [place, isNew] = modules.try_emplace(program.range.file);
  if (!isNew)
    return;
  Module &module = place->second;
  module.program = &program;
  // What the file declares; kernels take a name too, though nothing refers to them.
  std::map<std::string, Range> taken;
  for (const ast::DeclPtr &decl : program.decls) {
    const std::string &name = decl->name.text;
    if (decl->range.file != program.range.file)
      parts[decl->range.file] = program.range.file;
    if (name.empty())
      continue;
    // The first declaration wins: later code refers to it, and no second report follows from the
    // clash.
    auto [earlier, fresh] = taken.emplace(name, decl->name.range);
    if (!fresh)
      diagnostics.report(diag::redefinition, decl->name.range, name)
          .note(earlier->second, "first defined here");
    else if (!llvm::isa<ast::KernelDecl>(*decl))
      module.names.emplace(name, decl.get());
  }
  // What it imports.
  for (const ast::DeclPtr &decl : program.decls) {
    auto *import = llvm::dyn_cast<ast::ImportDecl>(decl.get());
    if (!import || !import->program)
      continue;
    for (const ast::DeclPtr &brought : import->program->decls) {
      const std::string &name = brought->name.text;
      if (import->hasAlias() || !isExported(*brought))
        continue;
      auto known = module.names.find(name);
      // Files are parsed once each, so the same declaration has the same address.
      if (known != module.names.end() && known->second == brought.get())
        continue; // the same file, imported twice
      auto [earlier, fresh] = taken.emplace(name, brought->name.range);
      if (fresh)
        module.names.emplace(name, brought.get());
      else
        diagnostics.report(diag::importClash, import->pathRange, name, import->path)
            .note(earlier->second, "first defined here")
            .note(brought->name.range, "and here in the imported file");
    }
    add(*import->program, diagnostics);
  }
}
