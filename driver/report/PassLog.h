// The effect of each pass of a pipeline on the module: operations by name, before and after.
#ifndef TILE_DRIVER_REPORT_PASSLOG_H
#define TILE_DRIVER_REPORT_PASSLOG_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tile::report {

/// How many operations of each name there are.
using OpCounts = std::map<std::string, int64_t>;
OpCounts countOps(mlir::Operation *root);

/// One run of a pass.
struct PassRun {
  std::string stage, pass;
  bool changed = false;
  OpCounts difference; ///< of counts, after less before, without zeros
};

/// Watches the passes of pass managers. MLIR owns instrumentations, so that the log is what stays.
class PassLog {
public:
  /// Is called with the module as it stands when a pass is about to run.
  std::function<void(llvm::StringRef pass, mlir::Operation *op)> before;

  /// An instrumentation for the pass manager of a stage, which may not outlive this.
  std::unique_ptr<mlir::PassInstrumentation> watch(llvm::StringRef stage);
  std::vector<PassRun> runs; ///< in the order in which they ended

  /// [{"stage", "pass", "changed", "difference": {"tile.load": -2}}]
  llvm::json::Array toJson() const;
};

} // namespace tile::report

#endif
