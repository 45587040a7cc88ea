// What a loop with split(n) must be for several programs to share its trips.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/Accumulation.h"
#include "frontend/Lower/Elaborator.h"

using namespace mlir;
using namespace tile;

/// Calls `visit` on every assignment of the block, in order.
static void forEachAssignment(const ast::Block &block,
                              function_ref<void(const ast::AssignStmt &)> visit) {
  for (const ast::StmtPtr &stmt : block.statements) {
    if (auto *assign = dyn_cast<ast::AssignStmt>(stmt.get())) {
      visit(*assign);
    } else if (auto *branch = dyn_cast<ast::IfStmt>(stmt.get())) {
      forEachAssignment(branch->thenBlock, visit);
      if (branch->elseBlock)
        forEachAssignment(*branch->elseBlock, visit);
    } else if (auto *loop = dyn_cast<ast::ForStmt>(stmt.get())) {
      forEachAssignment(loop->body, visit);
    } else if (auto *loop = dyn_cast<ast::WhileStmt>(stmt.get())) {
      forEachAssignment(loop->body, visit);
    }
  }
}

static bool assigns(const ast::Expr &target, StringRef name) {
  if (auto *tuple = dyn_cast<ast::TupleExpr>(&target))
    return llvm::any_of(tuple->elements,
                        [&](const ast::ExprPtr &element) { return assigns(*element, name); });
  auto *variable = dyn_cast<ast::NameExpr>(&target);
  return variable && variable->text == name;
}

/// May other programs read what the store writes?
static bool isShared(Operation *store) {
  auto kernel = store->getParentOfType<KernelOp>();
  if (kernel->hasAttr(mayAliasName) || isa<AtomicOp>(store))
    return true;
  mlir::Value view =
      isa<StoreOp>(store) ? cast<StoreOp>(store).getView() : cast<ScatterOp>(store).getView();
  while (Operation *def = view.getDefiningOp()) {
    if (auto whole = dyn_cast<ViewOp>(def))
      return kernel.getParam(cast<BlockArgument>(whole.getBase()).getArgNumber()).getAccess() !=
             Access::Out;
    view = def->getOperand(0);
  }
  return true;
}

void Elaborator::checkSplit(const ast::ForStmt &stmt, Operation *op, int64_t parts,
                            ArrayRef<Binding *> vars) {
  auto loop = cast<scf::ForOp>(op);
  if (splitLoop.isValid()) {
    error(diag::splitPlace, stmt.range, parts, "must be the only one of its kernel")
        .note(splitLoop, "this is another one");
    return;
  }
  splitLoop = stmt.range;
  bool stores = false, storesBefore = false;
  loop->getParentOfType<KernelOp>().getBody().walk([&](Operation *store) {
    if (!isa<StoreOp, ScatterOp, AtomicOp>(store))
      return;
    stores |= loop->isAncestor(store);
    storesBefore |= !loop->isAncestor(store) && isShared(store);
  });
  if (stores) {
    Range where = stmt.range;
    bool found = false;
    forEachAssignment(stmt.body, [&](const ast::AssignStmt &assign) {
      if (!found && isa<ast::SubscriptExpr>(assign.target.get()))
        where = assign.range, found = true;
    });
    error(diag::splitPlace, where, parts, "cannot store: its trips are made by different programs")
        .note("store behind the loop what it has added up");
  }
  if (storesBefore)
    error(diag::splitPlace, stmt.range, parts,
          "cannot follow a store to memory that the kernel also reads");
  for (auto [i, var] : llvm::enumerate(vars)) {
    if (getAccumulation(loop, i) || loop.getYieldedValues()[i] == loop.getRegionIterArg(i))
      continue;
    std::string name;
    for (const Scope &scope : frames.back())
      for (const auto &[key, binding] : scope)
        if (&binding == var)
          name = key;
    Range where = stmt.range;
    forEachAssignment(stmt.body, [&](const ast::AssignStmt &assign) {
      if (assigns(*assign.target, name) && !(where.begin > stmt.range.begin))
        where = assign.range;
    });
    error(diag::splitCarried, where, name, parts)
        .note(var->declared, "'" + name + "' is declared here")
        .note("change it by +, min, max or dot(..., " + name +
              ") alone, outside any `if`, and read it after the loop");
  }
}
