// Loops, as LowerLoop.cpp emits them.
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/Limits.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::dyn_cast;

/// Attributes that loops of an unknown number of trips refuse are elaboration's to report; so are
/// those of loops that several programs share, whose bodies must be sums.
bool StatementTypes::readAttributes(const std::vector<ast::Attribute> &attributes, bool mayLeave) {
  for (const ast::Attribute &attribute : attributes)
    if (attribute.name.text == "split" || (mayLeave && attribute.name.text != "trips"))
      return !body.undecided().isError();
  AttributeValues values;
  return mayLeave || body.sema.getAttributes().readLoopAttributes(attributes, values);
}

std::optional<std::vector<Arg>> StatementTypes::evalBlocks(const ast::ForStmt &stmt) {
  auto *call = dyn_cast<ast::CallExpr>(stmt.over.get());
  auto *name = call ? dyn_cast<ast::NameExpr>(call->callee.get()) : nullptr;
  if (!name || name->text != "blocks") { // `range` of Python, another name for `blocks`
    (void)body.undecided();
    return std::nullopt;
  }
  SemValue callee = body.eval(*call->callee);
  if (callee.isError())
    return std::nullopt;
  if (!callee.isFunction() || !callee.function->builtin) {
    (void)body.undecided();
    return std::nullopt;
  }
  std::vector<Arg> args;
  bool valid = true;
  for (const ast::Argument &argument : call->arguments) {
    args.push_back({body.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    valid = valid && !args.back().value.isError();
    if (!valid && stmt.isConst)
      return std::nullopt;
  }
  if (!valid || !body.checkBuiltinArguments(*callee.function->builtin, args, call->range))
    return std::nullopt;
  return args;
}

//===--- At compile time --------------------------------------------------===//

std::optional<uint64_t> StatementTypes::countTripsOf(int64_t low, int64_t high, int64_t step,
                                                     bool inclusive) {
  std::optional<uint64_t> trips = countTrips(low, high, step, inclusive);
  tripsInAll += trips.value_or(0);
  if (trips && *trips <= limits::constTrips && tripsInAll <= limits::constTripsInAll)
    return trips;
  (void)body.undecided();
  return std::nullopt;
}

Ways StatementTypes::checkConstFor(const ast::ForStmt &stmt) {
  if (stmt.over) {
    std::optional<std::vector<Arg>> args = evalBlocks(stmt);
    if (!args)
      return {};
    const Arg &last = (*args)[args->size() - 2], &first = args->front();
    std::optional<int64_t> size =
        body.constInt(args->back().value, args->back().range, "the size of a block");
    std::optional<int64_t> low = 0;
    if (args->size() == 3)
      low = body.constInt(first.value, first.range, "the start of `const for`");
    std::optional<int64_t> high = body.constInt(last.value, last.range, "the end of `const for`");
    if (!size || !low || !high || !body.operands.checkShape({*size}, args->back().range))
      return {};
    std::optional<uint64_t> trips = countTripsOf(*low, *high, *size, /*inclusive=*/false);
    return checkTrips(stmt, trips.value_or(0), [&](uint64_t trip) {
      RangeValue range;
      range.start = SemValue::ofInt(int64_t(uint64_t(*low) + trip * uint64_t(*size)));
      range.size = *size;
      range.end = SemValue::ofInt(*high);
      return SemValue::of(std::move(range));
    });
  }
  std::optional<int64_t> low = body.evalInt(*stmt.lo, "the start of `const for`"),
                         high = body.evalInt(*stmt.hi, "the end of `const for`"), step = 1;
  if (stmt.step)
    step = body.evalInt(*stmt.step, "the step of `const for`");
  if (!low || !high || !step)
    return {};
  std::optional<uint64_t> trips = countTripsOf(*low, *high, *step, stmt.inclusive);
  return checkTrips(stmt, trips.value_or(0), [&](uint64_t trip) {
    return SemValue::ofInt(int64_t(uint64_t(*low) + trip * uint64_t(*step)));
  });
}

Ways StatementTypes::checkTrips(const ast::ForStmt &stmt, uint64_t trips,
                                llvm::function_ref<SemValue(uint64_t)> variable) {
  Ways all;
  unsigned errors = here.reported;
  for (uint64_t trip = 0; trip < trips && all.falls && here.reported == errors; ++trip) {
    auto check = [&] {
      here.frames.back().emplace_back();
      here.declare(stmt.variable, variable(trip));
      Ways ways = checkStatements(stmt.body.statements);
      here.leaveBlock();
      ways.falls |= ways.continues != Ways::Never;
      ways.continues = Ways::Never;
      return ways;
    };
    all = all.leaves() ? checkUnlessLeft(all, check) : check();
    if (!body.isDecided())
      return {};
  }
  all.falls |= all.breaks != Ways::Never;
  all.breaks = Ways::Never;
  return all;
}

//===--- At run time ------------------------------------------------------===//

/// What a loop returns, once it may be left.
Ways StatementTypes::leaveLoop(const Ways &trip, const std::vector<ast::Attribute> &attributes) {
  if (!readAttributes(attributes, /*mayLeave=*/true))
    return {};
  Ways ways;
  SemValue value = joinReturns(trip, Ways());
  if (!trip.returns)
    return ways;
  ways.returns = Ways::Sometimes;
  ways.value = value;
  return ways;
}

Ways StatementTypes::checkFor(const ast::ForStmt &stmt) {
  if (stmt.isConst)
    return checkConstFor(stmt);
  ++body.effects;
  SemValue variable = body.data(DType::Index);
  if (stmt.over) {
    std::optional<std::vector<Arg>> args = evalBlocks(stmt);
    if (!args)
      return {};
    std::optional<int64_t> size =
        body.constInt(args->back().value, args->back().range, "the size of a block");
    if (!size || !body.operands.checkShape({*size}, args->back().range))
      return {};
    const Arg &first = args->front(), &last = (*args)[args->size() - 2];
    const SemValue &high = last.value;
    bool hasLow = args->size() < 3 ||
                  body.operands.isIndex(first.value, first.range, "the start of 'blocks'"),
         hasHigh = body.operands.isIndex(high, last.range, "the end of 'blocks'");
    if (!hasLow || !hasHigh)
      return {};
    RangeValue range;
    range.start = variable;
    range.size = *size;
    range.end = high.isInt() ? high : body.data(DType::Index);
    variable = SemValue::of(std::move(range));
  } else {
    SemValue step = stmt.step ? body.eval(*stmt.step) : SemValue::ofInt(1);
    bool hasLow = body.operands.isIndex(body.eval(*stmt.lo), stmt.lo->range, "the start of a loop"),
         hasHigh = body.operands.isIndex(body.eval(*stmt.hi), stmt.hi->range, "the end of a loop"),
         hasStep = body.operands.isIndex(step, stmt.step ? stmt.step->range : stmt.range,
                                         "the step of a loop");
    if (!hasLow || !hasHigh || !hasStep)
      return {};
  }
  if (!readAttributes(stmt.attributes, /*mayLeave=*/false))
    return {};
  here.frames.back().emplace_back();
  here.declare(stmt.variable, variable);
  Ways trip = checkStatements(stmt.body.statements);
  here.leaveBlock();
  return trip.breaks || trip.returns ? leaveLoop(trip, stmt.attributes) : Ways();
}

Ways StatementTypes::checkWhile(const ast::WhileStmt &stmt) {
  ++body.effects;
  bool reads = readAttributes(stmt.attributes, /*mayLeave=*/false) &&
               readAttributes(stmt.attributes, /*mayLeave=*/true);
  if (!reads)
    return {};
  SemValue condition = checkCondition(*stmt.condition);
  Ways trip = checkBlock(stmt.body);
  if (!trip.breaks && !trip.returns)
    return {};
  Ways ways = leaveLoop(trip, {});
  // `while true` ends by a `break` or `return` alone. Whether a scalar is always true, only folding
  // tells.
  if (condition.isData() && !trip.breaks)
    (void)body.undecided();
  if (condition.isBoolNumber() && condition.getBool() && !trip.breaks) {
    ways.falls = false;
    ways.returns = Ways::Always;
  }
  return ways;
}
