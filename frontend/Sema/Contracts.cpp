// Contracts: ranges become facts about dimensions, conditions are checked at compile time or at
// launch.
//
//   N in lo..=hi opt v       readRange: the range of a dimension, stride or integral scalar
//   N in {a, b}              readRange: from the least to the greatest, and a condition
//   align(x, b), alias(..)   readCall: facts of tensors
//   of compile-time values   decided here: contractFails, or nothing
//   anything else            a condition, which the launch checks; `N % c == 0` also a divisor
//
// A contract over parameters that this instance does not have says nothing, and is left out.
#include "frontend/Sema/Contracts.h"

#include <numeric>

using namespace llvm;
using namespace tile;
using LaunchExpr = runtime::Expr;
using LaunchOp = runtime::Expr::Op;

/// Of `X == c * Y` what divides one divides the other, but for c: with `K == 8 * W` and K a
/// multiple of 128, W is one of 16.
static void shareDivisors(runtime::Kernel &record) {
  // Beyond that nothing asks, and products of two such numbers would not fit.
  constexpr int64_t most = int64_t(1) << 30;
  auto find = [&](const LaunchExpr &expr) -> runtime::Dim * {
    for (runtime::Dim &dim : record.dims)
      if (expr.isName() && dim.name == expr.getName())
        return &dim;
    return nullptr;
  };
  auto share = [&](const LaunchExpr &whole, const LaunchExpr &product) {
    if (product.isName() || product.isInteger() || product.getOp() != LaunchOp::Mul)
      return false;
    const LaunchExpr &a = product.getOperands()[0], &b = product.getOperands()[1];
    const LaunchExpr &factor = a.isInteger() ? a : b;
    runtime::Dim *x = find(whole), *y = find(a.isInteger() ? b : a);
    if (!x || !y || !factor.isInteger() || factor.getInteger() <= 0)
      return false;
    int64_t c = factor.getInteger(), ofX = x->multipleOf, ofY = y->multipleOf;
    if (c > most || ofX > most || ofY > most / c)
      return false;
    int64_t newX = std::lcm(ofX, c * ofY), newY = std::lcm(ofY, ofX / std::gcd(ofX, c));
    if (newX > most || newY > most || (newX == ofX && newY == ofY))
      return false;
    x->multipleOf = newX;
    y->multipleOf = newY;
    return true;
  };
  // As often as there are dimensions, along which a fact may go from one to the next.
  bool changed = true;
  for (size_t round = 0; changed && round < record.dims.size(); ++round) {
    changed = false;
    for (const runtime::Contract &contract : record.contracts)
      if (const LaunchExpr &equal = contract.condition;
          !equal.isName() && !equal.isInteger() && equal.getOp() == LaunchOp::Eq)
        changed |= share(equal.getOperands()[0], equal.getOperands()[1]) ||
                   share(equal.getOperands()[1], equal.getOperands()[0]);
  }
}

bool Contracts::read(runtime::Kernel &record) {
  unsigned errors = here.reported;
  if (auto *where = kernel.clause<ast::WhereClause>())
    for (const ast::Contract &contract : where->contracts)
      readContract(contract, record);
  shareDivisors(record);
  // A dimension without an `opt` is tuned for the middle of what is usual.
  for (runtime::Dim &dim : record.dims)
    if (dim.min > dim.max)
      here.error(diag::emptyRange, here.launchNames[dim.name].declared, dim.min, dim.max, dim.name);
  if (here.reported == errors)
    checkHints(record);
  return here.reported == errors;
}

/// `opt` values stand for a typical call: where they break a contract no such call exists. A
/// warning, since only speed depends on them. Conditions with a name that has no hint cannot be
/// asked.
void Contracts::checkHints(const runtime::Kernel &record) {
  runtime::Bindings hints;
  for (const runtime::Dim &dim : record.dims)
    if (dim.opt)
      hints.emplace(dim.name, *dim.opt);
  for (const auto &[name, hint] : scalarHints)
    hints.emplace(name, hint);
  auto *where = kernel.clause<ast::WhereClause>();
  for (const ast::Contract &contract :
       where ? ArrayRef(where->contracts) : ArrayRef<ast::Contract>()) {
    std::string text = sources.text(contract.range).str();
    unsigned line = sources.begin(contract.range).line;
    for (const runtime::Contract &known : record.contracts) {
      if (known.text != text || known.line != line)
        continue;
      std::set<std::string> names;
      collectNames(known.condition, names);
      std::string reason, values;
      for (const std::string &name : names)
        if (auto hint = hints.find(name); hint != hints.end())
          values += (values.empty() ? "" : ", ") + name + " = " + std::to_string(hint->second);
        else
          reason = "a name without a hint";
      if (names.empty() || !reason.empty())
        continue;
      if (known.condition.evaluate(hints, reason) == int64_t(0))
        diagnostics.report(diag::contradictoryHints, contract.range, values);
    }
  }
}

bool Contracts::readCall(const ast::Contract &contract, const ast::CallExpr &call,
                         runtime::Kernel &record) {
  const std::string &name = cast<ast::NameExpr>(*call.callee).text;
  // A tensor, one of an array `xs[1]`, or all of an array. Empty for what is dropped, and after an
  // error.
  auto tensorArguments = [&](size_t index) {
    std::vector<runtime::Param *> found;
    const ast::Expr *argument =
        index < call.arguments.size() ? call.arguments[index].value.get() : nullptr;
    std::string text;
    if (auto *name = dyn_cast_or_null<ast::NameExpr>(argument))
      text = name->text;
    else if (auto *element = dyn_cast_or_null<ast::SubscriptExpr>(argument))
      text = sources.text(element->range).str();
    llvm::erase_if(text, [](char c) { return c == ' '; });
    for (runtime::Param &param : record.params)
      if (param.kind == runtime::Param::Kind::Tensor &&
          (param.name == text || signature.declOf(param).name.text == text))
        found.push_back(&param);
    if (!found.empty() || here.dropped.count(text)) // says nothing in this instance
      return found;
    here.error(diag::notLaunchable,
               index < call.arguments.size() ? call.arguments[index].value->range : call.range,
               "'" + name + "' takes the name of a tensor parameter first; what is written here");
    return found;
  };
  if (call.arguments.size() != 2) {
    here.error(diag::argumentCount, call.range, name, "2 arguments", call.arguments.size());
    return false;
  }
  std::vector<runtime::Param *> first = tensorArguments(0);
  if (first.empty())
    return false;
  if (name == "alias") {
    std::vector<runtime::Param *> second = tensorArguments(1);
    for (const runtime::Param *a : first)
      for (const runtime::Param *b : second)
        if (a != b)
          record.aliases.push_back({a->name, b->name});
    return !second.empty();
  }
  std::optional<int64_t> bytes = evaluator.evalInt(*call.arguments[1].value, "an alignment");
  if (!bytes)
    return false;
  if (*bytes < 1 || *bytes > 4096 || (*bytes & (*bytes - 1))) {
    here.error(diag::badParameter, call.arguments[1].value->range,
               "an alignment is a power of two in 1..=4096, found " + std::to_string(*bytes));
    return false;
  }
  for (runtime::Param *param : first)
    param->align = unsigned(*bytes);
  return true;
}

/// `NAME in lo..=hi opt v` for a dimension, stride or scalar: its range. Other sets are conditions.
/// A name has one range: a second one is an error, as which of both is meant cannot be known.
/// Conditions about it may be many.
bool Contracts::readRange(const ast::Contract &contract, const std::string &name,
                          runtime::Kernel &record) {
  const ast::ValueSet &set = *contract.set;
  auto bound = [&](const ast::Expr &expr) -> std::optional<int64_t> {
    return evaluator.evalInt(expr, "a bound of a range");
  };
  int64_t min, max;
  if (set.kind == ast::ValueSet::interval) {
    std::optional<int64_t> lo = bound(*set.lo), hi = bound(*set.hi);
    if (!lo || !hi)
      return false;
    min = *lo;
    max = *hi - (set.inclusive || *hi == INT64_MIN ? 0 : 1);
    if (min > max || (!set.inclusive && min == *hi)) {
      here.error(diag::emptyRange, set.range, min, max, name);
      return false;
    }
  } else {
    std::optional<std::vector<SemValue>> values = evaluator.evalSet(set, set.range);
    if (!values)
      return false;
    std::vector<LaunchExpr> members;
    for (auto [i, value] : llvm::enumerate(*values)) {
      if (!value.isInt()) {
        here.error(diag::badSet, set.range,
                   "the set of '" + name + "' must hold integers, found " + describe(value));
        return false;
      }
      min = i ? std::min(min, value.getInt()) : value.getInt();
      max = i ? std::max(max, value.getInt()) : value.getInt();
      members.push_back(
          LaunchExpr::make(LaunchOp::Eq, LaunchExpr::makeName(name), LaunchExpr(value.getInt())));
    }
    record.contracts.push_back({LaunchExpr::makeAny(std::move(members)),
                                sources.text(contract.range).str(),
                                sources.begin(contract.range).line});
  }
  std::optional<int64_t> hint;
  if (contract.hint) {
    hint = evaluator.evalInt(*contract.hint, "`opt`");
    if (!hint)
      return false;
    // A range that -D narrows may leave the value out, which is then the nearest in it.
    bool isNarrowed = here.usesStatics(*contract.hint) || (set.lo && here.usesStatics(*set.lo)) ||
                      (set.hi && here.usesStatics(*set.hi));
    if (isNarrowed)
      hint = std::clamp(*hint, min, max);
    if (*hint < min || *hint > max) {
      here.error(diag::optOutside, contract.hint->range, *hint, min, max, name)
          .note(set.range, "the range");
      return false;
    }
  }
  if (!rangedNames.insert(name).second) {
    DiagnosticBuilder report = here.error(diag::duplicateRange, contract.range, name);
    for (const ast::Contract &earlier : kernel.clause<ast::WhereClause>()->contracts)
      if (auto *first = dyn_cast<ast::NameExpr>(earlier.value.get());
          first && first->text == name && earlier.set) {
        report.note(earlier.range, "the first one is here");
        break;
      }
    return false;
  }
  bool isExtent = here.launchNames[name].kind != LaunchName::Scalar;
  if (isExtent && min < 0) {
    here.error(diag::badParameter, set.range,
               "a dimension or stride is never negative: its range must start at 0 or later");
    return false;
  }
  if (set.step) {
    std::optional<int64_t> step = bound(*set.step);
    if (!step)
      return false;
    if (*step < 1) {
      here.error(diag::badSet, set.step->range, "the step of a range must be positive");
      return false;
    }
    LaunchExpr offset =
        LaunchExpr::make(LaunchOp::Sub, LaunchExpr::makeName(name), LaunchExpr(min));
    LaunchExpr condition = LaunchExpr::make(
        LaunchOp::Eq, LaunchExpr::make(LaunchOp::Rem, offset, LaunchExpr(*step)), LaunchExpr(0));
    record.contracts.push_back(
        {condition, sources.text(contract.range).str(), sources.begin(contract.range).line});
  }
  unsigned line = sources.begin(contract.range).line;
  for (runtime::Dim &dim : record.dims)
    if (dim.name == name) {
      dim.min = min;
      dim.max = max;
      dim.opt = hint;
      dim.line = line;
      dim.contract = sources.text(contract.range).str();
    }
  for (runtime::Param &param : record.params)
    if (param.name == name) {
      param.min = min;
      param.max = max;
      if (hint)
        scalarHints[name] = *hint;
      param.contract = sources.text(contract.range).str();
      param.contractLine = line;
    }
  return true;
}

/// A divisor of what a launch gives the expression, at least 1: of products, sums and constants.
static int64_t getDivisor(const LaunchExpr &expr) {
  constexpr int64_t most = int64_t(1) << 20; // beyond that nothing asks
  if (expr.isInteger())
    return expr.getInteger() > 0 && expr.getInteger() <= most ? expr.getInteger() : 1;
  if (expr.isName())
    return 1;
  switch (expr.getOp()) {
  case LaunchOp::Mul: {
    int64_t a = getDivisor(expr.getOperands()[0]), b = getDivisor(expr.getOperands()[1]);
    return a <= most / b ? a * b : 1;
  }
  case LaunchOp::Add:
  case LaunchOp::Sub:
    return std::gcd(getDivisor(expr.getOperands()[0]), getDivisor(expr.getOperands()[1]));
  default:
    return 1;
  }
}

/// `X % c == 0`, or `X == 8 * Y` either way round, for a dimension or stride X: X and a divisor.
/// Divisors are facts that alignment and vectorisation build on (DivisibilityAnalysis).
static std::optional<std::pair<std::string, int64_t>> divisibility(const LaunchExpr &condition) {
  if (condition.getOp() != LaunchOp::Eq)
    return std::nullopt;
  const LaunchExpr &left = condition.getOperands()[0], &right = condition.getOperands()[1];
  if (left.isName())
    return std::pair(left.getName(), getDivisor(right));
  if (right.isName())
    return std::pair(right.getName(), getDivisor(left));
  if (!right.isInteger() || right.getInteger() != 0 || left.getOp() != LaunchOp::Rem ||
      !left.getOperands()[0].isName() || !left.getOperands()[1].isInteger())
    return std::nullopt;
  return std::pair(left.getOperands()[0].getName(), left.getOperands()[1].getInteger());
}

bool Contracts::readContract(const ast::Contract &contract, runtime::Kernel &record) {
  if (auto *call = dyn_cast<ast::CallExpr>(contract.value.get()))
    if (auto *callee = dyn_cast<ast::NameExpr>(call->callee.get());
        callee && (callee->text == "align" || callee->text == "alias"))
      return readCall(contract, *call, record);
  auto *name = dyn_cast<ast::NameExpr>(contract.value.get());
  if (here.usesDropped(*contract.value)) // says nothing in this instance
    return true;
  bool isFloatName =
      name && here.launchNames.count(name->text) && isFloat(here.launchNames[name->text].dtype);
  if (contract.hint && !(name && here.launchNames.count(name->text) && !isFloatName)) {
    here.error(diag::notLaunchable, contract.hint->range,
               "`opt` belongs to the range of a dimension; here it");
    return false;
  }
  bool constantSet =
      contract.set &&
      llvm::none_of(contract.set->values,
                    [&](const ast::ExprPtr &value) { return here.usesLaunchNames(*value); }) &&
      !(contract.set->lo && here.usesLaunchNames(*contract.set->lo)) &&
      !(contract.set->hi && here.usesLaunchNames(*contract.set->hi));
  if (contract.set && name && here.launchNames.count(name->text) && constantSet && !isFloatName)
    return readRange(contract, name->text, record);
  std::string text = sources.text(contract.range).str();
  // At launch, if anything in it is known at launch only.
  bool launches = here.usesLaunchNames(*contract.value) || (contract.set && !constantSet);
  if (!launches) {
    // Over compile-time parameters alone: decided now.
    SemValue value = evaluator.eval(*contract.value);
    if (value.isError())
      return false;
    if (contract.set)
      return evaluator.isInSet(value, *contract.set, contract.range);
    if (!value.isBoolNumber()) {
      here.error(diag::notLaunchable, contract.range, describe(value) + " is no condition, so it");
      return false;
    }
    if (value.getBool())
      return true;
    std::string bound;
    for (const ast::StaticParam &param : kernel.statics)
      if (Binding *local = here.findLocal(param.name.text); local && local->value.isNumber())
        bound +=
            (bound.empty() ? "" : ", ") + param.name.text + " = " + toText(local->value.number);
    here.error(diag::contractFails, contract.range, bound.empty() ? "any values" : bound);
    return false;
  }
  std::optional<DType> dtype;
  std::optional<LaunchExpr> condition =
      contract.set ? launchExprs.convert(*contract.value, dtype)
                   : launchExprs.convert(*contract.value, /*isCondition=*/true);
  if (!condition)
    return false;
  if (contract.set) {
    const ast::ValueSet &set = *contract.set;
    LaunchExpr value = *condition;
    auto member = [&](const ast::Expr &expr) -> std::optional<LaunchExpr> {
      std::optional<DType> other, common = dtype;
      std::optional<LaunchExpr> bound = launchExprs.convert(expr, other);
      return bound && launchExprs.unify(common, value, contract.value->range, other, *bound,
                                        expr.range, "in", expr.range)
                 ? bound
                 : std::nullopt;
    };
    if (set.kind == ast::ValueSet::interval) {
      std::optional<LaunchExpr> lo = member(*set.lo), hi = member(*set.hi);
      if (!lo || !hi)
        return false;
      if (set.step) {
        here.error(diag::badSet, set.step->range,
                   "a step belongs to the range of one dimension or integral scalar");
        return false;
      }
      condition = LaunchExpr::make(
          LaunchOp::And, LaunchExpr::make(LaunchOp::Le, *lo, value),
          LaunchExpr::make(set.inclusive ? LaunchOp::Le : LaunchOp::Lt, value, *hi));
    } else {
      std::vector<LaunchExpr> members;
      for (const ast::ExprPtr &element : set.values) {
        std::optional<LaunchExpr> each = member(*element);
        if (!each)
          return false;
        members.push_back(LaunchExpr::make(LaunchOp::Eq, value, *each));
      }
      condition = LaunchExpr::makeAny(std::move(members));
    }
  }
  if (!launchExprs.checkDepth(*condition, contract.range))
    return false;
  if (auto fact = divisibility(*condition); fact && fact->second > 0)
    for (runtime::Dim &dim : record.dims)
      if (dim.name == fact->first && dim.multipleOf <= (int64_t(1) << 40) / fact->second)
        dim.multipleOf = std::lcm(dim.multipleOf, fact->second);
  record.contracts.push_back({*condition, text, sources.begin(contract.range).line});
  return true;
}
