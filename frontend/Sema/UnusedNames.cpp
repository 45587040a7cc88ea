// One walk over each body, with the scopes of its blocks. It works on the text, not on an instance,
// since a name may be read under a `const if` that this instance does not take.
//
// Only what `let` and `var` declare is looked for: a parameter or the variable of a loop may be
// there for its place alone.
#include "frontend/Sema/UnusedNames.h"
#include "frontend/Ast/Stmt.h"

using namespace tile;
using namespace tile::ast;

namespace {

class Reader {
public:
  explicit Reader(DiagnosticEngine &diagnostics) : diagnostics(diagnostics) {}

  void readBody(const Block &body) {
    scopes.clear();
    read(body);
  }

private:
  struct Local {
    Ident name;
    bool mayDiscard; // `_` can take its place
    bool isRead = false;
  };

  void use(llvm::StringRef name) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      // The innermost declaration of a name, and of two in one scope the later: only that one is
      // read.
      for (auto local = scope->rbegin(); local != scope->rend(); ++local)
        if (local->name.text == name) {
          local->isRead = true;
          return;
        }
  }

  void read(const ExprPtr &expr) {
    if (expr)
      read(*expr);
  }

  void read(const std::vector<ExprPtr> &exprs) {
    for (const ExprPtr &expr : exprs)
      read(expr);
  }

  void read(const std::vector<Argument> &arguments) {
    for (const Argument &argument : arguments)
      read(argument.value);
  }

  void read(const Expr &expr) {
    switch (expr.kind) {
    case Expr::Kind::IntLiteral:
    case Expr::Kind::FloatLiteral:
    case Expr::Kind::StringLiteral:
    case Expr::Kind::BoolLiteral:
    case Expr::Kind::NoneLiteral:
      return;
    case Expr::Kind::Name:
      return use(llvm::cast<NameExpr>(expr).text);
    case Expr::Kind::Unary:
      return read(llvm::cast<UnaryExpr>(expr).operand);
    case Expr::Kind::Binary:
      read(llvm::cast<BinaryExpr>(expr).lhs);
      return read(llvm::cast<BinaryExpr>(expr).rhs);
    case Expr::Kind::Cast:
      use(llvm::cast<CastExpr>(expr).target.text);
      return read(llvm::cast<CastExpr>(expr).operand);
    case Expr::Kind::Subscript:
      read(llvm::cast<SubscriptExpr>(expr).base);
      for (const Subscript &subscript : llvm::cast<SubscriptExpr>(expr).subscripts) {
        read(subscript.value);
        read(subscript.lo);
        read(subscript.hi);
      }
      return;
    case Expr::Kind::Call:
      read(llvm::cast<CallExpr>(expr).callee);
      return read(llvm::cast<CallExpr>(expr).arguments);
    case Expr::Kind::Member:
      return read(llvm::cast<MemberExpr>(expr).base);
    case Expr::Kind::Tuple:
      return read(llvm::cast<TupleExpr>(expr).elements);
    case Expr::Kind::List:
      return read(llvm::cast<ListExpr>(expr).elements);
    }
  }

  void read(const std::vector<Attribute> &attributes) {
    for (const Attribute &attribute : attributes)
      read(attribute.arguments);
  }

  /// What is assigned to is not read, but for what stands in its subscripts.
  void readTarget(const Expr &target) {
    if (auto *tuple = llvm::dyn_cast<TupleExpr>(&target)) {
      for (const ExprPtr &element : tuple->elements)
        readTarget(*element);
    } else if (!llvm::isa<NameExpr>(target)) {
      read(target);
    }
  }

  void read(const Block &block) {
    scopes.emplace_back();
    for (const StmtPtr &stmt : block.statements)
      read(*stmt);
    for (const Local &local : scopes.back()) {
      if (local.isRead)
        continue;
      DiagnosticBuilder report =
          diagnostics.report(diag::neverRead, local.name.range, local.name.text);
      if (local.mayDiscard)
        report.fixIt(local.name.range, "_", "write '_' for what the pattern drops");
    }
    scopes.pop_back();
  }

  void read(const Stmt &stmt) {
    if (auto *let = llvm::dyn_cast<LetStmt>(&stmt)) {
      // Before its names are declared: a declaration does not read itself.
      read(let->value);
      if (let->type) {
        use(let->type->name.text);
        read(let->type->dims);
      }
      for (const Ident &name : let->pattern.names)
        if (name.text != "_")
          scopes.back().push_back({name, let->pattern.isTuple && !let->isVar});
    } else if (auto *expression = llvm::dyn_cast<ExprStmt>(&stmt)) {
      read(expression->value);
    } else if (auto *assign = llvm::dyn_cast<AssignStmt>(&stmt)) {
      readTarget(*assign->target);
      read(assign->value);
    } else if (auto *branch = llvm::dyn_cast<IfStmt>(&stmt)) {
      read(branch->condition);
      read(branch->thenBlock);
      if (branch->elseBlock)
        read(*branch->elseBlock);
    } else if (auto *loop = llvm::dyn_cast<ForStmt>(&stmt)) {
      for (const ExprPtr *part : {&loop->over, &loop->lo, &loop->hi, &loop->step})
        read(*part);
      read(loop->attributes);
      read(loop->body);
    } else if (auto *loop = llvm::dyn_cast<WhileStmt>(&stmt)) {
      read(loop->condition);
      read(loop->attributes);
      read(loop->body);
    } else if (auto *result = llvm::dyn_cast<ReturnStmt>(&stmt)) {
      read(result->value);
    }
  }

  DiagnosticEngine &diagnostics;
  std::vector<std::vector<Local>> scopes;
};

} // namespace

void tile::reportUnusedNames(const Program &program, DiagnosticEngine &diagnostics) {
  Reader reader(diagnostics);
  for (const DeclPtr &decl : program.decls) {
    if (auto *function = llvm::dyn_cast<FnDecl>(decl.get()))
      reader.readBody(function->body);
    else if (auto *kernel = llvm::dyn_cast<KernelDecl>(decl.get()))
      reader.readBody(kernel->body);
  }
}
