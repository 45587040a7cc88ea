// Compile-time parameters: values from -D, the arguments, `config` and defaults; one instance for
// each choice.
//
// Where the value of a parameter comes from, the first that has one:
//
//   -D NAME=a,b           each of the values, an instance for each
//   --config              as -D
//   arguments of a run    a dtype or dimension of a tensor, for a parameter without a default
//   `config` in `tune`    the first for the target
//   its default
//   its set               each member, for a dtype or dimension of a tensor
//   none                  an error, which says how to give one
#include "frontend/Sema/StaticParams.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Source/ReadFloat.h"
#include "target/Target.h"

using namespace llvm;
using namespace tile;

/// As in a symbol's name: "f16", "64", "m1" for -1.
static std::string symbolText(const SemValue &value) {
  std::string text = value.isNumber()                         ? toText(value.number)
                     : value.isDtype()                        ? dtypeSpelling(value.dtype).str()
                     : value.kind == SemValue::Kind::Function ? value.function->name()
                                                              : value.text;
  for (char &c : text)
    if (c == '-')
      c = 'm';
    else if (!isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return text;
}

/// One value of -D. None if the text is no value of the parameter's kind.
/// Does not check the set of the parameter; candidatesFor() does, for values from wherever.
std::optional<SemValue> StaticParams::parseDefine(const ast::StaticParam &param, StringRef text) {
  const std::string &kind = param.type.text;
  text = text.trim();
  int64_t integer;
  if (kind == "int" && !text.getAsInteger(0, integer))
    return SemValue::ofInt(integer);
  if (kind == "bool" && (text == "true" || text == "false"))
    return SemValue::ofBool(text == "true");
  if (std::optional<double> number = readFloat(text); kind == "float" && number)
    return SemValue::ofFloat(*number);
  if (kind == "string" && !text.empty()) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      text = text.drop_front().drop_back();
    return SemValue::ofString(text.str());
  }
  if (kind == "dtype") {
    if (std::optional<DType> dtype = findDtype(text))
      return SemValue::ofDtype(*dtype);
  }
  if (kind == "fn") {
    if (std::optional<FunctionValue> function = here.findFunction(text))
      return SemValue::of(std::move(*function));
  }
  return std::nullopt;
}

/// Is the parameter the dtype of a tensor, or a whole dimension of one?
bool StaticParams::isDeducible(const ast::StaticParam &param) const {
  bool fromDtype = param.type.text == "dtype";
  for (const ast::Param &tensor : kernel.params) {
    if (tensor.access == ast::Access::none)
      continue;
    if (fromDtype && tensor.type.name.text == param.name.text)
      return true;
    if (param.type.text == "int")
      for (const ast::ExprPtr &dim : tensor.type.dims)
        if (auto *name = dyn_cast<ast::NameExpr>(dim.get()); name && name->text == param.name.text)
          return true;
  }
  return false;
}

/// The value that an actual argument gives.
std::optional<SemValue> StaticParams::deduce(const ast::StaticParam &param) {
  for (const ast::Param &tensor : kernel.params) {
    if (tensor.access == ast::Access::none)
      continue;
    std::string argument = tensor.name.text + (tensor.count ? "[0]" : ""); // the first of an array
    if (tensor.type.name.text == param.name.text)
      if (auto actual = options.dtypes.find(argument); actual != options.dtypes.end()) {
        std::optional<DType> dtype = findDtype(actual->second);
        if (!dtype) {
          here.error(diag::noInstance, param.range, tensor.name.text, actual->second,
                     param.name.text);
          return SemValue::error();
        }
        return SemValue::ofDtype(*dtype);
      }
    for (auto [i, dim] : llvm::enumerate(tensor.type.dims))
      if (auto *name = dyn_cast<ast::NameExpr>(dim.get()); name && name->text == param.name.text)
        if (auto actual = options.shapes.find(argument);
            actual != options.shapes.end() && i < actual->second.size())
          return SemValue::ofInt(actual->second[i]);
  }
  return std::nullopt;
}

/// Whether an item of `tune` is a configuration for the target or an earlier one.
/// Targets are in the order of their capability: a configuration for sm_80 is one for sm_90, until
/// another `config` before it fits. Suffixes ("sm_90a") do not count: configurations choose values,
/// not features.
bool StaticParams::fitsTarget(const ast::TuneItem &item) const {
  if (item.kind != ast::TuneItem::Kind::Config)
    return false;
  if (!item.name)
    return true;
  GPUName wanted;
  const GPUTarget *target = findGPUTarget(options.target); // null: the CPU
  return target ? parseGPUName(item.name->text, wanted) &&
                      target->capability() >= wanted.major * 10 + wanted.minor
                : item.name->text == "cpu";
}

/// The first configuration of `tune` that fits the target.
const ast::TuneItem *StaticParams::chooseConfig() {
  if (configChosen)
    return config;
  configChosen = true;
  if (auto *tune = kernel.clause<ast::TuneClause>())
    for (const ast::TuneItem &item : tune->items)
      if (!config && fitsTarget(item))
        config = &item;
  return config;
}

const std::string *StaticParams::findPinned(StringRef name) const {
  for (const auto &[pinned, value] : options.config)
    if (pinned == name)
      return &value;
  return nullptr;
}

const std::string *StaticParams::findDefine(StringRef name) const {
  const std::string *found = nullptr;
  for (const auto &[defined, value] : options.defines)
    if (defined == name)
      found = &value; // the last one counts
  return found;
}

/// `suffixed` says whether the value becomes part of the symbol's name: where an instance is one of
/// several, or might be with other arguments. None after an error, which has been reported.
std::optional<std::vector<SemValue>> StaticParams::candidatesFor(const ast::StaticParam &param,
                                                                 bool &suffixed) {
  bool deducible = isDeducible(param);
  suffixed = deducible && !param.defaultValue;
  const std::string *define = findDefine(param.name.text);
  if (!define)
    define = findPinned(param.name.text);
  std::vector<SemValue> values;
  if (define) {
    SmallVector<StringRef> parts;
    StringRef(*define).trim().split(parts, ',');
    for (StringRef part : parts) {
      std::optional<SemValue> value = parseDefine(param, part);
      if (!value) {
        DiagnosticBuilder report = here.error(diag::badDefine, param.range, part.trim(),
                                              param.name.text, describeKind(param.type.text));
        if (param.type.text == "fn" || param.type.text == "dtype") {
          std::string near = suggest(part.trim(), param.type.text == "fn" ? here.visibleNames()
                                                                          : dtypeSpellings());
          if (!near.empty())
            report.note("did you mean '" + near + "'?");
        }
        return std::nullopt;
      }
      values.push_back(*value);
    }
    suffixed = suffixed || values.size() > 1;
  } else if (std::optional<SemValue> actual =
                 deducible && suffixed ? deduce(param) : std::nullopt) {
    values = {*actual};
  } else {
    const ast::Expr *preset = nullptr;
    if (const ast::TuneItem *chosen = chooseConfig())
      for (const ast::TuneItem::Setting &setting : chosen->settings)
        if (setting.name.text == param.name.text)
          preset = setting.value.get();
    if (!preset)
      preset = param.defaultValue.get();
    if (preset) {
      values = {evaluator.eval(*preset)};
    } else if (deducible && param.set) {
      std::optional<std::vector<SemValue>> members =
          evaluator.evalSet(*param.set, param.set->range);
      if (!members)
        return std::nullopt;
      values = *members;
    } else {
      here.error(diag::noValue, param.range, param.name.text, kernel.name.text)
          .note("give it one with -D " + param.name.text + "=..., or a default: `" +
                param.name.text + ": " + param.type.text + " = ...`");
      return std::nullopt;
    }
  }
  // A value that is listed twice makes one instance.
  std::vector<SemValue> distinct;
  for (const SemValue &value : values)
    if (llvm::none_of(distinct, [&](const SemValue &each) { return isSame(each, value); }))
      distinct.push_back(value);
  values = std::move(distinct);
  for (SemValue &value : values) {
    if (!evaluator.checkKind(param, value, param.range))
      return std::nullopt;
    if (param.set && !evaluator.isInSet(value, *param.set, define ? param.name.range : Range()))
      return std::nullopt;
  }
  return values;
}

/// Words that C or C++ keep for themselves, and `main`.
static bool isReservedInC(StringRef word) {
  static const std::set<StringRef> words = {"alignas",      "alignof",      "and",
                                            "asm",          "auto",         "bitand",
                                            "bitor",        "bool",         "case",
                                            "catch",        "char",         "class",
                                            "compl",        "concept",      "constexpr",
                                            "consteval",    "constinit",    "decltype",
                                            "default",      "delete",       "do",
                                            "double",       "explicit",     "export",
                                            "extern",       "float",        "friend",
                                            "goto",         "inline",       "int",
                                            "long",         "main",         "mutable",
                                            "namespace",    "new",          "noexcept",
                                            "not",          "nullptr",      "operator",
                                            "or",           "private",      "protected",
                                            "public",       "register",     "requires",
                                            "restrict",     "short",        "signed",
                                            "sizeof",       "static",       "static_assert",
                                            "switch",       "template",     "this",
                                            "thread_local", "throw",        "try",
                                            "typedef",      "typeid",       "typename",
                                            "typeof",       "union",        "unsigned",
                                            "using",        "virtual",      "void",
                                            "volatile",     "xor",          "co_await",
                                            "co_return",    "co_yield",     "not_eq",
                                            "and_eq",       "or_eq",        "xor_eq",
                                            "const_cast",   "dynamic_cast", "reinterpret_cast",
                                            "static_cast",  "char8_t",      "char16_t",
                                            "char32_t",     "wchar_t",      "unix",
                                            "linux"};
  return words.count(word) != 0;
}

/// Depth first over the parameters, each in a scope of its own, so that a later default sees the
/// earlier values. `partial` and the scopes are as before when the call returns.
void StaticParams::bindFrom(size_t index, Instance &partial, std::vector<Instance> &out) {
  if (index == kernel.statics.size()) {
    out.push_back(partial);
    if (isReservedInC(partial.symbol)) // no C program could declare it
      out.back().symbol += '_';
    return;
  }
  const ast::StaticParam &param = kernel.statics[index];
  bool suffixed;
  std::optional<std::vector<SemValue>> values = candidatesFor(param, suffixed);
  if (!values)
    return;
  for (const SemValue &value : *values) {
    if (out.size() >= limits::versions) {
      here.error(diag::tooLarge, kernel.name.range,
                 "the instances of kernel '" + kernel.name.text + "'", limits::versions, "more")
          .note(param.range, "each value of this parameter multiplies them")
          .note("compile the values that are needed: -D " + param.name.text + "=VALUE");
      return;
    }
    std::string symbol = partial.symbol;
    here.frames.back().emplace_back();
    unsigned errors = here.reported;
    here.declare(param.name, value);
    partial.values.push_back(value);
    if (suffixed)
      partial.symbol += "_" + param.name.text + "_" + symbolText(value);
    if (here.reported == errors)
      bindFrom(index + 1, partial, out);
    partial.values.pop_back();
    partial.symbol = symbol;
    here.frames.back().pop_back();
    if (here.reported != errors)
      return;
  }
}

std::vector<Instance> StaticParams::bindAll() {
  std::vector<Instance> instances;
  Instance partial;
  partial.symbol = kernel.name.text;
  bindFrom(0, partial, instances);
  return instances;
}
