// Variants: what `specialize` clauses and the command line say beyond a kernel's contracts becomes
// facts of one version. What is fixed stays in the manifest as a dimension with one value; the
// kernel sees a constant, the ABI nothing.
//
//   version      whose facts          who looks at them
//   generic      contracts            the launch refuses arguments that break one
//   specialize   contracts + facts    dispatch: the first version whose facts hold is launched
//   --variant    contracts + facts    dispatch, before those of the source
//   --arg        more contracts       the launch
//
// A fact narrows a dimension or scalar (narrow), fixes it (fix), gives it a divisor (divide), or
// raises an alignment; each also becomes a condition, so that no version runs where its facts do
// not hold.
#include "frontend/Sema/Variants.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Sema/MatchItems.h"
#include "frontend/Sema/TuneTable.h"

#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace llvm;
using namespace tile;
using LaunchExpr = runtime::Expr;
using LaunchOp = runtime::Expr::Op;

/// A fact of the source is reported at its place, one of the command line by its text.
bool Variants::failFact(const FactSource &source, const Twine &message, Range second) {
  DiagnosticBuilder report =
      source.range.isValid() ? here.error(diag::badSpecialize, source.range, message.str())
                             : here.error(diag::badArgument, Range(), source.text, message.str());
  if (second.isValid())
    report.note(second, "declared here");
  return false;
}

/// The fact contradicts what holds already. Where --arg said that, a variant of the source is left
/// out instead.
bool Variants::conflict(const FactSource &source, const Twine &message, Range second) {
  if (!source.range.isValid() || options.arguments.empty())
    return failFact(source, message, second);
  impossible = true;
  return false;
}

/// Makes a condition one that dispatch looks at, or one of the kernel's contracts.
void Variants::addCondition(LaunchExpr condition, const FactSource &source,
                            runtime::Kernel &record) {
  unsigned line = source.range.isValid() ? sources.begin(source.range).line : 0;
  if (source.isDispatched) {
    runtime::Fact fact;
    fact.condition = std::move(condition);
    fact.text = source.text;
    fact.line = line;
    record.facts.push_back(std::move(fact));
  } else {
    record.contracts.push_back({std::move(condition), source.text, line});
  }
}

static LaunchExpr between(const std::string &name, int64_t min, int64_t max) {
  LaunchExpr value = LaunchExpr::makeName(name);
  if (min == max)
    return LaunchExpr::make(LaunchOp::Eq, value, LaunchExpr(min));
  return LaunchExpr::make(LaunchOp::And, LaunchExpr::make(LaunchOp::Le, LaunchExpr(min), value),
                          LaunchExpr::make(LaunchOp::Le, value, LaunchExpr(max)));
}

/// Ranges are intersected: contracts of the source, facts and items in whatever order they come.
/// `opt` is kept inside of the range, as the cost model takes it for a value that occurs.
bool Variants::narrow(const std::string &name, int64_t min, int64_t max, std::optional<int64_t> opt,
                      const FactSource &source, runtime::Kernel &record) {
  unsigned line = source.range.isValid() ? sources.begin(source.range).line : 0;
  auto apply = [&](int64_t low, int64_t high) {
    if (std::max(low, min) <= std::min(high, max))
      return true;
    std::string range = " in its range " + std::to_string(low) + "..=" + std::to_string(high);
    if (min == max)
      return conflict(source,
                      "'" + name + "' cannot be " + std::to_string(min) + ", which is not" + range,
                      here.launchNames[name].declared);
    return conflict(source,
                    "no value of '" + name + "' is in " + Twine(min) + "..=" + Twine(max) + " and" +
                        range,
                    here.launchNames[name].declared);
  };
  for (runtime::Dim &dim : record.dims)
    if (dim.name == name) {
      if (!apply(dim.min, dim.max))
        return false;
      if (!source.isDispatched && (min > dim.min || max < dim.max || min == max)) {
        dim.contract = source.text;
        dim.line = line;
      }
      dim.min = std::max(dim.min, min);
      dim.max = std::min(dim.max, max);
      if (opt)
        dim.opt = opt;
      if (dim.opt)
        dim.opt = std::clamp(*dim.opt, dim.min, dim.max);
      if (min == max && min % dim.multipleOf)
        return conflict(source, "'" + name + "' is a multiple of " + Twine(dim.multipleOf),
                        here.launchNames[name].declared);
    }
  for (runtime::Param &param : record.params)
    if (param.name == name) {
      if (!apply(param.min.value_or(INT64_MIN), param.max.value_or(INT64_MAX)))
        return false;
      param.min = std::max(param.min.value_or(INT64_MIN), min);
      param.max = std::min(param.max.value_or(INT64_MAX), max);
      if (!source.isDispatched) {
        param.contract = source.text;
        param.contractLine = line;
      }
    }
  if (source.isDispatched)
    addCondition(between(name, min, max), source, record);
  return true;
}

bool Variants::fix(const std::string &name, int64_t value, const FactSource &source,
                   runtime::Kernel &record) {
  if (auto known = fixed.find(name); known != fixed.end() && known->second != value)
    return conflict(source, "'" + name + "' is fixed to " + Twine(known->second) + " already",
                    Range());
  for (const runtime::Param &param : record.params)
    if (param.name == name && param.dtype == runtime::Dtype::Bool)
      return failFact(source, "'" + name +
                                  "' is of dtype bool; make it a compile-time parameter to fix it");
  if (!narrow(name, value, value, value, source, record))
    return false;
  fixed[name] = value;
  return true;
}

/// Divisors beyond 2^40 are kept as a condition alone: their product would not fit.
bool Variants::divide(const std::string &name, int64_t divisor, const FactSource &source,
                      runtime::Kernel &record) {
  LaunchExpr remainder =
      LaunchExpr::make(LaunchOp::Rem, LaunchExpr::makeName(name), LaunchExpr(divisor));
  addCondition(LaunchExpr::make(LaunchOp::Eq, remainder, LaunchExpr(0)), source, record);
  for (runtime::Dim &dim : record.dims)
    if (dim.name == name && dim.multipleOf <= (int64_t(1) << 40) / divisor)
      dim.multipleOf = std::lcm(dim.multipleOf, divisor);
  if (auto known = fixed.find(name); known != fixed.end() && known->second % divisor)
    return conflict(source,
                    "'" + name + "' is fixed to " + Twine(known->second) +
                        ", which is no multiple of " + Twine(divisor),
                    Range());
  return true;
}

bool Variants::raiseAlignment(const std::string &name, int64_t bytes, const FactSource &source,
                              runtime::Kernel &record) {
  for (runtime::Param &param : record.params) {
    if (param.name != name || param.kind != runtime::Param::Kind::Tensor)
      continue;
    if (source.isDispatched && bytes <= int64_t(param.align))
      return conflict(
          source, "'" + name + "' is aligned to " + Twine(param.align) + " bytes in every variant",
          here.params.at(name.substr(0, name.find('[')))->range);
    param.align = unsigned(bytes);
    if (source.isDispatched) {
      runtime::Fact fact;
      fact.param = name;
      fact.align = unsigned(bytes);
      fact.text = source.text;
      fact.line = source.range.isValid() ? sources.begin(source.range).line : 0;
      record.facts.push_back(std::move(fact));
    }
    return true;
  }
  return true; // a tensor that this instance does not have
}

//===--- The command line -------------------------------------------------===//

bool Variants::applyItem(const ArgItem &item, bool isDispatched, runtime::Kernel &record) {
  FactSource source = {item.text, Range(), isDispatched};
  if (item.kind == ArgItem::Kind::Align)
    return raiseAlignment(item.name, item.number, source, record);
  if (!here.launchNames.count(
          item.name)) // of another kernel, or of a parameter that this instance does not have
    return true;
  switch (item.kind) {
  case ArgItem::Kind::Range:
    if (here.launchNames[item.name].kind != LaunchName::Scalar && item.min < 0)
      return failFact(source, "a dimension or stride is never negative");
    return narrow(item.name, item.min, item.max, item.opt, source, record);
  case ArgItem::Kind::Multiple:
    return divide(item.name, item.number, source, record);
  default:
    return fix(item.name, item.number, source, record);
  }
}

//===--- `specialize` -----------------------------------------------------===//

std::optional<std::vector<Variant>> Variants::list() {
  std::vector<Variant> variants;
  for (const ast::ClausePtr &each : kernel.clauses) {
    auto *clause = dyn_cast<ast::SpecializeClause>(each.get());
    if (!clause)
      continue;
    // Every combination of listed values, the last contract's fastest.
    std::vector<size_t> counts, choice(clause->contracts.size(), 0);
    for (const ast::Contract &contract : clause->contracts)
      counts.push_back(contract.set && contract.set->kind == ast::ValueSet::list
                           ? contract.set->values.size()
                           : 1);
    while (true) {
      if (variants.size() >= limits::versions) {
        here.error(diag::tooLarge, clause->range,
                   "the variants of kernel '" + kernel.name.text + "'", limits::versions, "more")
            .note("each combination of the values that a clause lists is one");
        return std::nullopt;
      }
      Variant variant;
      variant.clause = clause;
      variant.choice = choice;
      variants.push_back(std::move(variant));
      size_t i = counts.size();
      while (i > 0 && ++choice[i - 1] == counts[i - 1])
        choice[--i] = 0;
      if (i == 0)
        break;
    }
  }
  return variants;
}

/// `name % divisor == 0`, with a number.
static std::optional<std::pair<std::string, int64_t>> readDivisor(const ast::Contract &contract) {
  auto *test = dyn_cast<ast::BinaryExpr>(contract.value.get());
  if (contract.set || !test || test->op != ast::BinaryOp::eq)
    return std::nullopt;
  auto *remainder = dyn_cast<ast::BinaryExpr>(test->lhs.get());
  auto *zero = dyn_cast<ast::IntLiteral>(test->rhs.get());
  if (!remainder || remainder->op != ast::BinaryOp::rem || !zero || zero->value != 0)
    return std::nullopt;
  auto *name = dyn_cast<ast::NameExpr>(remainder->lhs.get());
  auto *divisor = dyn_cast<ast::IntLiteral>(remainder->rhs.get());
  if (!name || !divisor || divisor->value < 2 || divisor->value > INT32_MAX)
    return std::nullopt;
  return std::pair(name->text, int64_t(divisor->value));
}

/// A clause with a second contract leaves launches to the plain version that break this alone.
std::map<std::string, int64_t> Variants::findUneven() const {
  std::map<std::string, int64_t> found;
  for (const ast::ClausePtr &each : kernel.clauses)
    if (auto *clause = dyn_cast<ast::SpecializeClause>(each.get());
        clause && clause->contracts.size() == 1)
      if (auto divisor = readDivisor(clause->contracts[0]);
          divisor && here.launchNames.count(divisor->first))
        found.insert(std::move(*divisor));
  return found;
}

/// Adds one contract of a clause as a fact, and what it says to the variant's name.
bool Variants::applySpecialize(const ast::Contract &contract, size_t choice,
                               runtime::Kernel &record, std::string &name) {
  FactSource source = {sources.text(contract.range).str(), contract.range, true};
  auto addName = [&](const Twine &text) { name += (name.empty() ? "" : ",") + text.str(); };
  auto *subject = dyn_cast<ast::NameExpr>(contract.value.get());
  if (auto *call = dyn_cast<ast::CallExpr>(contract.value.get()))
    if (auto *callee = dyn_cast<ast::NameExpr>(call->callee.get());
        callee && (callee->text == "align" || callee->text == "alias")) {
      if (callee->text == "alias")
        return failFact(
            source,
            "whether memory overlaps is no condition of a variant; put `alias` into `where`");
      // Checked as in `where`, then added as a fact.
      // readCall writes into a record: this one has the parameters alone, so that the kernel's
      // keeps its contracts if the call is wrong. No alignment is 0: it marks the tensors that the
      // call does not name. An array's name stands for all of its tensors.
      runtime::Kernel probe;
      probe.params = record.params;
      for (runtime::Param &param : probe.params)
        param.align = 0;
      unsigned errors = here.reported;
      if (!contracts.readCall(contract, *call, probe))
        return here.reported == errors; // a dropped tensor says nothing
      std::string tensor = sources.text(call->arguments[0].value->range).str();
      llvm::erase_if(tensor, [](char c) { return isSpace(c); });
      bool isNamed = false;
      for (const runtime::Param &param : probe.params) {
        if (!param.align)
          continue;
        if (!isNamed)
          addName("align(" + tensor + ")=" + Twine(param.align));
        isNamed = true;
        if (!raiseAlignment(param.name, param.align, source, record))
          return false;
      }
      return true;
    }
  if (contract.hint)
    return failFact(source, "`opt` belongs to the range of a name in `where`");
  if (subject && here.launchNames.count(subject->text) && contract.set) {
    const ast::ValueSet &set = *contract.set;
    if (set.kind == ast::ValueSet::list) {
      std::optional<int64_t> value =
          evaluator.evalInt(*set.values[choice], "a value that a variant is made for");
      if (!value)
        return false;
      source.text = subject->text + " == " + std::to_string(*value);
      addName(subject->text + "=" + Twine(*value));
      return fix(subject->text, *value, source, record);
    }
    std::optional<int64_t> lo = evaluator.evalInt(*set.lo, "a bound of a range"),
                           hi = evaluator.evalInt(*set.hi, "a bound of a range");
    if (!lo || !hi)
      return false;
    int64_t max = *hi - (set.inclusive || *hi == INT64_MIN ? 0 : 1);
    if (set.step)
      return failFact(source, "the range of a variant has no step; write a condition such as " +
                                  subject->text + " % 8 == 0 instead");
    if (*lo > max || (!set.inclusive && *lo == *hi)) {
      here.error(diag::emptyRange, set.range, *lo, max, subject->text);
      return false;
    }
    addName(subject->text + "=" + Twine(*lo) + ".." + Twine(max));
    return narrow(subject->text, *lo, max, std::nullopt, source, record);
  }
  if (!here.usesLaunchNames(*contract.value))
    return failFact(source, "a variant is chosen at launch: its condition is over dimensions, "
                            "strides, integral scalars or align(…)");
  // Any other condition: read as a contract, then moved to the facts, unless it says nothing in
  // this instance.
  size_t before = record.contracts.size();
  if (!contracts.readContract(contract, record))
    return false;
  addName(source.text);
  while (record.contracts.size() > before) {
    runtime::Contract added = record.contracts[before];
    record.contracts.erase(record.contracts.begin() + before);
    addCondition(added.condition, source, record);
  }
  return true;
}

/// Items of the command line, then the clause: the symbol has the names of both. Leaves a record
/// that may be half changed where it returns false; the caller drops it.
bool Variants::apply(const Variant &variant, runtime::Kernel &record) {
  record.variant = variant.name;
  for (const ArgItem &item : variant.items)
    if (!applyItem(item, /*isDispatched=*/true, record))
      return false;
  if (variant.clause)
    for (auto [contract, choice] : llvm::zip(variant.clause->contracts, variant.choice))
      if (!applySpecialize(contract, choice, record, record.variant))
        return false;
  if (!variant.isGeneric())
    record.symbol += "_" + symbolPart(record.variant);
  return !variant.tuned || applyTuned(*variant.tuned, record);
}

//===--- Tuned configurations ---------------------------------------------===//

/// Makes the values of the key for which a configuration is to be taken a fact: of all but the
/// first, which is for what is left. The kernel learns nothing from it.
/// Shapes that were tuned become points in the space of the key; agreeOnKeys and divideKeys
/// (TuneTable) turn them into one condition for each configuration.
bool Variants::applyTuned(size_t choice, runtime::Kernel &record) {
  std::vector<LaunchExpr> keys;
  auto *tune = kernel.clause<ast::TuneClause>();
  Range place = kernel.name.range;
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>())
    for (const ast::ExprPtr &key : item.keys) {
      place = key->range;
      if (!here.usesLaunchNames(*key) || here.usesDropped(*key)) // the same for every call
        continue;
      std::optional<LaunchExpr> expr = launchExprs.convert(*key);
      if (!expr)
        return false;
      keys.push_back(std::move(*expr));
    }
  if (keys.empty()) // without a key, the extents themselves
    for (const auto &[name, extent] : options.tuned.shapes.empty()
                                          ? std::vector<std::pair<std::string, int64_t>>()
                                          : options.tuned.shapes.front().first)
      if (here.launchNames.count(name))
        keys.push_back(LaunchExpr::makeName(name));
  std::vector<TunedPoint> points;
  for (const auto &[shape, best] : options.tuned.shapes) {
    runtime::Bindings bindings(shape.begin(), shape.end());
    TunedPoint point{{}, best};
    for (const LaunchExpr &key : keys) {
      std::string reason;
      std::optional<int64_t> value = key.evaluate(bindings, reason);
      if (!value) {
        here.error(diag::badTune, place,
                   "the tuned result has a shape without a value for `" + key.toString() + "` (" +
                       reason + "): tune again, with all that the key uses in --shape");
        return false;
      }
      point.key.push_back(*value);
    }
    points.push_back(std::move(point));
  }
  agreeOnKeys(points, options.tuned.times, options.tuned.configs.size());
  if (choice == 0)
    return true;
  record.variant += (record.variant.empty() ? "" : ",") + ("tuned" + Twine(choice)).str();
  record.symbol += "_tuned" + std::to_string(choice);
  LaunchExpr condition = divideKeys(keys, points, options.tuned.configs.size())[choice];
  addCondition(condition, {condition.toString(), Range(), /*isDispatched=*/true}, record);
  return true;
}
