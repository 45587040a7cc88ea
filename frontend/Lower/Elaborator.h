// The elaboration of one version of a kernel: its checks, then its operation. Internal; the
// interface is Elaborate.h.
#ifndef TILE_FRONTEND_LOWER_ELABORATOR_H
#define TILE_FRONTEND_LOWER_ELABORATOR_H

#include "frontend/Lower/KernelEmission.h"
#include "frontend/Lower/Lowering.h"

namespace tile {

class Elaborator {
public:
  Elaborator(const Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
             DiagnosticEngine &diagnostics, mlir::ModuleOp module)
      : lowering(modules, kernel, options, diagnostics, module.getContext()),
        emission(lowering, module) {}

  /// What stands before the body.
  KernelSema &getSema() { return lowering.sema; }
  /// Emits one version at the end of the module and fills `record`. False after an error.
  bool elaborateInstance(const Instance &instance, const Variant &variant,
                         runtime::Kernel &record) {
    return emission.run(instance, variant, record);
  }
  /// The parameters that the version writes.
  const std::set<const ast::Param *> &getWritten() const { return lowering.accesses.written; }

private:
  Lowering lowering;
  KernelEmission emission;
};

} // namespace tile

#endif
