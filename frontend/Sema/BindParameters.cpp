// Compile-time parameters: values from -D, the arguments, `config` and defaults; one instance for
// each choice.
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Source/ReadFloat.h"
#include "target/Target.h"

using namespace mlir;
using namespace tile;

/// Are two compile-time values the same?
static bool equal(const SemValue &a, const SemValue &b) {
  if (a.isNumber() && b.isNumber())
    return a.isBoolNumber() == b.isBoolNumber() && toDouble(a.number) == toDouble(b.number);
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case SemValue::Kind::String:
    return a.text == b.text;
  case SemValue::Kind::DType:
    return a.dtype == b.dtype;
  case SemValue::Kind::Function:
    return a.function->decl == b.function->decl && a.function->builtin == b.function->builtin;
  default:
    return false;
  }
}

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

static const char *kindText(StringRef kind) {
  return kind == "int"      ? "an integer"
         : kind == "bool"   ? "true or false"
         : kind == "float"  ? "a float"
         : kind == "string" ? "a word"
         : kind == "dtype"  ? "a dtype"
                            : "a function's name";
}

bool Elaborator::checkKind(const ast::StaticParam &param, SemValue &value, Range range) {
  const std::string &kind = param.type.text;
  bool known = kind == "int" || kind == "bool" || kind == "float" || kind == "string" ||
               kind == "dtype" || kind == "fn";
  if (!known) {
    DiagnosticBuilder report = error(
        diag::badParameter, param.type.range,
        "a compile-time parameter is of kind int, bool, float, string, dtype or fn, not " + kind);
    addSuggestion(report, param.type.range, kind,
                  {"int", "bool", "float", "string", "dtype", "fn"});
    return false;
  }
  if (value.isError())
    return false;
  bool fits = kind == "int"      ? value.isInt()
              : kind == "bool"   ? value.isBoolNumber()
              : kind == "float"  ? value.isFloatNumber() || value.isInt()
              : kind == "string" ? value.kind == SemValue::Kind::String
              : kind == "dtype"  ? value.isDtype()
                                 : value.isFunction();
  if (!fits) {
    error(diag::wrongOperand, range, "'" + param.name.text + "'", kindText(kind), describe(value));
    return false;
  }
  if (kind == "float" && value.isInt())
    value = SemValue::ofFloat(toDouble(value.number));
  return true;
}

std::optional<std::vector<SemValue>> Elaborator::evalSet(const ast::ValueSet &set, Range range) {
  std::vector<SemValue> values;
  if (set.kind == ast::ValueSet::list) {
    for (const ast::ExprPtr &element : set.values) {
      SemValue value = eval(*element);
      if (value.isError())
        return std::nullopt;
      if (!value.isConstant()) {
        error(diag::notConstant, element->range, "a member of a set", describe(value));
        return std::nullopt;
      }
      values.push_back(std::move(value));
    }
    return values;
  }
  std::optional<int64_t> lo = evalInt(*set.lo, "the start of a set"),
                         hi = evalInt(*set.hi, "the end of a set"), step = evalStep(set);
  if (!lo || !hi || !step)
    return std::nullopt;
  if (*lo > *hi || (*lo == *hi && !set.inclusive)) {
    error(diag::badSet, set.range, "this set has no members");
    return std::nullopt;
  }
  uint64_t last = uint64_t(*hi) - uint64_t(*lo) - (set.inclusive ? 0 : 1),
           steps = last / uint64_t(*step);
  if (steps >= uint64_t(limits::setMembers)) {
    error(diag::tooLarge, set.range, "the members of a set", limits::setMembers,
          steps == UINT64_MAX ? "2^64" : std::to_string(steps + 1))
        .note("name the values that matter, as in {16, 64, 256}, or take larger steps");
    return std::nullopt;
  }
  for (uint64_t i = 0; i <= steps; ++i)
    values.push_back(SemValue::ofInt(int64_t(uint64_t(*lo) + i * uint64_t(*step))));
  return values;
}

std::optional<int64_t> Elaborator::evalStep(const ast::ValueSet &set) {
  if (!set.step)
    return 1;
  std::optional<int64_t> step = evalInt(*set.step, "the step of a set");
  if (step && *step < 1) {
    error(diag::badSet, set.step->range,
          "the step of a set is positive, found " + std::to_string(*step));
    return std::nullopt;
  }
  return step;
}

bool Elaborator::isInSet(const SemValue &value, const ast::ValueSet &set, Range range) {
  bool found = false;
  if (set.kind == ast::ValueSet::interval && value.isNumber()) {
    SemValue lo = eval(*set.lo), hi = eval(*set.hi);
    std::optional<int64_t> step = evalStep(set);
    if (!lo.isNumber() || !hi.isNumber() || !step)
      return false;
    double x = toDouble(value.number), low = toDouble(lo.number), high = toDouble(hi.number);
    found = x >= low && (set.inclusive ? x <= high : x < high);
    if (found && value.isInt() && lo.isInt()) // the distance from lo is never negative here
      found = (uint64_t(value.getInt()) - uint64_t(lo.getInt())) % uint64_t(*step) == 0;
  } else {
    std::optional<std::vector<SemValue>> values = evalSet(set, range);
    if (!values)
      return false;
    found = llvm::any_of(*values, [&](const SemValue &each) { return equal(each, value); });
  }
  if (!found)
    error(diag::notInSet, range.isValid() ? range : set.range, describe(value),
          sources.text(set.range))
        .note(set.range, "the allowed values");
  return found;
}

/// One value of -D. None if the text is no value of the parameter's kind.
std::optional<SemValue> Elaborator::parseDefine(const ast::StaticParam &param, StringRef text) {
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
    if (std::optional<FunctionValue> function = findFunction(text))
      return SemValue::of(std::move(*function));
  }
  return std::nullopt;
}

/// Is the parameter the dtype of a tensor, or a whole dimension of one?
bool Elaborator::isDeducible(const ast::StaticParam &param, bool &fromDtype) {
  fromDtype = param.type.text == "dtype";
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
std::optional<SemValue> Elaborator::deduce(const ast::StaticParam &param) {
  for (const ast::Param &tensor : kernel.params) {
    if (tensor.access == ast::Access::none)
      continue;
    std::string argument = tensor.name.text + (tensor.count ? "[0]" : ""); // the first of an array
    if (tensor.type.name.text == param.name.text)
      if (auto actual = options.dtypes.find(argument); actual != options.dtypes.end()) {
        std::optional<DType> dtype = findDtype(actual->second);
        if (!dtype) {
          error(diag::noInstance, param.range, tensor.name.text, actual->second, param.name.text);
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
bool Elaborator::fitsTarget(const ast::TuneItem &item) const {
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
const ast::TuneItem *Elaborator::chooseConfig() {
  if (configChosen)
    return config;
  configChosen = true;
  if (auto *tune = kernel.clause<ast::TuneClause>())
    for (const ast::TuneItem &item : tune->items)
      if (!config && fitsTarget(item))
        config = &item;
  return config;
}

const std::string *Elaborator::findPinned(StringRef name) const {
  for (const auto &[pinned, value] : options.config)
    if (pinned == name)
      return &value;
  return nullptr;
}

std::optional<std::vector<SemValue>> Elaborator::candidatesFor(const ast::StaticParam &param,
                                                               bool &suffixed) {
  bool fromDtype;
  bool deducible = isDeducible(param, fromDtype);
  suffixed = deducible && !param.defaultValue;
  const std::string *define = nullptr;
  for (const auto &[name, value] : options.defines)
    if (name == param.name.text)
      define = &value; // the last one counts
  if (!define)
    define = findPinned(param.name.text);
  std::vector<SemValue> values;
  if (define) {
    SmallVector<StringRef> parts;
    StringRef(*define).trim().split(parts, ',');
    for (StringRef part : parts) {
      std::optional<SemValue> value = parseDefine(param, part);
      if (!value) {
        DiagnosticBuilder report = error(diag::badDefine, param.range, part.trim(), param.name.text,
                                         kindText(param.type.text));
        if (param.type.text == "fn" || param.type.text == "dtype") {
          std::string near =
              suggest(part.trim(), param.type.text == "fn" ? visibleNames() : dtypeSpellings());
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
      values = {eval(*preset)};
    } else if (deducible && param.set) {
      std::optional<std::vector<SemValue>> members = evalSet(*param.set, param.set->range);
      if (!members)
        return std::nullopt;
      values = *members;
    } else {
      error(diag::noValue, param.range, param.name.text, kernel.name.text)
          .note("give it one with -D " + param.name.text + "=..., or a default: `" +
                param.name.text + ": " + param.type.text + " = ...`");
      return std::nullopt;
    }
  }
  // A value that is listed twice makes one instance.
  std::vector<SemValue> distinct;
  for (const SemValue &value : values)
    if (llvm::none_of(distinct, [&](const SemValue &each) { return equal(each, value); }))
      distinct.push_back(value);
  values = std::move(distinct);
  for (SemValue &value : values) {
    if (!checkKind(param, value, param.range))
      return std::nullopt;
    if (param.set && !isInSet(value, *param.set, define ? param.name.range : Range()))
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

void Elaborator::bindFrom(size_t index, Instance &partial, std::vector<Instance> &out) {
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
      error(diag::tooLarge, kernel.name.range, "the instances of kernel '" + kernel.name.text + "'",
            limits::versions, "more")
          .note(param.range, "each value of this parameter multiplies them")
          .note("compile the values that are needed: -D " + param.name.text + "=VALUE");
      return;
    }
    std::string symbol = partial.symbol;
    frames.back().emplace_back();
    unsigned errors = reported;
    declare(param.name, value);
    partial.values.push_back(value);
    if (suffixed)
      partial.symbol += "_" + param.name.text + "_" + symbolText(value);
    if (reported == errors)
      bindFrom(index + 1, partial, out);
    partial.values.pop_back();
    partial.symbol = symbol;
    frames.back().pop_back();
    if (reported != errors)
      return;
  }
}

std::vector<Instance> Elaborator::chooseInstances() {
  std::vector<Instance> instances;
  unsigned errors = reported;
  Instance partial;
  partial.symbol = kernel.name.text;
  // Constants that nothing uses are checked too.
  for (const ast::DeclPtr &decl : modules.getMain().program->decls)
    if (auto *constant = dyn_cast<ast::ConstDecl>(decl.get()))
      (void)evalConstant(*constant);
  if (reported == errors && checkTune())
    bindFrom(0, partial, instances);
  if (reported != errors)
    instances.clear();
  return instances;
}
