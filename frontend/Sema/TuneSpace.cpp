// The configurations that a `tune` clause spans: every combination of its sets that its conditions
// let through.
#include "frontend/Lower/Elaborator.h"

using namespace mlir;
using namespace tile;

/// Attributes of kernels that may be tuned, beside compile-time parameters.
static bool isTunableAttribute(StringRef name) {
  return llvm::is_contained(
      {"warps", "stages", "grouped", "consumers", "occupancy", "maxreg", "persistent", "cluster"},
      name);
}

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

/// The configuration that the source prefers for the target, if it has one.
std::optional<TuneConfig> Elaborator::readPreferred() {
  const ast::TuneItem *chosen = chooseConfig();
  TuneConfig result;
  for (const ast::TuneItem::Setting &setting :
       chosen ? ArrayRef(chosen->settings) : ArrayRef<ast::TuneItem::Setting>()) {
    std::optional<std::string> text = spell(eval(*setting.value));
    if (!text)
      return std::nullopt;
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

/// Declares what a configuration binds, in the order of the parameters: defaults may use earlier
/// ones. Parameters that only the arguments of a launch bind stay unknown; a condition on them
/// cannot be asked here.
void Elaborator::declareConfig(
    const std::vector<std::pair<const ast::TuneItem *, SemValue>> &values) {
  auto find = [&](StringRef name) -> const SemValue * {
    for (const auto &[item, value] : values)
      if (item->name->text == name)
        return &value;
    return nullptr;
  };
  for (const ast::StaticParam &param : kernel.statics) {
    if (const SemValue *value = find(param.name.text)) {
      declare(param.name, *value);
      continue;
    }
    std::optional<SemValue> value;
    for (const auto &[name, text] : options.defines)
      if (name == param.name.text)
        value = parseDefine(param, text);
    if (const std::string *pinned = value ? nullptr : findPinned(param.name.text))
      value = parseDefine(param, *pinned);
    if (!value && param.defaultValue)
      value = eval(*param.defaultValue);
    if (value && !value->isError())
      declare(param.name, *value);
  }
  for (const auto &[item, value] : values)
    if (isTunableAttribute(item->name->text))
      declare(*item->name, value);
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
  std::optional<TuneConfig> preferred = readPreferred();
  if (reported != errors || !preferred)
    return std::nullopt;
  std::set<TuneConfig> known;
  auto add = [&](TuneConfig config) {
    if (known.insert(config).second)
      space.configs.push_back(std::move(config));
  };
  // What the source prefers comes first: it is what users get who do not tune.
  llvm::erase_if(*preferred, [&](const auto &setting) {
    return llvm::any_of(options.defines,
                        [&](const auto &define) { return define.first == setting.first; });
  });
  add(*preferred);
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
