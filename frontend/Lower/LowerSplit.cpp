// What a loop with split(n) must be for several programs to share its trips.
//
//   for k in ... with split(4)   ->   part p of 4 makes the trips from p * c on and stores `acc`;
//     acc = dot(a, b, acc)            the last part to arrive adds them up and leaves the loop
//
// So a trip may hand nothing to the next but sums (getAccumulation), nothing may be stored in the
// loop (each program would store its part), and nothing before it that another program reads. With
// `merge: f` the variables may be anything that `f` can combine. Here is only the check and the
// region of `f`; pass tile-gpu-split-loops makes the parts.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/Accumulation.h"
#include "frontend/Lower/Lowering.h"

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
  // Down the chain of views to the parameter: no other program reads what is `out`.
  while (Operation *def = view.getDefiningOp()) {
    if (auto whole = dyn_cast<ViewOp>(def))
      return kernel.getParam(cast<BlockArgument>(whole.getBase()).getArgNumber()).getAccess() !=
             Access::Out;
    view = def->getOperand(0);
  }
  return true;
}

void SplitLoops::checkSplitStores(const ast::ForStmt &stmt, Operation *loop, int64_t parts) {
  bool stores = false, storesBefore = false;
  // Statements are lowered in the order of the text: a store outside of the loop that exists by now
  // stands before it.
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
    here.error(diag::splitPlace, where, parts,
               "cannot store: its trips are made by different programs")
        .note("store behind the loop what it has added up");
  }
  if (storesBefore)
    here.error(diag::splitPlace, stmt.range, parts,
               "cannot follow a store to memory that the kernel also reads");
}

/// A binding does not hold its name. Empty for a binding of another frame.
std::string SplitLoops::nameOf(const Binding *binding) const {
  for (const Scope &scope : here.frames.back())
    for (const auto &[name, each] : scope)
      if (&each == binding)
        return name;
  return "";
}

void SplitLoops::checkSplitSums(const ast::ForStmt &stmt, Operation *op, int64_t parts,
                                ArrayRef<Binding *> vars) {
  auto loop = cast<scf::ForOp>(op);
  for (auto [i, var] : llvm::enumerate(vars)) {
    // A variable that the text assigns may still come out unchanged, as under a `const if`.
    if (getAccumulation(loop, i) || loop.getYieldedValues()[i] == loop.getRegionIterArg(i))
      continue;
    std::string name = nameOf(var);
    Range where = stmt.range;
    forEachAssignment(stmt.body, [&](const ast::AssignStmt &assign) {
      if (assigns(*assign.target, name) && !(where.begin > stmt.range.begin))
        where = assign.range;
    });
    here.error(diag::splitCarried, where, name, parts)
        .note(var->declared, "'" + name + "' is declared here")
        .note("change it by +, min, max or dot(..., " + name +
              ") alone, outside any `if`, and read it after the loop; or say how the loop's "
              "variables of two programs combine: split(" +
              std::to_string(parts) + ", merge: f)");
  }
}

/// One value for each state, of the same type; nothing after a report, and then no operation is
/// left in the IR. The block has the states of the earlier parts first, then those of the next
/// part.
SmallVector<mlir::Value> SplitLoops::emitMerge(const ast::Expr &expr, ValueRange states,
                                               ArrayRef<Binding *> vars) {
  SemValue function = expressions.eval(expr);
  if (function.isError())
    return {};
  std::string names;
  for (const Binding *var : vars)
    names += (names.empty() ? "" : ", ") + nameOf(var);
  if (!function.isFunction() || !function.function->decl) {
    here.error(diag::wrongOperand, expr.range, "`merge:`",
               "a function of two states (" + names + ")", describe(function));
    return {};
  }
  Location location = emitter.loc(expr.range);
  auto op = MergePartsOp::create(builder, location, states.getTypes(), states);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(states.getTypes());
  types.append(states.getTypes().begin(), states.getTypes().end());
  Block *block =
      builder.createBlock(&op.getMerge(), {}, types, SmallVector<Location>(types.size(), location));
  std::vector<Arg> operands;
  for (auto [i, argument] : llvm::enumerate(block->getArguments()))
    operands.push_back({ofData(argument, vars[i % vars.size()]->value.dtype), expr.range, ""});
  SemValue merged = functions.callFunction(*function.function, std::move(operands), expr.range);
  SmallVector<SemValue> results = {merged};
  if (merged.isTuple())
    results.assign(merged.elements->begin(), merged.elements->end());
  SmallVector<mlir::Value> yielded;
  bool valid = !merged.isError();
  if (valid && results.size() != vars.size()) {
    here.error(diag::wrongOperand, expr.range, "`merge:`",
               "a function that returns one value for each variable that the loop carries (" +
                   names + ")",
               describe(merged));
    valid = false;
  }
  for (size_t i = 0; valid && i < results.size(); ++i) {
    const SemValue &result = results[i];
    DType dtype = vars[i]->value.dtype;
    bool fits = result.isNumeric() && (!result.isData() || result.dtype == dtype);
    mlir::Value value = fits ? conversions.toDtype(result, dtype, expr.range) : mlir::Value();
    if (value && value.getType() == types[i]) {
      yielded.push_back(value);
      continue;
    }
    if (!fits || value)
      here.error(diag::wrongOperand, expr.range, "`merge:`",
                 "the state of '" + nameOf(vars[i]) + "', " +
                     describe(ofData(block->getArgument(i), dtype)) + ", as result " +
                     std::to_string(i + 1),
                 describe(result));
    valid = false;
  }
  for (Operation &each : *block)
    if (valid && !isMemoryEffectFree(&each)) {
      here.error(diag::wrongOperand, expr.range, "`merge:`", "a function of values alone",
                 "one that reads or writes memory");
      valid = false;
    }
  if (!valid) { // leave nothing half made behind
    op.erase();
    return {};
  }
  MergeYieldOp::create(builder, location, yielded);
  return SmallVector<mlir::Value>(op.getResults());
}

/// The values that the loop's variables have behind it, in the order of `vars`, also after a
/// report.
SmallVector<mlir::Value> SplitLoops::lowerSplit(const ast::ForStmt &stmt, Operation *op,
                                                int64_t parts, ArrayRef<Binding *> vars) {
  SmallVector<mlir::Value> results(op->getResults());
  if (splitLoop.isValid()) {
    here.error(diag::splitPlace, stmt.range, parts, "must be the only one of its kernel")
        .note(splitLoop, "this is another one");
    return results;
  }
  splitLoop = stmt.range;
  checkSplitStores(stmt, op, parts);
  const ast::Expr *merge = nullptr;
  for (const ast::Attribute &attribute : stmt.attributes)
    for (const ast::Argument &argument : attribute.arguments)
      if (attribute.name.text == "split" && argument.name && argument.name->text == "merge")
        merge = argument.value.get();
  if (!merge) {
    checkSplitSums(stmt, op, parts, vars);
    return results;
  }
  if (vars.empty()) {
    here.error(diag::badAttribute, merge->range, "split",
               "merges the variables that the loop carries, and this loop assigns none");
    return results;
  }
  // The function takes the variables in the order in which they are declared.
  SmallVector<size_t> order = llvm::to_vector(llvm::seq(vars.size()));
  llvm::sort(order,
             [&](size_t a, size_t b) { return vars[a]->declared.begin < vars[b]->declared.begin; });
  SmallVector<Binding *> declared;
  SmallVector<mlir::Value> states;
  for (size_t i : order) {
    declared.push_back(vars[i]);
    states.push_back(op->getResult(i));
  }
  SmallVector<mlir::Value> merged = emitMerge(*merge, states, declared);
  for (auto [i, value] : llvm::zip(order, merged))
    results[i] = value;
  return results;
}
