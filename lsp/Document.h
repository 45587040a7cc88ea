// An open file: its declarations, each parsed by itself and kept while its text stays the same, and
// what is known of them.
#ifndef TILE_LSP_DOCUMENT_H
#define TILE_LSP_DOCUMENT_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Parse/Imports.h"
#include "frontend/Sema/Modules.h"
#include "lsp/Outline.h"
#include "lsp/Text.h"
#include "lsp/Values.h"
#include "target/Target.h"

#include <memory>

namespace mlir {
class MLIRContext;
}

namespace tile::lsp {

/// Settings of the client for all files.
struct Settings {
  std::string target = std::string(getFallbackTarget().name);
  std::vector<std::string> includes;
  std::vector<std::pair<std::string, std::string>> defines;
};

/// State that all documents share.
struct Shared {
  SourceManager sources;
  Settings settings;
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned elaborations = 0; // since the context was made
  /// Counts changes of files that others may import.
  uint64_t revision = 0;

  Shared();
  ~Shared();
  /// Makes the context anew now and then: it never forgets a constant.
  mlir::MLIRContext &getContext();
};

/// One declaration. Its text is a file of its own, so that its AST stays good while it moves.
struct Unit {
  Unit(Shared &shared, llvm::StringRef path, llvm::StringRef text);
  ~Unit();
  Unit(const Unit &) = delete;
  Unit &operator=(const Unit &) = delete;

  Shared &shared;
  FileID file;
  uint32_t begin = 0; // in the document
  size_t index = 0;   // among its units
  Outline outline;
  std::vector<Diagnostic> syntax;
  std::vector<ast::DeclPtr> decls; // none while the program has them
  bool isBroken = false;           // it does not parse
  llvm::StringRef text() const { return shared.sources.text(file); }
};

/// Results of the elaboration of one kernel.
struct KernelFacts {
  std::string fingerprint; // of all that it depends on
  std::string name;
  std::vector<Diagnostic> diagnostics;
  Values values;
};

class Document {
public:
  Document(Shared &shared, std::string path, std::string text, Encoding encoding, int64_t version);
  ~Document();

  const std::string &getPath() const { return path; }
  const Text &getText() const { return text; }
  Encoding getEncoding() const { return text.getEncoding(); }
  int64_t version;

  void replace(std::optional<llvm::lsp::Range> range, llvm::StringRef with);

  /// Brings everything up to date with the text, of which only what has changed is looked at.
  /// Without `withKernels` no kernel is elaborated.
  void update(bool withKernels = true);
  bool isUpToDate() const;
  /// Forgets what depends on settings.
  void forget();

  llvm::ArrayRef<std::unique_ptr<Unit>> getUnits() const { return units; }
  const Unit *unitAt(uint32_t offset) const;
  const Unit *unitOf(FileID file) const;
  /// All diagnostics of the text, in its order; ranges are in files of units, or of imports.
  const std::vector<Diagnostic> &getDiagnostics() const { return diagnostics; }
  const std::map<FileID, KernelFacts> &getFacts() const { return facts; }
  const Modules *getModules() const { return modules.get(); }
  Shared &getShared() const { return shared; }

  /// A range of a unit in the document, if it is one.
  std::optional<llvm::lsp::Range> toRange(Range range) const;

  /// The unit that declares a name of the file, broken or not.
  const Unit *findUnit(llvm::StringRef name) const;
  /// The meaning of a name of the file: a declaration of its own or an imported one. Null if
  /// nothing or a unit that does not parse.
  const ast::Decl *findDecl(llvm::StringRef name, llvm::StringRef alias = "") const;

  /// Work done so far, for tests: pieces parsed, kernels elaborated.
  unsigned parsedUnits = 0, checkedKernels = 0;

private:
  void updateUnits();
  void updateImports();
  std::string fingerprint(const Unit &kernel) const;
  void checkKernel(const ast::KernelDecl &kernel, KernelFacts &result);
  bool isFollowUp(const Diagnostic &diagnostic) const;
  Diagnostic moveToImport(Diagnostic diagnostic) const;

  Shared &shared;
  std::string path;
  Text text;
  FileID whole = FileID::none; // stands for the file; its text is empty
  std::vector<std::unique_ptr<Unit>> units;
  std::map<FileID, const Unit *> unitsByFile;
  std::unique_ptr<ast::Program> program;
  std::unique_ptr<Modules> modules;
  std::map<FileID, KernelFacts> facts; // by the kernel's unit
  std::vector<Diagnostic> diagnostics;

  // Imports, loaded again when the import declarations or files elsewhere have changed.
  std::unique_ptr<ImportLoader> loader;
  std::unique_ptr<DiagnosticEngine> importEngine;
  std::vector<FileID> importUnits; // whose declarations are loaded
  std::vector<FileID> importFiles; // that the loader has added
  uint64_t importRevision = 0, importLoads = 0;

  bool isDirty = true, lacksKernels = true;
};

} // namespace tile::lsp

#endif
