// Conditionals, and statements that leave early. A list of statements knows its ways out (Flow).
// Where one branch of an `if` leaves for sure, what follows moves into the other; where it leaves
// only sometimes, a bool says so and guards what follows. So all control stays structured.
//
//   if c { a; return; }  b          ->   if c { a } else { b }
//   if c { a; if d { break; } }  b  ->   left = false; if c { a; left = d }; if !left { b }
//
// A Flow says of a list of statements: `falls`, may the next statement run; and for break, continue
// and return never, always, or sometimes with a bool in SSA form (Exit). FlowNeeds says what the
// reader of a Flow will look at: values and flags that nobody reads are not yielded.
//
// Variables (`var`) are bindings whose value changes as statements are lowered. At a branch each
// side starts from the values before it; behind it each variable that a side assigns is a result of
// the scf.if.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

Flow Control::lowerBlock(const ast::Block &block, const FlowNeeds &needs, bool isKernelBody) {
  here.frames.back().emplace_back();
  Flow flow = lowerStatements(block.statements, needs, isKernelBody);
  here.leaveBlock();
  return flow;
}

/// Does a `break`, `continue` or `return` in the block leave it?
static bool mayLeave(const ast::Block &block, bool isLoop = false);

/// By the text: a `return` under a `const if` that is not taken counts, too, which costs a form of
/// `if` that is more general than needed.
static bool mayLeave(const ast::Stmt &stmt, bool inLoop) {
  if (auto *branch = dyn_cast<ast::IfStmt>(&stmt))
    return mayLeave(branch->thenBlock, inLoop) ||
           (branch->elseBlock && mayLeave(*branch->elseBlock, inLoop));
  if (auto *loop = dyn_cast<ast::ForStmt>(&stmt))
    return mayLeave(loop->body, true);
  if (auto *loop = dyn_cast<ast::WhileStmt>(&stmt))
    return mayLeave(loop->body, true);
  return isa<ast::ReturnStmt>(stmt) || (!inLoop && isa<ast::JumpStmt>(stmt));
}

static bool mayLeave(const ast::Block &block, bool inLoop) {
  return llvm::any_of(block.statements,
                      [&](const ast::StmtPtr &each) { return mayLeave(*each, inLoop); });
}

/// Consumes the list: where a statement may leave, the rest is lowered inside of the call for it,
/// so that it comes to stand under a condition.
Flow Control::lowerStatements(ArrayRef<ast::StmtPtr> statements, const FlowNeeds &needs,
                              bool isKernelBody) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt &stmt = *statements[i];
    ArrayRef<ast::StmtPtr> rest = statements.drop_front(i + 1);
    standsInKernel = isKernelBody;
    auto *branch = dyn_cast<ast::IfStmt>(&stmt);
    if (branch && !branch->isConst && mayLeave(stmt, false))
      return lowerLeavingIf(*branch, rest, needs, isKernelBody);
    Flow flow = stmts.lowerStatement(stmt, rest.empty() ? needs : FlowNeeds::all());
    if (flow.leaves())
      return lowerRest(std::move(flow), rest, needs, isKernelBody);
  }
  return {};
}

Flow Control::lowerRest(Flow before, ArrayRef<ast::StmtPtr> rest, const FlowNeeds &needs,
                        bool isKernelBody) {
  if (!before.falls || rest.empty())
    return before;
  if (!before.leaves())
    return lowerStatements(rest, needs, isKernelBody);
  return lowerUnlessLeft(before, needs, stmts.assignedVars(rest), rest.front()->range,
                         [&] { return lowerStatements(rest, needs, isKernelBody); });
}

//===--- Join points ------------------------------------------------------===//

std::vector<SemValue> Control::valuesOf(ArrayRef<Binding *> vars) {
  std::vector<SemValue> values;
  for (Binding *var : vars)
    values.push_back(var->value);
  return values;
}

template <typename Vars> static void restore(const Vars &vars, ArrayRef<SemValue> values) {
  for (auto [var, value] : llvm::zip(vars, values))
    var->value = value;
}

mlir::Value Control::emitFlag(const Exit &exit, Location location) {
  if (exit.when == Exit::Sometimes)
    return exit.flag;
  return emitter.constant(builder.getBoolAttr(exit.when == Exit::Always), location);
}

mlir::Value Control::emitLeft(const Flow &flow, Location location) {
  mlir::Value left;
  for (Exit Flow::*kind : Flow::kinds)
    if (const Exit &exit = flow.*kind) {
      mlir::Value flag = emitFlag(exit, location);
      left = left ? builder.createOrFold<arith::OrIOp>(location, left, flag) : flag;
    }
  return left;
}

/// `values` has a null where a side gives no value; its leaf is a zero that nobody reads. Emits
/// conversions into each side's block, and appends one SSA value for each leaf of the value to
/// `leaves`: both lists stay of one length.
std::optional<SemValue> Control::joinValues(ArrayRef<const SemValue *> values,
                                            ArrayRef<Block *> blocks, Range range,
                                            MutableArrayRef<SmallVector<mlir::Value>> leaves) {
  const SemValue &any = values[0] ? *values[0] : *values[1];
  auto all = [&](auto &&predicate) {
    return llvm::all_of(values, [&](const SemValue *value) { return !value || predicate(*value); });
  };
  auto mismatch = [&]() -> std::optional<SemValue> {
    here.error(diag::badReturn, range,
               "the values of `return` differ: " + describe(*values[0]) + " and " +
                   describe(*values[1]))
        .note("where the run decides between them, they have one dtype and one shape, but that a "
              "scalar is spread; convert with `as`");
    return std::nullopt;
  };
  if (!all([](const SemValue &value) { return value.isNumeric() || value.isTuple(); })) {
    if (values[0] && values[1] && values[0]->kind != values[1]->kind)
      return mismatch();
    here.error(diag::badReturn, range,
               "what is returned under a condition of the run must be numbers, tiles or tuples of "
               "them, "
               "found " +
                   describe(any))
        .note("a `const if` may choose it at compile time");
    return std::nullopt;
  }
  if (any.isTuple()) {
    if (!all([&](const SemValue &value) {
          return value.isTuple() && value.elements->size() == any.elements->size();
        }))
      return mismatch();
    std::vector<SemValue> elements;
    for (size_t i = 0; i < any.elements->size(); ++i) {
      SmallVector<const SemValue *> each;
      for (const SemValue *value : values)
        each.push_back(value ? &(*value->elements)[i] : nullptr);
      std::optional<SemValue> joined = joinValues(each, blocks, range, leaves);
      if (!joined)
        return std::nullopt;
      elements.push_back(*joined);
    }
    return SemValue::ofTuple(std::move(elements));
  }
  // The dtype of the values that have one; a number adapts to it.
  std::optional<DType> dtype;
  bool isFloat = false;
  for (const SemValue *value : values) {
    if (!value)
      continue;
    if (!value->isNumeric())
      return mismatch();
    isFloat |= value->isFloatNumber();
    if (!value->isData())
      continue;
    if (!dtype || (*dtype != DType::Index && value->dtype == DType::Index && widensToIndex(*dtype)))
      dtype = value->dtype;
    else if (value->dtype != *dtype && !(*dtype == DType::Index && widensToIndex(value->dtype)))
      return mismatch();
  }
  if (!dtype)
    dtype = any.isBoolNumber() ? DType::Bool : isFloat ? DType::F32 : DType::Index;
  ArrayRef<int64_t> shape;
  for (const SemValue *value : values) {
    if (!value || value->rank() == 0)
      continue;
    if (!shape.empty() && value->shape() != shape)
      return mismatch();
    shape = value->shape();
  }
  OpBuilder::InsertionGuard guard(builder);
  Type type = toType(*dtype, context);
  if (!shape.empty())
    type = RankedTensorType::get(shape, type);
  for (size_t side = 0; side < values.size(); ++side) {
    builder.setInsertionPointToEnd(blocks[side]);
    mlir::Value leaf;
    if (values[side]) {
      leaf = conversions.toDtype(*values[side], *dtype, range);
      if (!leaf)
        return std::nullopt;
      leaf = emitter.emitBroadcast(leaf, shape, emitter.loc(range));
    } else { // never looked at
      leaf = emitter.constantLike(type, 0, emitter.loc(range));
    }
    leaves[side].push_back(leaf);
  }
  return ofData(leaves[0].back(), *dtype);
}

/// The value with its SSA values, in order, replaced by those at the front of `leaves`.
static SemValue takeLeaves(const SemValue &value, mlir::ValueRange &leaves) {
  if (value.isTuple()) {
    std::vector<SemValue> elements;
    for (const SemValue &each : *value.elements)
      elements.push_back(takeLeaves(each, leaves));
    return SemValue::ofTuple(std::move(elements));
  }
  if (!value.isData())
    return value;
  mlir::Value leaf = leaves.front();
  leaves = leaves.drop_front();
  return ofData(leaf, value.dtype);
}

SemValue Control::replaceLeaves(const SemValue &value, mlir::ValueRange leaves) {
  return takeLeaves(value, leaves);
}

SemValue Control::joinReturns(const Flow &a, const Flow &b, ArrayRef<Block *> blocks,
                              MutableArrayRef<SmallVector<mlir::Value>> leaves) {
  const SemValue *left = a.returns ? &a.value : nullptr, *right = b.returns ? &b.value : nullptr;
  if ((left && left->isError()) || (right && right->isError()))
    return SemValue::error();
  auto isVoid = [](const SemValue *value) { return !value || value->kind == SemValue::Kind::Void; };
  if (isVoid(left) && isVoid(right))
    return SemValue::ofVoid();
  Range range = right && !isVoid(right) ? b.valueRange : a.valueRange;
  if ((left && isVoid(left)) || (right && isVoid(right))) {
    here.error(diag::badReturn, range,
               "one `return` of the function gives a value, another gives none")
        .note(isVoid(left) && left ? a.valueRange : b.valueRange, "this one gives none");
    return SemValue::error();
  }
  std::optional<SemValue> joined = joinValues({left, right}, blocks, range, leaves);
  return joined ? *joined : SemValue::error();
}

/// The branches were built without results, as their number was not known: an operation with
/// results takes over both regions. Results in this order: variables, flags of exits, leaves of the
/// value.
Flow Control::joinBranches(scf::IfOp branches, ArrayRef<Binding *> vars, BranchEnd first,
                           BranchEnd second, const FlowNeeds &needs) {
  Location location = branches.getLoc();
  Block *blocks[] = {branches.thenBlock(), branches.elseBlock()};
  BranchEnd *ends[] = {&first, &second};
  SmallVector<mlir::Value> yields[2], leaves[2];
  for (int side : {0, 1})
    for (const SemValue &value : ends[side]->values)
      yields[side].push_back(ssaOf(value));
  Flow joined;
  joined.falls = first.flow.falls || second.flow.falls;
  SmallVector<Exit Flow::*> flagged;
  for (Exit Flow::*kind : Flow::kinds) {
    const Exit &a = first.flow.*kind, &b = second.flow.*kind;
    // Never or always on both sides needs no flag.
    if (a.when == b.when && a.when != Exit::Sometimes) {
      (joined.*kind).when = a.when;
      continue;
    }
    (joined.*kind).when = Exit::Sometimes;
    if (!needs.needs(kind))
      continue;
    flagged.push_back(kind);
    yields[0].push_back(emitFlag(a, location));
    yields[1].push_back(emitFlag(b, location));
  }
  joined.value = joinReturns(first.flow, second.flow, blocks, leaves);
  joined.valueRange = second.flow.returns ? second.flow.valueRange : first.flow.valueRange;
  if (leaves[0].size() != leaves[1].size()) // after an error
    leaves[0] = leaves[1] = {};
  for (int side : {0, 1})
    llvm::append_range(yields[side], leaves[side]);

  builder.setInsertionPoint(branches);
  auto op = scf::IfOp::create(builder, location, mlir::ValueRange(yields[0]).getTypes(),
                              branches.getCondition(), /*addThenBlock=*/false,
                              /*addElseBlock=*/false);
  Region *from[] = {&branches.getThenRegion(), &branches.getElseRegion()};
  Region *to[] = {&op.getThenRegion(), &op.getElseRegion()};
  for (int side : {0, 1}) {
    to[side]->takeBody(*from[side]);
    builder.setInsertionPointToEnd(&to[side]->front());
    scf::YieldOp::create(builder, location, yields[side]);
  }
  branches.erase();
  builder.setInsertionPointAfter(op);
  mlir::ValueRange results = op.getResults();
  for (auto [var, result] : llvm::zip(vars, results.take_front(vars.size())))
    var->value = ofData(result, var->value.dtype);
  results = results.drop_front(vars.size());
  for (Exit Flow::*kind : flagged) {
    (joined.*kind).flag = results.front();
    results = results.drop_front();
  }
  joined.value = replaceLeaves(joined.value, results);
  return joined;
}

//===--- Conditionals -----------------------------------------------------===//

mlir::Value Control::evalCondition(const ast::Expr &expr, const Twine &what) {
  SemValue value = expressions.eval(expr);
  if (value.isError())
    return {};
  bool isBool =
      value.isBoolNumber() || (value.isData() && value.dtype == DType::Bool && value.rank() == 0);
  if (isBool)
    return conversions.toDtype(value, DType::Bool, expr.range);
  DiagnosticBuilder report =
      here.error(diag::wrongOperand, expr.range, what.str(), "a bool scalar", describe(value));
  if (value.isData() && value.dtype == DType::Bool)
    report.note(
        "reduce the tile with any(x) or all(x), or select element by element with where(c, a, b)");
  else if (value.rank() == 0 && value.isNumeric()) {
    bool isFloating = value.isFloatNumber() || (value.isData() && isFloat(value.dtype));
    StringRef text = sources.text(expr.range); // comparisons bind looser than arithmetic
    std::string number = text.find_first_of("<>=!&|^") == StringRef::npos
                             ? text.str()
                             : foreign.operandText(expr.range);
    report.fixIt(expr.range, number + (isFloating ? " != 0.0" : " != 0"), "a condition compares");
  }
  return {};
}

Flow Control::lowerIf(const ast::IfStmt &stmt, const FlowNeeds &needs) {
  if (stmt.isConst) {
    std::optional<bool> taken = expressions.evalConstCondition(*stmt.condition);
    if (taken && *taken)
      return lowerBlock(stmt.thenBlock, needs);
    return taken && stmt.elseBlock ? lowerBlock(*stmt.elseBlock, needs) : Flow();
  }
  mlir::Value condition = evalCondition(*stmt.condition, "the condition of `if`");
  Location location = emitter.loc(stmt.range);
  if (!condition) // already reported: still check both branches
    condition = emitter.constant(builder.getBoolAttr(true), location);
  SmallVector<const ast::Block *> blocks = {&stmt.thenBlock};
  if (stmt.elseBlock)
    blocks.push_back(&*stmt.elseBlock);
  std::vector<Binding *> vars = stmts.assignedVars(blocks);
  SmallVector<mlir::Value> before;
  SmallVector<Type> types;
  for (Binding *var : vars) {
    before.push_back(ssaOf(var->value));
    types.push_back(ssaOf(var->value).getType());
  }
  bool hasElse = stmt.elseBlock || !vars.empty();
  auto op = scf::IfOp::create(builder, location, types, condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/hasElse);
  auto branch = [&](Region &region, const ast::Block *block) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = &region.front();
    if (!body->empty())
      body->getTerminator()->erase();
    builder.setInsertionPointToEnd(body);
    if (block)
      (void)lowerBlock(*block, FlowNeeds());
    SmallVector<mlir::Value> results;
    for (auto [var, old] : llvm::zip(vars, before)) {
      results.push_back(ssaOf(var->value));
      var->value = ofData(old, var->value.dtype);
    }
    scf::YieldOp::create(builder, location, results);
  };
  branch(op.getThenRegion(), &stmt.thenBlock);
  if (hasElse)
    branch(op.getElseRegion(), stmt.elseBlock ? &*stmt.elseBlock : nullptr);
  for (auto [var, result] : llvm::zip(vars, op.getResults()))
    var->value = ofData(result, var->value.dtype);
  return {};
}

scf::IfOp Control::beginBranches(mlir::Value condition, Location location) {
  auto op = scf::IfOp::create(builder, location, TypeRange(), condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  for (Block *block : {op.thenBlock(), op.elseBlock()})
    if (!block->empty())
      block->getTerminator()->erase();
  return op;
}

Flow Control::lowerLeavingIf(const ast::IfStmt &stmt, ArrayRef<ast::StmtPtr> rest,
                             const FlowNeeds &needs, bool isKernelBody) {
  mlir::Value condition = evalCondition(*stmt.condition, "the condition of `if`");
  Location location = emitter.loc(stmt.range);
  if (!condition) // already reported: still check both branches
    condition = emitter.constant(builder.getBoolAttr(true), location);
  SmallVector<const ast::Block *> sources = {&stmt.thenBlock,
                                             stmt.elseBlock ? &*stmt.elseBlock : nullptr};
  std::vector<Binding *> vars =
      stmts.assignedVars(sources[1] ? sources : SmallVector<const ast::Block *>{sources[0]});
  std::vector<SemValue> before = valuesOf(vars);
  scf::IfOp op = beginBranches(condition, location);
  Block *blocks[] = {op.thenBlock(), op.elseBlock()};
  BranchEnd ends[2];
  for (int side : {0, 1}) {
    builder.setInsertionPointToEnd(blocks[side]);
    restore(vars, before);
    if (sources[side])
      ends[side].flow = lowerBlock(*sources[side], rest.empty() ? needs : FlowNeeds::all());
    ends[side].values = valuesOf(vars);
  }
  bool isLast = rest.empty();
  // One side never goes on: no flag is needed, the other side simply continues.
  if (!isLast && !(ends[0].flow.falls && ends[1].flow.falls)) {
    // What follows belongs to the branch that gets there.
    int side = ends[0].flow.falls ? 0 : 1;
    for (Binding *var : stmts.assignedVars(rest))
      if (!llvm::is_contained(vars, var)) {
        vars.push_back(var);
        for (BranchEnd &end : ends)
          end.values.push_back(var->value);
      }
    restore(vars, ends[side].values);
    builder.setInsertionPointToEnd(blocks[side]);
    if (checkExitDepth(stmt.range))
      ends[side].flow = lowerRest(std::move(ends[side].flow), rest, needs, isKernelBody);
    --exitDepth;
    ends[side].values = valuesOf(vars);
    isLast = true;
  }
  if (isLast && !needs.vars) {
    vars.clear();
    ends[0].values.clear();
    ends[1].values.clear();
  }
  Flow joined = joinBranches(op, vars, std::move(ends[0]), std::move(ends[1]),
                             isLast ? needs : FlowNeeds::all());
  return isLast ? joined : lowerRest(std::move(joined), rest, needs, isKernelBody);
}

Flow Control::lowerUnlessLeft(const Flow &before, const FlowNeeds &needs,
                              std::vector<Binding *> vars, Range range,
                              llvm::function_ref<Flow()> rest) {
  Location location = emitter.loc(range);
  if (!needs.vars)
    vars.clear();
  scf::IfOp op = beginBranches(emitLeft(before, location), location);
  BranchEnd left, stayed;
  left.flow = before;
  left.flow.falls = false;
  left.values = valuesOf(vars);
  SmallVector<Exit Flow::*> ways;
  for (Exit Flow::*kind : Flow::kinds)
    if (before.*kind)
      ways.push_back(kind);
  if (ways.size() == 1) // there is no other way into this branch
    (left.flow.*ways[0]).when = Exit::Always;
  builder.setInsertionPointToEnd(op.elseBlock());
  if (checkExitDepth(range))
    stayed.flow = rest();
  --exitDepth;
  stayed.values = valuesOf(vars);
  return joinBranches(op, vars, std::move(left), std::move(stayed), needs);
}

/// Counts up in each case: the caller counts down. Early exits nest what follows one deeper each
/// time, and passes recurse over regions.
bool Control::checkExitDepth(Range range) {
  if (++exitDepth <= limits::exitDepth)
    return true;
  here.error(diag::tooLarge, range, "the early exits before one statement", limits::exitDepth,
             "more")
      .note("join their conditions by `||`, or divide the kernel or function");
  return false;
}
