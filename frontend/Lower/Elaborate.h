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

/// Values of tuned names, as -D spells them, in the order of the `tune` clause.
using TuneConfig = std::vector<std::pair<std::string, std::string>>;

/// What a kernel's `tune` clause offers.
struct TuneSpace {
  /// The source's preferred configuration for the target first (empty: the defaults), then all that the conditions allow.
  std::vector<TuneConfig> configs;
  /// Members of the product of the sets, before the conditions.
  size_t combinations = 0;
};

/// Configurations that a launch chooses among, by the tune clause's key.
struct TunedConfigs {
  /// The first is for every call that no other is for.
  std::vector<TuneConfig> configs;
  /// Extents by name, and which configuration was best there.
  std::vector<std::pair<std::vector<std::pair<std::string, int64_t>>, size_t>> shapes;
};

/// What is to be compiled, apart from the program.
struct ElaborateOptions {
  /// -D NAME=VALUE in order. VALUE may list several values ("64,128"): one instance for each.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Pinned values of compile-time parameters and kernel attributes: they come before what the source prefers, after -D.
  TuneConfig config;
  /// Makes a version of each instance for each of several configurations, in place of `config`.
  TunedConfigs tuned;
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
  /// Debug build: `print` and `assert` do something.
  bool debug = false;
};

struct Elaborated {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// One record for each `tile.kernel` of the module, in the order in which dispatch tries them; `compiler`, `target` and `launch` are left to fill.
  runtime::Manifest manifest;
};

/// Elaborates `program`. Loads the dialects it needs into `context`. None if any error was reported to `diagnostics`.
std::optional<Elaborated> elaborate(const ast::Program &program, const ElaborateOptions &options,
                                    DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

/// The configurations of `kernel`, one of the program's. None if any error was reported.
std::optional<TuneSpace> readTuneSpace(const ast::Program &program, const ast::KernelDecl &kernel, const ElaborateOptions &options,
                                       DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

} // namespace tile

#endif // TILE_FRONTEND_LOWER_ELABORATE_H
