// Elaboration: from the AST to the tile dialect and to the manifest's record, one walk for each
// instance of a kernel.
#ifndef TILE_FRONTEND_LOWER_ELABORATE_H
#define TILE_FRONTEND_LOWER_ELABORATE_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Sema/AttributeValue.h"
#include "frontend/Sema/SemaOptions.h"
#include "manifest/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <optional>

namespace tile {

class Modules;

/// A configuration and what a cost model says of it.
struct RatedConfig {
  TuneConfig config;
  double milliseconds = 0; ///< infinite where it cannot be used
  std::string reason;      ///< why it cannot
};

/// Rates configurations that differ in attributes of kernels only: `kernel` has been elaborated for
/// the first of them. Extents are those to choose for, by the name of the dimension. One rating for
/// each, in their order.
using RateConfigs = std::function<std::vector<RatedConfig>(
    KernelOp kernel, const std::map<std::string, int64_t> &extents,
    llvm::ArrayRef<TuneConfig> configs)>;

/// How the configuration of one version of a kernel was found.
struct ConfigChoice {
  std::string symbol;                     ///< of the version
  std::map<std::string, int64_t> extents; ///< that it was chosen for
  std::vector<RatedConfig>
      rated; ///< all that there is to choose from, the best first; the first was taken
};

/// What is to be compiled, apart from the program.
struct ElaborateOptions : SemaOptions {
  /// Compile only this kernel; empty: all of the file.
  std::string kernel;
  /// What --variant asks for, in order; `generic` is false where only variants are wanted.
  std::vector<VariantRequest> variants;
  bool generic = true;
  /// Debug build: `print` and `assert` do something.
  bool debug = false;
  /// Only check: a file without kernels is right, functions that nothing calls are looked at, too,
  /// and versions of kernels become code only where their types alone do not decide.
  bool checksAll = false;
  /// Of a check: keep the code of versions that reduce, in which a lint looks for padding.
  bool lints = false;
  /// Leave a probe (dialect/ProbeNames.h) before every statement and behind every value that a name
  /// is given.
  bool probes = false;
  /// Where given, it chooses what `tune` leaves open and neither -D, `config` nor the source's own
  /// configuration fixes, for these extents; dimensions that are left out have the `opt` of their
  /// contract.
  RateConfigs rate;
  std::vector<std::pair<std::string, int64_t>> extents;
  /// What divides extents of all calls, by name: of a kernel's version for aligned rows and its
  /// generic one, the one that fits is made.
  std::map<std::string, int64_t> divisors;
  bool keepsGeneric = false; ///< the generic version is made in any case: arguments are read by it
};

struct Elaborated {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// One record for each `tile.kernel` of the module, in the order in which dispatch tries them;
  /// `compiler`, `target` and `launch` are left to fill.
  runtime::Manifest manifest;
  /// Of the versions whose configuration `rate` has chosen, in no order that means anything.
  std::vector<ConfigChoice> choices;
};

/// Elaborates `program`. Loads the dialects it needs into `context`. None if any error was reported
/// to `diagnostics`.
std::optional<Elaborated> elaborate(const ast::Program &program, const ElaborateOptions &options,
                                    DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

/// Reports what is wrong with `kernel`, one of the main program's, in any version, and keeps
/// nothing of it. Names that the file defines twice are reported by `modules`. False after an
/// error.
bool checkKernel(Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
                 DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

/// The configurations of `kernel`, one of the program's. None if any error was reported.
std::optional<TuneSpace> readTuneSpace(const ast::Program &program, const ast::KernelDecl &kernel,
                                       const ElaborateOptions &options,
                                       DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

} // namespace tile

#endif
