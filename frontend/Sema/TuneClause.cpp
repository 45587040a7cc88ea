// The configurations that a `tune` clause spans: its `config` blocks, and every combination of its
// sets that its conditions let through.
//
//   tune { BM in {64, 128}; warps in {4, 8}; where BM >= 16 * warps; config sm_80 { BM = 64; } }
//
//   config     BM=64                         the first that fits the target is the default there
//   space      BM=64,warps=4   BM=128,warps=4   BM=128,warps=8      64 with 8 is ruled out
//
// A configuration binds names of parameters and attributes to texts. Two that bind the same values,
// defaults included, are one (resolveConfig): a candidate is compiled and measured once.
#include "frontend/Sema/TuneClause.h"
#include "frontend/Ast/Walk.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Attributes.h"
#include "frontend/Sema/Limits.h"
#include "target/Target.h"

using namespace llvm;
using namespace tile;

/// As -D and --config spell it.
/// None for a value that no text stands for: such a value cannot be tuned.
static std::optional<std::string> spell(const SemValue &value) {
  if (value.isInt())
    return std::to_string(value.getInt());
  if (value.isBoolNumber())
    return value.getBool() ? "true" : "false";
  if (value.isDtype())
    return dtypeSpelling(value.dtype).str();
  if (value.kind == SemValue::Kind::String)
    return value.text;
  if (value.isFunction())
    return value.function->name();
  return std::nullopt;
}

/// "cpu", or a name of a GPU's form: a source may name targets that come later.
static bool isTargetName(StringRef name) {
  GPUName gpu;
  return name == "cpu" ||
         (parseGPUName(name, gpu) && (!gpu.suffix || StringRef("af").contains(gpu.suffix)));
}

/// Checks names and places in `tune`; its values are the tuner's business.
bool TuneClause::check() {
  auto *tune = kernel.clause<ast::TuneClause>();
  if (!tune)
    return true;
  unsigned errors = here.reported;
  std::vector<std::string> names = getTunableAttributeNames();
  for (const ast::StaticParam &param : kernel.statics)
    names.push_back(param.name.text);
  auto checkName = [&](const ast::Ident &name) {
    if (llvm::is_contained(names, name.text))
      return;
    DiagnosticBuilder report = here.error(
        diag::badTune, name.range,
        "'" + name.text + "' is neither a compile-time parameter nor an attribute of the kernel");
    addSuggestion(report, name.range, name.text, names);
  };
  auto *with = kernel.clause<ast::WithClause>();
  size_t combinations = 1;
  for (const ast::TuneItem &item : tune->items) {
    if (item.kind == ast::TuneItem::Kind::Candidates) {
      checkName(*item.name);
      std::optional<std::vector<SemValue>> members = evaluator.evalSet(*item.set, item.set->range);
      // Sets of names that the call binds count one value: the call chooses, not the tuner.
      bool isBound = statics.findPinned(item.name->text) || statics.findDefine(item.name->text);
      if (members && !isBound && combinations <= limits::tuneCombinations)
        combinations *= members->size();
      if (with)
        for (const ast::Attribute &attribute : with->attributes)
          if (attribute.name.text == item.name->text)
            here.error(diag::badTune, item.name->range,
                       "'" + item.name->text + "' is tuned, so `with` must not fix it")
                .note(attribute.range, "fixed here");
    }
    if (item.kind == ast::TuneItem::Kind::Where)
      ast::walk(*item.condition, [&](const ast::Expr &expr) {
        auto *name = dyn_cast<ast::NameExpr>(&expr);
        if (name && name->text != "target" && !llvm::is_contained(names, name->text))
          // For its report: a name that is neither tuned nor a constant of the file is unknown.
          (void)evaluator.evalName(name->text, name->range);
      });
    if (item.kind != ast::TuneItem::Kind::Config)
      continue;
    if (item.name && !isTargetName(item.name->text))
      here.error(diag::badTune, item.name->range,
                 "'" + item.name->text +
                     "' is no target: expected a GPU as tilec --version lists them, or cpu")
          .note("`config` without a target is for all of them");
    for (const ast::TuneItem::Setting &setting : item.settings)
      checkName(setting.name);
  }
  if (combinations > limits::tuneCombinations)
    here.error(diag::tooLarge, tune->range, "the combinations of `tune`", limits::tuneCombinations,
               "more")
        .note("list fewer values, or pin some: --config NAME=VALUE");
  return here.reported == errors;
}

/// Every key is something that a launch can compute.
bool TuneClause::checkKeys() {
  unsigned errors = here.reported;
  auto *tune = kernel.clause<ast::TuneClause>();
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>())
    for (const ast::ExprPtr &key : item.keys)
      if (here.usesLaunchNames(*key) &&
          !here.usesDropped(*key)) // else it is the same for every call
        (void)launchExprs.convert(*key);
      else if (!here.usesDropped(*key))
        (void)evaluator.eval(*key);
  return here.reported == errors;
}

/// A `config` block as --config spells it, without the names that -D binds.
std::optional<TuneConfig> TuneClause::readSettings(const ast::TuneItem &item) {
  TuneConfig result;
  for (const ast::TuneItem::Setting &setting : item.settings) {
    std::optional<std::string> text = spell(evaluator.eval(*setting.value));
    if (!text)
      return std::nullopt;
    if (!statics.findDefine(setting.name.text))
      result.emplace_back(setting.name.text, *text);
  }
  return result;
}

std::vector<std::pair<std::string, std::string>>
/// Only parameters that nothing but the arguments binds: others keep their value from call to call.
TuneClause::listDeduced(const Instance &instance) const {
  std::vector<std::pair<std::string, std::string>> result;
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values))
    if (statics.isDeducible(param) && !param.defaultValue)
      if (std::optional<std::string> text = spell(value))
        result.emplace_back(param.name.text, *text);
  return result;
}

/// The value of a parameter where a configuration has `text` for it, or nothing. Parameters that
/// only the arguments of a launch bind have none.
std::optional<SemValue> TuneClause::bindSetting(const ast::StaticParam &param,
                                                const std::string *text) {
  if (const std::string *define = statics.findDefine(param.name.text))
    text = define;
  if (!text)
    text = statics.findPinned(param.name.text);
  if (text)
    return statics.parseDefine(param, *text);
  if (const ast::TuneItem *chosen = statics.chooseConfig())
    for (const ast::TuneItem::Setting &setting : chosen->settings)
      if (setting.name.text == param.name.text)
        return evaluator.eval(*setting.value);
  return param.defaultValue ? std::optional(evaluator.eval(*param.defaultValue)) : std::nullopt;
}

/// What a configuration binds every name to, the defaults included: two that bind the same are one.
/// Attributes that nothing names are left out, and what depends on parameters that only the
/// arguments of a launch bind.
std::map<std::string, std::string> TuneClause::resolveConfig(const TuneConfig &settings) {
  std::map<std::string, std::string> result;
  if (const ast::TuneItem *chosen = statics.chooseConfig())
    for (const ast::TuneItem::Setting &setting : chosen->settings)
      if (std::optional<std::string> text = spell(evaluator.eval(*setting.value)))
        result[setting.name.text] = *text;
  for (const auto &[name, text] : settings)
    result[name] = text;
  here.frames.back().emplace_back();
  bool isKnown = true;
  for (const ast::StaticParam &param : kernel.statics) {
    auto own = llvm::find_if(settings,
                             [&](const auto &setting) { return setting.first == param.name.text; });
    bool hasText = own != settings.end() || statics.findPinned(param.name.text) ||
                   statics.findDefine(param.name.text);
    std::optional<SemValue> value;
    if (hasText || isKnown)
      value = bindSetting(param, own == settings.end() ? nullptr : &own->second);
    if (!value || value->isError()) {
      isKnown = false; // of later defaults, which may use it, nothing can be said
      continue;
    }
    here.declare(param.name, *value);
    if (std::optional<std::string> text = spell(*value))
      result[param.name.text] = *text;
  }
  here.frames.back().pop_back();
  return result;
}

std::optional<TuneSpace> TuneClause::readSpace() {
  unsigned errors = here.reported;
  TuneSpace space;
  auto *tune = kernel.clause<ast::TuneClause>();
  if (!check())
    return std::nullopt;
  std::vector<const ast::TuneItem *> sets, conditions;
  std::vector<std::vector<SemValue>> choices;
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>()) {
    if (item.kind == ast::TuneItem::Kind::Where)
      conditions.push_back(&item);
    if (item.kind != ast::TuneItem::Kind::Candidates)
      continue;
    // What -D or --config binds is no longer to be chosen.
    if (statics.findPinned(item.name->text) || statics.findDefine(item.name->text))
      continue;
    std::optional<std::vector<SemValue>> members = evaluator.evalSet(*item.set, item.set->range);
    if (!members)
      return std::nullopt;
    for (const SemValue &member : *members)
      if (!spell(member))
        here.error(diag::badTune, item.set->range,
                   "'" + item.name->text + "' has a value that cannot be tuned, " +
                       describe(member));
    sets.push_back(&item);
    choices.push_back(std::move(*members));
  }
  if (here.reported != errors)
    return std::nullopt;
  // What the source prefers comes first: it is what users get who do not tune.
  std::map<std::map<std::string, std::string>, size_t> known; // what they bind
  auto add = [&](TuneConfig config) {
    bool isNew = known.emplace(resolveConfig(config), space.configs.size()).second;
    if (!isNew && !space.likeFirst &&
        known.find(resolveConfig(config))->second == 0) { // it stands for the first, by name
      space.likeFirst = space.configs.size();
      isNew = true;
    }
    if (isNew)
      space.configs.push_back(std::move(config));
  };
  if (!statics.chooseConfig())
    add({});
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>()) {
    if (!statics.fitsTarget(item))
      continue;
    std::optional<TuneConfig> settings = readSettings(item);
    if (!settings)
      return std::nullopt;
    ++space.blocks;
    add(std::move(*settings));
  }
  if (here.reported != errors)
    return std::nullopt;
  if (sets.empty())
    return space;

  space.combinations = 1;
  for (const std::vector<SemValue> &choice : choices)
    space.combinations *= choice.size();
  Combinations combinations(*this, std::move(sets), std::move(choices), conditions);
  std::vector<TuneConfig> allowed;
  if (!combinations.visit([&](ArrayRef<const SemValue *> values) {
        TuneConfig &config = allowed.emplace_back();
        for (auto [item, value] : llvm::zip_equal(combinations.getSets(), values))
          config.emplace_back(item->name->text, *spell(*value));
      }))
    return std::nullopt;
  for (TuneConfig &config : allowed)
    add(std::move(config));
  return space;
}
