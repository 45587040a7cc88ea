// Loops: `for` and `while`, at run time and at compile time.
//
//   for i in lo..hi { body }       scf.for, which carries the variables that the body assigns
//   while c { body }               scf.while, the same
//   const for                      the body once for each trip
//
// A loop that `break` or `return` may leave is an scf.while in each case:
//
//   i, variables, left = lo, .., false
//   while i < hi && !left { body: sets left, and then leaves the rest of the trip out; i += step }
#include "dialect/AttributeNames.h"
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

/// Two limits: of one loop, and of all of a kernel together, as loops nest. None after an error.
std::optional<uint64_t> Loops::constTrips(const ast::ForStmt &stmt, int64_t low, int64_t high,
                                          int64_t step, bool inclusive) {
  constexpr const char *advice = "let a loop at run time, `for` without `const`, go around it";
  std::optional<uint64_t> trips = countTrips(low, high, step, inclusive);
  if (!trips || *trips > limits::constTrips) {
    here.error(diag::tooLarge, stmt.range, "the trips of a `const for`", limits::constTrips,
               trips ? std::to_string(*trips) : "2^64")
        .note(advice);
    return std::nullopt;
  }
  tripsInAll += *trips;
  if (tripsInAll <= limits::constTripsInAll)
    return trips;
  here.error(diag::tooLarge, stmt.range,
             "the trips of all `const for` of kernel '" + kernel.name.text + "'",
             limits::constTripsInAll, "more")
      .note(advice);
  return std::nullopt;
}

Flow Loops::lowerConstFor(const ast::ForStmt &stmt) {
  if (stmt.over)
    return lowerConstBlocks(stmt);
  std::optional<int64_t> lo = expressions.evalInt(*stmt.lo, "the start of `const for`"),
                         hi = expressions.evalInt(*stmt.hi, "the end of `const for`");
  std::optional<int64_t> step = 1;
  if (stmt.step)
    step = expressions.evalInt(*stmt.step, "the step of `const for`");
  if (!lo || !hi || !step)
    return {};
  std::optional<uint64_t> trips = constTrips(stmt, *lo, *hi, *step, stmt.inclusive);
  return lowerConstTrips(stmt, trips.value_or(0), [&](uint64_t trip) {
    return SemValue::ofInt(int64_t(uint64_t(*lo) + trip * uint64_t(*step)));
  });
}

Flow Loops::lowerConstBlocks(const ast::ForStmt &stmt) {
  if (foreign.reportRangeLoop(stmt))
    return {};
  auto *call = dyn_cast<ast::CallExpr>(stmt.over.get());
  SemValue callee = call ? expressions.eval(*call->callee) : SemValue::ofVoid();
  if (callee.isError())
    return {};
  if (!callee.isFunction() || !callee.function->builtin || callee.function->name() != "blocks") {
    here.error(diag::wrongOperand, stmt.over->range, "`const for`", "lo..hi or blocks(hi, B)",
               "another expression");
    return {};
  }
  std::vector<Arg> args;
  for (const ast::Argument &argument : call->arguments) {
    args.push_back({expressions.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    if (args.back().value.isError())
      return {};
  }
  if (!expressions.checkBuiltinArguments(*callee.function->builtin, args, call->range))
    return {};
  std::optional<int64_t> size =
      expressions.constInt(args.back().value, args.back().range, "the size of a block");
  const Arg &last = args[args.size() - 2];
  std::optional<int64_t> lo = args.size() == 3 ? expressions.constInt(args[0].value, args[0].range,
                                                                      "the start of `const for`")
                                               : 0,
                         hi =
                             expressions.constInt(last.value, last.range, "the end of `const for`");
  if (!size || !lo || !hi || !conversions.checkShape({*size}, args.back().range))
    return {};
  std::optional<uint64_t> trips = constTrips(stmt, *lo, *hi, *size, /*inclusive=*/false);
  return lowerConstTrips(stmt, trips.value_or(0), [&](uint64_t trip) {
    RangeValue range;
    range.start = SemValue::ofInt(int64_t(uint64_t(*lo) + trip * uint64_t(*size)));
    range.size = *size;
    range.end = SemValue::ofInt(*hi);
    return SemValue::of(std::move(range));
  });
}

/// Each trip is lowered as if it stood there by itself, in a scope of its own. `continue` ends one
/// trip, `break` all that follow: both are used up here, a `return` goes on outwards.
Flow Loops::lowerConstTrips(const ast::ForStmt &stmt, uint64_t trips,
                            llvm::function_ref<SemValue(uint64_t)> variable) {
  Flow all;
  unsigned errors = here.reported;
  // After an error the next trip would say the same.
  for (uint64_t trip = 0; trip < trips && all.falls && here.reported == errors; ++trip) {
    auto lower = [&] {
      here.frames.back().emplace_back();
      here.declare(stmt.variable, variable(trip));
      Flow flow = control.lowerStatements(stmt.body.statements, FlowNeeds::all(), false);
      here.leaveBlock();
      flow.falls |= bool(flow.continues);
      flow.continues = {};
      return flow;
    };
    all = all.leaves()
              ? control.lowerUnlessLeft(all, FlowNeeds::all(), stmts.assignedVars({&stmt.body}),
                                        stmt.range, lower)
              : lower();
  }
  all.falls |= bool(all.breaks);
  all.breaks = {};
  return all;
}

bool Loops::readLoopAttributes(const std::vector<ast::Attribute> &attributes,
                               SmallVectorImpl<NamedAttribute> &out) {
  AttributeValues values;
  bool valid = sema.getAttributes().readLoopAttributes(attributes, values);
  for (const AttributeValue &value : values)
    out.push_back(builder.getNamedAttr(value.name, toAttribute(value, builder)));
  return valid;
}

Flow Loops::lowerFor(const ast::ForStmt &stmt) {
  if (stmt.isConst)
    return lowerConstFor(stmt);
  // Read before the body is lowered, which changes it.
  bool maySplit = control.standsInKernel;
  Location location = emitter.loc(stmt.range);
  mlir::Value lo, hi, step;
  std::optional<SemValue> end;
  int64_t size = 0;
  bool valid = true;
  if (stmt.over) {
    if (foreign.reportRangeLoop(stmt))
      return {};
    auto *call = dyn_cast<ast::CallExpr>(stmt.over.get());
    SemValue callee = call ? expressions.eval(*call->callee) : SemValue::ofVoid();
    if (callee.isError())
      return {};
    bool isBlocks =
        callee.isFunction() && callee.function->builtin && callee.function->name() == "blocks";
    if (!isBlocks) {
      here.error(diag::wrongOperand, stmt.over->range, "`for`", "lo..hi or blocks(hi, B)",
                 "another expression");
      return {};
    }
    std::vector<Arg> args;
    for (const ast::Argument &argument : call->arguments) {
      args.push_back({expressions.eval(*argument.value), argument.value->range,
                      argument.name ? argument.name->text : ""});
      valid = valid && !args.back().value.isError();
    }
    if (!valid || !expressions.checkBuiltinArguments(*callee.function->builtin, args, call->range))
      return {};
    std::optional<int64_t> block =
        expressions.constInt(args.back().value, args.back().range, "the size of a block");
    if (!block || !conversions.checkShape({*block}, args.back().range))
      return {};
    size = *block;
    const Arg &last = args[args.size() - 2];
    lo = args.size() == 3
             ? conversions.toIndex(args[0].value, args[0].range, "the start of 'blocks'")
             : emitter.constantIndex(0, location);
    hi = conversions.toIndex(last.value, last.range, "the end of 'blocks'");
    step = emitter.constantIndex(size, location);
    if (hi)
      end = last.value.isInt() ? last.value : ofData(hi, DType::Index);
  } else {
    SemValue stepValue = stmt.step ? expressions.eval(*stmt.step) : SemValue::ofInt(1);
    lo = conversions.toIndex(expressions.eval(*stmt.lo), stmt.lo->range, "the start of a loop");
    hi = conversions.toIndex(expressions.eval(*stmt.hi), stmt.hi->range, "the end of a loop");
    step = conversions.toIndex(stepValue, stmt.step ? stmt.step->range : stmt.range,
                               "the step of a loop");
  }
  SmallVector<NamedAttribute> attributes;
  if (!lo || !hi || !step || !readLoopAttributes(stmt.attributes, attributes))
    return {};
  std::vector<Binding *> vars = stmts.assignedVars({&stmt.body});
  SmallVector<mlir::Value> initial;
  for (Binding *var : vars)
    initial.push_back(ssaOf(var->value));
  LoopBounds bounds = positions.emitLoopBounds(lo, hi, step, stmt.inclusive, location);
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
      var->value = ofData(argument, var->value.dtype);
    SemValue variable =
        ofData(positions.emitCounter(bounds, loop.getInductionVar(), location), DType::Index);
    if (stmt.over) {
      RangeValue range;
      range.start = variable;
      range.size = size;
      range.end = end;
      variable = SemValue::of(std::move(range));
    }
    here.frames.back().emplace_back();
    here.declare(stmt.variable, variable);
    // The loop is built as scf.for first: whether a `break` may leave it is known when the body is.
    Flow trip = control.lowerStatements(stmt.body.statements, FlowNeeds::ofTrip(), false);
    here.leaveBlock();
    if (trip.breaks || trip.returns) {
      refuseAttributes(stmt.attributes, "a loop that may be left early");
      return leaveFor(loop, trip, vars);
    }
    SmallVector<mlir::Value> results;
    for (Binding *var : vars)
      results.push_back(ssaOf(var->value));
    scf::YieldOp::create(builder, location, results);
  }
  SmallVector<mlir::Value> results(loop.getResults());
  if (auto parts = loop->getAttrOfType<IntegerAttr>(splitName)) {
    if (maySplit)
      results = splitLoops.lowerSplit(stmt, loop, parts.getInt(), vars);
    else
      here.error(diag::splitPlace, stmt.range, parts.getInt(),
                 "must stand directly in the kernel's body");
  }
  for (auto [var, result] : llvm::zip(vars, results))
    var->value = ofData(result, var->value.dtype);
  return {};
}

/// What nobody can do with a loop whose number of trips is not known beforehand.
void Loops::refuseAttributes(const std::vector<ast::Attribute> &attributes, const Twine &subject) {
  for (const ast::Attribute &attribute : attributes)
    if (attribute.name.text == "trips")
      continue;
    else if (attribute.name.text == "split")
      here.error(
          diag::badAttribute, attribute.range, "split",
          ("shares the trips of a `for`; those of " + subject + " are not known beforehand").str());
    else
      diagnostics.report(diag::uselessAttribute, attribute.range, attribute.name.text,
                         ("the trips of " + subject + " are not known beforehand").str());
}

//===--- Loops with early exits -------------------------------------------===//

/// Values that a loop carries beside its variables, in this order: left, perhaps returned (if both
/// `break` and `return` occur), leaves of the value that is returned. Their initial values stand
/// before the loop.
Loops::Leaving Loops::endLeavingTrip(const Flow &trip, ArrayRef<Binding *> vars, Block *body,
                                     mlir::Operation *loop) {
  Location location = loop->getLoc();
  builder.setInsertionPointToEnd(body);
  Leaving out;
  for (Binding *var : vars)
    out.yielded.push_back(ssaOf(var->value));
  Flow left = trip;
  left.continues = {};
  mlir::Value no = emitter.constant(builder.getBoolAttr(false), location);
  out.initial.push_back(no);
  out.yielded.push_back(control.emitLeft(left, location));
  out.tellsReturns = left.breaks && left.returns;
  if (out.tellsReturns) {
    out.initial.push_back(no);
    out.yielded.push_back(control.emitFlag(left.returns, location));
  }
  Block before; // what stands there goes before the loop
  Block *blocks[] = {body, &before};
  SmallVector<mlir::Value> leaves[2];
  out.value = control.joinReturns(left, Flow(), blocks, leaves);
  for (Operation &each : llvm::make_early_inc_range(before))
    each.moveBefore(loop);
  if (leaves[0].size() != leaves[1].size()) // after an error
    leaves[0] = leaves[1] = {};
  llvm::append_range(out.yielded, leaves[0]);
  llvm::append_range(out.initial, leaves[1]);
  return out;
}

Flow Loops::leaveLoop(const Flow &trip, const Leaving &leaving, ArrayRef<Binding *> vars,
                      mlir::ValueRange results) {
  for (auto [var, result] : llvm::zip(vars, results.take_front(vars.size())))
    var->value = ofData(result, var->value.dtype);
  results = results.drop_front(vars.size());
  Flow flow;
  if (!trip.returns)
    return flow;
  size_t told = leaving.tellsReturns ? 1 : 0;
  flow.returns = {Exit::Sometimes, results[told]};
  flow.value = control.replaceLeaves(leaving.value, results.drop_front(told + 1));
  flow.valueRange = trip.valueRange;
  return flow;
}

/// Moves the body of the scf.for into an scf.while. Carried: the counter, variables, then
/// `leaving`.
Flow Loops::leaveFor(scf::ForOp loop, const Flow &trip, ArrayRef<Binding *> vars) {
  Location location = loop.getLoc();
  Block *body = loop.getBody();
  Leaving leaving = endLeavingTrip(trip, vars, body, loop);
  SmallVector<mlir::Value> initial = {loop.getLowerBound()};
  llvm::append_range(initial, loop.getInitArgs());
  llvm::append_range(initial, leaving.initial);
  builder.setInsertionPoint(loop);
  auto types = mlir::ValueRange(initial).getTypes();
  auto op = scf::WhileOp::create(builder, location, types, initial);
  SmallVector<Location> locations(initial.size(), location);
  Block *test = builder.createBlock(&op.getBefore(), {}, types, locations);
  unsigned leftAt = 1 + vars.size();
  mlir::Value more = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt,
                                           test->getArgument(0), loop.getUpperBound());
  mlir::Value yes = emitter.constant(builder.getBoolAttr(true), location);
  mlir::Value stays = arith::XOrIOp::create(builder, location, test->getArgument(leftAt), yes);
  more = arith::AndIOp::create(builder, location, more, stays);
  scf::ConditionOp::create(builder, location, more, test->getArguments());
  mlir::Value step = loop.getStep();
  op.getAfter().takeBody(loop.getRegion());
  for (mlir::Value value : leaving.initial)
    body->addArgument(value.getType(), location);
  builder.setInsertionPointToEnd(body);
  SmallVector<mlir::Value> yielded = {
      arith::AddIOp::create(builder, location, body->getArgument(0), step)};
  llvm::append_range(yielded, leaving.yielded);
  scf::YieldOp::create(builder, location, yielded);
  loop.erase();
  builder.setInsertionPointAfter(op);
  return leaveLoop(trip, leaving, vars, op.getResults().drop_front());
}

///   before: if left { false } else { condition }    after: body; yields variables and `leaving`
Flow Loops::leaveWhile(scf::WhileOp loop, const Flow &trip, ArrayRef<Binding *> vars) {
  Location location = loop.getLoc();
  Leaving leaving = endLeavingTrip(trip, vars, loop.getAfterBody(), loop);
  SmallVector<mlir::Value> initial(loop.getInits());
  llvm::append_range(initial, leaving.initial);
  builder.setInsertionPoint(loop);
  auto op = scf::WhileOp::create(builder, location, mlir::ValueRange(initial).getTypes(), initial);
  op.getBefore().takeBody(loop.getBefore());
  op.getAfter().takeBody(loop.getAfter());
  loop.erase();
  for (Block *block : {op.getBeforeBody(), op.getAfterBody()})
    for (mlir::Value value : leaving.initial)
      block->addArgument(value.getType(), location);
  builder.setInsertionPointToEnd(op.getAfterBody());
  scf::YieldOp::create(builder, location, leaving.yielded);
  // Once it has been left, the condition is not evaluated again: it may have effects.
  Block *test = op.getBeforeBody();
  auto condition = cast<scf::ConditionOp>(test->getTerminator());
  builder.setInsertionPoint(condition);
  auto guard = scf::IfOp::create(builder, location, builder.getI1Type(),
                                 test->getArgument(vars.size()), /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
  builder.setInsertionPointToEnd(guard.thenBlock());
  scf::YieldOp::create(builder, location, emitter.constant(builder.getBoolAttr(false), location));
  guard.elseBlock()->getOperations().splice(guard.elseBlock()->end(), test->getOperations(),
                                            test->begin(), Block::iterator(guard));
  builder.setInsertionPointToEnd(guard.elseBlock());
  scf::YieldOp::create(builder, location, condition.getCondition());
  builder.setInsertionPoint(condition);
  scf::ConditionOp::create(builder, location, guard.getResult(0), test->getArguments());
  condition.erase();
  builder.setInsertionPointAfter(op);
  return leaveLoop(trip, leaving, vars, op.getResults());
}

Flow Loops::lowerWhile(const ast::WhileStmt &stmt) {
  SmallVector<NamedAttribute> attributes;
  if (!readLoopAttributes(stmt.attributes, attributes))
    return {};
  refuseAttributes(stmt.attributes, "a `while`");
  std::vector<Binding *> vars = stmts.assignedVars({&stmt.body});
  SmallVector<mlir::Value> initial;
  SmallVector<Type> types;
  for (Binding *var : vars) {
    initial.push_back(ssaOf(var->value));
    types.push_back(ssaOf(var->value).getType());
  }
  Location location = emitter.loc(stmt.range);
  auto loop = scf::WhileOp::create(builder, location, types, initial);
  for (NamedAttribute attribute : attributes)
    loop->setAttr(attribute.getName(), attribute.getValue());
  SmallVector<Location> locations(types.size(), location);
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](Region &region) {
    Block *block = builder.createBlock(&region, {}, types, locations);
    for (auto [var, argument] : llvm::zip(vars, block->getArguments()))
      var->value = ofData(argument, var->value.dtype);
    return block;
  };
  Block *before = enter(loop.getBefore());
  mlir::Value condition = control.evalCondition(*stmt.condition, "the condition of `while`");
  if (!condition)
    condition = emitter.constant(builder.getBoolAttr(false), location);
  scf::ConditionOp::create(builder, location, condition, before->getArguments());
  // `while true` ends by a `break` or `return` alone.
  // Nothing behind such a loop runs unless a `break` leads there.
  bool isEndless = matchPattern(condition, m_One());
  enter(loop.getAfter());
  Flow trip = control.lowerBlock(stmt.body, FlowNeeds::ofTrip());
  if (trip.breaks || trip.returns) {
    Flow flow = leaveWhile(loop, trip, vars);
    if (isEndless && !trip.breaks) {
      flow.falls = false;
      flow.returns.when = Exit::Always;
    }
    return flow;
  }
  SmallVector<mlir::Value> results;
  for (Binding *var : vars)
    results.push_back(ssaOf(var->value));
  scf::YieldOp::create(builder, location, results);
  for (auto [var, result] : llvm::zip(vars, loop.getResults()))
    var->value = ofData(result, var->value.dtype);
  return {};
}
