// Elaboration: from the AST to the tile dialect and to the manifest's record, one walk for each
// instance of a kernel.
#ifndef TILE_FRONTEND_LOWER_ELABORATE_H
#define TILE_FRONTEND_LOWER_ELABORATE_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Sema/ArgItem.h"
#include "manifest/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <optional>

namespace tile {

class Modules;

/// Values of tuned names, as -D spells them, in the order of the `tune` clause.
using TuneConfig = std::vector<std::pair<std::string, std::string>>;

/// What a kernel's `tune` clause offers.
struct TuneSpace {
  /// The source's preferred configuration for the target first (empty: the defaults), then its
  /// other `config` blocks that fit, then all combinations of the sets that the conditions allow.
  /// All but the first are different kernels.
  std::vector<TuneConfig> configs;
  /// Which of the others binds every name as the first does, where one does.
  std::optional<size_t> likeFirst;
  /// Members of the product of the sets, before the conditions; `config` blocks that fit.
  size_t combinations = 0, blocks = 0;
};

/// Configurations that a launch chooses among, by the tune clause's key.
struct TunedConfigs {
  /// The first is for every call that no other is for.
  std::vector<TuneConfig> configs;
  /// Extents by name, and which configuration was best there.
  std::vector<std::pair<std::vector<std::pair<std::string, int64_t>>, size_t>> shapes;
  /// Milliseconds by shape and configuration, infinite where nothing is known. May be empty.
  std::vector<std::vector<double>> times;
};

/// Names of the attributes that a kernel takes.
const std::vector<std::string> &getKernelAttributeNames();
/// Those that a loop takes.
const std::vector<std::string> &getLoopAttributeNames();
/// Of a kernel's, those that a configuration may have.
const std::vector<std::string> &getTunableAttributeNames();

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

struct SemValue;

/// Sees what expressions and names stand for while kernels are elaborated: an editor shows it.
class ValueObserver {
public:
  virtual ~ValueObserver() = default;
  /// An expression, or a name where it is declared, has this value in the instance at hand. Error
  /// values are passed, too.
  virtual void onValue(Range range, const SemValue &value) = 0;
  /// True to evaluate no more: what is left then has error values, about which nothing is said.
  virtual bool isEnough() const { return false; }
};

/// What is to be compiled, apart from the program.
struct ElaborateOptions {
  /// -D NAME=VALUE in order. VALUE may list several values ("64,128"): one instance for each.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Pinned values of compile-time parameters and kernel attributes: they come before what the
  /// source prefers, after -D.
  TuneConfig config;
  /// Makes a version of each instance for each of several configurations, in place of `config`.
  TunedConfigs tuned;
  /// Kernel attributes of the command line: they come before all others, in the order warps=8,
  /// fp=fast.
  TuneConfig attributes;
  /// Compile only this kernel; empty: all of the file.
  std::string kernel;
  /// "cpu", "sm_80", "sm_90a": chooses among the configurations of `tune`.
  std::string target = "cpu";
  /// Where given, it chooses what `tune` leaves open and neither -D, `config` nor the source's own
  /// configuration fixes, for these extents; dimensions that are left out have the `opt` of their
  /// contract.
  RateConfigs rate;
  std::vector<std::pair<std::string, int64_t>> extents;
  /// What --arg says, for every variant.
  std::vector<ArgItem> arguments;
  /// What --variant asks for, in order; `generic` is false where only variants are wanted.
  std::vector<VariantRequest> variants;
  bool generic = true;
  /// Parameter name -> dtype and shape of the actual argument. Where given, compile-time parameters
  /// that are a tensor's dtype or a whole dimension are deduced from them, and one instance is made
  /// instead of one for each value.
  std::map<std::string, std::string> dtypes;
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Debug build: `print` and `assert` do something.
  bool debug = false;
  /// Only check: a file without kernels is right, and functions that nothing calls are looked at,
  /// too.
  bool checksAll = false;
  /// May be null. It must outlive the elaboration.
  ValueObserver *observer = nullptr;
  /// Leave a probe (dialect/ProbeNames.h) before every statement and behind every value that a name
  /// is given.
  bool probes = false;
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

/// Reports the mistakes of `kernel`, of the main program, in any version and keeps nothing of it.
/// Names that the file defines twice are reported by `modules`. False after an error.
bool checkKernel(Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
                 DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

/// The configurations of `kernel`, one of the program's. None if any error was reported.
std::optional<TuneSpace> readTuneSpace(const ast::Program &program, const ast::KernelDecl &kernel,
                                       const ElaborateOptions &options,
                                       DiagnosticEngine &diagnostics, mlir::MLIRContext &context);

} // namespace tile

#endif // TILE_FRONTEND_LOWER_ELABORATE_H
