// --remarks=passes: which passes changed each kernel and each of its loops, and why the others did
// not. A pass is seen from outside: what the IR of a kernel or loop is before and after it. Only a
// refusal that a pass alone knows the reason of is said by the pass, by `declined`.
#ifndef TILE_PASSES_REPORT_PASSREPORT_H
#define TILE_PASSES_REPORT_PASSREPORT_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace tile {

class PassRecord;

class PassReport {
public:
  /// Listens to `context`, which must live as long as the passes run.
  explicit PassReport(mlir::MLIRContext &context);
  ~PassReport();

  /// Watches what `passes` does. Each pass is one line of the report for what it may change.
  void watch(mlir::PassManager &passes);

  /// Reports as remarks: one for each kernel, then one for each loop that the source has.
  void emit(mlir::ModuleOp module) const;

private:
  class Watcher;
  class Listener;
  std::shared_ptr<PassRecord> record;
};

/// The input that a pass of the report looks for, where it changes nothing and has said nothing
/// more exact; empty for a pass that the report does not know.
struct PassCondition {
  llvm::StringRef pass;
  bool concernsLoops;    ///< else kernels alone
  llvm::StringRef takes; ///< "loops with split(n)"
};
llvm::ArrayRef<PassCondition> getPassConditions();

} // namespace tile

#endif
