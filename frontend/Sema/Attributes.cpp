// Attributes of kernels and loops.
//
// Who decides an attribute's value, the first that says anything:
//
//   1. the command line by --with                  findRequested
//   2. the command line by --config                findRequested, by StaticParams::findPinned
//   3. the source's `with`                         readKernelAttributes
//   4. the configuration of the source's `tune`    addPreferred
//   5. nobody: the passes choose
//
// Values from the command line are checked as strictly as those of the source; their reports stand
// at the kernel's name.
#include "frontend/Sema/Attributes.h"
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/RequestLimits.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Sema/Words.h"

using namespace llvm;
using namespace tile;

/// Nothing after a report: the argument is missing or has a name, is no constant, or lies outside
/// of min..=max.
std::optional<int64_t> Attributes::attributeInt(const ast::Attribute &attribute, size_t index,
                                                int64_t min, int64_t max) {
  const std::string &name = attribute.name.text;
  if (index >= attribute.arguments.size() || attribute.arguments[index].name) {
    here.error(diag::badAttribute, attribute.range, name, "takes an integer: " + name + "(4)");
    return std::nullopt;
  }
  const ast::Expr &expr = *attribute.arguments[index].value;
  std::optional<int64_t> value = evaluator.evalInt(expr, "the argument of '" + name + "'");
  if (value && (*value < min || *value > max)) {
    here.error(diag::badAttribute, expr.range, name,
               "must be in " + std::to_string(min) + "..=" + std::to_string(max) + ", found " +
                   std::to_string(*value));
    return std::nullopt;
  }
  return value;
}

/// Attributes that take integers: the name in the language and in the IR, and the bounds.
static const struct IntAttribute {
  const char *name;
  StringRef irName;
  int64_t min, max;
  bool powerOfTwo;
} kernelIntegers[] = {
    {"warps", requestedWarpsName, 1, limits::warps, true},
    {"stages", stagesName, 1, limits::stages, false},
    {"grouped", groupedName, 1, limits::grouped, false},
    {"consumers", consumersName, 1, limits::consumers, true},
    {"occupancy", occupancyName, 1, limits::occupancy, false},
    {"maxreg", maxRegistersName, limits::leastRegisters, limits::mostRegisters, false}};

const std::vector<std::string> &tile::getKernelAttributeNames() {
  static const std::vector<std::string> names = {"warps",     "stages",  "persistent",
                                                 "grouped",   "cluster", "consumers",
                                                 "occupancy", "maxreg",  "fp"};
  return names;
}

const std::vector<std::string> &tile::getLoopAttributeNames() {
  static const std::vector<std::string> names = {"stages", "unroll", "split", "flatten", "trips"};
  return names;
}

const std::vector<std::string> &tile::getTunableAttributeNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = getKernelAttributeNames();
    llvm::erase(all, "fp"); // it may change results
    return all;
  }();
  return names;
}

/// The values that an attribute takes, for messages: "1, 2, 4 or 8", "a number from 1 to 8".
static std::string listValues(const IntAttribute &entry) {
  if (!entry.powerOfTwo)
    return "a number from " + std::to_string(entry.min) + " to " + std::to_string(entry.max);
  std::vector<std::string> values;
  for (int64_t value = entry.min; value <= entry.max; value *= 2)
    values.push_back(std::to_string(value));
  return joinWords(values, "or");
}

/// What the command line says about an attribute: --with, else --config; null where it says
/// nothing.
const std::string *Attributes::findRequested(StringRef name) const {
  for (const auto &[given, value] : options.attributes)
    if (given == name)
      return &value;
  return statics.findPinned(name);
}

/// Puts what the command line says in the place of what the source says. `seen` gets what --with
/// asks for.
void Attributes::applyRequested(AttributeValues &out, std::set<std::string> &seen) {
  auto drop = [&](StringRef irName) {
    // A name stands in `out` at most once: the later value takes the earlier one's place.
    llvm::erase_if(out, [&](const AttributeValue &known) { return known.name == irName; });
  };
  auto replace = [&](StringRef irName, auto value) {
    drop(irName);
    out.push_back({irName, value});
  };
  std::set<std::string> asked;
  for (const auto &[name, value] : options.attributes)
    asked.insert(name);
  // Each stands instead of the other.
  for (auto [name, other, irName] :
       {std::tuple("warps", "consumers", StringRef(consumersName)),
        std::tuple("consumers", "warps", StringRef(requestedWarpsName))})
    if (asked.count(name) ? !asked.count(other) : findRequested(name) && !findRequested(other)) {
      drop(irName);
      seen.erase(other);
    }
  seen.insert(asked.begin(), asked.end());
  auto wrong = [&](StringRef name, const std::string &value, const std::string &expected) {
    here.error(diag::badAttribute, kernel.name.range, name,
               "cannot be '" + value + "', as the " +
                   (asked.count(name.str()) ? "command line" : "configuration") + " asks" +
                   expected);
  };
  for (const IntAttribute &entry : kernelIntegers) {
    const std::string *text = findRequested(entry.name);
    int64_t value;
    if (!text)
      continue;
    if (StringRef(*text).getAsInteger(10, value) || value < entry.min || value > entry.max ||
        (entry.powerOfTwo && (value & (value - 1))))
      wrong(entry.name, *text, "; it is " + listValues(entry));
    else
      replace(entry.irName, value);
  }
  if (const std::string *text = findRequested("persistent")) {
    if (*text == "true")
      replace(persistentName, std::monostate());
    else if (*text == "false")
      drop(persistentName);
    else
      wrong("persistent", *text, "; it is true or false");
  }
  if (const std::string *text = findRequested("fp")) {
    if (*text == "strict" || *text == "contract" || *text == "fast")
      replace(floatModeName, *text);
    else
      wrong("fp", *text, "; it is strict, contract or fast");
  }
  if (const std::string *text = findRequested("cluster")) {
    int64_t value;
    if (StringRef(*text).getAsInteger(10, value) || value < 1 || value > 16)
      wrong("cluster", *text, "; it is a number from 1 to 16");
    else
      replace(clusterName, std::vector<int64_t>{value, 1});
  }
}

/// Adds what the source's configuration says of attributes that nothing else fixes.
void Attributes::addPreferred(const std::set<std::string> &seen, AttributeValues &out) {
  const ast::TuneItem *config = statics.chooseConfig();
  for (const ast::TuneItem::Setting &setting :
       config ? ArrayRef<ast::TuneItem::Setting>(config->settings)
              : ArrayRef<ast::TuneItem::Setting>()) {
    const std::string &name = setting.name.text;
    // `seen` are the names of `with` and of --with; the configuration fills the gaps between them.
    if (seen.count(name) || findRequested(name))
      continue;
    if (name == "persistent") {
      if (evaluator.evalConstBool(*setting.value, "the value of 'persistent'").value_or(false))
        out.push_back({persistentName, std::monostate()});
      continue;
    }
    const IntAttribute *entry =
        llvm::find_if(kernelIntegers, [&](const IntAttribute &each) { return name == each.name; });
    static const IntAttribute cluster = {"cluster", clusterName, 1, 16, false};
    if (name == "cluster")
      entry = &cluster;
    else if (entry == std::end(kernelIntegers))
      continue;
    std::optional<int64_t> value = evaluator.evalInt(*setting.value, "the value of '" + name + "'");
    if (!value)
      continue;
    if (*value < entry->min || *value > entry->max ||
        (entry->powerOfTwo && (*value & (*value - 1)))) {
      here.error(diag::badAttribute, setting.value->range, name,
                 "cannot be " + std::to_string(*value) + "; it is " + listValues(*entry));
      continue;
    }
    if (name == "cluster")
      out.push_back({entry->irName, std::vector<int64_t>{*value, 1}});
    else
      out.push_back({entry->irName, *value});
  }
}

bool Attributes::readKernelAttributes(AttributeValues &out) {
  unsigned errors = here.reported;
  std::set<std::string> seen;
  auto add = [&](StringRef name, auto value) { out.push_back({name, value}); };
  const std::vector<std::string> &names = getKernelAttributeNames();
  auto *with = kernel.clause<ast::WithClause>();
  for (const ast::Attribute &attribute :
       with ? ArrayRef<ast::Attribute>(with->attributes) : ArrayRef<ast::Attribute>()) {
    const std::string &name = attribute.name.text;
    if (!llvm::is_contained(names, name)) {
      DiagnosticBuilder report =
          here.error(diag::unknownAttribute, attribute.name.range, "kernel", name);
      addSuggestion(report, attribute.name.range, name, names);
      continue;
    }
    if (!seen.insert(name).second) {
      here.error(diag::badAttribute, attribute.range, name, "is given twice");
      continue;
    }
    size_t maxArgs = name == "persistent" ? 0 : name == "cluster" ? 2 : 1;
    if (attribute.arguments.size() > maxArgs) {
      here.error(diag::badAttribute, attribute.range, name,
                 maxArgs ? "has too many arguments" : "takes no arguments");
      continue;
    }
    if (name == "persistent") {
      add(persistentName, std::monostate());
    } else if (name == "fp") {
      SemValue word = attribute.arguments.empty() ? SemValue::ofVoid()
                                                  : evaluator.eval(*attribute.arguments[0].value);
      bool valid = word.kind == SemValue::Kind::String &&
                   (word.text == "strict" || word.text == "contract" || word.text == "fast");
      if (!valid && !word.isError())
        here.error(diag::badAttribute, attribute.range, name,
                   "takes \"strict\", \"contract\" or \"fast\"");
      add(floatModeName, word.text);
    } else if (name == "cluster") {
      std::optional<int64_t> x = attributeInt(attribute, 0, 1, 16), y = 1;
      if (attribute.arguments.size() > 1)
        y = attributeInt(attribute, 1, 1, 16);
      if (x && y)
        add(clusterName, std::vector<int64_t>{*x, *y});
    } else {
      for (const IntAttribute &entry : kernelIntegers)
        if (name == entry.name)
          if (std::optional<int64_t> value = attributeInt(attribute, 0, entry.min, entry.max)) {
            if (entry.powerOfTwo && (*value & (*value - 1)))
              here.error(diag::badAttribute, attribute.range, name,
                         "must be a power of two, found " + std::to_string(*value) + "; it is " +
                             listValues(entry));
            add(entry.irName, *value);
          }
    }
  }
  applyRequested(out, seen);
  Range place = with ? with->range : kernel.name.range;
  if (seen.count("warps") && seen.count("consumers"))
    here.error(
        diag::badAttribute, place, "consumers",
        "stands instead of 'warps': it means four warps for each consumer, and one more that "
        "loads");
  if (!seen.empty() && here.reported == errors) {
    std::vector<std::string> asked;
    for (const char *name : {"consumers", "stages"})
      if (seen.count(name))
        asked.push_back(name);
    // For these two a pass reports that they had no effect (ApplyLoopAttributes); of a
    // configuration's values it is silent, since a search tries them wherever they may lead.
    if (!asked.empty())
      add(requestedName, asked);
    auto *grid = kernel.clause<ast::GridClause>();
    if (seen.count("grouped") && (!grid || grid->axes.size() < 2))
      diagnostics.report(diag::uselessAttribute, place, "grouped",
                         "it walks the last two axes of a grid in bands, and this grid has " +
                             std::string(grid && !grid->axes.empty() ? "one" : "none"));
  }
  addPreferred(seen, out);
  return here.reported == errors;
}

void Attributes::readSplit(const ast::Attribute &attribute, AttributeValues &out) {
  std::optional<int64_t> parts;
  bool isAutomatic = true;
  for (size_t i = 0; i < attribute.arguments.size(); ++i) {
    const ast::Argument &argument = attribute.arguments[i];
    if (!argument.name && i == 0) {
      isAutomatic = false;
      parts = attributeInt(attribute, 0, 1, limits::split);
    } else if (!argument.name || argument.name->text != "merge") {
      here.error(
          diag::badAttribute, argument.value->range, "split",
          "takes the number of programs and the function that merges what two of them carry: "
          "split(4, merge: f), split(4), split(merge: f) or split");
      return;
    }
  }
  // The launch computes the number of parts from the grid; splitParts is the most that it can be.
  if (isAutomatic) {
    out.push_back({splitName, limits::splitParts});
    out.push_back({splitAutomaticName, std::monostate()});
  } else if (parts && *parts > 1) {
    out.push_back({splitName, *parts});
  }
}

bool Attributes::readLoopAttributes(const std::vector<ast::Attribute> &attributes,
                                    AttributeValues &out) {
  unsigned errors = here.reported;
  const std::vector<std::string> &names = getLoopAttributeNames();
  for (const ast::Attribute &attribute : attributes) {
    const std::string &name = attribute.name.text;
    if (!llvm::is_contained(names, name)) {
      DiagnosticBuilder report =
          here.error(diag::unknownAttribute, attribute.name.range, "loop", name);
      addSuggestion(report, attribute.name.range, name, names);
    } else if (name == "flatten") {
      if (!attribute.arguments.empty())
        here.error(diag::badAttribute, attribute.range, name, "takes no arguments");
      out.push_back({flattenName, std::monostate()});
    } else if (name == "split") {
      readSplit(attribute, out);
    } else if (std::optional<int64_t> value = attributeInt(attribute, 0, 1,
                                                           name == "stages"  ? limits::stages
                                                           : name == "trips" ? limits::trips
                                                                             : limits::unroll)) {
      StringRef irName = name == "stages" ? stagesName : name == "unroll" ? unrollName : tripsName;
      out.push_back({irName, *value});
    }
  }
  return here.reported == errors;
}
