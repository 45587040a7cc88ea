// What all parts of the work on one instance of a kernel share: the names in scope, the calls
// around the code at hand, the names of the signature, and reports.
#ifndef TILE_FRONTEND_SEMA_KERNELCONTEXT_H
#define TILE_FRONTEND_SEMA_KERNELCONTEXT_H

#include "frontend/Sema/Modules.h"
#include "frontend/Sema/SemValue.h"
#include "frontend/Sema/SemaOptions.h"

#include "llvm/ADT/Twine.h"

#include <functional>
#include <set>

namespace tile {

/// A name of a block.
struct Binding {
  SemValue value;
  bool isVar = false;
  Range declared;
  const ast::Expr *initial = nullptr; // of a `let` or `var` of one name
  Range keyword = Range();            // the `let` of a `let` statement
};
using Scope = std::map<std::string, Binding>;
/// One function's scopes, innermost last.
using Frame = std::vector<Scope>;

struct CallSite {
  const ast::FnDecl *function;
  Range call;
};

/// An evaluated argument with the place it was written at.
struct Arg {
  SemValue value;
  Range range;
  std::string name; // of a named argument
};

/// A name of the signature whose value is known at launch.
struct LaunchName {
  enum Kind { Dim, Stride, Scalar } kind = Dim;
  Range declared;
  DType dtype = DType::Index;
};

class KernelContext {
public:
  KernelContext(const Modules &modules, const ast::KernelDecl &kernel, const SemaOptions &options,
                DiagnosticEngine &diagnostics);

  Binding *findLocal(llvm::StringRef name);
  const Binding *findLocal(llvm::StringRef name) const;
  /// Ends the innermost scope; its names are kept for messages.
  void leaveBlock();
  /// Declares a local; reports a name that hides anything but a built-in.
  void declare(const ast::Ident &name, SemValue value, bool isVar = false);
  std::vector<std::string> visibleNames() const;
  /// The module that `expr` names, an import with `as`; null for any other expression.
  const Module *findImport(const ast::Expr &expr) const;
  /// A function by its name, perhaps behind an import's: "gelu", "act.gelu". None if there is no
  /// such function.
  std::optional<FunctionValue> findFunction(llvm::StringRef name) const;

  /// Is the name neither a local, nor one of the signature or of the file?
  bool isFreeName(const ast::NameExpr &name) const;
  /// Does the expression use a dimension, stride or scalar parameter, whose value is known at
  /// launch only?
  bool usesLaunchNames(const ast::Expr &expr) const;
  /// Does it use a parameter that this instance does not have, or a dimension that only such a
  /// parameter binds?
  bool usesDropped(const ast::Expr &expr) const;
  /// Is it made of compile-time parameters, so that -D may change its value?
  bool usesStatics(const ast::Expr &expr) const;

  /// Starts a diagnostic with a note for each call around.
  template <typename... Args>
  DiagnosticBuilder error(diag::ID id, Range range, const Args &...args) {
    ++reported;
    DiagnosticBuilder report = diagnostics.report(id, range, args...);
    constexpr ptrdiff_t shownCalls = 8;
    for (auto call = calls.rbegin(); call != calls.rend() && call - calls.rbegin() < shownCalls;
         ++call)
      report.note(call->call, "in this call of '" + call->function->name.text + "'");
    return report;
  }
  /// Reports that `what` is refused for now.
  SemValue reportUnsupported(Range range, const llvm::Twine &what) {
    error(diag::comesLater, range, what.str());
    return SemValue::error();
  }
  /// Reports a named argument that the callee does not have, or has already.
  void reportArgument(const Arg &arg, const llvm::Twine &callee,
                      const std::vector<std::string> &names, Range declared);

  const Modules &modules;
  const ast::KernelDecl &kernel;
  const SemaOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceManager &sources;
  /// Told of each name that is declared, before it can be used.
  std::function<void(llvm::StringRef name, const SemValue &value, Range range)> onDeclare;

  /// Errors found so far, those included that the engine drops as duplicates or beyond its limit.
  unsigned reported = 0;
  const Module *scope;                // whose names are visible: of the file of the code at hand
  std::vector<Frame> frames;          // the first is the kernel's
  std::map<std::string, Range> ended; // names of blocks that are over, for messages
  std::vector<CallSite> calls;

  // The signature of the instance at hand (Signature.h).
  std::map<std::string, LaunchName> launchNames;
  std::map<std::string, const ast::Param *> params;
  /// Parameters whose condition is false, and names only they bind.
  std::map<std::string, Range> dropped;

private:
  Range argumentName(const Arg &arg) const;
};

/// The names that an expression uses, in order.
void collectNames(const ast::Expr &expr, std::vector<const ast::NameExpr *> &out);

} // namespace tile

#endif
