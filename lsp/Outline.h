// The roles of the words of one declaration, by its tokens alone: editors need it while the text is
// unfinished, when there is no AST.
#ifndef TILE_LSP_OUTLINE_H
#define TILE_LSP_OUTLINE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::lsp {

/// A token of TileLexer; `type` is its type there.
struct Token {
  size_t type;
  uint32_t begin, end;
};

/// A name that a declaration introduces: itself, or something inside it.
struct Declared {
  enum class Kind {
    Import,
    Const,
    Fn,
    Kernel,
    Static, // a compile-time parameter
    Tensor, // parameters of a kernel
    Scalar,
    Parameter, // of a function
    Dim,       // a dimension or stride that a tensor's type binds
    Axis,      // of the grid
    Let,
    Var,
    Loop
  };
  Kind kind;
  std::string name;
  uint32_t begin, end;           // of the name
  uint32_t wholeBegin, wholeEnd; // of what declares it
  uint32_t scopeBegin, scopeEnd; // where it is visible
  bool isTyped = false;          // it says its type
};

/// A place where a name is used or declared.
struct Occurrence {
  enum class Role {
    Name,
    Member,    // behind a point
    Argument,  // `name:` of a call
    Attribute, // behind `with`
    Target     // behind `config`
  };
  Role role;
  uint32_t begin, end;
  int declared = -1; // which of the declared names; none for what stands elsewhere
  int base = -1;     // Member: the occurrence before the point; Argument: the callee's
};

/// A bracket and what closes it, and the word that it belongs to.
struct Bracket {
  char kind; // ( [ {
  uint32_t begin, end;
  int callee = -1; // the occurrence of the function's name before a '('
  bool isClosed = false;
};

class Outline {
public:
  /// Reads one piece of splitDeclarations().
  explicit Outline(llvm::StringRef text);

  std::vector<Token> tokens; // comments included
  std::vector<Declared> declared;
  std::vector<Occurrence> occurrences; // in the order of the text
  std::vector<Bracket> brackets;       // in the order of their beginnings
  uint32_t body = 0;                   // where the body's '{' stands; the text's size without one

  /// The declaration itself; null for text that is none.
  const Declared *getHead() const { return hasHead ? &declared.front() : nullptr; }
  llvm::StringRef getText() const { return source; }
  llvm::StringRef text(const Declared &name) const { return getText().slice(name.begin, name.end); }
  llvm::StringRef text(const Occurrence &name) const {
    return getText().slice(name.begin, name.end);
  }
  /// The occurrence that `offset` touches.
  const Occurrence *occurrenceAt(uint32_t offset) const;
  /// The declared names that are visible at `offset`.
  std::vector<const Declared *> visibleAt(uint32_t offset) const;
  /// The innermost call around `offset`, and which of its arguments that is in.
  std::optional<std::pair<const Bracket *, unsigned>> callAt(uint32_t offset) const;
  /// The lines of a `///` comment, without slashes.
  std::string getDoc() const { return docBefore(hasHead ? declared.front().wholeBegin : 0); }
  std::string docBefore(uint32_t offset) const;
  bool isInComment(uint32_t offset) const;
  /// Does the declaration end with its text? If not, what follows is written into it.
  bool isComplete() const;

private:
  friend class OutlineReader;
  std::string source;
  bool hasHead = false;
};

/// Is this type of token a word that the grammar also takes as a name?
bool isSoftKeyword(size_t type);
bool isKeyword(size_t type);
bool isCommentToken(size_t type);
/// All keywords, by the lexer's vocabulary.
const std::vector<std::string> &keywords();

} // namespace tile::lsp

#endif
