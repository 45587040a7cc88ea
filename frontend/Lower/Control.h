// Conditionals, and statements that leave early.
#ifndef TILE_FRONTEND_LOWER_CONTROL_H
#define TILE_FRONTEND_LOWER_CONTROL_H

#include "frontend/Lower/Flow.h"
#include "frontend/Lower/LowerPart.h"

namespace tile {

class Control : LowerPart {
public:
  explicit Control(Lowering &lowering) : LowerPart(lowering) {}

  /// Walks a block in a new scope. `isKernelBody`: loops in it may be split.
  Flow lowerBlock(const ast::Block &block, const FlowNeeds &needs, bool isKernelBody = false);
  Flow lowerStatements(llvm::ArrayRef<ast::StmtPtr> statements, const FlowNeeds &needs,
                       bool isKernelBody);
  /// `rest`, which may assign `vars`, where `before` says at run time that control is still there.
  Flow lowerUnlessLeft(const Flow &before, const FlowNeeds &needs, std::vector<Binding *> vars,
                       Range range, llvm::function_ref<Flow()> rest);
  Flow lowerIf(const ast::IfStmt &stmt, const FlowNeeds &needs);
  /// What the `return`s of two branches, which end in `blocks`, give together; `leaves` receives
  /// the SSA values of each, in the order of replaceLeaves. Zero stands for what a branch does not
  /// give.
  SemValue joinReturns(const Flow &a, const Flow &b, llvm::ArrayRef<mlir::Block *> blocks,
                       llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> leaves);
  static SemValue replaceLeaves(const SemValue &value, mlir::ValueRange leaves);
  mlir::Value emitFlag(const Exit &exit, mlir::Location location);
  /// Has control left in any way?
  mlir::Value emitLeft(const Flow &flow, mlir::Location location);
  mlir::Value evalCondition(const ast::Expr &expr, const llvm::Twine &what);

  /// The statement at hand stands directly in the kernel's body, or in a function called from
  /// there.
  bool standsInKernel = false;

private:
  struct BranchEnd {
    Flow flow;
    std::vector<SemValue> values; // of the variables
  };
  /// Statements after some that flow so.
  Flow lowerRest(Flow before, llvm::ArrayRef<ast::StmtPtr> rest, const FlowNeeds &needs,
                 bool isKernelBody);
  /// An `if` at run time out of which control may leave, and what follows it.
  Flow lowerLeavingIf(const ast::IfStmt &stmt, llvm::ArrayRef<ast::StmtPtr> rest,
                      const FlowNeeds &needs, bool isKernelBody);
  /// An `if` whose two blocks are yet to be filled and ended (joinBranches).
  mlir::scf::IfOp beginBranches(mlir::Value condition, mlir::Location location);
  /// Ends both branches; `vars`, flags and what is returned become results.
  Flow joinBranches(mlir::scf::IfOp branches, llvm::ArrayRef<Binding *> vars, BranchEnd first,
                    BranchEnd second, const FlowNeeds &needs);
  std::optional<SemValue> joinValues(llvm::ArrayRef<const SemValue *> values,
                                     llvm::ArrayRef<mlir::Block *> blocks, Range range,
                                     llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> leaves);
  bool checkExitDepth(Range range);
  static std::vector<SemValue> valuesOf(llvm::ArrayRef<Binding *> vars);

  unsigned exitDepth = 0; // regions that stand for what follows an early exit
};

} // namespace tile

#endif
