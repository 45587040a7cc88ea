// Elaboration: from the AST to the tile dialect and to the manifest's record, one walk for each instance of a kernel.
#ifndef TILE_FRONTEND_LOWER_ELABORATE_H
#define TILE_FRONTEND_LOWER_ELABORATE_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Sema/ArgItem.h"
#include "runtime/src/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>

namespace tile {

/// What is to be compiled, apart from the program.
struct ElaborateOptions {
  /// -D NAME=VALUE in order. VALUE may list several values ("64,128"): one instance for each.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Compile only this kernel; empty: all of the file.
  std::string kernel;
  /// "cpu", "sm_80", "sm_90a": chooses among the configurations of `tune`.
  std::string target = "cpu";
  /// What --arg says, for every variant.
  std::vector<ArgItem> arguments;
  /// What --variant asks for, in order; `generic` is false where only variants are wanted.
  std::vector<VariantRequest> variants;
  bool generic = true;
  /// Parameter name -> dtype and shape of the actual argument. Where given, compile-time parameters that are a tensor's
  /// dtype or a whole dimension are deduced from them, and one instance is made instead of one for each value.
  std::map<std::string, std::string> dtypes;
  std::map<std::string, std::vector<int64_t>> shapes;
};

struct Elaborated {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// One record for each `tile.kernel` of the module, in the order in which dispatch tries them; `compiler`, `target` and `launch` are left to fill.
  runtime::Manifest manifest;
};

/// Elaborates `program`. Loads the dialects it needs into `context`. None if any error was reported to `diagnostics`.
std::optional<Elaborated> elaborate(const ast::Program &program, const ElaborateOptions &options,
                                    DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

} // namespace tile

#endif // TILE_FRONTEND_LOWER_ELABORATE_H
