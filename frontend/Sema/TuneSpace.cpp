// The configurations that a `tune` clause spans: its `config` blocks, and every combination of its
// sets that its conditions let through.
#include "frontend/Lower/Elaborator.h"

using namespace mlir;
using namespace tile;

/// As -D and --config spell it.
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

/// A `config` block as --config spells it, without the names that -D binds.
std::optional<TuneConfig> Elaborator::readSettings(const ast::TuneItem &item) {
  TuneConfig result;
  for (const ast::TuneItem::Setting &setting : item.settings) {
    std::optional<std::string> text = spell(eval(*setting.value));
    if (!text)
      return std::nullopt;
    if (llvm::none_of(options.defines,
                      [&](const auto &define) { return define.first == setting.name.text; }))
      result.emplace_back(setting.name.text, *text);
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> Elaborator::listDeduced(const Instance &instance) {
  std::vector<std::pair<std::string, std::string>> result;
  bool fromDtype;
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values))
    if (isDeducible(param, fromDtype) && !param.defaultValue)
      if (std::optional<std::string> text = spell(value))
        result.emplace_back(param.name.text, *text);
  return result;
}

/// The value of a parameter where a configuration has `text` for it, or nothing. Parameters that
/// only the arguments of a launch bind have none.
std::optional<SemValue> Elaborator::bindSetting(const ast::StaticParam &param,
                                                const std::string *text) {
  for (const auto &[name, define] : options.defines)
    if (name == param.name.text)
      text = &define;
  if (!text)
    text = findPinned(param.name.text);
  if (text)
    return parseDefine(param, *text);
  if (const ast::TuneItem *chosen = chooseConfig())
    for (const ast::TuneItem::Setting &setting : chosen->settings)
      if (setting.name.text == param.name.text)
        return eval(*setting.value);
  return param.defaultValue ? std::optional(eval(*param.defaultValue)) : std::nullopt;
}

/// Declares what a configuration binds, in the order of the parameters: defaults may use earlier
/// ones. A condition on what stays unknown cannot be asked here.
void Elaborator::declareConfig(
    const std::vector<std::pair<const ast::TuneItem *, SemValue>> &values) {
  auto find = [&](StringRef name) -> const SemValue * {
    for (const auto &[item, value] : values)
      if (item->name->text == name)
        return &value;
    return nullptr;
  };
  for (const ast::StaticParam &param : kernel.statics) {
    if (const SemValue *value = find(param.name.text))
      declare(param.name, *value);
    else if (std::optional<SemValue> bound = bindSetting(param, nullptr);
             bound && !bound->isError())
      declare(param.name, *bound);
  }
  for (const auto &[item, value] : values)
    if (llvm::is_contained(getTunableAttributeNames(), item->name->text))
      declare(*item->name, value);
}

/// What a configuration binds every name to, the defaults included: two that bind the same are one.
/// Attributes that nothing names are left out, and what depends on parameters that only the
/// arguments of a launch bind.
std::map<std::string, std::string> Elaborator::resolveConfig(const TuneConfig &settings) {
  std::map<std::string, std::string> result;
  if (const ast::TuneItem *chosen = chooseConfig())
    for (const ast::TuneItem::Setting &setting : chosen->settings)
      if (std::optional<std::string> text = spell(eval(*setting.value)))
        result[setting.name.text] = *text;
  for (const auto &[name, text] : settings)
    result[name] = text;
  frames.back().emplace_back();
  bool isKnown = true;
  for (const ast::StaticParam &param : kernel.statics) {
    auto own = llvm::find_if(settings,
                             [&](const auto &setting) { return setting.first == param.name.text; });
    bool hasText = own != settings.end() || findPinned(param.name.text) ||
                   llvm::any_of(options.defines, [&](const auto &define) {
                     return define.first == param.name.text;
                   });
    std::optional<SemValue> value;
    if (hasText || isKnown)
      value = bindSetting(param, own == settings.end() ? nullptr : &own->second);
    if (!value || value->isError()) {
      isKnown = false; // of later defaults, which may use it, nothing can be said
      continue;
    }
    declare(param.name, *value);
    if (std::optional<std::string> text = spell(*value))
      result[param.name.text] = *text;
  }
  frames.back().pop_back();
  return result;
}

std::optional<TuneSpace> Elaborator::readTuneSpace() {
  unsigned errors = reported;
  TuneSpace space;
  auto *tune = kernel.clause<ast::TuneClause>();
  if (!checkTune())
    return std::nullopt;
  std::vector<const ast::TuneItem *> sets, conditions;
  std::vector<std::vector<SemValue>> choices;
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>()) {
    if (item.kind == ast::TuneItem::Kind::Where)
      conditions.push_back(&item);
    if (item.kind != ast::TuneItem::Kind::Candidates)
      continue;
    // What -D or --config binds is no longer to be chosen.
    if (findPinned(item.name->text) || llvm::any_of(options.defines, [&](const auto &define) {
          return define.first == item.name->text;
        }))
      continue;
    std::optional<std::vector<SemValue>> members = evalSet(*item.set, item.set->range);
    if (!members)
      return std::nullopt;
    for (const SemValue &member : *members)
      if (!spell(member))
        error(diag::badTune, item.set->range,
              "'" + item.name->text + "' has a value that cannot be tuned, " + describe(member));
    sets.push_back(&item);
    choices.push_back(std::move(*members));
  }
  if (reported != errors)
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
  if (!chooseConfig())
    add({});
  for (const ast::TuneItem &item : tune ? ArrayRef(tune->items) : ArrayRef<ast::TuneItem>()) {
    if (!fitsTarget(item))
      continue;
    std::optional<TuneConfig> settings = readSettings(item);
    if (!settings)
      return std::nullopt;
    ++space.blocks;
    add(std::move(*settings));
  }
  if (reported != errors)
    return std::nullopt;
  if (sets.empty())
    return space;

  std::vector<size_t> position(sets.size(), 0);
  for (bool more = true; more;) {
    std::vector<std::pair<const ast::TuneItem *, SemValue>> values;
    for (size_t i = 0; i < sets.size(); ++i)
      values.emplace_back(sets[i], choices[i][position[i]]);
    ++space.combinations;
    frames.back().emplace_back();
    declareConfig(values);
    bool allowed = reported == errors;
    for (const ast::TuneItem *condition : conditions) {
      std::optional<bool> holds =
          allowed ? evalConstBool(*condition->condition, "a condition of `tune`") : std::nullopt;
      allowed = holds.value_or(false);
    }
    frames.back().pop_back();
    if (reported != errors)
      return std::nullopt;
    if (allowed) {
      TuneConfig config;
      for (const auto &[item, value] : values)
        config.emplace_back(item->name->text, *spell(value));
      add(std::move(config));
    }
    more = false;
    for (size_t i = sets.size(); i-- > 0 && !more;) {
      more = ++position[i] < choices[i].size();
      if (!more)
        position[i] = 0;
    }
  }
  return space;
}
