// One version of a kernel as an operation: its grid, the entry of its body and the body.
#ifndef TILE_FRONTEND_LOWER_KERNELEMISSION_H
#define TILE_FRONTEND_LOWER_KERNELEMISSION_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class KernelEmission : LowerPart {
public:
  KernelEmission(Lowering &lowering, mlir::ModuleOp module);
  ~KernelEmission();

  /// Emits one version at the end of the module and fills `record`. False after an error.
  bool run(const Instance &instance, const Variant &variant, runtime::Kernel &record);

private:
  /// `expr` over the values of `launchValues`, as index arithmetic.
  mlir::Value emitLaunchExpr(const runtime::Expr &expr, mlir::Location location);
  void emitGrid(KernelOp op, const runtime::Kernel &record);
  void emitBody(KernelOp op, const runtime::Kernel &record);
  void emitLaunchValues(mlir::Block &block, const runtime::Kernel &record, KernelOp op);
  SemValue emitView(const runtime::Param &param, const ast::Param &decl, mlir::Value pointer);

  mlir::ModuleOp module;
  /// Takes what is emitted while nothing may be: expressions before the body, which must be
  /// constant.
  std::unique_ptr<mlir::Block> scratch;
  // The instance at hand.
  const CheckedKernel *checked = nullptr;
  // The region at hand.
  std::map<std::string, mlir::Value> launchValues;
};

} // namespace tile

#endif
