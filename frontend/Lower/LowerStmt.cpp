// Statements: declarations, assignments, stores, conditionals and loops.
#include "dialect/AttributeNames.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Sema/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

void Elaborator::lowerBlock(const ast::Block &block, bool isKernelBody) {
  frames.back().emplace_back();
  lowerStatements(block.statements, isKernelBody);
  leaveBlock();
}

/// Does the block end in `return;`?
static bool endsInReturn(const ast::Block &block) {
  return !block.statements.empty() && isa<ast::ReturnStmt>(*block.statements.back());
}

void Elaborator::lowerStatements(ArrayRef<ast::StmtPtr> statements, bool isKernelBody) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt &stmt = *statements[i];
    if (auto *guard = dyn_cast<ast::IfStmt>(&stmt);
        guard && isKernelBody && endsInReturn(guard->thenBlock)) {
      lowerGuard(*guard, statements.drop_front(i + 1));
      return;
    }
    standsInKernel = isKernelBody;
    lowerStatement(stmt);
  }
}

void Elaborator::lowerStatement(const ast::Stmt &stmt) {
  if (diagnostics.limitReached()) // nobody would see what else is wrong
    return;
  switch (stmt.kind) {
  case ast::Stmt::Kind::Let:
    return lowerLet(cast<ast::LetStmt>(stmt));
  case ast::Stmt::Kind::Expression:
    (void)eval(*cast<ast::ExprStmt>(stmt).value);
    return;
  case ast::Stmt::Kind::Assign:
    return lowerAssign(cast<ast::AssignStmt>(stmt));
  case ast::Stmt::Kind::If:
    return lowerIf(cast<ast::IfStmt>(stmt));
  case ast::Stmt::Kind::For:
    return lowerFor(cast<ast::ForStmt>(stmt));
  case ast::Stmt::Kind::While:
    return lowerWhile(cast<ast::WhileStmt>(stmt));
  case ast::Stmt::Kind::Return:
    error(diag::badReturn, stmt.range,
          calls.empty() ? "`return` may only end an `if` that stands directly in the kernel's body"
                        : "`return` must be the last statement of a function")
        .note(calls.empty()
                  ? "put what follows under an `if` of the opposite condition"
                  : "declare a `var` before the `if` or loop, assign it there, and return "
                    "it at the end; or make a function of each branch");
    return;
  }
}

// --- declarations and assignments
// ----------------------------------------------------------------------------------

void Elaborator::lowerLet(const ast::LetStmt &stmt) {
  SemValue value = eval(*stmt.value);
  if (stmt.type)
    value = convertToDeclared(value, *stmt.type, stmt.value->range);
  if (value.kind == SemValue::Kind::Void) {
    error(diag::wrongOperand, stmt.value->range, "a declaration", "a value", describe(value));
    value = SemValue::error();
  }
  std::vector<SemValue> values = {value};
  if (stmt.pattern.isTuple) {
    values.assign(stmt.pattern.names.size(), SemValue::error());
    if (value.isTuple() && value.elements->size() == values.size())
      values = *value.elements;
    else if (!value.isError())
      error(diag::patternCount, stmt.pattern.range, stmt.pattern.names.size(), describe(value))
          .secondary(stmt.value->range, "this is " + describe(value));
  }
  for (auto [name, each] : llvm::zip(stmt.pattern.names, values)) {
    if (stmt.isVar && each.kind == SemValue::Kind::List)
      each = listToTile(each, std::nullopt, stmt.value->range);
    if (stmt.isVar && !each.isError()) {
      if (!each.isNumeric()) {
        error(diag::wrongOperand, stmt.value->range, "a `var`", "a number or tile", describe(each))
            .note(each.isTuple() ? "name its members, `var (a, b) = ...`, or use `let` where it is "
                                   "not assigned again"
                                 : "use `let` instead");
        each = SemValue::error();
      } else {
        each = toData(each, stmt.value->range);
      }
    }
    declare(name, each, stmt.isVar);
    if (Binding *binding = stmt.pattern.isTuple ? nullptr : findLocal(name.text))
      binding->initial = stmt.value.get();
  }
}

void Elaborator::assignName(const ast::Expr &target, SemValue value, Range range) {
  const std::string &name = cast<ast::NameExpr>(target).text;
  if (name == "_")
    return;
  Binding *variable = findLocal(name);
  if (!variable) {
    if (scope->names.count(name))
      error(diag::notAVariable, target.range, name)
          .note(scope->names.at(name)->name.range, "defined here");
    else if (!evalName(name, target.range).isError())
      error(diag::notAVariable, target.range, name);
    return;
  }
  if (!variable->isVar) {
    if (!variable->value.isError())
      error(diag::notAVariable, target.range, name)
          .note(variable->declared, "declared here, not as a `var`");
    return;
  }
  // After an error the variable keeps its value, so that what follows is still checked.
  const SemValue &old = variable->value;
  if (value.kind == SemValue::Kind::List)
    value = listToTile(value, old.dtype, range);
  if (value.isError() || old.isError())
    return;
  auto mismatch = [&] {
    DiagnosticBuilder report =
        error(diag::variableType, range, name, describe(old), describe(value));
    report.note(variable->declared, "'" + name + "' is declared here");
    if (value.isData() && value.dtype != old.dtype)
      report.note("convert the value with `as " + dtypeSpelling(old.dtype) + "`");
    else if (value.isData() && old.isData() && old.rank() == 0 && value.rank() > 0)
      report.note("begin it as a tile: `full(" + dtypeSpelling(old.dtype) + ", " +
                  describeShape(value.shape()) + ", ...)`");
  };
  bool indexFits = value.isData() && old.dtype == DType::Index && widensToIndex(value.dtype);
  if (!value.isNumeric() || (value.isData() && value.dtype != old.dtype && !indexFits) ||
      (value.isData() && value.rank() > 0 && value.shape() != old.shape()))
    return mismatch();
  mlir::Value converted = toDtype(value, old.dtype, range);
  if (!converted)
    return;
  variable->value = SemValue::ofData(emitBroadcast(converted, old.shape(), loc(range)), old.dtype);
}

void Elaborator::lowerAssign(const ast::AssignStmt &stmt) {
  if (auto *access = dyn_cast<ast::SubscriptExpr>(stmt.target.get())) {
    SemValue base = eval(*access->base);
    if (base.isError()) {
      (void)eval(*stmt.value);
      return;
    }
    if (!base.isView()) {
      error(diag::wrongOperand, access->base->range, "a store", "a tensor", describe(base))
          .note("tiles are immutable: build a new one, for instance with `where`");
      return;
    }
    if (stmt.op) {
      error(diag::wrongOperand, stmt.opRange, ("'" + ast::spelling(*stmt.op) + "='").str(),
            "a `var`", "an access")
          .note("write x[...] = x[...] " + ast::spelling(*stmt.op) + " v for a read and a write");
      return;
    }
    Arg value = {eval(*stmt.value), stmt.value->range, ""};
    std::optional<AccessSpec> spec;
    if (isFullAccess(*base.view, *access)) {
      spec = makeAccess(base, *access);
    } else {
      DiagnosticBuilder report = error(diag::needsAccess, access->range, "=");
      report.note("the tensor has " + Twine(base.view->shape.size()) +
                  " dimensions; a store needs a subscript for each");
      if (llvm::any_of(access->subscripts, [](const ast::Subscript &subscript) {
            return subscript.kind == ast::Subscript::slice;
          }))
        report.note("lo..hi makes a view; positions lo..lo + 16 of a tile are at(lo, 16)");
    }
    if (spec)
      emitStore(*spec, value, {}, {});
    return;
  }
  SemValue value = eval(*stmt.value);
  if (auto *tuple = dyn_cast<ast::TupleExpr>(stmt.target.get())) {
    if (stmt.op) {
      error(diag::wrongOperand, stmt.opRange, ("'" + ast::spelling(*stmt.op) + "='").str(),
            "one `var`", "a tuple");
      return;
    }
    if (!value.isError() &&
        (!value.isTuple() || value.elements->size() != tuple->elements.size())) {
      error(diag::patternCount, stmt.target->range, tuple->elements.size(), describe(value))
          .secondary(stmt.value->range, "this is " + describe(value));
      return;
    }
    for (auto [i, element] : llvm::enumerate(tuple->elements))
      assignName(*element, value.isError() ? value : (*value.elements)[i], stmt.value->range);
    return;
  }
  if (stmt.op && !value.isError())
    value = binary(*stmt.op, eval(*stmt.target), value, stmt.target->range, stmt.value->range,
                   stmt.range, stmt.opRange);
  assignName(*stmt.target, value, stmt.op ? stmt.range : stmt.value->range);
}

// --- which variables a region assigns
// ------------------------------------------------------------------------------

namespace {
/// Collects the names that statements assign and do not declare themselves.
struct AssignedNames {
  std::vector<std::string> names; // in order of first assignment
  std::vector<std::set<std::string>> declared;

  void add(const ast::Expr &target) {
    if (auto *tuple = dyn_cast<ast::TupleExpr>(&target)) {
      for (const ast::ExprPtr &element : tuple->elements)
        add(*element);
      return;
    }
    auto *name = dyn_cast<ast::NameExpr>(&target);
    if (!name || llvm::is_contained(names, name->text))
      return;
    for (const auto &scope : declared)
      if (scope.count(name->text))
        return;
    names.push_back(name->text);
  }

  void visit(const ast::Block &block) {
    declared.emplace_back();
    for (const ast::StmtPtr &stmt : block.statements)
      visit(*stmt);
    declared.pop_back();
  }

  void visit(const ast::Stmt &stmt) {
    if (auto *let = dyn_cast<ast::LetStmt>(&stmt)) {
      for (const ast::Ident &name : let->pattern.names)
        declared.back().insert(name.text);
    } else if (auto *assign = dyn_cast<ast::AssignStmt>(&stmt)) {
      add(*assign->target);
    } else if (auto *branch = dyn_cast<ast::IfStmt>(&stmt)) {
      visit(branch->thenBlock);
      if (branch->elseBlock)
        visit(*branch->elseBlock);
    } else if (auto *loop = dyn_cast<ast::ForStmt>(&stmt)) {
      visit(loop->body);
    } else if (auto *loop = dyn_cast<ast::WhileStmt>(&stmt)) {
      visit(loop->body);
    }
  }
};
} // namespace

std::vector<Elaborator::Binding *> Elaborator::assignedVars(ArrayRef<const ast::Block *> blocks) {
  AssignedNames assigned;
  for (const ast::Block *block : blocks)
    assigned.visit(*block);
  std::vector<Binding *> vars;
  for (const std::string &name : assigned.names)
    if (Binding *binding = findLocal(name); binding && binding->isVar && binding->value.isData())
      vars.push_back(binding);
  return vars;
}

// --- conditionals
// --------------------------------------------------------------------------------------------------

mlir::Value Elaborator::evalCondition(const ast::Expr &expr, const Twine &what) {
  SemValue value = eval(expr);
  if (value.isError())
    return {};
  bool isBool =
      value.isBoolNumber() || (value.isData() && value.dtype == DType::Bool && value.rank() == 0);
  if (isBool)
    return toDtype(value, DType::Bool, expr.range);
  DiagnosticBuilder report =
      error(diag::wrongOperand, expr.range, what.str(), "a bool scalar", describe(value));
  if (value.isData() && value.dtype == DType::Bool)
    report.note(
        "reduce the tile with any(x) or all(x), or select element by element with where(c, a, b)");
  return {};
}

void Elaborator::lowerIf(const ast::IfStmt &stmt) {
  if (stmt.isConst) {
    std::optional<bool> taken = evalConstBool(*stmt.condition, "the condition of `const if`");
    if (!taken)
      return;
    if (*taken)
      lowerBlock(stmt.thenBlock);
    else if (stmt.elseBlock)
      lowerBlock(*stmt.elseBlock);
    return;
  }
  mlir::Value condition = evalCondition(*stmt.condition, "the condition of `if`");
  Location location = loc(stmt.range);
  if (!condition) // already reported: still check both branches
    condition = constant(builder.getBoolAttr(true), location);
  SmallVector<const ast::Block *> blocks = {&stmt.thenBlock};
  if (stmt.elseBlock)
    blocks.push_back(&*stmt.elseBlock);
  std::vector<Binding *> vars = assignedVars(blocks);
  SmallVector<mlir::Value> before;
  SmallVector<Type> types;
  for (Binding *var : vars) {
    before.push_back(var->value.ssa);
    types.push_back(var->value.ssa.getType());
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
      lowerBlock(*block);
    SmallVector<mlir::Value> results;
    for (auto [var, old] : llvm::zip(vars, before)) {
      results.push_back(var->value.ssa);
      var->value = SemValue::ofData(old, var->value.dtype);
    }
    scf::YieldOp::create(builder, location, results);
  };
  branch(op.getThenRegion(), &stmt.thenBlock);
  if (hasElse)
    branch(op.getElseRegion(), stmt.elseBlock ? &*stmt.elseBlock : nullptr);
  for (auto [var, result] : llvm::zip(vars, op.getResults()))
    var->value = SemValue::ofData(result, var->value.dtype);
}

void Elaborator::lowerGuard(const ast::IfStmt &stmt, ArrayRef<ast::StmtPtr> rest) {
  auto first = [&](const ast::Block &block) { // all but the `return;`
    frames.back().emplace_back();
    lowerStatements(ArrayRef(block.statements).drop_back(), /*isKernelBody=*/false);
    frames.back().pop_back();
    if (cast<ast::ReturnStmt>(*block.statements.back()).value)
      error(diag::badReturn, block.statements.back()->range, "a kernel returns no value");
  };
  if (stmt.isConst) {
    std::optional<bool> taken = evalConstBool(*stmt.condition, "the condition of `const if`");
    if (!taken)
      return;
    if (*taken)
      return first(stmt.thenBlock);
    if (stmt.elseBlock)
      lowerBlock(*stmt.elseBlock);
    return lowerStatements(rest, true);
  }
  mlir::Value condition = evalCondition(*stmt.condition, "the condition of `if`");
  Location location = loc(stmt.range);
  if (!condition)
    condition = constant(builder.getBoolAttr(true), location);
  auto op = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op.thenBlock()->getTerminator());
  // What the guard's branch assigns is lost with it.
  std::vector<Binding *> vars = assignedVars({&stmt.thenBlock});
  SmallVector<SemValue> before;
  for (Binding *var : vars)
    before.push_back(var->value);
  first(stmt.thenBlock);
  for (auto [var, old] : llvm::zip(vars, before))
    var->value = old;
  builder.setInsertionPoint(op.elseBlock()->getTerminator());
  if (stmt.elseBlock)
    lowerBlock(*stmt.elseBlock);
  lowerStatements(rest, true);
}

// --- loops
// ---------------------------------------------------------------------------------------------------------

std::optional<uint64_t> Elaborator::constTrips(const ast::ForStmt &stmt, int64_t low, int64_t high,
                                               int64_t step, bool inclusive) {
  constexpr const char *advice = "let a loop at run time, `for` without `const`, go around it";
  std::optional<uint64_t> trips = countTrips(low, high, step, inclusive);
  if (!trips || *trips > limits::constTrips) {
    error(diag::tooLarge, stmt.range, "the trips of a `const for`", limits::constTrips,
          trips ? std::to_string(*trips) : "2^64")
        .note(advice);
    return std::nullopt;
  }
  tripsInAll += *trips;
  if (tripsInAll <= limits::constTripsInAll)
    return trips;
  error(diag::tooLarge, stmt.range,
        "the trips of all `const for` of kernel '" + kernel.name.text + "'",
        limits::constTripsInAll, "more")
      .note(advice);
  return std::nullopt;
}

void Elaborator::lowerConstFor(const ast::ForStmt &stmt) {
  if (stmt.over) {
    lowerConstBlocks(stmt);
    return;
  }
  std::optional<int64_t> lo = evalInt(*stmt.lo, "the start of `const for`"),
                         hi = evalInt(*stmt.hi, "the end of `const for`");
  std::optional<int64_t> step = 1;
  if (stmt.step)
    step = evalInt(*stmt.step, "the step of `const for`");
  if (!lo || !hi || !step)
    return;
  std::optional<uint64_t> trips = constTrips(stmt, *lo, *hi, *step, stmt.inclusive);
  for (uint64_t trip = 0; trips && trip < *trips; ++trip)
    if (!lowerConstTrip(stmt, SemValue::ofInt(int64_t(uint64_t(*lo) + trip * uint64_t(*step)))))
      return;
}

void Elaborator::lowerConstBlocks(const ast::ForStmt &stmt) {
  auto *call = dyn_cast<ast::CallExpr>(stmt.over.get());
  SemValue callee = call ? eval(*call->callee) : SemValue::ofVoid();
  if (callee.isError())
    return;
  if (!callee.isFunction() || !callee.function->builtin || callee.function->name() != "blocks") {
    error(diag::wrongOperand, stmt.over->range, "`const for`", "lo..hi or blocks(hi, B)",
          "another expression");
    return;
  }
  std::vector<Arg> args;
  for (const ast::Argument &argument : call->arguments) {
    args.push_back(
        {eval(*argument.value), argument.value->range, argument.name ? argument.name->text : ""});
    if (args.back().value.isError())
      return;
  }
  if (!checkBuiltinArguments(*callee.function->builtin, args, call->range))
    return;
  std::optional<int64_t> size =
      constInt(args.back().value, args.back().range, "the size of a block");
  const Arg &last = args[args.size() - 2];
  std::optional<int64_t> lo = args.size() == 3 ? constInt(args[0].value, args[0].range,
                                                          "the start of `const for`")
                                               : 0,
                         hi = constInt(last.value, last.range, "the end of `const for`");
  if (!size || !lo || !hi || !checkShape({*size}, args.back().range))
    return;
  std::optional<uint64_t> trips = constTrips(stmt, *lo, *hi, *size, /*inclusive=*/false);
  for (uint64_t trip = 0; trips && trip < *trips; ++trip) {
    RangeValue range;
    range.start = SemValue::ofInt(int64_t(uint64_t(*lo) + trip * uint64_t(*size)));
    range.size = *size;
    range.end = SemValue::ofInt(*hi);
    if (!lowerConstTrip(stmt, SemValue::of(std::move(range))))
      return;
  }
}

/// One trip; false if it had errors: the next would say the same.
bool Elaborator::lowerConstTrip(const ast::ForStmt &stmt, SemValue variable) {
  unsigned errors = reported;
  frames.back().emplace_back();
  declare(stmt.variable, std::move(variable));
  lowerStatements(stmt.body.statements, false);
  leaveBlock();
  return reported == errors;
}

void Elaborator::lowerFor(const ast::ForStmt &stmt) {
  if (stmt.isConst)
    return lowerConstFor(stmt);
  bool maySplit = standsInKernel;
  Location location = loc(stmt.range);
  mlir::Value lo, hi, step;
  std::optional<SemValue> end;
  int64_t size = 0;
  bool valid = true;
  if (stmt.over) {
    auto *call = dyn_cast<ast::CallExpr>(stmt.over.get());
    SemValue callee = call ? eval(*call->callee) : SemValue::ofVoid();
    if (callee.isError())
      return;
    bool isBlocks =
        callee.isFunction() && callee.function->builtin && callee.function->name() == "blocks";
    if (!isBlocks) {
      error(diag::wrongOperand, stmt.over->range, "`for`", "lo..hi or blocks(hi, B)",
            "another expression");
      return;
    }
    std::vector<Arg> args;
    for (const ast::Argument &argument : call->arguments) {
      args.push_back(
          {eval(*argument.value), argument.value->range, argument.name ? argument.name->text : ""});
      valid = valid && !args.back().value.isError();
    }
    if (!valid || !checkBuiltinArguments(*callee.function->builtin, args, call->range))
      return;
    std::optional<int64_t> block =
        constInt(args.back().value, args.back().range, "the size of a block");
    if (!block || !checkShape({*block}, args.back().range))
      return;
    size = *block;
    const Arg &last = args[args.size() - 2];
    lo = args.size() == 3 ? toIndex(args[0].value, args[0].range, "the start of 'blocks'")
                          : constantIndex(0, location);
    hi = toIndex(last.value, last.range, "the end of 'blocks'");
    step = constantIndex(size, location);
    if (hi)
      end = last.value.isInt() ? last.value : SemValue::ofData(hi, DType::Index);
  } else {
    SemValue stepValue = stmt.step ? eval(*stmt.step) : SemValue::ofInt(1);
    lo = toIndex(eval(*stmt.lo), stmt.lo->range, "the start of a loop");
    hi = toIndex(eval(*stmt.hi), stmt.hi->range, "the end of a loop");
    step = toIndex(stepValue, stmt.step ? stmt.step->range : stmt.range, "the step of a loop");
  }
  SmallVector<NamedAttribute> attributes;
  if (!lo || !hi || !step || !readLoopAttributes(stmt.attributes, attributes))
    return;
  std::vector<Binding *> vars = assignedVars({&stmt.body});
  SmallVector<mlir::Value> initial;
  for (Binding *var : vars)
    initial.push_back(var->value.ssa);
  LoopBounds bounds = emitLoopBounds(lo, hi, step, stmt.inclusive, location);
  auto loop = scf::ForOp::create(builder, location, bounds.low, bounds.high, bounds.step, initial);
  for (NamedAttribute attribute : attributes)
    loop->setAttr(attribute.getName(), attribute.getValue());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = loop.getBody();
    if (!body->empty())
      body->getTerminator()->erase();
    builder.setInsertionPointToEnd(body);
    for (auto [var, argument] : llvm::zip(vars, loop.getRegionIterArgs()))
      var->value = SemValue::ofData(argument, var->value.dtype);
    SemValue variable =
        SemValue::ofData(emitCounter(bounds, loop.getInductionVar(), location), DType::Index);
    if (stmt.over) {
      RangeValue range;
      range.start = variable;
      range.size = size;
      range.end = end;
      variable = SemValue::of(std::move(range));
    }
    frames.back().emplace_back();
    declare(stmt.variable, variable);
    lowerStatements(stmt.body.statements, false);
    leaveBlock();
    SmallVector<mlir::Value> results;
    for (Binding *var : vars)
      results.push_back(var->value.ssa);
    scf::YieldOp::create(builder, location, results);
  }
  if (auto parts = loop->getAttrOfType<IntegerAttr>(splitName)) {
    if (maySplit)
      checkSplit(stmt, loop, parts.getInt(), vars);
    else
      error(diag::splitPlace, stmt.range, parts.getInt(),
            "must stand directly in the kernel's body");
  }
  for (auto [var, result] : llvm::zip(vars, loop.getResults()))
    var->value = SemValue::ofData(result, var->value.dtype);
}

void Elaborator::lowerWhile(const ast::WhileStmt &stmt) {
  SmallVector<NamedAttribute> attributes;
  if (!readLoopAttributes(stmt.attributes, attributes))
    return;
  for (const ast::Attribute &attribute : stmt.attributes)
    if (attribute.name.text == "split")
      error(diag::badAttribute, attribute.range, "split",
            "shares the trips of a `for`; those of a `while` are not known beforehand");
    else
      diagnostics.report(diag::uselessAttribute, attribute.range, attribute.name.text,
                         "the trips of a `while` are not known beforehand");
  std::vector<Binding *> vars = assignedVars({&stmt.body});
  SmallVector<mlir::Value> initial;
  SmallVector<Type> types;
  for (Binding *var : vars) {
    initial.push_back(var->value.ssa);
    types.push_back(var->value.ssa.getType());
  }
  Location location = loc(stmt.range);
  auto loop = scf::WhileOp::create(builder, location, types, initial);
  for (NamedAttribute attribute : attributes)
    loop->setAttr(attribute.getName(), attribute.getValue());
  SmallVector<Location> locations(types.size(), location);
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](Region &region) {
    Block *block = builder.createBlock(&region, {}, types, locations);
    for (auto [var, argument] : llvm::zip(vars, block->getArguments()))
      var->value = SemValue::ofData(argument, var->value.dtype);
    return block;
  };
  Block *before = enter(loop.getBefore());
  mlir::Value condition = evalCondition(*stmt.condition, "the condition of `while`");
  if (!condition)
    condition = constant(builder.getBoolAttr(false), location);
  scf::ConditionOp::create(builder, location, condition, before->getArguments());
  enter(loop.getAfter());
  lowerBlock(stmt.body);
  SmallVector<mlir::Value> results;
  for (Binding *var : vars)
    results.push_back(var->value.ssa);
  scf::YieldOp::create(builder, location, results);
  for (auto [var, result] : llvm::zip(vars, loop.getResults()))
    var->value = SemValue::ofData(result, var->value.dtype);
}
