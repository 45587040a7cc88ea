// From a place in a document to what stands there and where it is declared.
#ifndef TILE_LSP_NAVIGATE_H
#define TILE_LSP_NAVIGATE_H

#include "frontend/Sema/Builtins.h"
#include "lsp/Workspace.h"

namespace tile::lsp {

/// A declaration in a file that is no open document's, read once more as an outline.
struct External {
  std::string path;
  uint32_t begin; // of the piece in the file
  Text text;
  Outline outline;
};

/// The meaning of a name.
struct Meaning {
  enum class Kind {
    None,
    Declared, // by the document, or by a file that it imports
    Builtin,
    Dtype,
    Keyword,
    Attribute, // of a kernel or loop
    Named,     // `name:` of a built-in
    Member,    // behind a point, of no import
    File       // the file of an import
  };
  Kind kind = Kind::None;
  std::string name;
  const Unit *at = nullptr;           // where the name stands,
  uint32_t begin = 0, end = 0;        // and its bytes there
  const Unit *unit = nullptr;         // that declares it, in the document
  std::shared_ptr<External> external; // or elsewhere
  int declared = -1;
  const Builtin *builtin = nullptr;
  std::string path; // of a File

  const Outline &outline() const { return unit ? unit->outline : external->outline; }
  const Declared &declaration() const { return outline().declared[declared]; }
  /// Is it known in the whole file, not in one declaration only?
  bool isGlobal() const { return kind == Kind::Declared && declared == 0; }
};

/// The meaning of the word that `offset` touches.
Meaning findMeaning(Document &document, uint32_t offset);
/// The meaning of one occurrence of a unit.
Meaning findMeaning(Document &document, const Unit &unit, const Occurrence &occurrence);

/// `kernel f(...) where ... grid (...)`: a declaration without its body; a parameter as a whole.
std::string getHeader(const Outline &outline, const Declared &declared);

/// A place for the protocol.
struct Location {
  std::string path;
  llvm::lsp::Range range;
};
/// Where the meaning is declared.
std::optional<Location> getLocation(const Document &document, const Meaning &meaning);
/// All places of the workspace that mean the same.
std::vector<Location> findReferences(Workspace &workspace, Document &document,
                                     const Meaning &meaning, bool withDeclaration);

} // namespace tile::lsp

#endif
