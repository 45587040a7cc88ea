// AST: declarations, the clauses of kernels, and the program.
#ifndef TILE_FRONTEND_AST_DECL_H
#define TILE_FRONTEND_AST_DECL_H

#include "frontend/Ast/Stmt.h"

namespace tile::ast {

/// Base of all declarations.
struct Decl : Node {
  enum class Kind { Import, Const, Fn, Kernel };
  const Kind kind;
  Ident name;      // empty text for an import without `as`
  std::string doc; // the `///` lines before it, without the slashes, joined by '\n'

  virtual ~Decl() = default;

protected:
  explicit Decl(Kind kind) : kind(kind) {}
};
using DeclPtr = std::unique_ptr<Decl>;

/// `import "norms.tile";`, `import "norms.tile" as n;` (then `name` is n).
struct ImportDecl : Decl {
  std::string path;
  Range pathRange;
  const struct Program *program = nullptr; // the imported file's, once ImportLoader has found it

  bool hasAlias() const { return !name.text.empty(); }

  ImportDecl() : Decl(Kind::Import) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Import; }
};

/// `const LOG2E: float = 1.44;`, `const NF4: f32[16] = […];`.
struct ConstDecl : Decl {
  std::optional<TypeSpec> type;
  ExprPtr value;

  ConstDecl() : Decl(Kind::Const) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Const; }
};

/// A compile-time parameter `NAME: kind in set = default`.
struct StaticParam : Node {
  Ident name;
  Ident type; // int, bool, float, string, dtype or fn; the elaborator refuses others
  std::optional<ValueSet> set;
  ExprPtr defaultValue; // may be null
  std::string doc;
};

/// A parameter of a function, `x`, `x: type`, `x = default`.
struct FnParam : Node {
  Ident name;
  std::optional<TypeSpec> type;
  ExprPtr defaultValue; // may be null; then so it is of all before it
};

/// `fn name[statics](params) { … }`.
struct FnDecl : Decl {
  std::vector<StaticParam> statics;
  std::vector<FnParam> params;
  Block body;

  FnDecl() : Decl(Kind::Fn) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Fn; }
};

/// How a kernel uses a tensor parameter; `none` marks a scalar parameter.
enum class Access { none, in, out, inout };

/// `name: in T[dims; strides] * count = fill if condition`.
struct Param : Node {
  Ident name;
  Access access = Access::none;
  TypeSpec type;
  ExprPtr count;        // `* n`; may be null
  ExprPtr defaultValue; // fill of an `out`, default of a scalar; may be null
  ExprPtr condition;    // `if COND`; may be null
  std::string doc;
};

/// One contract of `where` or `specialize`: a condition, or `value in set opt hint`.
struct Contract : Node {
  ExprPtr value; // the condition, or what is in the set
  std::optional<ValueSet> set;
  ExprPtr hint; // `opt`; may be null
};

/// Base of a kernel's clauses.
struct Clause : Node {
  enum class Kind { Where, Specialize, Grid, With, Tune };
  const Kind kind;

  virtual ~Clause() = default;

protected:
  explicit Clause(Kind kind) : kind(kind) {}
};
using ClausePtr = std::unique_ptr<Clause>;

struct WhereClause : Clause {
  std::vector<Contract> contracts;

  WhereClause() : Clause(Kind::Where) {}
  static bool classof(const Clause *c) { return c->kind == Kind::Where; }
};

struct SpecializeClause : Clause {
  std::vector<Contract> contracts;

  SpecializeClause() : Clause(Kind::Specialize) {}
  static bool classof(const Clause *c) { return c->kind == Kind::Specialize; }
};

/// `i: cdiv(M, BM)`.
struct GridAxis : Node {
  Ident name;
  ExprPtr extent;
};

struct GridClause : Clause {
  std::vector<GridAxis> axes; // the last varies fastest

  GridClause() : Clause(Kind::Grid) {}
  static bool classof(const Clause *c) { return c->kind == Kind::Grid; }
};

struct WithClause : Clause {
  std::vector<Attribute> attributes;

  WithClause() : Clause(Kind::With) {}
  static bool classof(const Clause *c) { return c->kind == Kind::With; }
};

/// One item of `tune { … }`.
struct TuneItem : Node {
  enum class Kind { Candidates, Where, Key, Config };
  struct Setting : Node { // NAME = value;
    Ident name;
    ExprPtr value;
  };

  Kind kind = Kind::Candidates;
  std::optional<Ident> name;     // Candidates: what is tuned. Config: the target, if given
  std::optional<ValueSet> set;   // Candidates
  ExprPtr condition;             // Where
  std::vector<ExprPtr> keys;     // Key
  std::vector<Setting> settings; // Config
};

struct TuneClause : Clause {
  std::vector<TuneItem> items; // in source order

  TuneClause() : Clause(Kind::Tune) {}
  static bool classof(const Clause *c) { return c->kind == Kind::Tune; }
};

/// `kernel name[statics](params) clauses { … }`.
struct KernelDecl : Decl {
  std::vector<StaticParam> statics;
  std::vector<Param> params;
  std::vector<ClausePtr>
      clauses; // in source order; the parser sees to it that only `specialize` repeats
  Block body;

  /// The only clause of a kind, or null: clause<GridClause>().
  template <typename T> const T *clause() const {
    for (const ClausePtr &c : clauses)
      if (auto *found = llvm::dyn_cast<T>(c.get()))
        return found;
    return nullptr;
  }

  KernelDecl() : Decl(Kind::Kernel) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Kernel; }
};

/// One file's declarations, in source order.
struct Program : Node {
  std::vector<DeclPtr> decls;
};

} // namespace tile::ast

#endif
